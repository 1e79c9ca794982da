//! Several rows or columns that a claim names, each with its value: "Dover had 14 and Hull 22", "14 in 2019 and 22 in 2018".

use std::collections::BTreeSet;

use super::Differing;
use super::named_rows::Named;
use super::table::{Column, Table};
use crate::citation::support::fact::Fact;
use crate::citation::support::polarity::Claim;
use crate::citation::term::TermKind;

/// Most mentions that are paired.
const MOST_MENTIONS: usize = 16;

/// How the values of a claim stand to the rows or columns that it names.
pub(super) enum Pairing {
    /// Each is of its own; the number of a row.
    Right(usize),
    Wrong(Differing),
}

/// A value in a claim: its place, and the lines, rows or columns, that have it.
struct Value {
    place: usize,
    lines: Vec<usize>,
}

/// The lines of a table, rows or columns, that a claim names, and the cells in which their values stand.
struct Lines {
    /// Places in the claim, with the line that each names.
    names: Vec<(usize, usize)>,
    cells: Vec<Cell>,
    /// The row of which the lines are columns.
    row: Option<usize>,
}

/// A cell by its row and column, and the line that it is of.
struct Cell {
    row: usize,
    column: usize,
    line: usize,
}

/// How the values stand to several rows, or to several columns of one row.
pub(super) fn pairing(table: &Table<'_>, claim: &Claim<'_>, facts: &[Fact<'_>]) -> Option<Pairing> {
    let lines = match table.named_rows.as_slice() {
        [row] => columns_of(table, row.row),
        rows => rows_of(table, rows),
    };
    paired(table, claim, facts, lines)
}

/// The named columns as lines. Those of one name, as of amounts and of shares of a year, are one line.
fn columns_of(table: &Table<'_>, row: usize) -> Lines {
    let line = |column: &Column| column.places.first().copied();
    let named: BTreeSet<usize> = table.named_columns().filter_map(line).collect();
    let cell = |column: &Column| Cell { row, column: column.number, line: line(column).unwrap_or(usize::MAX) };
    Lines {
        names: named.into_iter().map(|place| (place, place)).collect(),
        cells: table.columns.iter().map(cell).collect(),
        row: Some(row),
    }
}

/// The named rows as lines, with their cells in the named columns, if there are any.
fn rows_of(table: &Table<'_>, rows: &[Named]) -> Lines {
    let has_named = table.named_columns().next().is_some();
    let columns = table.columns.iter().filter(|column| !has_named || !column.places.is_empty());
    let columns: Vec<usize> = columns.map(|column| column.number).collect();
    let cell = |row: usize, column: usize| Cell { row, column, line: row };
    let mut names: Vec<(usize, usize)> = rows.iter().filter_map(|row| Some((*row.places.first()?, row.row))).collect();
    names.sort_unstable();
    let cells = rows.iter().flat_map(|row| columns.iter().map(move |column| cell(row.row, *column)));
    Lines { names, cells: cells.collect(), row: None }
}

/// Pairs the named lines with the values in their cells.
fn paired(table: &Table<'_>, claim: &Claim<'_>, facts: &[Fact<'_>], lines: Lines) -> Option<Pairing> {
    let Lines { names, cells, row } = lines;
    let are_apart = names.windows(2).all(|pair| matches!(pair, [one, two] if one.0 < two.0));
    if !(2..=MOST_MENTIONS).contains(&names.len()) || !are_apart {
        return None;
    }
    let values = values(table, cells);
    if names.len() != values.len() {
        return None;
    }
    let mut order: Vec<(usize, bool)> = names.iter().map(|(place, _)| (*place, true)).collect();
    order.extend(values.iter().map(|value| (value.place, false)));
    order.sort_unstable();
    let kinds: Vec<bool> = order.iter().map(|(_, is_name)| *is_name).collect();
    let alternate = kinds.windows(2).all(|pair| pair.first() != pair.last());
    let are_lists = kinds.windows(2).filter(|pair| pair.first() != pair.last()).count() == 1;
    if !alternate && !are_lists {
        return None;
    }
    let wrong = names.iter().zip(&values).find(|((_, line), value)| !value.lines.contains(line));
    let first = row.or_else(|| names.first().map(|(_, line)| *line))?;
    let Some(((_, line), value)) = wrong else { return Some(Pairing::Right(first)) };
    let term = claim.terms.get(value.place)?;
    Some(Pairing::Wrong(Differing::of_value(term, facts, row.unwrap_or(*line))))
}

/// The cells whose words the claim has in a row, in its order.
fn values(table: &Table<'_>, cells: Vec<Cell>) -> Vec<Value> {
    let mut values: Vec<Value> = Vec::new();
    for Cell { row, column, line } in cells {
        let words = table.words(row, column);
        if words.iter().all(|word| word.kind == TermKind::Stop) {
            continue;
        }
        let words: Vec<u32> = words.iter().map(|word| word.term).collect();
        for place in table.places_of(&words).filter(|place| !table.is_named_at(*place)) {
            match values.iter_mut().find(|value| value.place == place) {
                Some(value) => value.lines.push(line),
                None => values.push(Value { place, lines: vec![line] }),
            }
        }
    }
    values.sort_by_key(|value| value.place);
    values
}
