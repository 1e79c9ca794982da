//! Tables of a source as a claim names them: their rows by the first cell, their columns by the header or by labels in the cells.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use super::named_rows::{Named, in_sequence, is_content, named_rows, places_of, unit_behind_name};
use super::quantity::quantifies;
use super::ranges;
use crate::citation::columns::heads_above;
use crate::citation::source::{SourceParts, SourceSentence, Token};
use crate::citation::support::contradiction::is_year;
use crate::citation::support::figures::{is_quantity, names_this_scale};
use crate::citation::support::polarity::Claim;
use crate::citation::term::TermKind;
use crate::citation::unit::{Unit, is_unit, unit_named};
use crate::markdown::{PlacedGroups, RowOfGroup, cells};
use crate::wording::{lower_case, lower_case_words};

/// Most tables of a source, and most columns of one.
const MOST_TABLES: usize = 32;
const MOST_COLUMNS: usize = 64;

/// Longest label of a cell, in bytes.
const LONGEST_LABEL: usize = 100;

/// Beginnings of words in the label of a column that tells a change.
const CHANGES: [&str; 8] = ["chang", "decreas", "differ", "growth", "increas", "movement", "varianc", "veränderung"];

/// A table, and what a claim names of it.
pub(super) struct Table<'s> {
    pub(super) source: &'s SourceParts,
    /// The terms of the claim as the source numbers them; `None` for those that it does not have.
    pub(super) claimed: Rc<[Option<u32>]>,
    /// The numbers of its rows.
    pub(super) rows: Range<usize>,
    /// The rows that the claim names whole.
    pub(super) named_rows: Vec<Named>,
    pub(super) columns: Vec<Column>,
}

/// A column: its label, and the places in the claim of the words that name it; none if the claim does not.
pub(super) struct Column {
    /// From 1.
    pub(super) number: usize,
    pub(super) label: HashSet<u32>,
    /// The words of the label, in lower case.
    pub(super) text: String,
    /// The units that the label names.
    pub(super) units: Vec<Unit>,
    pub(super) places: Vec<usize>,
    /// The stems of the days that lie in the range of its label: of "Mon–Fri".
    pub(super) days: Vec<&'static str>,
}

/// The tables of a source of which the claim names a row, or all of them.
pub(super) fn tables<'s>(source: &'s SourceParts, claim: &Claim<'_>) -> Vec<Table<'s>> {
    let runs = runs(source);
    if runs.is_empty() {
        return Vec::new();
    }
    let claimed: Rc<[Option<u32>]> = claim.terms.iter().map(|term| source.term(&term.stem)).collect();
    let mut places: HashMap<u32, Vec<usize>> = HashMap::new();
    for (place, term) in claimed.iter().enumerate().filter(|(place, _)| is_content(claim, *place)) {
        if let Some(term) = term {
            places.entry(*term).or_default().push(place);
        }
    }
    // "Zone 3" is not named by "3 kg".
    let is_bare = |place: &usize| claim.terms.get(*place).is_some_and(|term| term.unit.is_none());
    let bare = kept(&places, is_bare);
    let is_about_many = quantifies(claim);
    let tables = runs.into_iter().filter_map(|rows| {
        let named_rows = named_rows(source, rows.clone(), (claim, &claimed), &places);
        if named_rows.is_empty() && !is_about_many {
            return None;
        }
        let first = named_rows.first().map_or(rows.start, |row| row.row);
        let mut columns = columns(source, source.sentences.get(first)?);
        let is_free = |place: &usize| named_rows.iter().all(|row| !row.places.contains(place));
        name(source, &mut columns, &kept(&bare, is_free));
        for column in &mut columns {
            column.places.extend(ranges::days_of(claim, &column.days));
        }
        Some(Table { source, claimed: Rc::clone(&claimed), rows, named_rows, columns })
    });
    tables.take(MOST_TABLES).collect()
}

/// The terms with those of their places for which this holds.
fn kept(places: &HashMap<u32, Vec<usize>>, holds: impl Fn(&usize) -> bool) -> HashMap<u32, Vec<usize>> {
    let kept = places.iter().map(|(term, places)| (*term, places.iter().copied().filter(&holds).collect::<Vec<_>>()));
    kept.filter(|(_, places)| !places.is_empty()).collect()
}

