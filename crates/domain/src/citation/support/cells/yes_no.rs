//! Cells that say yes or no.

use std::borrow::Cow;

use super::Answer;
use super::degree::Degree;
use super::named_rows::Named;
use super::table::Table;
use crate::citation::negation::DenialKind;
use crate::citation::support::polarity::Claim;
use crate::wording::says_yes;

/// Most pairs of a row and a column that are looked at.
const MOST_PAIRS: usize = 64;

/// Most words from "only" to what it is about, and those that may stand between.
const MOST_AFTER_ONLY: usize = 6;
const LEADING: [&str; 14] =
    ["a", "an", "available", "by", "for", "from", "in", "included", "of", "offered", "on", "part", "the", "with"];

/// Signs for no that stand for a missing value where no other cell says yes.
const SIGNS: [&str; 3] = ["×", "–", "—"];

/// Words after which a claim tells something other than what its cells say.
const TURNS: [&str; 18] = [
    "all",
    "alle",
    "außer",
    "besides",
    "compared",
    "contrairement",
    "every",
    "except",
    "gegensatz",
    "instead",
    "nur",
    "rather",
    "sauf",
    "than",
    "tous",
    "toutes",
    "unless",
    "unlike",
];

/// German and French words that deny what stands beside them.
const FOREIGN_NO: [&str; 15] = [
    "kein", "keine", "keinem", "keinen", "keiner", "keines", "nein", "nicht", "nie", "ohne", "aucun", "aucune", "ni",
    "pas", "sans",
];

/// Words that say that what follows is not there.
const LACKS: [&str; 4] = ["lack", "lacked", "lacking", "lacks"];

/// The answer of the cells of the named rows and columns, if they say yes or no.
pub(super) fn answer(table: &Table<'_>, claim: &Claim<'_>) -> Option<Answer> {
    let words = &claim.words;
    if words.iter().any(|word| TURNS.contains(&word.as_ref())) || claim.tells_case() {
        return None;
    }
    let is_foreign_no = words.iter().any(|word| FOREIGN_NO.contains(&word.as_ref()));
    let lacks = words.iter().position(|word| LACKS.contains(&word.as_ref()));
    let is_only = |places: &[usize]| places.first().is_some_and(|first| follows_only(words, *first));
    let mut agreeing = None;
    let pairs = table.named_rows.iter().flat_map(|row| table.named_columns().map(move |column| (row, column)));
    for (row, column) in pairs.take(MOST_PAIRS) {
        let Some(says_yes) = cell_says_yes(table, row.row, column.number) else { continue };
        if quotes(claim, table.cell(row.row, column.number)) {
            continue;
        }
        let is_behind = |place: &usize| lacks.is_some_and(|lacks| *place > lacks);
        let is_lacking = column.places.iter().chain(&row.places).any(is_behind);
        let is_denied = is_foreign_no || is_lacking || is_denied(claim, table, row, &column.places);
        // Of "only these" no other row, or no other column, may have it.
        let is_beside_others = is_only(&row.places) && has_other_rows(table, column.number)
            || is_only(&column.places) && has_other_columns(table, row.row);
        if says_yes == is_denied || (says_yes && is_beside_others) {
            return Some(Answer::new(false, row.row));
        }
        agreeing = agreeing.or(Some(Answer::new(true, row.row)));
    }
    // "The cheapest plan with SSO is Team" says more than that Team has it.
    agreeing.filter(|_| Degree::all(words, |place| table.is_of_name(claim, place)).next().is_none())
}

/// Whether a claim has a sign of a cell itself: "SSO: ✗".
fn quotes(claim: &Claim<'_>, cell: Option<&str>) -> bool {
    cell.is_some_and(|cell| !cell.contains(char::is_alphabetic) && claim.text.contains(cell))
}

/// Whether "only" stands before a place, with nothing between but what leads to it: "only available in the".
fn follows_only(words: &[Cow<'_, str>], place: usize) -> bool {
    let before = words.get(place.saturating_sub(MOST_AFTER_ONLY)..place).unwrap_or_default().iter().rev();
    before.skip_while(|word| LEADING.contains(&word.as_ref())).map(AsRef::as_ref).next() == Some("only")
}

/// Whether a row that the claim does not name says yes in a column.
fn has_other_rows(table: &Table<'_>, column: usize) -> bool {
    let is_other = |row: &usize| table.named_rows.iter().all(|named| named.row != *row);
    table.rows.clone().filter(is_other).any(|row| cell_says_yes(table, row, column) == Some(true))
}

/// Whether a column that the claim does not name says yes in a row.
fn has_other_columns(table: &Table<'_>, row: usize) -> bool {
    let mut others = table.columns.iter().filter(|column| column.places.is_empty());
    others.any(|column| cell_says_yes(table, row, column.number) == Some(true))
}

/// Whether a denial of the claim is about the row or the column: it reaches a word that names one of them, or none that names
/// any but stands in their clause.
fn is_denied(claim: &Claim<'_>, table: &Table<'_>, row: &Named, column: &[usize]) -> bool {
    let mut denials = claim.denials.all.iter().filter(|denial| denial.kind != DenialKind::Exception);
    denials.any(|denial| {
        let reaches = |place: &usize| denial.scope.contains(place);
        let reaches_any = table.named_rows.iter().flat_map(|row| &row.places).any(reaches)
            || table.named_columns().flat_map(|column| &column.places).any(reaches);
        let is_in_clause = || column.iter().any(|place| denial.clause.contains(place));
        column.iter().chain(&row.places).any(reaches) || (!reaches_any && is_in_clause())
    })
}

/// Whether a cell says yes, or no; `None` of one that says neither.
pub(super) fn cell_says_yes(table: &Table<'_>, row: usize, column: usize) -> Option<bool> {
    let cell = table.cell(row, column)?;
    let is_yes = |other: usize| table.cell(row, other).and_then(says_yes) == Some(true);
    let stands_for_no = || table.columns.iter().any(|other| is_yes(other.number));
    says_yes(cell).filter(|says_yes| *says_yes || !SIGNS.contains(&cell) || stands_for_no())
}
