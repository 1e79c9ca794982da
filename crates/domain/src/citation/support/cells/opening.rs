//! Cells that say "closed" where others have hours.

use super::Answer;
use super::table::Table;
use crate::citation::support::polarity::Claim;
use crate::wording::{denies, has_digit, lower_case_words};

/// Words of cells and claims, in lower case.
const CLOSED: [&str; 5] = ["close", "closed", "fermé", "fermée", "geschlossen"];
const OPEN: [&str; 6] = ["offen", "open", "opens", "ouvert", "ouverte", "geöffnet"];

/// Whether the cells of the named rows and columns are closed where the claim says so, and have hours where it says "open".
pub(super) fn answer(table: &Table<'_>, claim: &Claim<'_>) -> Option<Answer> {
    let says_closed = says_closed(claim)?;
    if denies(claim.text) || claim.tells_case() {
        return None;
    }
    let mut agreeing = None;
    for row in &table.named_rows {
        for column in table.named_columns() {
            let Some(is_closed) = is_closed(table, row.row, column.number) else { continue };
            if is_closed != says_closed {
                return Some(Answer::new(false, row.row));
            }
            agreeing = agreeing.or(Some(Answer::new(true, row.row)));
        }
    }
    agreeing
}

/// Whether a claim says that something is closed; `None` of one that does not say "open" either.
pub(super) fn says_closed(claim: &Claim<'_>) -> Option<bool> {
    let is_said = |list: &[&str]| claim.words.iter().any(|word| list.contains(&word.as_ref()));
    match (is_said(&CLOSED), is_said(&OPEN)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

/// Whether a cell says that something is closed; `None` of one that neither says so nor has hours.
pub(super) fn is_closed(table: &Table<'_>, row: usize, column: usize) -> Option<bool> {
    let cell = table.cell(row, column)?;
    let first = lower_case_words(cell).next()?;
    if CLOSED.contains(&first.as_str()) { Some(true) } else { has_digit(cell).then_some(false) }
}
