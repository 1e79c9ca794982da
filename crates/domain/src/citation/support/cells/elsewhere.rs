//! A value of a claim that is of another row or column than the one that it names.

use std::borrow::Cow;

use super::Differing;
use super::table::{Column, Table};
use crate::citation::source::Token;
use crate::citation::support::contradiction::ContradictionKind;
use crate::citation::support::fact::Fact;
use crate::citation::support::polarity::Claim;
use crate::citation::term::{Term, TermKind};
use crate::wording::{has_digit, lower_case_words, says_yes};

/// Most columns in which other rows are looked at, and most of these.
const MOST_COLUMNS: usize = 16;
const MOST_ROWS: usize = 256;

/// The named row, where the claim has a number of another cell in place of that in its column; where the row is named by a range,
/// a number that the row does not have at all. Numbers that other rules have settled do not count.
pub(super) fn against(
    table: &Table<'_>,
    claim: &Claim<'_>,
    facts: &[Fact<'_>],
    is_settled: impl Fn(usize) -> bool,
) -> Option<Differing> {
    let [row] = table.named_rows.as_slice() else { return None };
    let column = table.named_column();
    let values = claim.terms.iter().enumerate().filter(|(_, term)| term.kind == TermKind::Number);
    let found = values.filter(|(place, _)| !table.is_named_at(*place) && !is_settled(*place)).find(|(_, term)| {
        let is_in_others = || row.is_range && is_in_other_rows(table, row.row, term);
        is_in_others() || column.is_some_and(|column| is_of_another_cell(table, row.row, column, term))
    });
    let Some((_, term)) = found else {
        let has_others = has_words_of_another_row(table, row.row)
            || column.is_some_and(|column| has_words_of_another_cell(table, claim, row.row, column));
        return has_others.then_some(Differing { kind: ContradictionKind::Name, fact: None, row: row.row });
    };
    Some(Differing::of_value(term, facts, row.row))
}

fn is_in_other_rows(table: &Table<'_>, row: usize, term: &Term) -> bool {
    let rows = table.source.term(&term.stem).map(|number| table.source.postings(number)).unwrap_or_default();
    !rows.contains(&row) && rows.iter().any(|other| table.rows.contains(other))
}

/// Whether a number stands in a named row in another column, or in the named column in another row, while the cell of both has a
/// number that the claim does not have, or nothing of the claim.
fn is_of_another_cell(table: &Table<'_>, row: usize, column: &Column, term: &Term) -> bool {
    let Some(number) = table.source.term(&term.stem) else { return false };
    let tokens = |row: usize| table.tokens(row).iter();
    let is_it = |token: &&Token| token.term == number;
    let own = || tokens(row).filter(|token| token.column == column.number && !column.label.contains(&token.term));
    let is_claimed = |token: &Token| table.is_claimed(token.term);
    let has_other = own().any(|token| token.kind == TermKind::Number && !is_claimed(token))
        || (own().next().is_some() && !own().any(is_claimed));
    if !has_other || own().any(|token| is_it(&token)) {
        return false;
    }
    let in_row = || tokens(row).filter(is_it).any(|token| token.column != column.number);
    let in_column = || {
        let rows = table.source.postings(number).iter().filter(|other| table.rows.contains(other));
        rows.flat_map(|other| tokens(*other)).filter(is_it).any(|token| token.column == column.number)
    };
    in_row() || in_column()
}

/// Whether a claim has the words of a cell of another row, several or a code, and nothing of the cell that the named row has in
/// its place.
fn has_words_of_another_row(table: &Table<'_>, row: usize) -> bool {
    let content = |row: usize, column: usize| {
        let words = table.words(row, column).into_iter().filter(|word| word.kind != TermKind::Stop);
        words.map(|word| word.term).collect::<Vec<_>>()
    };
    let is_name = |words: &[u32]| {
        let is_code = |term: &u32| {
            let stem = table.source.stem(*term).unwrap_or_default();
            has_digit(stem) && stem.contains(char::is_alphabetic)
        };
        words.len() > 1 || words.iter().any(is_code)
    };
    let columns = table.columns.iter().map(|column| column.number).filter(|column| {
        let own = content(row, *column);
        !own.is_empty() && !own.iter().any(|term| table.is_claimed(*term))
    });
    columns.take(MOST_COLUMNS).any(|column| {
        let others = table.rows.clone().filter(|other| *other != row).map(|other| content(other, column));
        others
            .take(MOST_ROWS)
            .any(|words| is_name(&words) && !are_numbers(table, &words) && table.places_of(&words).next().is_some())
    })
}

/// Whether a claim has the words of another cell of the row instead of those that the named cell has: "off" of Monday, where "off" is
/// below "Tuesday".
fn has_words_of_another_cell(table: &Table<'_>, claim: &Claim<'_>, row: usize, column: &Column) -> bool {
    let is_said = |cell: &str| {
        let words: Vec<String> = lower_case_words(cell).collect();
        let windows = claim.words.windows(words.len().max(1)).enumerate();
        let is_here = |(start, window): (usize, &[Cow<'_, str>])| {
            window.iter().eq(words.iter()) && (start..start + words.len()).all(|place| !table.is_of_name(claim, place))
        };
        !words.is_empty() && windows.into_iter().any(is_here)
    };
    let is_word = |cell: &&str| !has_digit(cell) && cell.contains(char::is_alphabetic) && says_yes(cell).is_none();
    let Some(own) = table.cell(row, column.number).filter(is_word) else { return false };
    let others = table.columns.iter().filter(|other| other.number != column.number);
    let mut others = others.filter_map(|other| table.cell(row, other.number)).filter(is_word);
    !is_said(own) && others.any(|other| !other.eq_ignore_ascii_case(own) && is_said(other))
}

/// Whether words are numbers alone: another rule is for these.
fn are_numbers(table: &Table<'_>, words: &[u32]) -> bool {
    words.iter().all(|term| table.source.stem(*term).is_some_and(|stem| !stem.contains(char::is_alphabetic)))
}
