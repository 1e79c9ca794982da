//! Numbers that a claim sets as bounds of what a cell has: "more than 10,000 residents".

use super::Answer;
use super::amount::amount;
use super::table::{Column, Table};
use crate::citation::support::bound::Bound;
use crate::citation::support::figures::is_date;
use crate::citation::support::polarity::Claim;
use crate::citation::term::TermKind;

/// Whether the value of a named row lies so to the number that a claim sets as its bound.
pub(super) fn answer(table: &Table<'_>, claim: &Claim<'_>) -> Option<Answer> {
    if claim.tells_case() || !claim.denials.all.is_empty() {
        return None;
    }
    let mut numbers = claim.terms.iter().enumerate().filter(|(place, term)| {
        term.kind == TermKind::Number && !is_date(claim.text, term) && !table.is_named_at(*place)
    });
    let (place, term) = numbers.next().filter(|_| numbers.next().is_none())?;
    let (bound, _) = Bound::before(claim, place)?;
    let number: f64 = term.stem.parse().ok()?;
    let mut held = None;
    for row in &table.named_rows {
        let amount = amount(table, row.row, column(table)?)?;
        if amount.unit.is_some() && term.unit.is_some() && amount.unit != term.unit {
            return None;
        }
        if !bound.holds(amount.value, number) {
            return Some(Answer { is_so: false, row: row.row, number: Some(place) });
        }
        held = held.or(Some(Answer { is_so: true, row: row.row, number: Some(place) }));
    }
    held
}

/// The only column that the claim names.
fn column<'t>(table: &'t Table<'_>) -> Option<&'t Column> {
    let mut named = table.named_columns();
    named.next().filter(|_| named.next().is_none())
}
