//! Columns of the tables of a source: a row is read together with the header above it.

use std::collections::HashSet;
use std::ops::Range;

use super::source::{SourceParts, SourceSentence};
use crate::markdown::{BlockKind, cells};

/// The rows that head the table which is being read: its header, and rows right below it without a name of their own, as in
/// reports that have the years below "Years ended".
#[derive(Debug, Default)]
pub(super) struct Header {
    sentences: Range<usize>,
    /// Whether a further row may belong to it.
    is_open: bool,
}

impl Header {
    /// Reads the next sentence of the source.
    pub(super) fn read(&mut self, number: usize, kind: BlockKind, words: &str) {
        match kind {
            BlockKind::TableHeader => *self = Self { sentences: number..number + 1, is_open: true },
            BlockKind::TableRow if self.is_open && has_no_name(words) => self.sentences.end = number + 1,
            BlockKind::TableRow => self.is_open = false,
            BlockKind::Rule => {}
            BlockKind::Heading | BlockKind::Paragraph | BlockKind::Code => *self = Self::default(),
        }
    }

    /// The header of a row that was just read; none of one that belongs to it.
    pub(super) fn above(&self, number: usize) -> Range<usize> {
        if self.sentences.contains(&number) { 0..0 } else { self.sentences.clone() }
    }
}

/// Whether the first cell of a row is empty.
fn has_no_name(row: &str) -> bool {
    cells(row).next().is_some_and(|(_, name)| name.is_empty())
}

/// The number of the column, from 1, in which a word of a sentence stands.
pub(super) fn column_of(source: &SourceParts, sentence: &SourceSentence, token: usize) -> Option<usize> {
    let at = source.tokens.get(token)?.bytes.start.checked_sub(sentence.bytes.start)?;
    Some(cells(source.word(&sentence.bytes)?).take_while(|(start, _)| *start <= at).count())
}

/// The terms that head a column of a row's table.
pub(super) fn heads_of(source: &SourceParts, row: &SourceSentence, column: usize) -> HashSet<u32> {
    let header = source.sentences.get(row.header.clone()).unwrap_or_default();
    let heads = header.iter().flat_map(|sentence| sentence.tokens.clone().map(move |token| (sentence, token)));
    let of_column = heads.filter(|(sentence, token)| column_of(source, sentence, *token) == Some(column));
    of_column.filter_map(|(_, token)| source.tokens.get(token)).map(|token| token.term).collect()
}
