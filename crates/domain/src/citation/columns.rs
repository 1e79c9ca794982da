//! Columns of the tables of a source: a row is read together with the header above it and with what introduces the table, an
//! item of a list with what introduces the list.

use std::collections::HashSet;
use std::ops::Range;

use super::source::{SourceParts, SourceSentence, Token};
use super::term::TermKind;
use crate::markdown::{BlockKind, PlacedGroups, RowOfGroup, cells};
use crate::wording::{denies, says_yes};

/// Most cells of a row that deny, and most words of the head of one: no honest table has more.
const MOST_DENIED: usize = 16;
const MOST_HEADS: usize = 8;

/// The rows that head the table which is being read.
#[derive(Debug, Default)]
pub(super) struct Header {
    sentences: Range<usize>,
    /// Whether a further row may belong to it.
    is_open: bool,
    /// The sentence above the table or list, if it introduces it.
    lead_in: Range<usize>,
    /// The row that names those below it, until another one does or one sums them up.
    group: Range<usize>,
    /// The block that the last sentence outside of tables and lists stands in, and its number.
    before: Option<usize>,
}

impl Header {
    /// Reads the next sentence of the source, in which rows form `groups`. `is_item` says that it stands in an item of a list.
    pub(super) fn read(
        &mut self,
        groups: &PlacedGroups<'_>,
        number: usize,
        kind: BlockKind,
        (words, is_item): (&str, bool),
    ) {
        match kind {
            BlockKind::TableHeader if self.is_open => self.sentences.end = number + 1,
            BlockKind::TableHeader => {
                let lead_in = self.before.map_or(0..0, |before| before..before + 1);
                *self = Self { sentences: number..number + 1, is_open: true, lead_in, ..Self::default() };
            }
            BlockKind::TableRow => {
                self.is_open = false;
                match RowOfGroup::of(words, groups) {
                    RowOfGroup::Name => self.group = number..number + 1,
                    RowOfGroup::Sum => self.group = 0..0,
                    RowOfGroup::Member => {}
                }
            }
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

    /// The row that names the group of the one that was just read.
    pub(super) fn group(&self, number: usize) -> Range<usize> {
        if self.group.contains(&number) { 0..0 } else { self.group.clone() }
    }

    /// The sentence that introduces the table or list of the row or item that was just read.
    pub(super) fn lead_in(&self) -> Range<usize> {
        self.lead_in.clone()
    }
}

impl SourceParts {
    /// Whether a row or an item is headed or introduced by a term that it does not hold itself.
    pub(super) fn heads_row(&self, term: u32, row: usize) -> bool {
        let postings = self.postings(term);
        let stands_in = |sentences: &Range<usize>| {
            let first = postings.partition_point(|sentence| *sentence < sentences.start);
            postings.get(first).is_some_and(|sentence| *sentence < sentences.end)
        };
        let is_headed =
            |row: &SourceSentence| stands_in(&row.header) || stands_in(&row.lead_in) || stands_in(&row.group);
        self.sentences.get(row).is_some_and(is_headed) && postings.binary_search(&row).is_err()
    }

    /// The places of a term: the numbers of sentences that hold it, and of rows of which it heads a column, with the positions of
    /// the word.
    pub(super) fn mentions(&self, term: u32) -> Vec<(usize, usize)> {
        let is_it = |at: &usize| self.tokens.get(*at).is_some_and(|token| token.term == term);
        let places = self.postings(term).iter().filter_map(|number| Some((*number, self.sentences.get(*number)?)));
        let own: Vec<(usize, usize)> = places
            .flat_map(|(number, sentence)| sentence.tokens.clone().filter(is_it).map(move |at| (number, at)))
            .collect();
        let rows = self.sentences.iter().enumerate().filter(|(_, row)| !row.header.is_empty());
        let headed: Vec<(usize, usize)> = rows
            .flat_map(|(number, row)| {
                let heads = own.iter().filter(|(sentence, _)| row.header.contains(sentence));
                heads.map(move |(_, at)| (number, *at)).take(1).collect::<Vec<_>>()
            })
            .collect();
        own.into_iter().chain(headed).collect()
    }

    /// Whether a sentence holds a term, or is headed by it.
    pub(super) fn tells(&self, sentence: usize, term: u32) -> bool {
        self.postings(term).binary_search(&sentence).is_ok() || self.heads_row(term, sentence)
    }
}

/// The positions of the words that head each column in which a row has "no": they are denied of it.
pub(super) fn denied_heads(source: &SourceParts, row: &Range<usize>, header: &Range<usize>) -> Vec<Vec<usize>> {
    if header.is_empty() {
        return Vec::new();
    }
    let words = source.word(row).unwrap_or_default();
    let numbered = cells(words).enumerate().filter(|(_, (_, cell))| says_no(cell)).take(MOST_DENIED);
    let heads = numbered.map(|(at, _)| heads(source, header, at + 1).take(MOST_HEADS).collect::<Vec<_>>());
    heads.filter(|head| !head.is_empty()).collect()
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
    let rows = source.sentences.iter().enumerate().filter_map(|(number, row)| Some((number, row.name.as_ref()?)));
    let named = rows.filter_map(|(number, name)| {
        let is_claimed = |term: &u32| claimed.contains(term);
        let is_whole = name.iter().all(is_claimed);
        name.iter().any(is_claimed).then_some(NamedRow { number, is_whole })
    });
    named.collect()
}

/// Whether no two of these rows have the same name.
pub(super) fn have_names_of_their_own(source: &SourceParts, rows: &[usize]) -> bool {
    let names = rows.iter().filter_map(|row| source.sentences.get(*row)).map(|row| &row.name);
    names.collect::<HashSet<_>>().len() == rows.len()
}

/// Whether a term stands only in rows of tables that are not among those named, while some of `rows` are: what a claim says with
/// the term is said of something else.
pub(super) fn is_of_other_rows(source: &SourceParts, rows: Range<usize>, term: u32, named: &[NamedRow]) -> bool {
    let is_named = |row: usize| named.iter().any(|named| named.number == row);
    let mut own = rows.filter(|row| is_named(*row)).peekable();
    let places = source.postings(term);
    let is_of_another = |other: &usize| {
        source.sentences.get(*other).is_some_and(|sentence| sentence.name.is_some()) && !is_named(*other)
    };
    own.peek().is_some()
        && !places.is_empty()
        && !own.any(|row| source.tells(row, term))
        && places.iter().all(is_of_another)
}

/// The words with content of the first cell of a row of a table, which has these tokens and begins at this byte: those behind
/// its label if it has one. `None` of what is no such row.
pub(super) fn name_of(words: &str, start: usize, tokens: &[Token]) -> Option<Vec<u32>> {
    if !words.starts_with('|') {
        return None;
    }
    let end = cells(words).nth(1).map_or(words.len(), |(second, _)| second);
    let label = words.get(..end).and_then(|first| first.find(": ")).map_or(0, |label| start + label);
    let tokens = tokens.iter().take_while(|token| token.column == 1).filter(|token| token.bytes.start >= label);
    Some(tokens.filter(|token| token.kind != TermKind::Stop).map(|token| token.term).collect())
}

/// Whether a cell says no by a word that denies in a claim, too: "no", "no, warning only", "never".
fn says_no(cell: &str) -> bool {
    let cell = cell.trim_matches(['*', '_', '`', ' ', '.']);
    says_yes(cell) == Some(false) && denies(cell)
}

/// The number of the column, from 1, of each of these ascending places of a sentence, which is one column if it is no row.
pub(super) fn columns_of<'w>(
    words: &'w str,
    places: impl Iterator<Item = usize> + 'w,
) -> impl Iterator<Item = usize> + 'w {
    let mut starts = cells(words).map(|(start, _)| start).skip(1).peekable();
    let mut column = 1;
    places.map(move |place| {
        while starts.next_if(|start| *start <= place).is_some() {
            column += 1;
        }
        column
    })
}

