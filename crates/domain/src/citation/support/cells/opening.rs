//! Cells that say "closed" where others have hours.

use super::table::Table;
use super::yes_no::Answer;
use crate::citation::support::polarity::Claim;
use crate::wording::{denies, has_digit, lower_case_words};

/// Words of cells and claims, in lower case.
const CLOSED: [&str; 5] = ["close", "closed", "fermé", "fermée", "geschlossen"];
const OPEN: [&str; 6] = ["offen", "open", "opens", "ouvert", "ouverte", "geöffnet"];

/// Whether the cells of the named rows and columns are closed where the claim says so, and have hours where it says "open".
pub(super) fn answer(table: &Table<'_>, claim: &Claim<'_>) -> Option<Answer> {
    let words: Vec<String> = lower_case_words(claim.text).collect();
    let is_said = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let says_closed = match (is_said(&CLOSED), is_said(&OPEN)) {
        (true, false) => true,
        (false, true) => false,
        _ => return None,
    };
    if denies(claim.text) || claim.tells_case() {
        return None;
    }
    let mut agreeing = None;
    for row in &table.named_rows {
        for column in table.named_columns() {
            let Some(is_closed) = table.cell(row.row, column.number).and_then(is_closed) else { continue };
            if is_closed != says_closed {
                return Some(Answer::Other(row.row));
            }
            agreeing = agreeing.or(Some(Answer::Same(row.row)));
        }
    }
    agreeing
}

/// Whether a cell says that something is closed; `None` of one that neither says so nor has hours.
fn is_closed(cell: &str) -> Option<bool> {
    let first = lower_case_words(cell).next()?;
    if CLOSED.contains(&first.as_str()) { Some(true) } else { has_digit(cell).then_some(false) }
}
