//! The header above a row of a table.

use std::ops::Range;

use super::AnswerSource;
use crate::evidence::passage::{PassageEvidence, is_apart};
use crate::markdown::BlockKind;

/// The headers of the tables of a source.
pub(super) struct Headers<'s> {
    text: &'s str,
    /// The header that stands before the source, of the table that its text begins in.
    before: Option<&'s str>,
    /// Where the first sentence begins that is no row, or stands below a blank line: that table is over there.
    end: usize,
}

impl<'s> Headers<'s> {
    pub(super) fn of(source: &AnswerSource<'s>, evidence: &PassageEvidence) -> Self {
        let mut end = 0;
        let other = evidence.sentences.iter().find(|sentence| {
            let is_apart = end > 0 && is_apart(source.text, end, sentence.range.start);
            end = sentence.range.end;
            sentence.kind != BlockKind::TableRow || is_apart
        });
        Self {
            text: source.text,
            before: source.table_header,
            end: other.map_or(source.text.len(), |other| other.range.start),
        }
    }

    /// The header above the row that begins at a byte. `within` is the one above it in the text, if there is one; a row without
    /// one below other text is of a table that has none.
    pub(super) fn above(&self, row: usize, within: Option<&Range<usize>>) -> Option<&'s str> {
        match within {
            Some(header) => self.text.get(header.clone()),
            None => self.before.filter(|_| row < self.end),
        }
    }
}