/// The rows of each table: those in sequence that have names, below one header.
fn runs(source: &SourceParts) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut header = None;
    for (number, row) in source.sentences.iter().enumerate().filter(|(_, row)| row.name.is_some()) {
        match runs.last_mut().filter(|last| last.end == number && header == Some(&row.header)) {
            Some(last) => last.end = number + 1,
            None => runs.push(number..number + 1),
        }
        header = Some(&row.header);
    }
    runs
}

/// The columns behind the first, with their labels.
fn columns(source: &SourceParts, row: &SourceSentence) -> Vec<Column> {
    let last = cells(source.word(&row.bytes).unwrap_or_default()).count().min(MOST_COLUMNS);
    let column = |number: usize| {
        let tokens =
            if row.header.is_empty() { own_label(source, row, number) } else { heads_above(source, row, number) };
        let tokens: Vec<&Token> = tokens.into_iter().filter_map(|at| source.tokens.get(at)).collect();
        let words = tokens.iter().filter_map(|token| source.word(&token.bytes));
        let text = words.map(lower_case).collect::<Vec<_>>().join(" ");
        // "Per minute" is no per cent.
        let units = text.split(' ').filter(|word| *word != "per").filter_map(unit_named).collect();
        let label = tokens.iter().filter(|token| token.kind != TermKind::Stop).map(|token| token.term).collect();
        Column { number, label, text, units, places: Vec::new(), days: ranges::days_between(source, &tokens) }
    };
    (2..=last).map(column).collect()
}

/// The positions of the words of the label that a cell has itself.
pub(super) fn own_label(source: &SourceParts, row: &SourceSentence, column: usize) -> Vec<usize> {
    let words = source.word(&row.bytes).unwrap_or_default();
    let Some((start, cell)) = cells(words).nth(column - 1) else { return Vec::new() };
    let length = label_of(cell).and_then(|_| words.get(start..)?.find(": ")).unwrap_or(0);
    let end = row.bytes.start + start + length;
    let is_of_label = |token: &Token| token.column == column && token.bytes.end <= end;
    row.tokens.clone().filter(|at| source.tokens.get(*at).is_some_and(is_of_label)).collect()
}

/// The label before the value of a cell.
fn label_of(cell: &str) -> Option<&str> {
    cell.split_once(": ").map(|(label, _)| label).filter(|label| label.len() <= LONGEST_LABEL)
}

/// The value of a cell behind its label, if it has one.
pub(super) fn value_of(cell: &str) -> &str {
    label_of(cell).and_then(|label| cell.get(label.len() + 1..)).unwrap_or(cell)
}

/// Notes which columns the claim names: by the whole of their labels but for units, or by a word of theirs alone. One whose label
/// is part of another one's that is named is not.
fn name(source: &SourceParts, columns: &mut [Column], places: &HashMap<u32, Vec<usize>>) {
    let count = |term: &u32| columns.iter().filter(|column| column.label.contains(term)).count();
    let is_measure = |term: &u32| source.stem(*term).is_some_and(is_unit);
    let named: Vec<HashSet<u32>> = columns
        .iter()
        .map(|column| {
            let words: HashSet<u32> = column.label.iter().filter(|term| !is_measure(term)).copied().collect();
            let claimed: HashSet<u32> = words.iter().filter(|term| places.contains_key(term)).copied().collect();
            let is_whole = !words.is_empty() && claimed.len() == words.len();
            let is_own = claimed.iter().any(|term| count(term) == 1);
            if is_whole || is_own { claimed } else { HashSet::new() }
        })
        .collect();
    let is_part = |own: &HashSet<u32>| named.iter().any(|other| own.len() < other.len() && own.is_subset(other));
    let named: Vec<HashSet<u32>> =
        named.iter().map(|own| if is_part(own) { HashSet::new() } else { own.clone() }).collect();
    let is_single = |term: &u32| named.iter().filter(|other| other.contains(term)).count() == 1;
    for (column, own) in columns.iter_mut().zip(&named) {
        // Of "budget 2024" and "budget 2025" the years tell which is which.
        let single: HashSet<u32> = own.iter().copied().filter(|term| is_single(term)).collect();
        column.places = places_of(if single.is_empty() { own } else { &single }, places);
    }
}

