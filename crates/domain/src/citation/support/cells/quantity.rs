//! Claims about all rows or columns, about none, or not about all: "every plan includes SSO", "all but Lite".

use std::ops::Range;

use super::Answer;
use super::amount::amount;
use super::bounds::Bounding;
use super::named_rows::Named;
use super::table::{Column, Table};
use super::yes_no::cell_says_yes;
use crate::citation::support::polarity::Claim;
use crate::citation::support::restated::is_limit;
use crate::citation::term::{Term, TermKind};
use crate::opening::{is_about_closed, is_closed};
use crate::wording::is_negation;

/// Most cells that are looked at.
const MOST_CELLS: usize = 1024;

/// Words before that of which all have something, none, or some.
const ALL: [&str; 10] = ["all", "alle", "each", "every", "jede", "jeder", "jedes", "sämtliche", "tous", "toutes"];
const NONE: [&str; 6] = ["aucun", "aucune", "kein", "keine", "no", "none"];
const SOME: [&str; 5] = ["certains", "certaines", "einige", "several", "some"];

/// Words between a word of quantity and what it is about.
const LEADING: [&str; 9] = ["der", "des", "die", "les", "of", "our", "the", "these", "unserer"];

/// Words behind which some are left out.
const EXCEPT: [&str; 5] = ["außer", "but", "except", "excluding", "sauf"];

/// Words that limit what is spoken of: "all plans with SSO".
const LIMITING: [&str; 27] = [
    "above", "ab", "at", "avec", "below", "de", "for", "from", "für", "if", "in", "mit", "of", "ohne", "over", "sans",
    "since", "that", "under", "unter", "where", "which", "who", "whose", "with", "without", "über",
];

/// Words between the names of lines that are left out.
const JOINING: [&str; 10] = ["and", "das", "der", "die", "et", "la", "le", "or", "the", "und"];

/// German and French words that deny.
const FOREIGN_NOT: [&str; 2] = ["nicht", "pas"];

/// The number of lines that a claim is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quantity {
    All,
    None,
    Some,
    NotAll,
}

impl Quantity {
    /// Whether a line that has it, or one that does not, is enough to tell whether a claim is so; and whether it then is.
    const fn decided_by(self) -> (bool, bool) {
        match self {
            Self::All => (false, false),
            Self::None => (true, false),
            Self::Some => (true, true),
            Self::NotAll => (false, true),
        }
    }
}

/// A claim about many lines.
struct Quantified {
    quantity: Quantity,
    /// The place of the word that says what they are.
    noun: usize,
    /// The place of "except".
    except: Option<usize>,
}

/// Whether a claim is about all rows or columns of a table, or none.
pub(super) fn quantifies(claim: &Claim<'_>) -> bool {
    Quantified::of(claim).is_some()
}

/// Whether as many of the lines as the claim says have what it names: "yes" in a cell, or its number.
pub(super) fn answer(table: &Table<'_>, claim: &Claim<'_>) -> Option<Answer> {
    let quantified = Quantified::of(claim)?;
    let (noun, next) = (quantified.noun, quantified.noun + 1);
    // "All paid plans" are not all plans.
    if !table.is_headed_by(noun) && table.is_headed_by(next) && !table.is_named_at(next) {
        return None;
    }
    let (number, says_closed) = (table.quantity(claim), is_about_closed(&claim.words));
    let has_it = |cell: &Cell| match (number, says_closed) {
        (Some(number), _) => has_number(table, claim, cell, number),
        (None, Some(closed)) => {
            table.cell(cell.row, cell.column).and_then(is_closed).map(|is_closed| is_closed == closed)
        }
        (None, None) => cell_says_yes(table, cell.row, cell.column),
    };
    let cells = quantified.cells(table, claim)?.into_iter().take(MOST_CELLS);
    let told: Vec<(usize, Option<bool>)> =
        cells.map(|cell| (cell.row, has_it(&cell).map(|has_it| has_it != cell.is_excepted))).collect();
    let (deciding, is_so) = quantified.quantity.decided_by();
    if let Some((row, _)) = told.iter().find(|(_, has_it)| *has_it == Some(deciding)) {
        return Some(Answer::new(is_so, *row));
    }
    let (first, _) = told.first().filter(|_| told.len() > 1 && told.iter().all(|(_, has_it)| has_it.is_some()))?;
    Some(Answer { is_so: !is_so, row: *first, number })
}

/// A cell that a claim is about.
struct Cell {
    row: usize,
    column: usize,
    /// Whether its line is left out.
    is_excepted: bool,
}

