//! Columns of the tables of a source: a row is read together with the header above it and with what introduces the table, an
//! item of a list with what introduces the list.

use std::collections::HashSet;
use std::ops::Range;

use super::source::{SourceParts, SourceSentence};
use super::term::TermKind;
use crate::markdown::{BlockKind, cells};

/// The rows that head the table which is being read: its header, and rows right below it without a name of their own, as in
/// reports that have the years below "Years ended".
#[derive(Debug, Default)]
pub(super) struct Header {
    sentences: Range<usize>,
    /// Whether a further row may belong to it.
    is_open: bool,
    /// The sentence above the table or list, if it introduces it.
    lead_in: Range<usize>,
    /// The block that the last sentence outside of tables and lists stands in, and its number.
    before: Option<usize>,
}

impl Header {
    /// Reads the next sentence of the source. `is_item` says that it stands in an item of a list.
    pub(super) fn read(&mut self, number: usize, kind: BlockKind, words: &str, is_item: bool) {
        match kind {
            BlockKind::TableHeader => {
                let lead_in = self.before.map_or(0..0, |before| before..before + 1);
                *self = Self { sentences: number..number + 1, is_open: true, lead_in, before: None };
            }
            BlockKind::TableRow if self.is_open && has_no_name(words) => self.sentences.end = number + 1,
            BlockKind::TableRow => self.is_open = false,
            BlockKind::Rule => {}
            BlockKind::Paragraph if is_item => {}
            BlockKind::Heading | BlockKind::Paragraph | BlockKind::Code => {
                let introduces = words.trim_end_matches(['*', '_', ' ']).ends_with(':');
                let lead_in = if introduces { number..number + 1 } else { 0..0 };
                *self = Self { lead_in, before: Some(number), ..Self::default() };
            }
        }
    }

    /// The header of a row that was just read; none of one that belongs to it.
    pub(super) fn above(&self, number: usize) -> Range<usize> {
        if self.sentences.contains(&number) { 0..0 } else { self.sentences.clone() }
    }

    /// The sentence that introduces the table or list of the row or item that was just read.
    pub(super) fn lead_in(&self) -> Range<usize> {
        self.lead_in.clone()
    }
}

/// The positions of the words that head each column in which a row has "no": they are denied of it.
pub(super) fn denied_heads(source: &SourceParts, row: &Range<usize>, header: &Range<usize>) -> Vec<Vec<usize>> {
    let sentences = source.sentences.get(header.clone()).unwrap_or_default();
    let head = |column: usize| -> Vec<usize> {
        let tokens = sentences.iter().flat_map(|sentence| sentence.tokens.clone().map(move |token| (sentence, token)));
        let of_column = tokens.filter(|(sentence, token)| column_of(source, sentence, *token) == Some(column));
        of_column.map(|(_, token)| token).collect()
    };
    let words = source.word(row).unwrap_or_default();
    let numbered = cells(words).enumerate().filter(|(_, (_, cell))| says_no(cell));
    numbered.map(|(at, _)| head(at + 1)).filter(|head| !head.is_empty()).collect()
}

/// A row of a table that a claim names by its first cell.
pub(super) struct NamedRow {
    /// The number of its sentence.
    pub(super) number: usize,
    /// Whether the claim has all words of the cell, and not just some.
    pub(super) is_whole: bool,
}

/// The rows of tables that a claim with these terms names by their first cells, behind their labels if they have any.
pub(super) fn named_rows(source: &SourceParts, claimed: &HashSet<u32>) -> Vec<NamedRow> {
    let rows = source.sentences.iter().enumerate().filter(|(_, row)| is_table_row(source, row));
    let named = rows.filter_map(|(number, row)| {
        let words = name_of(source, row);
        let is_claimed = |term: &u32| claimed.contains(term);
        let is_whole = words.iter().all(is_claimed);
        words.iter().any(is_claimed).then_some(NamedRow { number, is_whole })
    });
    named.collect()
}

/// Whether no two of these rows have the same name.
pub(super) fn have_names_of_their_own(source: &SourceParts, rows: &[usize]) -> bool {
    let names = rows.iter().filter_map(|row| source.sentences.get(*row)).map(|row| name_of(source, row));
    names.collect::<HashSet<_>>().len() == rows.len()
}

/// Whether a term stands only in rows of tables that are not among those named, while some of `rows` are: what a claim says with
/// the term is said of something else.
pub(super) fn is_of_other_rows(source: &SourceParts, rows: Range<usize>, term: u32, named: &[NamedRow]) -> bool {
    let is_named = |row: usize| named.iter().any(|named| named.number == row);
    let mut own = rows.filter(|row| is_named(*row)).peekable();
    let places = source.postings(term);
    let is_of_another = |other: &usize| {
        source.sentences.get(*other).is_some_and(|sentence| is_table_row(source, sentence)) && !is_named(*other)
    };
    own.peek().is_some()
        && !places.is_empty()
        && !own.any(|row| source.tells(row, term))
        && places.iter().all(is_of_another)
}

fn is_table_row(source: &SourceParts, sentence: &SourceSentence) -> bool {
    sentence.is_row && source.word(&sentence.bytes).is_some_and(|words| words.starts_with('|'))
}

/// The words with content of the first cell of a row, behind its label if it has one.
fn name_of(source: &SourceParts, row: &SourceSentence) -> Vec<u32> {
    let words = source.word(&row.bytes).unwrap_or_default();
    let end = cells(words).nth(1).map_or(words.len(), |(second, _)| second);
    let label = words.get(..end).and_then(|first| first.find(": ")).map_or(0, |label| row.bytes.start + label);
    let name = row.tokens.clone().filter(|at| column_of(source, row, *at) == Some(1));
    let tokens = name.filter_map(|at| source.tokens.get(at)).filter(|token| token.bytes.start >= label);
    tokens.filter(|token| token.kind != TermKind::Stop).map(|token| token.term).collect()
}

/// Whether a cell says no: "no", "no, warning only", "never".
fn says_no(cell: &str) -> bool {
    let cell = cell.trim_matches(['*', '_', '`', ' ']);
    let first = cell.split([',', ';', '(', '.', ':']).next().unwrap_or_default().trim_end();
    ["no", "never", "none", "not yet"].iter().any(|no| first.eq_ignore_ascii_case(no))
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
    let words = of_column.filter_map(|(_, token)| source.tokens.get(token));
    words.filter(|token| token.kind != TermKind::Stop).map(|token| token.term).collect()
}
