//! Rises and falls that a claim tells between two columns of a row.

use std::borrow::Cow;

use super::amount::is_distance;
use super::table::{Column, Table, is_equal, number_in};
use super::years::{ValuesOfYears, values_of_years};
use super::{Answer, Differing};
use crate::citation::support::contradiction::ContradictionKind;
use crate::citation::support::figures::{is_date, is_quantity};
use crate::citation::support::polarity::Claim;
use crate::citation::term::TermKind;
use crate::wording::is_negation;

/// Words of a rise and of a fall, in lower case.
const RISES: [&str; 27] = [
    "climbed",
    "erhöhte",
    "gestiegen",
    "grew",
    "grow",
    "growing",
    "grown",
    "grows",
    "higher",
    "increase",
    "increased",
    "increases",
    "increasing",
    "jumped",
    "more",
    "raised",
    "rise",
    "risen",
    "rises",
    "rising",
    "rose",
    "stieg",
    "stiegen",
    "surged",
    "widened",
    "widens",
    "wuchs",
];
const FALLS: [&str; 31] = [
    "cut",
    "cuts",
    "decline",
    "declined",
    "declines",
    "declining",
    "decrease",
    "decreased",
    "decreases",
    "decreasing",
    "dropped",
    "drops",
    "fall",
    "fallen",
    "falling",
    "falls",
    "fell",
    "fewer",
    "fiel",
    "gesunken",
    "less",
    "lower",
    "narrowed",
    "reduced",
    "sank",
    "sanken",
    "shrank",
    "shrinks",
    "shrunk",
    "slashed",
    "verringerte",
];
/// Words of both that compare what stands before "than" with what follows it.
const COMPARATIVES: [&str; 5] = ["fewer", "higher", "less", "lower", "more"];

/// Words of a claim that is about places in an order, where the first is the smallest.
const ORDERS: [&str; 6] = ["place", "placed", "platz", "position", "rank", "ranked"];

/// Words before a number by which something moves, and before one from which or to which it does; most words between.
const BY: [&str; 2] = ["by", "um"];
const TO: [&str; 8] = ["at", "auf", "bei", "from", "of", "to", "von", "was"];
const MOST_AFTER_BY: usize = 3;

/// A movement that a claim tells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Movement {
    Rise,
    Fall,
}

impl Movement {
    /// Whether it leads from one value to another. Equal ones are neither risen nor fallen.
    fn leads(self, from: f64, to: f64) -> bool {
        if self == Self::Rise { to > from } else { to < from }
    }
}

/// A row that moves otherwise, where [`answer`] tells nothing.
pub(super) fn against(table: &Table<'_>, claim: &Claim<'_>) -> Option<Differing> {
    let words = &claim.words;
    // "Net increase in cash" is a name.
    let (movement, at) = movement(words, |place| table.is_named_at(place))?;
    if words.iter().any(|word| ORDERS.contains(&word.as_ref())) {
        return None;
    }
    let row = match table.named_rows.as_slice() {
        [row] => row,
        // Years may be rows: "from 512 in 2019 to 498 in 2020".
        [one, two] => {
            let (from, to) = from_and_to(claim)?;
            let has_both = column_with(table, one.row, from).zip(column_with(table, two.row, to));
            let is_one_column = has_both.is_some_and(|(one, two)| one.number == two.number);
            let differing = Differing { kind: ContradictionKind::Opposite, fact: None, row: two.row };
            return (is_one_column && !movement.leads(from, to)).then_some(differing);
        }
        _ => return None,
    };
    let is_comparison = words.get(at).is_some_and(|word| COMPARATIVES.contains(&word.as_ref()));
    let differs = |from: f64, to: f64| !movement.leads(from, to);
    let differing = Differing { kind: ContradictionKind::Opposite, fact: None, row: row.row };
    if let Some((from, to)) = from_and_to(claim)
        && let (Some(one), Some(two)) = (column_with(table, row.row, from), column_with(table, row.row, to))
    {
        let names_year = claim.terms.iter().any(|term| is_date(claim.text, term));
        let is_backwards = || table.year_of(one).zip(table.year_of(two)).is_some_and(|(one, two)| one > two);
        return (differs(from, to) || (!names_year && is_backwards())).then_some(differing);
    }
    if let Some(change) = change_told(table, row.row, claim) {
        return differs(0.0, change).then_some(differing);
    }
    let ValuesOfYears { from, to, .. } = values_of_years(table, claim, at, is_comparison)?;
    differs(from, to).then_some(differing)
}