/// The column of a word.
pub(super) fn column_of(source: &SourceParts, token: usize) -> Option<usize> {
    source.tokens.get(token).map(|token| token.column)
}

/// The terms that head a column of a row's table.
pub(super) fn heads_of(source: &SourceParts, row: &SourceSentence, column: usize) -> HashSet<u32> {
    let tokens = heads_above(source, row, column).into_iter().filter_map(|token| source.tokens.get(token));
    tokens.filter(|token| token.kind != TermKind::Stop).map(|token| token.term).collect()
}

/// The positions of the words that head a column of a row's table.
pub(super) fn heads_above(source: &SourceParts, row: &SourceSentence, column: usize) -> Vec<usize> {
    heads(source, &row.header, column).collect()
}

/// The positions of the words of a header that head a column, from 1. Above further rows of the header a label may reach over
/// several columns.
fn heads<'s>(source: &'s SourceParts, header: &Range<usize>, column: usize) -> impl Iterator<Item = usize> + 's {
    let rows = source.sentences.get(header.clone()).unwrap_or_default();
    let last = rows.len().saturating_sub(1);
    rows.iter().enumerate().flat_map(move |(number, row)| {
        let labels = row.labels.iter().filter(|_| number < last);
        let label = labels.copied().nth(column.saturating_sub(1)).map_or(column, |label| label + 1);
        row.tokens.clone().filter(move |token| column_of(source, *token) == Some(label))
    })
}
