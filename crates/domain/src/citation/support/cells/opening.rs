//! Cells that say "closed" where others have hours.

use super::Answer;
use super::degree::Degree;
use super::table::Table;
use crate::citation::support::polarity::Claim;
use crate::opening::{is_about_closed, is_closed};
use crate::wording::is_negation;

/// Words of a claim about other lines, too.
const ONLY: [&str; 4] = ["just", "nur", "only", "seulement"];

/// Whether the cells of the named rows and columns are closed where the claim says so, and have hours where it says "open".
pub(super) fn answer(table: &Table<'_>, claim: &Claim<'_>) -> Option<Answer> {
    let is_word_of = |list: &[&str]| claim.words.iter().any(|word| list.contains(&word.as_ref()));
    let compares = Degree::all(&claim.words, |place| table.is_of_name(claim, place)).next().is_some();
    if compares || is_word_of(&ONLY) || claim.tells_case() {
        return None;
    }
    let denials = claim.words.iter().filter(|word| is_negation(word)).count();
    let is_denied = denials == 1 || is_word_of(&["neither"]);
    if denials > 1 && !is_denied {
        return None;
    }
    let says_closed = is_about_closed(&claim.words)? != is_denied;
    let mut agreeing = None;
    for row in &table.named_rows {
        for column in table.named_columns() {
            let Some(is_closed) = table.cell(row.row, column.number).and_then(is_closed) else { continue };
            if is_closed != says_closed {
                return Some(Answer::new(false, row.row));
            }
            if !has_hours(table, claim, (row.row, column.number)) {
                return None;
            }
            agreeing = agreeing.or(Some(Answer::new(true, row.row)));
        }
    }
    agreeing
}

/// Whether a cell has all numbers of a claim that name nothing: its hours, if it tells any.
fn has_hours(table: &Table<'_>, claim: &Claim<'_>, (row, column): (usize, usize)) -> bool {
    let words = table.words(row, column);
    let hours = claim.terms.iter().zip(table.claimed.iter()).enumerate();
    let mut hours = hours.filter(|(place, (term, _))| term.is_number() && !table.is_named_at(*place));
    hours.all(|(_, (_, hour))| words.iter().any(|word| Some(word.term) == *hour))
}
