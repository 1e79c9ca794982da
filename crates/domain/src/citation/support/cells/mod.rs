//! Holds claims against the cells of tables whose row and column they name: "yes" and "no", rises and falls between two columns,
//! units, and which value is of which row.
//!
//! Only what a table says plainly counts; of everything else it says nothing.

mod direction;
mod elsewhere;
mod measure;
mod opening;
mod pairing;
mod ranges;
mod table;
mod yes_no;

use std::ops::Range;

use self::pairing::Pairing;
use self::table::{Table, tables};
use self::yes_no::Answer;
use super::contradiction::{ContradictionKind, Difference};
use super::fact::Fact;
use super::polarity::Claim;
use crate::citation::source::SourceParts;
use crate::citation::term::{Term, TermKind};

/// The cells of a table that tell whether a claim is so.
pub(super) struct Told {
    pub(super) verdict: Verdict,
    /// Index among the sources that were looked at.
    pub(super) source: usize,
    /// Bytes of the row.
    pub(super) bytes: Range<usize>,
}

/// The relation of cells to a claim.
#[derive(Clone, Copy)]
pub(super) enum Verdict {
    /// They say the same by "yes", "no" or "closed".
    SaysSo,
    /// Each value of the claim stands in the row or column that it names for it.
    HasValues,
    /// They say something else.
    Differs(Difference),
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
        for table in tables(source, claim) {
            let Some((verdict, row)) = verdict(&table, claim, facts) else { continue };
            let Some(bytes) = source.sentences.get(row).map(|row| row.bytes.clone()) else { continue };
            let told = Told { verdict, source: index, bytes };
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

/// The verdict of a table, and the number of a row that gives it.
fn verdict(table: &Table<'_>, claim: &Claim<'_>, facts: &[Fact<'_>]) -> Option<(Verdict, usize)> {
    let answers = [
        (ContradictionKind::Denial, yes_no::answer(table, claim)),
        (ContradictionKind::Opposite, opening::answer(table, claim)),
    ];
    let denied = answers.iter().find_map(|(kind, answer)| match answer {
        Some(Answer::Other(row)) => Some(Differing { kind: *kind, fact: None, row: *row }),
        Some(Answer::Same(_)) | None => None,
    });
    let said =
        answers.iter().find_map(|(_, answer)| if let Some(Answer::Same(row)) = answer { Some(*row) } else { None });
    let paired = pairing::pairing(table, claim, facts);
    let right = if let Some(Pairing::Right(row)) = &paired { Some(*row) } else { None };
    let wrong = || if let Some(Pairing::Wrong(differing)) = paired { Some(differing) } else { None };
    let differing = denied
        .or_else(|| direction::against(table, claim))
        .or_else(|| measure::against(table, claim, facts))
        .or_else(wrong)
        .or_else(|| elsewhere::against(table, claim, facts));
    let differs = |Differing { kind, fact, row }| (Verdict::Differs(Difference { kind, fact }), row);
    let agrees = || said.map(|row| (Verdict::SaysSo, row)).or_else(|| Some((Verdict::HasValues, right?)));
    differing.map(differs).or_else(agrees)
}

/// The places in a claim of numbers that lie in a range which names a row of a source.
pub(super) fn places_in_ranges(claim: &Claim<'_>, sources: &[&SourceParts]) -> Vec<usize> {
    let tables = sources.iter().flat_map(|source| tables(source, claim));
    tables.flat_map(|table| table.named_rows).filter(|row| row.is_range).flat_map(|row| row.places).collect()
}

#[cfg(test)]
mod tests;
