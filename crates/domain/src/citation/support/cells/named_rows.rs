//! The rows of a table that a claim names.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::degree::Measure;
use super::ranges;
use super::table::{own_label, value_of};
use crate::citation::columns::heads_above;
use crate::citation::source::{SourceParts, SourceSentence, Token};
use crate::citation::support::polarity::Claim;
use crate::citation::term::TermKind;
use crate::markdown::cells;
use crate::wording::{has_digit, lower_case};

/// Longest unit behind the name of a row, in characters.
const LONGEST_UNIT: usize = 6;

/// Labels of columns that number the rows, in lower case.
const NUMBERS: [&str; 9] = ["id", "lfd", "no", "nr", "number", "platz", "pos", "position", "rank"];

/// A row by its number, and the places in the claim of the words that name it.
pub(super) struct Named {
    pub(super) row: usize,
    pub(super) places: Vec<usize>,
    /// Whether the name is a range, and the claim has a number in it.
    pub(super) is_range: bool,
}

/// The rows that the claim names: by the words of their first cell in a row, the longest first, else by all of them somewhere;
/// where there are none, the row whose name is a range with a number of the claim, or which it measures. Names of several rows name
/// none.
pub(super) fn named_rows(
    source: &SourceParts,
    rows: Range<usize>,
    (claim, claimed): (&Claim<'_>, &[Option<u32>]),
    places: &HashMap<u32, Vec<usize>>,
) -> Vec<Named> {
    let mentions = Mentions::of(source, rows.clone(), (claim, claimed), places);
    let by_words = mentions.longest().map(|(row, range)| {
        let content: Vec<usize> = range.clone().filter(|place| is_content(claim, *place)).collect();
        Named { row: *row, places: if content.is_empty() { range.clone().collect() } else { content }, is_range: false }
    });
    let by_content =
        mentions.whole(places).map(|(row, name)| Named { row: *row, places: places_of(name, places), is_range: false });
    let named: Vec<Named> = by_words.chain(by_content).collect();
    if !named.is_empty() {
        return named;
    }
    ranges::row_with(source, rows.clone(), claim).or_else(|| measured_row(source, rows, claim)).into_iter().collect()
}

/// The only row of what the claim compares without naming it: of prices, where it says "cheaper".
fn measured_row(source: &SourceParts, mut rows: Range<usize>, claim: &Claim<'_>) -> Option<Named> {
    let names = Measure::of(claim)?.names()?;
    let is_measured = |number: &usize| {
        let row = source.sentences.get(*number).and_then(|row| source.word(&row.bytes));
        row.and_then(|row| cells(row).next()).is_some_and(|(_, name)| names.name(name))
    };
    let row = rows.find(is_measured)?;
    (!rows.any(|number| is_measured(&number))).then(|| Named { row, places: Vec::new(), is_range: false })
}

/// The names of rows that a claim has, by the numbers of the rows.
#[derive(Default)]
struct Mentions {
    /// Those whose words it has in a row, with their places.
    in_sequence: Vec<(usize, Range<usize>)>,
    /// Those of which it has all words with content elsewhere.
    scattered: Vec<(usize, HashSet<u32>)>,
}

impl Mentions {
    fn of(
        source: &SourceParts,
        rows: Range<usize>,
        (claim, claimed): (&Claim<'_>, &[Option<u32>]),
        places: &HashMap<u32, Vec<usize>>,
    ) -> Self {
        let mut mentions = Self::default();
        let are_numbered = are_numbered(source, rows.clone());
        for number in rows {
            let Some(row) = source.sentences.get(number) else { continue };
            let Some(name) = row.name.as_ref() else { continue };
            let words = if are_numbered { words_in(source, row, 2) } else { words_of_name(source, row) };
            let (words, name) = match unit_behind_name(source, row) {
                Some((count, unit)) => {
                    let words: Vec<u32> = words.iter().take(words.len().saturating_sub(count)).copied().collect();
                    let name =
                        name.iter().filter(|term| words.contains(term) || !unit.contains(term)).copied().collect();
                    (words, Cow::<[u32]>::Owned(name))
                }
                None if are_numbered => (words.clone(), Cow::Owned(words)),
                None => (words, Cow::Borrowed(name.as_slice())),
            };
            // "IT" is a name, and "it" is none.
            if name.is_empty() && !has_name_as_written(source, row, claim) {
                continue;
            }
            if !name.iter().all(|term| places.contains_key(term)) || !has_units(source, row, claim) {
                continue;
            }
            match in_sequence(claimed, &words).next() {
                Some(start) => mentions.in_sequence.push((number, start..start + words.len())),
                None => mentions.scattered.push((number, name.iter().copied().collect())),
            }
        }
        mentions
    }

    /// Those in sequence that no other one overlaps, but shorter ones.
    fn longest(&self) -> impl Iterator<Item = &(usize, Range<usize>)> {
        self.in_sequence.iter().filter(|(number, range)| {
            let overlaps = |other: &Range<usize>| other.start < range.end && range.start < other.end;
            let mut others = self.in_sequence.iter().filter(|(other, place)| other != number && overlaps(place));
            others.all(|(_, other)| other.len() < range.len())
        })
    }

    /// The scattered ones that have no word of one in sequence, and are no part of another one.
    fn whole(&self, places: &HashMap<u32, Vec<usize>>) -> impl Iterator<Item = &(usize, HashSet<u32>)> {
        let is_free = |place: &usize| self.in_sequence.iter().all(|(_, range)| !range.contains(place));
        self.scattered.iter().filter(move |(number, name)| {
            let mut others = self.scattered.iter().filter(|(other, _)| other != number);
            places_of(name, places).iter().all(is_free) && others.all(|(_, longer)| !name.is_subset(longer))
        })
    }
}

/// Whether a claim has the first cell of a row, which is in capitals, as it is written there.
fn has_name_as_written(source: &SourceParts, row: &SourceSentence, claim: &Claim<'_>) -> bool {
    let name = source.word(&row.bytes).and_then(|words| cells(words).next());
    name.is_some_and(|(_, cell)| {
        let name = value_of(cell).trim();
        let is_in_capitals = name.len() > 1 && name.chars().all(char::is_uppercase);
        is_in_capitals && claim.terms.iter().any(|term| claim.text.get(term.range.clone()) == Some(name))
    })
}

pub(super) fn is_content(claim: &Claim<'_>, place: usize) -> bool {
    claim.terms.get(place).is_some_and(|term| term.kind != TermKind::Stop)
}

/// The terms of the first cell of a row, behind its label if it has one.
fn words_of_name(source: &SourceParts, row: &SourceSentence) -> Vec<u32> {
    let label = if row.header.is_empty() { own_label(source, row, 1).len() } else { 0 };
    name_tokens(source, row).skip(label).map(|token| token.term).collect()
}

/// The number of words, and the terms, of a short text in parentheses behind the name of a row: the unit of "Emissions (t)".
pub(super) fn unit_behind_name(source: &SourceParts, row: &SourceSentence) -> Option<(usize, Vec<u32>)> {
    let words = source.word(&row.bytes)?;
    let (start, name) = cells(words).next()?;
    let (before, unit) = name.strip_suffix(')')?.rsplit_once('(')?;
    if unit.is_empty() || unit.chars().count() > LONGEST_UNIT || has_digit(unit) || before.trim().is_empty() {
        return None;
    }
    let from = row.bytes.start + start + before.len();
    let terms: Vec<u32> =
        name_tokens(source, row).filter(|token| token.bytes.start >= from).map(|token| token.term).collect();
    Some((terms.len(), terms))
}

/// The terms of a cell.
fn words_in(source: &SourceParts, row: &SourceSentence, column: usize) -> Vec<u32> {
    source.tokens_of(row).iter().filter(|token| token.column == column).map(|token| token.term).collect()
}

/// Whether the first column of a table numbers its rows, so that the second one names them.
fn are_numbered(source: &SourceParts, mut rows: Range<usize>) -> bool {
    let Some(first) = source.sentences.get(rows.start) else { return false };
    let heads = heads_above(source, first, 1).into_iter().filter_map(|at| source.tokens.get(at));
    let mut labels = heads.filter_map(|token| source.word(&token.bytes)).map(lower_case);
    let is_number = |number: usize| {
        let row = source.sentences.get(number);
        let tokens = row.map(|row| source.tokens_of(row)).unwrap_or_default();
        let mut first = tokens.iter().filter(|token| token.column == 1).peekable();
        first.peek().is_some() && first.all(|token| token.kind == TermKind::Number)
    };
    !first.header.is_empty() && labels.all(|label| NUMBERS.contains(&label.as_ref())) && rows.all(is_number)
}

/// Whether the numbers of a row's name that have a unit have it in the claim: "zone 2" is not "2 kg".
fn has_units(source: &SourceParts, row: &SourceSentence, claim: &Claim<'_>) -> bool {
    let is_counted = |token: &Token| {
        let mut same = claim.terms.iter().filter(|term| source.term(&term.stem) == Some(token.term));
        same.any(|term| term.unit == token.unit)
    };
    name_tokens(source, row).filter(|token| token.unit.is_some()).all(is_counted)
}

/// The words of the first cell of a row.
pub(super) fn name_tokens<'s>(source: &'s SourceParts, row: &SourceSentence) -> impl Iterator<Item = &'s Token> {
    source.tokens_of(row).iter().take_while(|token| token.column == 1)
}

/// The places at which a claim has terms one after the other.
pub(super) fn in_sequence<'c>(claimed: &'c [Option<u32>], words: &'c [u32]) -> impl Iterator<Item = usize> + 'c {
    let windows = claimed.windows(words.len().max(1)).enumerate().filter(|_| !words.is_empty());
    let is_here = move |window: &[Option<u32>]| window.iter().zip(words).all(|(own, word)| *own == Some(*word));
    windows.filter(move |(_, window)| is_here(window)).map(|(place, _)| place)
}

pub(super) fn places_of(terms: &HashSet<u32>, places: &HashMap<u32, Vec<usize>>) -> Vec<usize> {
    let mut found: Vec<usize> = terms.iter().filter_map(|term| places.get(term)).flatten().copied().collect();
    found.sort_unstable();
    found
}
