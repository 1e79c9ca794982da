//! Decides whether the first row of a table is a header although it contains numbers.
//!
//! A header is recognised because its cells are of another kind than the cells below it: years over amounts, age groups
//! over counts, numbers over words. If the kinds are the same, the row is treated as data: a row without labels only
//! loses information, a row with wrong labels states something false.

use std::collections::HashMap;

use super::rows::Cell;

/// Largest number of years between two columns: surveys and plans use steps of ten.
const LONGEST_STEP: i32 = 10;

/// The kind of a cell, by the form of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Words, or a sign that stands for one: `#`.
    Text,
    /// A whole number that may be a year.
    Year(i32),
    /// Another whole number.
    Whole,
    /// An amount: with decimals, grouped digits, a currency or a percentage.
    Amount,
    /// Digits in another form: a span, a date, an address.
    Other,
    /// A placeholder for no value: `-`.
    Nothing,
}

impl Kind {
    fn of(cell: &str) -> Self {
        const SIGNS: [&str; 4] = ["#", "№", "%", "‰"];
        if is_text(cell) || SIGNS.contains(&cell) {
            return Self::Text;
        }
        if !cell.chars().any(|character| character.is_ascii_digit()) {
            return Self::Nothing;
        }
        if cell.bytes().all(|byte| byte.is_ascii_digit()) {
            let year = cell.parse().ok().filter(|year| cell.len() == 4 && (1900..=2100).contains(year));
            return year.map_or(Self::Whole, Self::Year);
        }
        let unsigned = cell.strip_prefix(['-', '+', '−']).unwrap_or(cell);
        let is_of_amount = |character: char| character.is_ascii_digit() || " .,'’%‰€$£¥".contains(character);
        // With more points it is a date or an address.
        let is_amount = unsigned.chars().all(is_of_amount) && unsigned.matches('.').count() < 2;
        if is_amount { Self::Amount } else { Self::Other }
    }

    /// Whether a cell of this kind may be the header of such cells; `in_step` means that the header counts years.
    fn heads(self, below: Self, in_step: bool) -> bool {
        match (self, below) {
            (Self::Text, _)
            | (Self::Whole | Self::Amount | Self::Year(_), Self::Text | Self::Other)
            | (Self::Year(_), Self::Amount)
            | (Self::Other, Self::Text | Self::Whole | Self::Amount | Self::Year(_)) => true,
            (Self::Year(_), Self::Whole) => in_step,
            (Self::Whole | Self::Amount, Self::Whole | Self::Amount | Self::Year(_))
            | (Self::Year(_), Self::Year(_))
            | (Self::Other, Self::Other)
            | (Self::Nothing, _)
            | (_, Self::Nothing) => false,
        }
    }
}

/// Whether a cell holds a letter.
pub(super) fn is_text(cell: &str) -> bool {
    cell.chars().any(char::is_alphabetic)
}

/// Whether every number of a first row stands over cells of another kind, most of them at least.
pub(super) fn differs(first: &[Cell], below: &[Vec<Cell>]) -> bool {
    let mut columns: HashMap<usize, Vec<Kind>> = HashMap::new();
    for (column, cell) in below.iter().flatten() {
        columns.entry(*column).or_default().push(Kind::of(cell));
    }
    let kinds: Vec<(usize, Kind)> = first.iter().map(|(column, cell)| (*column, Kind::of(cell))).collect();
    let in_step = counts_years(&kinds);
    let mut is_proven = kinds.iter().all(|(_, kind)| *kind == Kind::Text);
    for (column, kind) in kinds {
        if kind == Kind::Text {
            continue;
        }
        let cells = columns.get(&column).map(Vec::as_slice).unwrap_or_default();
        let cells: Vec<Kind> = cells.iter().copied().filter(|cell| *cell != Kind::Nothing).collect();
        let headed = cells.iter().filter(|cell| kind.heads(**cell, in_step)).count();
        if kind == Kind::Nothing || headed * 2 < cells.len() || (headed == 0 && !cells.is_empty()) {
            return false;
        }
        is_proven |= headed > 0;
    }
    is_proven
}

/// Whether several cells are years at a constant interval.
fn counts_years(kinds: &[(usize, Kind)]) -> bool {
    let years: Vec<i32> =
        kinds.iter().filter_map(|(_, kind)| if let Kind::Year(year) = kind { Some(*year) } else { None }).collect();
    let mut steps = years.iter().zip(years.iter().skip(1)).map(|(one, next)| next - one);
    let Some(step) = steps.next() else { return false };
    step != 0 && step.abs() <= LONGEST_STEP && steps.all(|other| other == step)
}
