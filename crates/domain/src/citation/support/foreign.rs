//! Tells whether a claim is in another language than its sources.

use std::borrow::Cow;

use super::polarity::Claim;
use crate::citation::source::SourceParts;
use crate::citation::term::TermKind;
use crate::lexical::function_words::{is_german, is_romance_or_dutch};
use crate::wording::lower_case;

/// Fewest words that tell a language.
const FEWEST_WORDS: f32 = 5.0;

/// Share of function words of English in a text: at least this in English, at most that in other languages.
const LEAST_IN_ENGLISH: f32 = 0.25;
const MOST_ELSEWHERE: f32 = 0.12;

/// Fewest of them in a text in one of these languages.
const FEWEST_FUNCTION_WORDS: usize = 2;

/// Whether a word in lower case is a function word of another language than English.
pub(super) fn is_function_word(word: &str) -> bool {
    is_romance_or_dutch(word) || is_german(word)
}

/// Whether a claim is in another language than each of its sources: one is English and the other is not, or the claim alone has
/// function words of German.
pub(super) fn is_foreign(claim: &Claim<'_>, sources: &[&SourceParts]) -> bool {
    let own = Language::told_by(&claim.words, claim.terms.iter().map(|term| term.kind));
    !sources.is_empty() && sources.iter().all(|source| own.differs_from(&Language::of(source)))
}

/// Signs of the language of a text.
struct Language {
    is_german: bool,
    /// Whether it has function words of other languages.
    is_romance_or_dutch: bool,
    /// Share of function words of English; `None` of a text that is too short to tell.
    english: Option<f32>,
}

impl Language {
    fn of(source: &SourceParts) -> Self {
        let words = source.tokens.iter().filter_map(|token| source.word(&token.bytes)).map(lower_case);
        Self::told_by(&words.collect::<Vec<_>>(), source.tokens.iter().map(|token| token.kind))
    }

    fn told_by(words: &[Cow<'_, str>], kinds: impl Iterator<Item = TermKind>) -> Self {
        let others = words.iter().filter(|word| is_romance_or_dutch(word)).count();
        Self {
            is_german: words.iter().any(|word| is_german(word)),
            is_romance_or_dutch: others >= FEWEST_FUNCTION_WORDS,
            english: share(kinds),
        }
    }

    fn differs_from(&self, source: &Self) -> bool {
        let is_english = |share: Option<f32>| share.is_some_and(|share| share >= LEAST_IN_ENGLISH);
        let is_other = |share: Option<f32>| share.is_some_and(|share| share <= MOST_ELSEWHERE);
        self.is_german && !source.is_german
            || self.is_romance_or_dutch && is_other(self.english) && is_english(source.english)
            || is_english(self.english) && is_other(source.english) && (source.is_german || source.is_romance_or_dutch)
    }
}

fn share(kinds: impl Iterator<Item = TermKind>) -> Option<f32> {
    let (mut function_words, mut all) = (0.0_f32, 0.0_f32);
    for kind in kinds {
        all += 1.0;
        function_words += if kind == TermKind::Stop { 1.0 } else { 0.0 };
    }
    (all >= FEWEST_WORDS).then(|| function_words / all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::citation::PreparedSource;

    #[test]
    fn a_claim_in_another_language_is_told_from_one_in_other_words() {
        let english =
            "Office staff may work from home on two days of the week. Excluded are the workshop and apprentices.";
        let german =
            "Angestellte im Büro dürfen an zwei Tagen der Woche zu Hause arbeiten. Die Werkstatt ist ausgenommen.";
        for (claim, source, expected) in [
            ("Angestellte im Büro dürfen an zwei Tagen zu Hause arbeiten.", english, true),
            ("Le personnel du bureau peut travailler chez lui deux jours par semaine.", english, true),
            ("Office staff may work at home on two of the days.", german, true),
            ("Office staff may work at home on two of the days.", english, false),
            ("Angestellte im Büro dürfen zu Hause arbeiten.", german, false),
            ("IMP-65-B, Impeller bronze, costs 342.00 EUR.", english, false),
        ] {
            let source = PreparedSource::new(source);
            assert_eq!(is_foreign(&Claim::of(claim), &[source.parts()]), expected, "{claim}");
        }
    }
}