/// Whether a row rose or fell between two years by as much as a claim says, "by 318", "by 7 %", or is higher or lower in one year
/// than in the other.
pub(super) fn answer(table: &Table<'_>, claim: &Claim<'_>) -> Option<Answer> {
    let (movement, at) = movement(&claim.words, |place| table.is_named_at(place))?;
    let is_comparison = claim.words.get(at).is_some_and(|word| COMPARATIVES.contains(&word.as_ref()));
    if is_comparison && let Some(ValuesOfYears { from, to, row }) = values_of_years(table, claim, at, true) {
        return Some(Answer::new(movement.leads(from, to), row));
    }
    let is_change = |place: &usize| table.is_quantity(claim, *place) && is_change(&claim.words, *place, at);
    let mut numbers = (0..claim.terms.len()).filter(is_change);
    let number = numbers.next();
    let ValuesOfYears { from, to, row } = values_of_years(table, claim, at, false)?;
    // "Fell from 2019 to 2020" tells no number.
    let Some(number) = number.filter(|_| numbers.next().is_none()) else {
        let tells_number = (0..claim.terms.len()).any(|place| table.is_quantity(claim, place));
        return (!tells_number).then(|| Answer::new(movement.leads(from, to), row));
    };
    let is_of_percents = table.cell(row, 2).is_some_and(|cell| cell.contains('%'));
    let is_so = movement.leads(from, to) && is_distance(claim, number, (from, to), is_of_percents);
    // A column of changes may be told otherwise than from year to year.
    let stands_there = || {
        let term = table.claimed.get(number).copied().flatten();
        table.tokens(row).iter().any(|token| Some(token.term) == term)
    };
    (is_so || !stands_there()).then_some(Answer { is_so, row, number: Some(number) })
}

/// Whether a number is that by which something moves: "rose by EUR 318", "a 7 % rise".
fn is_change(words: &[Cow<'_, str>], number: usize, movement: usize) -> bool {
    let before = words.get(number.saturating_sub(MOST_AFTER_BY)..number).unwrap_or_default();
    let preposition = before.iter().rev().find(|word| BY.contains(&word.as_ref()) || TO.contains(&word.as_ref()));
    let is_before = movement > number && movement - number <= MOST_AFTER_BY;
    preposition.map_or(is_before, |word| BY.contains(&word.as_ref()))
}

/// The movement that the words tell, and the place of its word; `None` if they tell none or both. A denied one is none.
fn movement(words: &[Cow<'_, str>], is_name: impl Fn(usize) -> bool) -> Option<(Movement, usize)> {
    let place = |list: &[&str]| {
        let mut told = words.iter().enumerate().filter(|(at, word)| list.contains(&word.as_ref()) && !is_name(*at));
        told.next().map(|(at, _)| at)
    };
    match (place(&RISES), place(&FALLS)) {
        (Some(at), None) => Some((Movement::Rise, at)),
        (None, Some(at)) => Some((Movement::Fall, at)),
        _ => None,
    }
    .filter(|_| !words.iter().any(|word| is_negation(word)))
}

/// The numbers of "from A to B" or "to B from A".
fn from_and_to(claim: &Claim<'_>) -> Option<(f64, f64)> {
    let behind = |prepositions: &[&str]| {
        let mut found = claim.terms.iter().enumerate().skip(1).filter(|(at, term)| {
            let before = claim.words.get(at - 1).map_or("", AsRef::as_ref);
            is_quantity(claim.text, term) && prepositions.contains(&before)
        });
        let (_, only) = found.next()?;
        found.next().is_none().then(|| only.stem.parse::<f64>().ok()).flatten()
    };
    Some((behind(&["from", "von"])?, behind(&["auf", "to"])?))
}

/// The first column in which a row has a number, whatever its sign.
fn column_with<'t>(table: &'t Table<'_>, row: usize, value: f64) -> Option<&'t Column> {
    let number = |column: &Column| table.cell(row, column.number).and_then(number_in);
    table.columns.iter().find(|column| number(column).is_some_and(|number| is_equal(number.abs(), value)))
}

/// The change of a row by a value that the claim has, from a column of changes.
fn change_told(table: &Table<'_>, row: usize, claim: &Claim<'_>) -> Option<f64> {
    let changes = table.columns.iter().filter(|column| table.tells_change(column));
    let mut values = changes.filter_map(|column| table.cell(row, column.number)).filter_map(number_in);
    let numbers = || claim.terms.iter().filter(|term| term.kind == TermKind::Number);
    let claimed =
        |value: f64| numbers().filter_map(|term| term.stem.parse().ok()).any(|number| is_equal(number, value.abs()));
    values.find(|value| *value != 0.0 && claimed(*value))
}
