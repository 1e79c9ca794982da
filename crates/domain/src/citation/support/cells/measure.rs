//! Units that stand in the label of a column, or above a table, where a claim has another one of the same kind.

use super::Differing;
use super::table::Table;
use crate::citation::support::fact::Fact;
use crate::citation::support::figures::{is_scale, names_scale};
use crate::citation::support::polarity::Claim;
use crate::citation::term::{Term, TermKind};
use crate::citation::unit::{DATE, Unit, measures_same, unit_named};
use crate::wording::lower_case_words;

/// Most words from a number to the unit of its rate.
const MOST_BEFORE_RATE: usize = 4;

/// Fewest digits of a sum that is given in a scale.
const LARGE: usize = 4;

/// A row of a named name whose cell has the number of the claim in another unit.
pub(super) fn against(table: &Table<'_>, claim: &Claim<'_>, facts: &[Fact<'_>]) -> Option<Differing> {
    let values = claim.terms.iter().filter(|term| term.kind == TermKind::Number);
    let measured = values.filter_map(|term| Some((term, term.unit.or_else(|| rate_of(claim, term))?)));
    measured.into_iter().find_map(|(term, unit)| {
        let row = conflicting_row(table, term, unit).or_else(|| row_in_a_scale(table, claim, term, unit))?;
        Some(Differing::of_value(term, facts, row))
    })
}

/// The row that has the number in another unit; `None` if a named row has it in this one, or without a unit.
fn conflicting_row(table: &Table<'_>, term: &Term, unit: Unit) -> Option<usize> {
    let number = table.source.term(&term.stem)?;
    let mut found = None;
    for named in &table.named_rows {
        for token in table.tokens(named.row).iter().filter(|token| token.term == number) {
            let label = table.column(token.column).map_or(&[][..], |column| column.units.as_slice());
            let told = token.unit.or_else(|| label.first().copied().filter(|_| label.len() == 1));
            // "40 g" is not 40 below "Length (mm)"; "Year ended" is no measure.
            let is_measure = |told: Unit| token.unit.is_none() && !measures_same(told, "year");
            let is_of_other = |told: Unit| is_measure(told) && term.unit.is_some_and(|own| own != DATE);
            if told.is_none_or(|told| told == unit || !(measures_same(told, unit) || is_of_other(told))) {
                return None;
            }
            found = Some(named.row);
        }
    }
    found
}

/// The named row that has a sum of money below a scale that the claim leaves out: "€84,310" of a table "in EUR thousand". Small
/// numbers may be excepted from the scale, as those per share are.
fn row_in_a_scale(table: &Table<'_>, claim: &Claim<'_>, term: &Term, unit: Unit) -> Option<usize> {
    let number = table.source.term(&term.stem)?;
    let is_large = term.stem.len() >= LARGE && term.stem.bytes().all(|digit| digit.is_ascii_digit());
    let tells_scale = lower_case_words(claim.text).any(|word| is_scale(&word));
    if !is_large || tells_scale || !measures_same(unit, "euro") {
        return None;
    }
    let rows = table.source.postings(number);
    let named = table.named_rows.iter().map(|named| named.row).find(|row| rows.contains(row))?;
    // Reports write "$84,310" in some cells, and a claim may do so with all.
    let mut tokens = table.rows.clone().flat_map(|row| table.tokens(row));
    if tokens.any(|token| token.unit.is_some_and(|unit| measures_same(unit, "euro"))) {
        return None;
    }
    table.lines_above().any(|line| names_scale(&line)).then_some(named)
}

/// The unit behind "per" after a number: the hour of "600 requests per hour".
fn rate_of(claim: &Claim<'_>, term: &Term) -> Option<Unit> {
    let after = claim.text.get(term.range.end..)?;
    let mut words = lower_case_words(after).take(MOST_BEFORE_RATE);
    words.by_ref().find(|word| matches!(word.as_str(), "per" | "pro"))?;
    unit_named(&words.next()?)
}
