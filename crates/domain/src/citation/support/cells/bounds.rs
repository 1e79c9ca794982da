//! Numbers that a claim sets as bounds of what a cell has: "more than 10,000 residents".

use super::Answer;
use super::amount::{Amount, amount};
use super::table::{Column, Table};
use crate::citation::support::bound::Bound;
use crate::citation::support::figures::plain_and_scale;
use crate::citation::support::polarity::Claim;
use crate::citation::unit::{Unit, measures_same, units_in};

/// Least value that may be written out where a claim gives it in thousands or millions.
const WRITTEN_OUT: f64 = 1000.0;

/// A number of a claim that bounds a value.
#[derive(Clone, Copy)]
pub(super) struct Bounding {
    place: usize,
    bound: Bound,
}

impl Bounding {
    /// That at a place of a claim.
    pub(super) fn at(claim: &Claim<'_>, place: usize) -> Option<Self> {
        Some(Self { place, bound: Bound::before(claim, place)?.0 })
    }

    /// Whether an amount lies so to it; `None` where their units do not compare.
    pub(super) fn holds(self, table: &Table<'_>, claim: &Claim<'_>, amount: &Amount) -> Option<bool> {
        let term = claim.terms.get(self.place)?;
        let number = match plain_and_scale(claim.text, term) {
            Some((plain, scale)) if table.names_scale(&scale) => plain,
            Some(_) if amount.value.abs() < WRITTEN_OUT => return None,
            Some(_) | None => term.stem.clone(),
        };
        let number: f64 = number.parse().ok()?;
        let factor = match (term.unit, amount.unit) {
            (Some(own), Some(other)) if own == other => 1.0,
            (Some(own), Some(other)) => *units_in(own, other).first()?,
            (Some(own), None) if !measures_same(own, "euro") => return None,
            (None, Some("percent")) => return None,
            (Some(_) | None, None) | (None, Some(_)) => 1.0,
        };
        Some(self.bound.holds(amount.value, number * factor))
    }
}

/// Whether the value of a named row lies so to the number that a claim sets as its bound.
pub(super) fn answer(table: &Table<'_>, claim: &Claim<'_>) -> Option<Answer> {
    if claim.tells_case() || !claim.denials.all.is_empty() {
        return None;
    }
    let place = table.quantity(claim)?;
    let bounding = Bounding::at(claim, place)?;
    let mut held = None;
    for row in &table.named_rows {
        let amount = amount(table, row.row, column(table, row.row, claim.terms.get(place)?.unit)?)?;
        let is_so = bounding.holds(table, claim, &amount)?;
        let answer = Answer { is_so, row: row.row, number: Some(place) };
        if !is_so {
            return Some(answer);
        }
        held = held.or(Some(answer));
    }
    held
}

/// The only column that the claim names; where it names none, the only one whose value in a row has the unit.
fn column<'t>(table: &'t Table<'_>, row: usize, unit: Option<Unit>) -> Option<&'t Column> {
    if table.named_columns().next().is_some() {
        return table.named_column();
    }
    let has_unit = |column: &&Column| amount(table, row, column).is_some_and(|amount| amount.unit == unit);
    let mut measured = table.columns.iter().filter(|column| unit.is_some() && has_unit(column));
    measured.next().filter(|_| measured.next().is_none())
}
