//! Values of cells that are compared, and the column that holds them.

use std::borrow::Cow;

use super::degree::{Degree, Measure};
use super::table::{Column, Table};
use crate::citation::support::bound::Bound;
use crate::citation::support::figures::plain_and_scale;
use crate::citation::support::polarity::Claim;
use crate::citation::term::TermKind;
use crate::citation::unit::Unit;
use crate::wording::lower_case;

/// Cells for a number without a bound, and for none.
const UNLIMITED: [&str; 4] = ["no limit", "unbegrenzt", "unlimited", "∞"];
const NOTHING: [&str; 3] = ["free", "gratis", "kostenlos"];

/// Words of a claim about prices.
const COSTS: [&str; 6] = ["cost", "costs", "coûte", "kosten", "kostet", "priced"];

/// A number in a cell.
#[derive(Clone, Copy)]
pub(super) struct Amount {
    pub(super) value: f64,
    pub(super) unit: Option<Unit>,
}

/// The only number in a cell, not below zero.
pub(super) fn amount(table: &Table<'_>, row: usize, column: &Column) -> Option<Amount> {
    let cell = table.cell(row, column.number)?;
    let said = lower_case(cell);
    if UNLIMITED.contains(&said.as_ref()) || NOTHING.contains(&said.as_ref()) {
        let value = if UNLIMITED.contains(&said.as_ref()) { f64::INFINITY } else { 0.0 };
        return Some(Amount { value, unit: None });
    }
    let words = table.words(row, column.number);
    let mut numbers = words.into_iter().filter(|word| word.kind == TermKind::Number);
    let number = numbers
        .next()
        .filter(|_| numbers.next().is_none() && !cell.starts_with(['(', '-', '−', '–', '<', '>', '~']))?;
    let value = table.source.stem(number.term)?.parse().ok()?;
    Some(Amount { value, unit: number.unit })
}

/// The only column with numbers in these rows that a comparison is about: one that the claim names, one whose label says what is
/// compared, or the only one that there is.
pub(super) fn measured<'t>(
    table: &'t Table<'_>,
    claim: &Claim<'_>,
    degree: Degree,
    rows: &[usize],
) -> Option<&'t Column> {
    let place = degree.measured(&claim.words);
    let is_content = |place: &usize| claim.terms.get(*place).is_some_and(|term| term.kind != TermKind::Stop);
    let is_told = |place: usize| table.is_named_at(place) || table.is_headed_by(place);
    // "More churches than Dale" is about no column.
    if place.filter(is_content).is_some_and(|place| !is_told(place)) {
        return None;
    }
    let is_cost = |(place, word): (usize, &Cow<'_, str>)| COSTS.contains(&word.as_ref()) && !table.is_named_at(place);
    let tells_price = claim.words.iter().enumerate().any(is_cost);
    let labels = if tells_price { Measure::PRICE.labels() } else { degree.measure.labels() };
    let has_numbers = |column: &&Column| rows.iter().all(|row| amount(table, *row, column).is_some());
    let is_labelled = |column: &&Column| labels.is_empty() || table.has_label(column, labels);
    let found: Vec<&Column> = table.columns.iter().filter(has_numbers).filter(is_labelled).collect();
    let named = found.iter().filter(|column| !column.places.is_empty());
    let named: Vec<&Column> = named.copied().collect();
    match (named.as_slice(), found.as_slice()) {
        ([only], _) | ([], [only]) => Some(only),
        _ => None,
    }
}

/// Whether a number of a claim is the difference of two values, as far as it is rounded: in per cent the relative one, or for
/// values in per cent either.
pub(super) fn is_distance(claim: &Claim<'_>, place: usize, (from, to): (f64, f64), are_percents: bool) -> bool {
    let Some(term) = claim.terms.get(place) else { return false };
    let plain = plain_and_scale(claim.text, term).map(|(number, _)| number);
    let is = |value: f64, told: &str| {
        let decimals = told.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let tolerance = 0.5 * 10_f64.powi(-i32::try_from(decimals).unwrap_or(i32::MAX)) * (1.0 + 1e-9);
        let bound = Bound::before(claim, place).map(|(bound, _)| bound);
        told.parse::<f64>().is_ok_and(|told| match bound {
            Some(bound) if bound != Bound::About => bound.holds(value.abs(), told),
            Some(_) | None => (value.abs() - told).abs() <= tolerance,
        })
    };
    let is_it = |value: f64| is(value, &term.stem) || plain.as_deref().is_some_and(|plain| is(value, plain));
    let is_relative = || from != 0.0 && is_it((to - from) / from * 100.0);
    match term.unit == Some("percent") {
        true => is_relative() || (are_percents && is_it(to - from)),
        false => is_it(to - from),
    }
}
