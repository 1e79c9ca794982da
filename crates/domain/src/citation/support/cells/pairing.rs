//! Several rows or columns that a claim names, each with its value: "Dover had 14 and Hull 22", "14 in 2019 and 22 in 2018".

use std::collections::BTreeSet;

use super::Differing;
use super::table::{Column, Table};
use crate::citation::support::contradiction::ContradictionKind;
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

/// How the values stand to several rows, or to several columns of one row.
pub(super) fn pairing(table: &Table<'_>, claim: &Claim<'_>, facts: &[Fact<'_>]) -> Option<Pairing> {
    match table.named_rows.as_slice() {
        [row] => {
            // Columns of one name, as those of amounts and of shares of a year, are one line.
            let line = |column: &Column| column.places.first().copied();
            let named: BTreeSet<usize> = table.named_columns().filter_map(line).collect();
            let cells = table.columns.iter().map(|column| (row.row, column.number, line(column).unwrap_or(usize::MAX)));
            let named = named.into_iter().map(|place| (place, place)).collect();
            paired(table, claim, facts, (named, cells.collect(), Some(row.row)))
        }
        rows => {
            let named = rows.iter().filter_map(|row| Some((*row.places.first()?, row.row)));
            let columns: Vec<usize> = match table.named_columns().map(|column| column.number).collect::<Vec<_>>() {
                named if named.is_empty() => table.columns.iter().map(|column| column.number).collect(),
                named => named,
            };
            let cells = rows.iter().flat_map(|row| columns.iter().map(|column| (row.row, *column, row.row)));
            paired(table, claim, facts, (named.collect(), cells.collect(), None))
        }
    }
}

/// Pairs the named lines, with their places, and the values of cells, which are given by row, column and line.
fn paired(
    table: &Table<'_>,
    claim: &Claim<'_>,
    facts: &[Fact<'_>],
    (mut names, cells, row): (Vec<(usize, usize)>, Vec<(usize, usize, usize)>, Option<usize>),
) -> Option<Pairing> {
    names.sort_unstable();
    let values = values(table, claim, cells);
    let are_apart = names.windows(2).all(|pair| matches!(pair, [one, two] if one.0 < two.0));
    if names.len() < 2 || !are_apart || names.len() != values.len() || names.len() > MOST_MENTIONS {
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
    let fact = facts.iter().position(|fact| fact.stem == term.stem);
    let kind = if term.kind == TermKind::Number { ContradictionKind::Number } else { ContradictionKind::Name };
    Some(Pairing::Wrong(Differing { kind, fact, row: row.unwrap_or(*line) }))
}

/// The cells whose words the claim has in a row, in its order.
fn values(table: &Table<'_>, claim: &Claim<'_>, cells: Vec<(usize, usize, usize)>) -> Vec<Value> {
    let terms: Vec<Option<u32>> = claim.terms.iter().map(|term| table.source.term(&term.stem)).collect();
    let is_name = |place: &usize| {
        let names = table.named_rows.iter().map(|row| &row.places);
        names.chain(table.columns.iter().map(|column| &column.places)).any(|places| places.contains(place))
    };
    let mut values: Vec<Value> = Vec::new();
    for (row, column, line) in cells {
        let words = words_of(table, row, column);
        if words.iter().all(|(_, kind)| *kind == TermKind::Stop) {
            continue;
        }
        let is_here = |window: &[Option<u32>]| window.iter().zip(&words).all(|(own, (term, _))| *own == Some(*term));
        let places = terms.windows(words.len()).enumerate().filter(|(_, window)| is_here(window)).map(|(at, _)| at);
        for place in places.filter(|place| !is_name(place)) {
            match values.iter_mut().find(|value| value.place == place) {
                Some(value) => value.lines.push(line),
                None => values.push(Value { place, lines: vec![line] }),
            }
        }
    }
    values.sort_by_key(|value| value.place);
    values
}

/// The terms of a cell, without its label.
fn words_of(table: &Table<'_>, row: usize, column: usize) -> Vec<(u32, TermKind)> {
    let Some(sentence) = table.source.sentences.get(row) else { return Vec::new() };
    let label = if sentence.header.is_empty() { table.column(column).map(|column| &column.label) } else { None };
    let tokens = sentence.tokens.clone().filter_map(|at| table.source.tokens.get(at));
    let own = tokens.filter(|token| token.column == column);
    own.filter(|token| !label.is_some_and(|label| label.contains(&token.term)))
        .map(|token| (token.term, token.kind))
        .collect()
}
