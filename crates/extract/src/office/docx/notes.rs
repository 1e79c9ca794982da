//! Footnotes and endnotes. In the text stands a number for each; its words follow below the section that it belongs to.

use std::collections::HashMap;

use super::super::super::{ExtractError, content::Content};

/// The notes of a document.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Texts of those that have no number yet, by kind of note and identity.
    texts: HashMap<(String, String), String>,
    /// Those of the section under way, with their numbers.
    pending: Vec<(usize, String)>,
    /// How many have a number.
    count: usize,
}

impl Notes {
    /// Adds the text of a note. `kind` is the name of its element.
    pub(super) fn add(&mut self, kind: &str, id: String, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            self.texts.insert((kind.to_owned(), id), text.to_owned());
        }
    }

    /// The number of a note that the text refers to. `None` if there is none, or if the text has named it before.
    pub(super) fn number(&mut self, kind: &str, id: String) -> Option<usize> {
        let text = self.texts.remove(&(kind.to_owned(), id))?;
        self.count += 1;
        self.pending.push((self.count, text));
        Some(self.count)
    }

    /// How many have a number.
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// Writes the notes of the section that ends: those up to this number.
    pub(super) fn write(&mut self, last: usize, content: &mut Content) -> Result<(), ExtractError> {
        let own = self.pending.partition_point(|(number, _)| *number <= last);
        self.pending.drain(..own).try_for_each(|(number, text)| content.block(&format!("[{number}] {text}")))
    }
}