impl Quantified {
    /// The only quantity of a claim that denies nothing else.
    fn of(claim: &Claim<'_>) -> Option<Self> {
        let words = &claim.words;
        let is = |place: usize, list: &[&str]| words.get(place).is_some_and(|word| list.contains(&word.as_ref()));
        // "Lite has no search" is about Lite.
        let is_first = |place: usize| place == 0 && (is(0, &NONE) || is(0, &SOME));
        let is_number = |place: usize| claim.terms.get(place).is_some_and(Term::is_number);
        // "Every 15 minutes" is a rate.
        let is_all = |place: usize| is(place, &ALL) && (is(place, &["all", "alle"]) || !is_number(place + 1));
        let mut found = (0..words.len()).filter(|place| is_all(*place) || is_first(*place));
        let at = found.next().filter(|_| found.next().is_none())?;
        let except = (at..words.len()).find(|place| is(*place, &EXCEPT));
        let is_denial = |place: &usize| {
            let is_own = *place == at || except == Some(*place);
            !is_own && words.get(*place).is_some_and(|word| is_negation(word) || FOREIGN_NOT.contains(&word.as_ref()))
        };
        let denials: Vec<usize> = (0..words.len()).filter(is_denial).collect();
        let quantity = match denials.as_slice() {
            [] if is(at, &ALL) => Quantity::All,
            [] if is(at, &SOME) => Quantity::Some,
            [] => Quantity::None,
            [not] if is(at, &ALL) && not + 1 == at => Quantity::NotAll,
            [_] if is(at, &SOME) => Quantity::NotAll,
            _ => return None,
        };
        let noun = (at + 1..words.len()).find(|place| !is(*place, &LEADING) && !is_number(*place))?;
        (!is(noun + 1, &LIMITING) && !claim.tells_case()).then_some(Self { quantity, noun, except })
    }

    /// The places behind "except" of the names of lines: "all routers except Beta support USB".
    fn excepted(&self, table: &Table<'_>, claim: &Claim<'_>) -> Range<usize> {
        let Some(except) = self.except else { return 0..0 };
        let is_row = |place: &usize| table.named_rows.iter().any(|row| row.places.contains(place));
        let is_column = |place: &usize| table.named_columns().any(|column| column.places.contains(place));
        let joins = |place: &usize| claim.words.get(*place).is_some_and(|word| JOINING.contains(&word.as_ref()));
        let first = (except + 1..claim.words.len()).find(|place| !joins(place));
        let of_rows = first.is_some_and(|first| is_row(&first));
        let is_name = |place: &usize| joins(place) || if of_rows { is_row(place) } else { is_column(place) };
        except + 1..(except + 1..claim.words.len()).take_while(is_name).last().map_or(except, |last| last) + 1
    }

    /// The cells that the claim is about: of all rows in the columns that it names, or of all columns in the rows.
    fn cells(&self, table: &Table<'_>, claim: &Claim<'_>) -> Option<Vec<Cell>> {
        let excepted = self.excepted(table, claim);
        let is_excepted = |places: &[usize]| places.first().is_some_and(|first| excepted.contains(first));
        let (left_out, rows): (Vec<&Named>, Vec<&Named>) =
            table.named_rows.iter().partition(|row| is_excepted(&row.places));
        let columns: Vec<&Column> = table.named_columns().filter(|column| !is_excepted(&column.places)).collect();
        match (rows.as_slice(), columns.as_slice()) {
            ([], [_, ..]) => {
                let rows = table.rows.clone().filter(|row| !table.sums_up(*row));
                let is_left_out = |row: usize| left_out.iter().any(|named| named.row == row);
                let cells = rows.flat_map(|row| {
                    columns.iter().map(move |column| Cell { row, column: column.number, is_excepted: is_left_out(row) })
                });
                Some(cells.collect())
            }
            ([row], []) => {
                let cell = |column: &Column| Cell {
                    row: row.row,
                    column: column.number,
                    is_excepted: is_excepted(&column.places),
                };
                Some(table.columns.iter().map(cell).collect())
            }
            _ => None,
        }
    }
}

/// Whether a cell has the number at a place of a claim, or a value that it bounds; `None` if it has no number, and of limits.
fn has_number(table: &Table<'_>, claim: &Claim<'_>, cell: &Cell, place: usize) -> Option<bool> {
    let column = table.column(cell.column)?;
    if let Some(bounding) = Bounding::at(claim, place) {
        return bounding.holds(table, claim, &amount(table, cell.row, column)?);
    }
    if place.checked_sub(1).and_then(|before| claim.words.get(before)).is_some_and(|word| is_limit(word)) {
        return None;
    }
    let number = table.claimed.get(place).copied().flatten();
    let words = table.words(cell.row, column.number);
    let mut numbers = words.iter().filter(|word| word.kind == TermKind::Number).peekable();
    numbers.peek()?;
    Some(numbers.any(|word| Some(word.term) == number))
}
