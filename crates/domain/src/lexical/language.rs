//! Languages that words are stemmed in.

use std::borrow::Cow;

use frostem::{Algorithm, Stemmer};
use serde::{Deserialize, Serialize};

/// The language of a collection: whose endings are cut off its words, and whose stop words are left out.
/// Names are those of ISO 639-1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "&str", try_from = "Cow<'_, str>")]
#[expect(missing_docs, reason = "their names say it")]
pub enum Language {
    /// No stems, no stop words: for texts in many languages, or in none.
    None,
    Arabic,
    Catalan,
    Czech,
    Danish,
    German,
    Greek,
    #[default]
    English,
    Spanish,
    Estonian,
    Finnish,
    French,
    Hindi,
    Hungarian,
    Indonesian,
    Italian,
    Lithuanian,
    Dutch,
    Norwegian,
    Polish,
    Portuguese,
    Romanian,
    Russian,
    Swedish,
    Tamil,
    Turkish,
    Ukrainian,
}

impl Language {
    /// All of them, by code.
    pub const ALL: [Self; 27] = [
        Self::None,
        Self::Arabic,
        Self::Catalan,
        Self::Czech,
        Self::Danish,
        Self::German,
        Self::Greek,
        Self::English,
        Self::Spanish,
        Self::Estonian,
        Self::Finnish,
        Self::French,
        Self::Hindi,
        Self::Hungarian,
        Self::Indonesian,
        Self::Italian,
        Self::Lithuanian,
        Self::Dutch,
        Self::Norwegian,
        Self::Polish,
        Self::Portuguese,
        Self::Romanian,
        Self::Russian,
        Self::Swedish,
        Self::Tamil,
        Self::Turkish,
        Self::Ukrainian,
    ];

    /// Its stemmer (Snowball, Porter 2001) and code.
    const fn parts(self) -> (Option<Algorithm>, &'static str) {
        match self {
            Self::None => (None, "none"),
            Self::Arabic => (Some(Algorithm::Arabic), "ar"),
            Self::Catalan => (Some(Algorithm::Catalan), "ca"),
            Self::Czech => (Some(Algorithm::Czech), "cs"),
            Self::Danish => (Some(Algorithm::Danish), "da"),
            Self::German => (Some(Algorithm::German), "de"),
            Self::Greek => (Some(Algorithm::Greek), "el"),
            Self::English => (Some(Algorithm::English), "en"),
            Self::Spanish => (Some(Algorithm::Spanish), "es"),
            Self::Estonian => (Some(Algorithm::Estonian), "et"),
            Self::Finnish => (Some(Algorithm::Finnish), "fi"),
            Self::French => (Some(Algorithm::French), "fr"),
            Self::Hindi => (Some(Algorithm::Hindi), "hi"),
            Self::Hungarian => (Some(Algorithm::Hungarian), "hu"),
            Self::Indonesian => (Some(Algorithm::Indonesian), "id"),
            Self::Italian => (Some(Algorithm::Italian), "it"),
            Self::Lithuanian => (Some(Algorithm::Lithuanian), "lt"),
            Self::Dutch => (Some(Algorithm::Dutch), "nl"),
            Self::Norwegian => (Some(Algorithm::Norwegian), "no"),
            Self::Polish => (Some(Algorithm::Polish), "pl"),
            Self::Portuguese => (Some(Algorithm::Portuguese), "pt"),
            Self::Romanian => (Some(Algorithm::Romanian), "ro"),
            Self::Russian => (Some(Algorithm::Russian), "ru"),
            Self::Swedish => (Some(Algorithm::Swedish), "sv"),
            Self::Tamil => (Some(Algorithm::Tamil), "ta"),
            Self::Turkish => (Some(Algorithm::Turkish), "tr"),
            Self::Ukrainian => (Some(Algorithm::Ukrainian), "uk"),
        }
    }

    /// Its ISO 639-1 code, or `none`.
    #[must_use]
    pub const fn code(self) -> &'static str {
        self.parts().1
    }

    /// The language of this code.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.code() == code)
    }

    pub(super) fn stemmer(self) -> Option<Stemmer> {
        self.parts().0.map(Stemmer::new)
    }
}

impl From<Language> for &'static str {
    fn from(language: Language) -> Self {
        language.code()
    }
}

impl TryFrom<Cow<'_, str>> for Language {
    type Error = String;

    fn try_from(code: Cow<'_, str>) -> Result<Self, Self::Error> {
        code.parse()
    }
}

impl std::fmt::Display for Language {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.code())
    }
}

impl std::str::FromStr for Language {
    type Err = String;

    fn from_str(code: &str) -> Result<Self, Self::Err> {
        Self::from_code(code).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.into_iter().map(Self::code).collect();
            format!("words cannot be stemmed in it; use one of {}", known.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_serialized_form_are_the_same_and_lead_back() {
        for language in Language::ALL {
            assert_eq!(serde_json::to_value(language).expect("a string"), language.code());
            assert_eq!(language.code().parse(), Ok(language));
        }
        assert!("en-GB".parse::<Language>().expect_err("no code").contains("de, el, en"));
    }
}
