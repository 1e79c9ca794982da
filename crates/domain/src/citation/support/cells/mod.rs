//! Holds claims against the cells of tables whose row and column they name: "yes" and "no", rises and falls between two columns,
//! units, and which value is of which row.
//!
//! Only what a table says plainly counts; of everything else it says nothing.

mod amount;
mod bounds;
mod comparison;
mod degree;
mod direction;
mod elsewhere;
mod measure;
mod named_rows;
mod opening;
mod pairing;
mod quantity;
mod ranges;
mod table;
mod years;
mod yes_no;

use std::ops::Range;

use self::degree::Degree;
use self::pairing::Pairing;
use self::table::{Table, tables};
use super::contradiction::{ContradictionKind, Difference};
use super::fact::Fact;
use super::polarity::Claim;
use crate::citation::source::SourceParts;
use crate::citation::term::{Term, TermKind};
use crate::wording::lower_case_words;

/// The cells of a table that tell whether a claim is so.
pub(super) struct Told {
    pub(super) verdict: Verdict,
    /// Index among the sources that were looked at.
    pub(super) source: usize,
    /// Bytes of the row.
    pub(super) bytes: Range<usize>,
    /// The place in the claim of a number that the cells bear out without having it: "more than 10,000".
    pub(super) settles: Option<usize>,
}

/// The relation of cells to a claim.
#[derive(Clone, Copy)]
pub(super) enum Verdict {
    /// They say the same: by "yes", "no" or "closed", or as what follows from their values.
    SaysSo,
    /// Each value of the claim stands in the row or column that it names for it.
    HasValues,
    /// They say something else.
    Differs(Difference),
}

/// Cells that tell whether a claim is so, without the words of it.
#[derive(Clone, Copy)]
struct Answer {
    is_so: bool,
    /// The number of a row that tells it.
    row: usize,
    /// The place in the claim of the number that they bear out, or refute, if it is about one.
    number: Option<usize>,
}

impl Answer {
    const fn new(is_so: bool, row: usize) -> Self {
        Self { is_so, row, number: None }
    }
}

/// A row of a source that says something else, by its number.
struct Differing {
    kind: ContradictionKind,
    fact: Option<usize>,
    row: usize,
}

impl Differing {
    /// One that has another value, or other words, in place of a term of the claim.
    fn of_value(term: &Term, facts: &[Fact<'_>], row: usize) -> Self {
        let kind = if term.kind == TermKind::Number { ContradictionKind::Number } else { ContradictionKind::Name };
        Self { kind, fact: facts.iter().position(|fact| fact.stem == term.stem), row }
    }
}

/// The verdict of the tables of the sources on a claim: of those that differ the first, else of one that agrees. One with all
/// values outweighs another one whose values differ.
pub(super) fn told_by_cells(claim: &Claim<'_>, facts: &[Fact<'_>], sources: &[&SourceParts]) -> Option<Told> {
    // A row with its bars has each value behind its label.
    if claim.text.contains(" | ") {
        return None;
    }
    let (mut agreeing, mut differing): (Option<Told>, Option<Told>) = (None, None);
    for (index, source) in sources.iter().enumerate() {
        for table in introduced(tables(source, claim)) {
            let Some((verdict, answer)) = verdict(&table, claim, facts) else { continue };
            let Some(bytes) = source.sentences.get(answer.row).map(|row| row.bytes.clone()) else { continue };
            let told = Told { verdict, source: index, bytes, settles: answer.number };
            match verdict {
                Verdict::Differs(_) => differing = differing.or(Some(told)),
                Verdict::SaysSo | Verdict::HasValues => agreeing = agreeing.or(Some(told)),
            }
        }
    }
    let is_of_values = |told: &Told| {
        matches!(
            told.verdict,
            Verdict::Differs(Difference { kind: ContradictionKind::Number | ContradictionKind::Name, .. })
        )
    };
    let has_values = agreeing.as_ref().is_some_and(|told| matches!(told.verdict, Verdict::HasValues));
    differing.filter(|told| !has_values || !is_of_values(told)).or(agreeing)
}

