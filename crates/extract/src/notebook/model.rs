//! What a notebook holds, as far as it is read. Programs that write notebooks differ: what is not there, or is of another
//! kind than the format says, is empty.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use super::output::Outputs;

/// What a notebook says of itself.
#[derive(Debug, Deserialize)]
pub(super) struct Head {
    nbformat: Option<IgnoredAny>,
    cells: Option<IgnoredAny>,
    /// Those of nbformat 3.
    worksheets: Option<IgnoredAny>,
    metadata: Option<Metadata>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    title: Text,
    kernelspec: Option<Kernel>,
    language_info: Option<Language>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Kernel {
    language: Text,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Language {
    name: Text,
}

impl Head {
    pub(super) const fn is_notebook(&self) -> bool {
        self.nbformat.is_some() && (self.cells.is_some() || self.worksheets.is_some())
    }

    pub(super) fn title(&self) -> &str {
        self.metadata.as_ref().map_or("", |metadata| &metadata.title.0)
    }

    /// The language of the code, as fences name it.
    pub(super) fn language(&self) -> String {
        let Some(metadata) = &self.metadata else { return String::new() };
        let kernel = metadata.kernelspec.as_ref().map(|kernel| &kernel.language.0);
        let language = metadata.language_info.as_ref().map(|language| &language.name.0);
        let name = kernel.into_iter().chain(language).find(|name| !name.is_empty());
        let is_of_name = |sign: &char| sign.is_ascii_alphanumeric() || "+-#_.".contains(*sign);
        name.map(|name| name.chars().take_while(is_of_name).collect::<String>().to_lowercase()).unwrap_or_default()
    }
}

/// A cell.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Cell {
    #[serde(rename = "cell_type")]
    pub(super) kind: Text,
    source: Text,
    /// The code of a cell of nbformat 3.
    input: Text,
    /// The language of a cell of nbformat 3.
    pub(super) language: Text,
    /// The level of a heading of nbformat 3.
    pub(super) level: Option<u64>,
    pub(super) outputs: Outputs,
}

impl Cell {
    pub(super) fn source(&self) -> &str {
        if self.source.0.is_empty() { &self.input.0 } else { &self.source.0 }
    }
}

/// Text: a string, or the strings of a list one after the other.
#[derive(Debug, Default)]
pub(super) struct Text(pub(super) String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("text")
    }

    fn visit_str<E>(self, text: &str) -> Result<Text, E> {
        Ok(Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Text, A::Error> {
        let mut whole = String::new();
        while let Some(Text(part)) = list.next_element()? {
            whole.push_str(&part);
        }
        Ok(Text(whole))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Text, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Text::default())
    }

    fn visit_unit<E>(self) -> Result<Text, E> {
        Ok(Text::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Text, E> {
        Ok(Text::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Text, E> {
        Ok(Text::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Text, E> {
        Ok(Text::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Text, E> {
        Ok(Text::default())
    }
}