impl<'s> Table<'s> {
    /// The text of a cell, without its label.
    pub(super) fn cell(&self, row: usize, column: usize) -> Option<&'s str> {
        let sentence = self.source.sentences.get(row)?;
        let (_, cell) = cells(self.source.word(&sentence.bytes)?).nth(column.checked_sub(1)?)?;
        let value = if sentence.header.is_empty() { value_of(cell) } else { cell };
        Some(value.trim_matches(|sign: char| sign.is_whitespace() || matches!(sign, '*' | '_' | '`')))
    }

    /// The words of a row.
    pub(super) fn tokens(&self, row: usize) -> &'s [Token] {
        self.source.sentences.get(row).map_or(&[], |row| self.source.tokens_of(row))
    }

    /// The words of a cell, without its label.
    pub(super) fn words(&self, row: usize, column: usize) -> Vec<&'s Token> {
        let has_header = self.source.sentences.get(row).is_some_and(|row| !row.header.is_empty());
        let label = if has_header { None } else { self.column(column).map(|column| &column.label) };
        let own = self.tokens(row).iter().filter(|token| token.column == column);
        own.filter(|token| !label.is_some_and(|label| label.contains(&token.term))).collect()
    }

    /// The places at which the claim has terms one after the other.
    pub(super) fn places_of<'t>(&'t self, words: &'t [u32]) -> impl Iterator<Item = usize> + 't {
        in_sequence(&self.claimed, words)
    }

    /// Whether the claim has a term.
    pub(super) fn is_claimed(&self, term: u32) -> bool {
        self.claimed.contains(&Some(term))
    }

    /// Whether a word of the claim names a row or a column.
    pub(super) fn is_named_at(&self, place: usize) -> bool {
        let rows = self.named_rows.iter().map(|row| &row.places);
        rows.chain(self.columns.iter().map(|column| &column.places)).any(|places| places.contains(&place))
    }

    /// Whether a word of the claim is one of a name: "less" of "less than 1 year", a column that it names.
    pub(super) fn is_of_name(&self, claim: &Claim<'_>, place: usize) -> bool {
        let Some(word) = claim.words.get(place) else { return false };
        let has_word = |text: &str| lower_case_words(text).any(|own| own == *word);
        let names_row = |row: &Named| {
            let row = self.source.sentences.get(row.row).and_then(|row| self.source.word(&row.bytes));
            row.and_then(|row| cells(row).next()).is_some_and(|(_, name)| has_word(name))
        };
        self.is_named_at(place)
            || self.named_columns().any(|column| column.text.split(' ').any(|own| own == *word))
            || self.named_rows.iter().any(names_row)
    }

    /// Whether a word of the claim is a number in digits, no year, and names no row or column.
    pub(super) fn is_quantity(&self, claim: &Claim<'_>, place: usize) -> bool {
        !self.is_named_at(place) && claim.terms.get(place).is_some_and(|term| is_quantity(claim.text, term))
    }

    /// The place of the only such number of the claim.
    pub(super) fn quantity(&self, claim: &Claim<'_>) -> Option<usize> {
        let mut places = (0..claim.terms.len()).filter(|place| self.is_quantity(claim, *place));
        places.next().filter(|_| places.next().is_none())
    }

    /// The only column that the claim names.
    pub(super) fn named_column(&self) -> Option<&Column> {
        let mut named = self.named_columns();
        named.next().filter(|_| named.next().is_none())
    }

    /// The columns that the claim names.
    pub(super) fn named_columns(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| !column.places.is_empty())
    }

    /// Whether a column tells a change.
    pub(super) fn tells_change(&self, column: &Column) -> bool {
        self.has_label(column, &CHANGES)
    }

    /// Whether the label of a column has a word of such a beginning.
    pub(super) fn has_label(&self, column: &Column, beginnings: &[&str]) -> bool {
        let mut stems = column.label.iter().filter_map(|term| self.source.stem(*term));
        stems.any(|stem| beginnings.iter().any(|beginning| stem.starts_with(beginning)))
    }

    /// The year that a column is of: the only one in its label, if it tells no change.
    pub(super) fn year_of(&self, column: &Column) -> Option<u32> {
        if self.tells_change(column) {
            return None;
        }
        let years = column.label.iter().filter(|term| self.is_year(**term));
        let mut years = years.filter_map(|term| self.source.stem(*term)?.parse().ok());
        years.next().filter(|_| years.next().is_none())
    }

    /// Whether a term is a year.
    pub(super) fn is_year(&self, term: u32) -> bool {
        self.source.stem(term).is_some_and(|stem| is_year(None, stem))
    }

    /// The number of words of the claim in the sentence that introduces the table.
    pub(super) fn introduced(&self) -> usize {
        let Some(row) = self.first_row() else { return 0 };
        let terms = self.claimed.iter().flatten().collect::<HashSet<_>>();
        terms
            .into_iter()
            .filter(|term| self.source.postings(**term).iter().any(|line| row.lead_in.contains(line)))
            .count()
    }

    /// Whether the header of the table, or the sentence that introduces it, names this scale.
    pub(super) fn names_scale(&self, scale: &str) -> bool {
        self.lines_above().any(|line| names_this_scale(&line, scale))
    }

    /// The rows of the header, and the sentence that introduces the table, in lower case.
    pub(super) fn lines_above(&self) -> impl Iterator<Item = Cow<'s, str>> {
        let first = self.first_row();
        let lines = first.into_iter().flat_map(|row| row.header.clone().chain(row.lead_in.clone()));
        let lines = lines.filter_map(|line| self.source.sentences.get(line));
        lines.filter_map(|line| self.source.word(&line.bytes)).map(lower_case)
    }

    fn first_row(&self) -> Option<&'s SourceSentence> {
        self.source.sentences.get(self.rows.start)
    }

    /// The unit that stands in parentheses behind the name of a row.
    pub(super) fn unit_of_row(&self, row: usize) -> Option<Unit> {
        let row = self.source.sentences.get(row)?;
        let (_, terms) = unit_behind_name(self.source, row)?;
        terms.iter().find_map(|term| unit_named(self.source.stem(*term)?))
    }

    /// Whether a row sums up others.
    pub(super) fn sums_up(&self, row: usize) -> bool {
        let words = self.source.sentences.get(row).and_then(|row| self.source.word(&row.bytes));
        words.is_some_and(|words| RowOfGroup::of(words, &PlacedGroups::default()) == RowOfGroup::Sum)
    }

    /// Whether a word of the claim stands in the header of the table, or in the sentence that introduces it.
    pub(super) fn is_headed_by(&self, place: usize) -> bool {
        let Some(term) = self.claimed.get(place).copied().flatten() else { return false };
        let lines = self.source.postings(term);
        self.first_row()
            .is_some_and(|row| lines.iter().any(|line| row.header.contains(line) || row.lead_in.contains(line)))
    }

    /// The column with this number.
    pub(super) fn column(&self, number: usize) -> Option<&Column> {
        self.columns.iter().find(|column| column.number == number)
    }
}

pub(super) fn is_equal(one: f64, two: f64) -> bool {
    (one - two).abs() < f64::EPSILON
}

/// The number in a cell, below zero with a sign or in parentheses. A comma before other than three digits is a decimal mark.
pub(super) fn number_in(cell: &str) -> Option<f64> {
    let is_negative = cell.starts_with(['(', '-', '−', '–']);
    let digits: String = cell.chars().filter(|sign| sign.is_ascii_digit() || matches!(sign, '.' | ',')).collect();
    if cell.contains(char::is_alphabetic) || !digits.contains(|sign: char| sign.is_ascii_digit()) {
        return None;
    }
    let has_decimal_comma = digits.rsplit_once(',').is_some_and(|(_, after)| after.len() != 3 && !after.contains('.'));
    let plain = if has_decimal_comma { digits.replace('.', "").replace(',', ".") } else { digits.replace(',', "") };
    let number: f64 = plain.parse().ok()?;
    Some(if is_negative { -number } else { number })
}
