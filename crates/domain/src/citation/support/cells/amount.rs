//! Values of cells that are compared, and the column that holds them.

use std::borrow::Cow;

use super::degree::{COSTS, Degree, Measure};
use super::table::{Column, Table, number_in};
use crate::citation::support::bound::Bound;
use crate::citation::support::figures::plain_and_scale;
use crate::citation::support::polarity::Claim;
use crate::citation::support::restated::is_limit;
use crate::citation::term::TermKind;
use crate::citation::unit::{Unit, measures_same};
use crate::wording::{is_unlimited, lower_case};

/// Most cells beside one that tell how its thousands are written.
const MOST_BESIDE: usize = 32;

/// Cells for no price.
const NOTHING: [&str; 3] = ["free", "gratis", "kostenlos"];

/// A number in a cell, with the unit that stands beside it or in the label of its column.
#[derive(Clone, Copy)]
pub(super) struct Amount {
    pub(super) value: f64,
    pub(super) unit: Option<Unit>,
    pub(super) sign: Sign,
}

/// The sign of a number in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    None,
    Minus,
    Parentheses,
}

/// The only number in a cell, if the cell is no range or bound. One in parentheses is a cost, or a loss.
pub(super) fn amount(table: &Table<'_>, row: usize, column: &Column) -> Option<Amount> {
    let cell = table.cell(row, column.number)?;
    let said = lower_case(cell);
    if is_unlimited(cell) || NOTHING.contains(&said.as_ref()) {
        let value = if is_unlimited(cell) { f64::INFINITY } else { 0.0 };
        return Some(Amount { value, unit: None, sign: Sign::None });
    }
    let words = table.words(row, column.number);
    let mut numbers = words.iter().filter(|word| matches!(word.kind, TermKind::Number | TermKind::Spelled));
    let number = numbers.next().filter(|_| numbers.next().is_none())?;
    let before = said.split(|sign: char| sign.is_ascii_digit()).next().unwrap_or_default();
    let is_bound =
        cell.starts_with(['<', '>', '~', '≤', '≥', '±']) || cell.ends_with('+') || before.split(' ').any(is_limit);
    if is_bound {
        return None;
    }
    let sign = match cell.chars().next() {
        Some('(') => Sign::Parentheses,
        Some('-' | '−' | '–') => Sign::Minus,
        _ => Sign::None,
    };
    let value = table
        .source
        .word(&number.bytes)
        .and_then(number_in)
        .or_else(|| table.source.stem(number.term)?.parse().ok())?;
    // "Year ended" is no measure.
    let above = column.units.iter().copied().find(|unit| *unit != "year").filter(|_| column.units.len() == 1);
    let value = if is_in_thousands(table, row, column) { value * 1000.0 } else { value };
    let value = if sign == Sign::Minus { -value } else { value };
    Some(Amount { value, unit: number.unit.or(above).or_else(|| table.unit_of_row(row)), sign })
}

/// Whether the point in a cell groups thousands, as in German: three digits follow it, and whole numbers of three stand beside it.
fn is_in_thousands(table: &Table<'_>, row: usize, column: &Column) -> bool {
    let digits =
        |cell: &str| cell.chars().filter(|sign| sign.is_ascii_digit() || matches!(sign, '.' | ',')).collect::<String>();
    let is_grouped = |cell: &str| {
        digits(cell).split_once('.').is_some_and(|(one, two)| (1..=3).contains(&one.len()) && two.len() == 3)
    };
    let is_whole = |cell: &str| digits(cell).len() == 3 && digits(cell).bytes().all(|sign| sign.is_ascii_digit());
    let in_row = table.columns.iter().filter_map(|other| table.cell(row, other.number));
    let in_column = table.rows.clone().filter_map(|other| table.cell(other, column.number));
    table.cell(row, column.number).is_some_and(is_grouped) && in_row.chain(in_column).take(MOST_BESIDE).any(is_whole)
}

/// The only column with numbers in these rows that a comparison is about: one that the claim names, one whose label says what is
/// compared, or the only one that there is.
pub(super) fn measured<'t>(
    table: &'t Table<'_>,
    claim: &Claim<'_>,
    degree: Degree,
    rows: &[usize],
) -> Option<&'t Column> {
    let place = degree.measured(&claim.words).filter(|place| degree.than != Some(*place));
    let is_content = |place: &usize| claim.terms.get(*place).is_some_and(|term| term.kind != TermKind::Stop);
    let is_told = |place: usize| table.is_named_at(place) || table.is_headed_by(place);
    // "More churches than Dale" is about no column, and "won more matches" about the one that says "won".
    let is_untold = place.filter(is_content).is_some_and(|place| !is_told(place));
    let is_cost = |(place, word): (usize, &Cow<'_, str>)| COSTS.contains(&word.as_ref()) && !table.is_named_at(place);
    let tells_price = claim.words.iter().enumerate().any(is_cost);
    let measure = if tells_price { Measure::Price } else { degree.measure };
    let has_numbers = |column: &&Column| rows.iter().all(|row| amount(table, *row, column).is_some());
    let is_labelled = |column: &&Column| measure.names().is_none_or(|names| names.name(&column.text));
    let numeric: Vec<&Column> = table.columns.iter().filter(has_numbers).collect();
    let labelled: Vec<&Column> = numeric.iter().copied().filter(is_labelled).collect();
    // "28 €" is a price whatever stands above it.
    let is_of_kind = |column: &&Column| {
        let units = rows.iter().filter_map(|row| amount(table, *row, column)?.unit);
        measure
            .unit()
            .is_some_and(|kind| units.clone().count() > 0 && units.clone().all(|unit| measures_same(unit, kind)))
    };
    let found = if labelled.is_empty() { numeric.into_iter().filter(is_of_kind).collect() } else { labelled };
    let named = found.iter().filter(|column| !column.places.is_empty());
    let named: Vec<&Column> = named.copied().collect();
    match (named.as_slice(), found.as_slice()) {
        ([only], _) => Some(only),
        ([], [only]) if !is_untold => Some(only),
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
    if term.unit == Some("percent") { is_relative() || (are_percents && is_it(to - from)) } else { is_it(to - from) }
}
