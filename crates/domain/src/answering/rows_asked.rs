//! The rows of a table that a question for several things asks for: those with the value that it names.

use std::ops::Range;

use super::naming::{AskedWords, words_in};
use super::read_source::ReadSource;
use super::row::{columns_and_values, without_unit};
use super::superlative::asks_for_extreme;
use super::units::UnitKind;
use crate::citation::is_unit;
use crate::evidence::kind::AnswerKind;
use crate::evidence::measure::counted;
use crate::evidence::{Question, TermMask};

/// Most rows of an answer.
const MOST_ROWS: usize = 12;

/// Whether a question is over all rows of a table: for those with something, for their number, or for the one with the most of it.
#[must_use]
pub fn asks_over_rows(question: &Question) -> bool {
    counts_rows(question) || question.kind == AnswerKind::List || asks_for_extreme(&question.asked)
}

/// Whether a question may be for the number of rows with something, not for an amount of days or pounds.
pub(super) fn counts_rows(question: &Question) -> bool {
    question.measure.is_none() && counted(&question.asked).is_some_and(|counted| !is_unit(&counted))
}

/// A row of a table, by the number of its source and the position of its unit.
struct Row {
    at: (usize, usize),
    /// Whether the question names one of its columns and, beside it, the value there: "rating A".
    is_named: bool,
    /// Question terms in its cells, without the names of columns.
    values: TermMask,
}

/// The rows that a question asks for.
#[derive(Debug, Default)]
pub(super) struct RowsAsked {
    /// The number of the source of each, and the position of its unit.
    pub(super) rows: Vec<(usize, Range<usize>)>,
    /// Whether each has a value that the question names with its column.
    pub(super) are_named: bool,
}

/// The rows that a question asks for, of the table in which one row is the best, in their order: those with a value that it
/// names with its column, else those that hold as much of it in their cells as the best row. Empty where that is no choice: the
/// question names nothing that single rows hold, or all of them do without a value.
pub(super) fn rows_asked_for(question: &Question, read: &[ReadSource<'_>], best: (usize, usize)) -> RowsAsked {
    let document = |number: usize| read.get(number).map(|read| read.source.key.document_id);
    let numbers = (0..read.len()).filter(|number| document(*number) == document(best.0));
    let mut sources: Vec<(usize, &ReadSource<'_>)> = numbers.filter_map(|at| Some((at, read.get(at)?))).collect();
    sources.sort_by_key(|(_, read)| read.source.key.ordinal);
    let rows: Vec<Row> = sources.iter().flat_map(|(number, read)| rows(question, *number, read)).collect();
    let values = rows.iter().find(|row| row.at == best).map_or(0, |row| row.values);
    let is_named = rows.iter().any(|row| row.is_named);
    let is_asked_for = |row: &&Row| if is_named { row.is_named } else { values != 0 && row.values & values == values };
    let chosen: Vec<&Row> = rows.iter().filter(is_asked_for).collect();
    if chosen.len() == rows.len() && !is_named || chosen.len() > MOST_ROWS {
        return RowsAsked::default();
    }
    let rows = chosen.into_iter().map(|row| (row.at.0, row.at.1..row.at.1 + 1)).collect();
    RowsAsked { rows, are_named: is_named }
}

fn rows(question: &Question, number: usize, read: &ReadSource<'_>) -> Vec<Row> {
    let asked = AskedWords::of(&question.asked);
    let units = read.units.iter().enumerate().filter(|(_, unit)| unit.kind == UnitKind::Row);
    let row = |(at, unit): (usize, &super::units::Unit)| {
        let header = read.header_of(unit).unwrap_or_default();
        let cells = columns_and_values(header, read.source.text.get(unit.range.clone())?);
        Some(Row {
            at: (number, at),
            is_named: cells
                .iter()
                .any(|(column, value)| asked.name(column, value) || asked.asks_for_so(without_unit(column), value)),
            values: cells.iter().fold(0, |mask, (_, value)| mask | words_in(question, value)),
        })
    };
    units.filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::analyzer::Analyzer;

    #[test]
    fn things_are_counted_by_rows_and_amounts_are_not() {
        for (question, expected) in [
            ("How many stations are of granite?", true),
            ("how many first aiders have we got?", true),
            ("How many days of leave do I get?", false),
            ("How many weeks is the notice?", false),
            ("Which stations are of granite?", false),
        ] {
            let parsed = Question::new(Analyzer::english(), question, 100, |_| 3);
            assert_eq!(counts_rows(&parsed), expected, "{question}");
        }
    }
}
