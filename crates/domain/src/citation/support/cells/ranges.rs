//! Rows and columns whose names are ranges: "2–5 kg", "up to 2 kg", "over 10 kg", "Mon–Fri".

use std::ops::Range;

use super::named_rows::{Named, name_tokens};
use super::table::is_equal;
use crate::citation::source::{SourceParts, SourceSentence, Token};
use crate::citation::support::polarity::Claim;
use crate::citation::term::TermKind;
use crate::citation::unit::Unit;
use crate::lexical::calendar::DAYS;
use crate::wording::lower_case;

/// Words and signs before the only number of a range that is its end, and its beginning.
const TO: [&str; 9] = ["<", "≤", "below", "bis", "less", "max", "to", "under", "unter"];
const FROM: [&str; 9] = [">", "≥", "ab", "above", "from", "min", "more", "over", "über"];

/// A range of numbers with a unit, the beginning exclusive.
struct Bounds {
    from: f64,
    to: f64,
    unit: Unit,
}

/// The only row whose name is a range with a number of the claim, which has the unit of the range and is no end of one.
pub(super) fn row_with(source: &SourceParts, rows: Range<usize>, claim: &Claim<'_>) -> Option<Named> {
    let ranges: Vec<(usize, Bounds)> =
        rows.clone().filter_map(|number| Some((number, bounds(source, source.sentences.get(number)?)?))).collect();
    let numbers = claim.terms.iter().enumerate().filter(|(_, term)| term.is_number());
    let mut found = numbers.filter_map(|(place, term)| {
        let value: f64 = term.stem.parse().ok()?;
        let of_unit = || ranges.iter().filter(|(_, range)| term.unit == Some(range.unit));
        if of_unit().any(|(_, range)| is_equal(range.from, value) || is_equal(range.to, value)) {
            return None;
        }
        let mut holding = of_unit().filter(|(_, range)| range.from < value && value < range.to);
        let (row, _) = holding.next().filter(|_| holding.next().is_none())?;
        Some(Named { row: *row, places: vec![place], is_range: true })
    });
    let by_number = found.next().filter(|_| found.next().is_none());
    by_number.or_else(|| row_of_day(source, rows, claim))
}

/// The only row whose name is a range of days with one of the claim in it.
fn row_of_day(source: &SourceParts, mut rows: Range<usize>, claim: &Claim<'_>) -> Option<Named> {
    rows.find_map(|number| {
        let tokens: Vec<&Token> = name_tokens(source, source.sentences.get(number)?).collect();
        let places: Vec<usize> = days_of(claim, &days_between(source, &tokens)).collect();
        (!places.is_empty()).then_some(Named { row: number, places, is_range: true })
    })
}

/// The stems of the days that lie between two which a name has: of "Mon–Fri".
pub(super) fn days_between(source: &SourceParts, name: &[&Token]) -> Vec<&'static str> {
    let day = |token: &Token| {
        let stem = source.stem(token.term)?;
        DAYS.iter().position(|day| *day == stem)
    };
    let ranges = name.windows(2).filter_map(|pair| {
        let [one, two] = pair else { return None };
        let joint = source.word(&(one.bytes.end..two.bytes.start))?.trim();
        Some((day(one)?, day(two)?)).filter(|_| matches!(joint, "-" | "–" | "—"))
    });
    let between = ranges.flat_map(|(from, to)| from + 1..to);
    between.filter_map(|day| DAYS.get(day).copied()).collect()
}

/// The places of these days in a claim.
pub(super) fn days_of(claim: &Claim<'_>, days: &[&str]) -> impl Iterator<Item = usize> {
    let terms = claim.terms.iter().enumerate();
    terms.filter(|(_, term)| days.contains(&term.stem.as_str())).map(|(place, _)| place)
}

/// The range that names a row.
fn bounds(source: &SourceParts, row: &SourceSentence) -> Option<Bounds> {
    row.name.as_ref()?;
    let numbers: Vec<_> = name_tokens(source, row).filter(|token| token.kind == TermKind::Number).collect();
    let unit = numbers.iter().find_map(|token| token.unit)?;
    let value =
        |at: usize| numbers.get(at).and_then(|token| source.stem(token.term)).and_then(|stem| stem.parse().ok());
    let (first, last) = (numbers.first()?, numbers.last()?);
    let before = source.word(&(row.bytes.start..first.bytes.start)).map(lower_case)?;
    let after = source.word(&(last.bytes.end..row.bytes.end))?;
    let is_said = |list: &[&str]| before.split(['|', ' ']).any(|word| list.contains(&word));
    let (from, to) = match numbers.len() {
        2 => (value(0)?, value(1)?),
        1 if is_said(&TO) => (f64::NEG_INFINITY, value(0)?),
        1 if is_said(&FROM) || after.starts_with('+') => (value(0)?, f64::INFINITY),
        _ => return None,
    };
    (from < to).then_some(Bounds { from, to, unit })
}
