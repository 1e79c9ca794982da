//! Jupyter notebooks (nbformat 3 and 4) as Markdown: text as it is, code between fences, and below it the text that it
//! printed. Pictures and attachments are left out.

mod model;
mod output;

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use self::{
    model::{Cell, Head},
    output::without_pictures,
};
use super::{ExtractError, content::Content, html::between_fences};

/// Whether a document is a notebook: a JSON object that says so.
pub(super) fn looks_like_notebook(bytes: &[u8]) -> bool {
    const SIGN: &[u8] = b"\"nbformat\"";
    let json = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii_start();
    json.starts_with(b"{")
        && json.windows(SIGN.len()).any(|window| window == SIGN)
        && serde_json::from_slice::<Head>(json).is_ok_and(|head| head.is_notebook())
}

/// Adds a notebook. Its title is the one that it has, if it says so.
///
/// # Errors
/// `malformed` or `too_large`.
pub(super) fn document(text: &str, content: &mut Content) -> Result<(), ExtractError> {
    let malformed = |error: serde_json::Error| ExtractError::malformed("Jupyter notebook", error);
    // The language of the code is often told after it.
    let head: Head = serde_json::from_str(text).map_err(malformed)?;
    if !head.is_notebook() {
        return Err(ExtractError::malformed("Jupyter notebook", "it has no cells or no nbformat"));
    }
    content.name(head.title());
    let mut writer = Writer { content, language: head.language(), full: None };
    let read = Cells(&mut writer).deserialize(&mut serde_json::Deserializer::from_str(text));
    match writer.full {
        Some(full) => Err(full),
        None => read.map_err(malformed),
    }
}

struct Writer<'content> {
    content: &'content mut Content,
    /// Language of the code, for its fences.
    language: String,
    /// The reason why the walk stopped, if it is none of JSON.
    full: Option<ExtractError>,
}

impl Writer<'_> {
    fn cell(&mut self, cell: &Cell) -> Result<(), ExtractError> {
        let source = cell.source();
        match &*cell.kind.0 {
            "code" => {
                let language = Some(&*cell.language.0).filter(|name| !name.is_empty()).unwrap_or(&self.language);
                if !source.trim().is_empty() {
                    self.content.block(&between_fences(language, source.trim_matches('\n')))?;
                }
                cell.outputs.0.iter().try_for_each(|output| self.content.block(output))
            }
            "heading" => {
                let level = usize::try_from(cell.level.unwrap_or(1).clamp(1, 6)).unwrap_or(1);
                self.content.block(&format!("{} {source}", "#".repeat(level)))
            }
            // For other programs, in a markup of theirs.
            "raw" if !source.trim().is_empty() => self.content.block(&between_fences("", source.trim_matches('\n'))),
            "raw" => Ok(()),
            _ => self.content.block(&ended(&without_pictures(source))),
        }
    }
}

/// Markdown whose last fence is closed: the next cell does not belong to it.
fn ended(markdown: &str) -> String {
    let mut open: Option<&str> = None;
    for line in markdown.lines().map(str::trim_start) {
        let length = line.len() - line.trim_start_matches(['`', '~']).len();
        let (fence, rest) = line.split_at(length);
        let is_fence =
            length >= 3 && (fence.bytes().all(|byte| byte == b'`') || fence.bytes().all(|byte| byte == b'~'));
        match open {
            None if is_fence && !(fence.starts_with('`') && rest.contains('`')) => open = Some(fence),
            Some(begin) if is_fence && rest.trim().is_empty() && fence.starts_with(begin) => open = None,
            Some(_) | None => {}
        }
    }
    open.map_or_else(|| markdown.to_owned(), |fence| format!("{markdown}\n{fence}"))
}

/// Walks over the cells and writes each before it reads the next: of a notebook, or of one of the sheets of nbformat 3.
struct Cells<'writer, 'content>(&'writer mut Writer<'content>);

impl<'de> DeserializeSeed<'de> for Cells<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Cells<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a notebook")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            match &*name {
                "cells" => members.next_value_seed(List { writer: &mut *self.0, are_sheets: false })?,
                "worksheets" => members.next_value_seed(List { writer: &mut *self.0, are_sheets: true })?,
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Walks over a list of cells, or of sheets of cells.
struct List<'writer, 'content> {
    writer: &'writer mut Writer<'content>,
    are_sheets: bool,
}

impl<'de> DeserializeSeed<'de> for List<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of cells")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if self.are_sheets {
            while list.next_element_seed(Cells(&mut *self.writer))?.is_some() {}
            return Ok(());
        }
        while let Some(cell) = list.next_element::<Cell>()? {
            if let Err(full) = self.writer.cell(&cell) {
                self.writer.full = Some(full);
                return Err(serde::de::Error::custom("the document is full"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