/// Of several tables those whose introduction has most words of the claim: "Sales of segment B" are those below "Segment B".
fn introduced(tables: Vec<Table<'_>>) -> impl Iterator<Item = Table<'_>> {
    let most = tables.iter().map(Table::introduced).max().unwrap_or_default();
    tables.into_iter().filter(move |table| table.introduced() == most)
}

/// Whether a claim that no cells bear out compares a row or column of a table, or names a cell with nothing in it. `words` are those
/// of the source that support it best: what they say themselves is told.
pub(super) fn leaves_open(claim: &Claim<'_>, sources: &[&SourceParts], words: &str) -> bool {
    if claim.text.contains(" | ") {
        return false;
    }
    let said: Vec<String> = lower_case_words(words).collect();
    let is_open = |table: Option<&Table<'_>>| {
        let is_name = |place: usize| table.is_some_and(|table| table.is_of_name(claim, place));
        let mut comparisons = Degree::all(&claim.words, is_name).filter_map(|degree| claim.words.get(degree.from));
        comparisons.any(|word| !said.iter().any(|own| own == word)) || Degree::is_unknown(&claim.words)
    };
    let tables: Vec<Table<'_>> = sources.iter().flat_map(|source| tables(source, claim)).collect();
    // A row says nothing of others.
    let is_row = words.contains(" | ") && !said.iter().any(|word| Degree::is_of(word));
    let is_open_everywhere = || is_open(None) && tables.iter().all(|table| is_open(Some(table)));
    is_row && is_open_everywhere()
        || tables.iter().any(|table| !table.named_rows.is_empty() && is_open(Some(table)) || is_about_nothing(table))
}

/// Whether all cells of the only row and the columns that a claim names are empty.
fn is_about_nothing(table: &Table<'_>) -> bool {
    let [row] = table.named_rows.as_slice() else { return false };
    let mut cells = table.named_columns().map(|column| table.cell(row.row, column.number)).peekable();
    cells.peek().is_some() && cells.all(|cell| cell == Some(""))
}

/// The verdict of a table.
fn verdict(table: &Table<'_>, claim: &Claim<'_>, facts: &[Fact<'_>]) -> Option<(Verdict, Answer)> {
    let moved = direction::answer(table, claim);
    let answers = [
        (ContradictionKind::Denial, yes_no::answer(table, claim)),
        (ContradictionKind::Opposite, opening::answer(table, claim)),
        (ContradictionKind::Opposite, comparison::answer(table, claim)),
        (ContradictionKind::Number, bounds::answer(table, claim)),
        (ContradictionKind::Opposite, moved),
        (ContradictionKind::Denial, quantity::answer(table, claim)),
    ];
    let answers = || answers.iter().filter_map(|(kind, answer)| Some((*kind, (*answer)?)));
    let denied = answers().find(|(_, answer)| !answer.is_so).map(|(kind, Answer { row, number, .. })| {
        match number.and_then(|number| claim.terms.get(number)) {
            Some(term) => Differing::of_value(term, facts, row),
            None => Differing { kind, fact: None, row },
        }
    });
    let said = answers().find(|(_, answer)| answer.is_so).map(|(_, answer)| answer);
    let settles = |place: usize| said.is_some_and(|answer| answer.number == Some(place));
    let paired = pairing::pairing(table, claim, facts);
    let right = if let Some(Pairing::Right(row)) = &paired { Some(*row) } else { None };
    let wrong = || if let Some(Pairing::Wrong(differing)) = paired { Some(differing) } else { None };
    let differing = denied
        .or_else(|| if moved.is_some() { None } else { direction::against(table, claim) })
        .or_else(|| measure::against(table, claim, facts))
        .or_else(wrong)
        .or_else(|| elsewhere::against(table, claim, facts, settles));
    let differs =
        |Differing { kind, fact, row }| (Verdict::Differs(Difference { kind, fact }), Answer::new(false, row));
    let agrees = || {
        said.map(|answer| (Verdict::SaysSo, answer)).or_else(|| Some((Verdict::HasValues, Answer::new(true, right?))))
    };
    differing.map(differs).or_else(agrees)
}

/// The places in a claim of numbers and days that lie in a range which names a row or a column of a source.
pub(super) fn places_in_ranges(claim: &Claim<'_>, sources: &[&SourceParts]) -> Vec<usize> {
    let tables = sources.iter().flat_map(|source| tables(source, claim));
    let places = tables.flat_map(|table| {
        let days = table.columns.iter().flat_map(|column| ranges::days_of(claim, &column.days));
        let days: Vec<usize> = days.collect();
        let rows = table.named_rows.into_iter().filter(|row| row.is_range);
        rows.flat_map(|row| row.places).chain(days).collect::<Vec<_>>()
    });
    places.collect()
}

#[cfg(test)]
mod tests;
