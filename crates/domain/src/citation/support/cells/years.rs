//! The values of a row or a column in the two years, or other columns, between which a claim tells a movement.

use super::named_rows::Named;
use super::table::{Column, Table, number_in};
use crate::citation::support::figures::is_date;
use crate::citation::support::polarity::Claim;

/// Two values, with a row that has one of them.
pub(super) struct ValuesOfYears {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) row: usize,
}

/// The values between which the claim tells a movement by the word at a place: of the named row, where the columns are years, or of
/// the named column, where the rows are.
pub(super) fn values_of_years(
    table: &Table<'_>,
    claim: &Claim<'_>,
    at: usize,
    is_comparison: bool,
) -> Option<ValuesOfYears> {
    let value = |row: usize, column: &Column| table.cell(row, column.number).and_then(number_in);
    if let [row] = table.named_rows.as_slice()
        && let Some((from, to)) = named_ends(table, claim)
    {
        return Some(ValuesOfYears { from: value(row.row, from)?, to: value(row.row, to)?, row: row.row });
    }
    let (from, to) = years(claim, at, is_comparison)?;
    let (from, to, row) = match table.named_rows.as_slice() {
        [row] if !is_of_year(table, row.row) => {
            let of_year = |year: u32| only(table.columns.iter().filter(|column| table.year_of(column) == Some(year)));
            (value(row.row, of_year(from)?)?, value(row.row, of_year(to)?)?, row.row)
        }
        rows if rows.iter().all(|Named { row, .. }| is_of_year(table, *row)) => {
            let column = table.named_column()?;
            let of_year = |year: u32| only(table.rows.clone().filter(|row| years_of(table, *row).eq([year])));
            let (from, to) = (of_year(from)?, of_year(to)?);
            (value(from, column)?, value(to, column)?, to)
        }
        _ => return None,
    };
    // A larger loss is further below zero.
    let (from, to) = if from < 0.0 && to < 0.0 { (-from, -to) } else { (from, to) };
    Some(ValuesOfYears { from, to, row })
}

/// The columns, of no years, of "from Q1 to Q2".
fn named_ends<'t>(table: &'t Table<'_>, claim: &Claim<'_>) -> Option<(&'t Column, &'t Column)> {
    let behind = |prepositions: &[&str]| {
        let before =
            |place: usize| place.checked_sub(1).and_then(|before| claim.words.get(before)).map_or("", AsRef::as_ref);
        let is_behind =
            |column: &&Column| column.places.first().is_some_and(|first| prepositions.contains(&before(*first)));
        only(table.named_columns().filter(|column| table.year_of(column).is_none()).filter(is_behind))
    };
    behind(&["from", "von", "vom"]).zip(behind(&["auf", "bis", "to", "zu", "zum"]))
}

fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}

/// The years in the name of a row.
fn years_of<'t>(table: &'t Table<'_>, row: usize) -> impl Iterator<Item = u32> + 't {
    let name = table.tokens(row).iter().filter(|token| token.column == 1 && table.is_year(token.term));
    name.filter_map(|token| table.source.stem(token.term)?.parse().ok())
}

fn is_of_year(table: &Table<'_>, row: usize) -> bool {
    years_of(table, row).next().is_some()
}

/// The two years between which the claim tells a movement, the one that it begins with first: of two years that it names the earlier
/// one, or with a comparative the one behind "than"; else the year before the one that it names.
fn years(claim: &Claim<'_>, at: usize, is_comparison: bool) -> Option<(u32, u32)> {
    let dates = claim.terms.iter().enumerate().filter(|(_, term)| is_date(claim.text, term));
    let mut claimed: Vec<(usize, u32)> =
        dates.filter_map(|(place, term)| Some((place, term.stem.parse().ok()?))).collect();
    claimed.dedup_by_key(|(_, year)| *year);
    match claimed.as_slice() {
        [(_, year)] if !is_comparison => Some((year.checked_sub(1)?, *year)),
        [(_, one), (second, two)] if is_comparison => {
            let than = claim.words.iter().position(|word| word == "than")?;
            (at < than && than < *second).then_some((*two, *one))
        }
        [(_, one), (_, two)] => Some((*one.min(two), *one.max(two))),
        _ => None,
    }
}
