//! Decides whether the first row of a table is a header, also if it contains numbers.
//!
//! A header is recognised because its cells are of another kind than the cells below it: years over amounts, age groups
//! over counts, numbers over words. If the kinds are the same, the row is treated as data: a row without labels only
//! loses information, a row with wrong labels states something false.

mod timetable;

use std::collections::HashMap;

use super::rows::Cell;

/// Share of cells with digits below a row of words, in per cent, from which that row names the columns.
const DIGITS_SHARE: usize = 50;

/// Fewest numbers that prove that the word above them names them.
const FEWEST_NUMBERS: usize = 2;

/// Words that stand in place of a number, in lower case.
const VALUES: [&str; 10] =
    ["free", "gratis", "included", "inklusive", "keine", "kostenlos", "n/a", "nil", "none", "unlimited"];

/// Signs that name a column by what is counted in it.
const SIGNS: [&str; 8] = ["#", "№", "%", "‰", "€", "$", "£", "¥"];

/// Share of cells with digits in the second of two columns, in per cent, from which the row above names both, and the
/// fewest rows that prove it.
const NUMBERS_SHARE: usize = 80;
const FEWEST_ROWS: usize = 5;

/// What columns are often called, in lower case.
const NAMES_OF_COLUMNS: [&str; 60] = [
    "allowance",
    "amount",
    "category",
    "city",
    "class",
    "code",
    "contact",
    "cost",
    "country",
    "date",
    "day",
    "days",
    "deadline",
    "default",
    "department",
    "description",
    "email",
    "fee",
    "grade",
    "group",
    "hours",
    "item",
    "level",
    "limit",
    "location",
    "maximum",
    "meaning",
    "minimum",
    "month",
    "name",
    "number",
    "office",
    "option",
    "owner",
    "period",
    "person",
    "phone",
    "place",
    "plan",
    "position",
    "price",
    "product",
    "quantity",
    "rate",
    "region",
    "role",
    "room",
    "route",
    "service",
    "setting",
    "size",
    "task",
    "time",
    "type",
    "value",
    "what",
    "when",
    "where",
    "who",
    "year",
];

/// Ends of names of columns whose point ends no sentence, in lower case: "Part no."
const ABBREVIATIONS: [&str; 4] = [" no.", " nos.", " nr.", " n°."];

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

/// Whether a cell is a year and nothing else.
pub(super) fn is_year(cell: &str) -> bool {
    matches!(Kind::of(cell), Kind::Year(_))
}

/// Whether a cell has a word in place of a number: "n/a".
pub(super) fn is_placeholder(cell: &str) -> bool {
    VALUES.contains(&cell.to_lowercase().as_str())
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

/// Whether a cell is a number or an amount, not a date or an address.
pub(super) fn is_number(cell: &str) -> bool {
    matches!(Kind::of(cell), Kind::Year(_) | Kind::Whole | Kind::Amount)
}

/// Whether a column of nothing but numbers lies below one of the cells.
pub(super) fn stands_over_numbers(first: &[Cell], below: &[Vec<Cell>]) -> bool {
    first.iter().any(|(column, _)| {
        let mut cells = below.iter().flatten().filter(|(other, _)| other == column).peekable();
        cells.peek().is_some() && cells.all(|(_, cell)| is_number(cell))
    })
}

/// Whether several cells are years at a constant interval.
fn counts_years(kinds: &[(usize, Kind)]) -> bool {
    let years: Vec<i32> =
        kinds.iter().filter_map(|(_, kind)| if let Kind::Year(year) = kind { Some(*year) } else { None }).collect();
    let mut steps = years.iter().zip(years.iter().skip(1)).map(|(one, next)| next - one);
    let Some(step) = steps.next() else { return false };
    step != 0 && step.abs() <= LONGEST_STEP && steps.all(|other| other == step)
}

/// Whether two cells are what columns are often called.
pub(super) fn are_names_of_columns(cells: &[String]) -> bool {
    cells.len() == 2 && cells.iter().all(|cell| is_name_of_column(cell))
}

/// Whether a cell is what columns are often called.
pub(super) fn is_name_of_column(cell: &str) -> bool {
    NAMES_OF_COLUMNS.contains(&cell.trim().to_lowercase().as_str())
}

/// Whether so many numbers among the cells of a column are most of them, and the cells are many.
pub(super) fn are_mostly_numbers(numbers: usize, cells: usize) -> bool {
    cells >= FEWEST_ROWS && numbers * 100 >= cells * NUMBERS_SHARE
}

/// Whether the first row of a table, which the format does not call a header, names its columns: it has a cell for each,
/// all of them words, and below are mostly numbers, or nothing else in one column.
///
/// In tables of three columns or more, words may have a number where those below are numbers alone ("Spring 2025" over
/// "78 %"), a name may be a year or a date, and the first may be missing. The numbers of journeys stand over the times of
/// their stops.
pub(super) fn names_columns(rows: &[Vec<String>]) -> bool {
    let Some((first, body)) = rows.split_first() else { return false };
    if body.iter().any(|row| row.len() > first.len()) {
        return false;
    }
    let is_wide = first.len() > 2;
    let columns: Vec<Column<'_>> = (0..first.len()).filter_map(|place| Column::of(place, first, body)).collect();
    if is_wide && timetable::is_timetable(first, body) {
        return true;
    }
    let is_named = columns.iter().enumerate().all(|(place, column)| column.is_named(place == 0, is_wide));
    if !is_named || !columns.iter().any(|column| is_text(column.name) || column.name.is_empty()) {
        return false;
    }
    if columns.iter().any(Column::is_period) {
        let cells = |row: &Vec<String>| -> Vec<Cell> {
            row.iter().cloned().enumerate().filter(|(_, cell)| !cell.is_empty()).collect()
        };
        return differs(&cells(first), &body.iter().map(cells).collect::<Vec<_>>());
    }
    let below = || columns.iter().flat_map(|column| &column.below);
    let digits = below().filter(|cell| has_digit(cell)).count();
    let is_over_numbers = || {
        let is_small =
            first.iter().find(|name| !name.is_empty()).is_some_and(|name| name.starts_with(char::is_lowercase));
        columns.iter().skip(1).any(|column| column.heads_numbers(is_small))
    };
    let are_over_numbers = || match columns.as_slice() {
        [_, second] => second.is_mostly_numbers(),
        _ => is_over_numbers(),
    };
    digits > 0 && (digits * 100 >= below().count() * DIGITS_SHARE || are_over_numbers())
}

fn has_digit(cell: &str) -> bool {
    cell.contains(|character: char| character.is_ascii_digit())
}

/// A column of a table: the cell of the first row, and those below that are not empty.
struct Column<'t> {
    name: &'t str,
    below: Vec<&'t str>,
}

impl<'t> Column<'t> {
    fn of(place: usize, first: &'t [String], body: &'t [Vec<String>]) -> Option<Self> {
        let below = body.iter().filter_map(|row| row.get(place)).map(String::as_str).filter(|cell| !cell.is_empty());
        Some(Self { name: first.get(place)?, below: below.collect() })
    }

    /// Whether its name is a year, a span of years or a date: "2024", "2023/24", "31.12.2024".
    fn is_period(&self) -> bool {
        let is_of_date = |sign: char| sign.is_ascii_digit() || matches!(sign, '/' | '.' | '-' | '–');
        let mut numbers = self.name.split(|sign: char| !sign.is_ascii_digit());
        self.name.chars().all(is_of_date) && numbers.any(|number| matches!(Kind::of(number), Kind::Year(_)))
    }

    /// Whether most of its cells hold numbers, and they are many.
    fn is_mostly_numbers(&self) -> bool {
        let numbers = self.below.iter().filter(|cell| has_digit(cell)).count();
        are_mostly_numbers(numbers, self.below.len())
    }

    /// Whether the first cell is a sentence. "No." is a name.
    fn is_sentence(&self) -> bool {
        let is_number = || ABBREVIATIONS.iter().any(|end| self.name.to_lowercase().ends_with(end));
        self.name.ends_with('.') && self.name.contains(char::is_whitespace) && !is_number()
    }

    /// Whether the first cell may be a name.
    fn is_named(&self, is_first: bool, is_wide: bool) -> bool {
        let numbers = || self.below.iter().all(|cell| has_digit(cell) && !is_text(cell));
        match (self.name, is_text(self.name), has_digit(self.name)) {
            _ if self.is_sentence() => false,
            ("", ..) => is_first && is_wide && self.below.iter().any(|cell| is_text(cell)),
            (_, true, false) => true,
            (sign, ..) if SIGNS.contains(&sign) => true,
            (_, true, true) => is_wide && !self.below.is_empty() && numbers(),
            _ => is_wide && self.is_period(),
        }
    }

    /// Whether the first cell names a column of nothing but numbers. `is_small` means that the names may begin with
    /// small letters: else such a word is a value, as "free" is over prices.
    fn heads_numbers(&self, is_small: bool) -> bool {
        let is_value =
            self.name.starts_with(char::is_lowercase) && !is_small || VALUES.contains(&&*self.name.to_lowercase());
        !is_value
            && is_text(self.name)
            && self.below.len() >= FEWEST_NUMBERS
            && self.below.iter().all(|cell| is_number(cell))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_header(rows: &[&[&str]]) -> bool {
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect();
        names_columns(&rows)
    }

    #[test]
    fn names_may_hold_numbers_or_stand_over_one_column_of_them() {
        assert!(is_header(&[&["Line", "Spring 2025", "Autumn 2025"], &["A", "78 %", "81 %"], &["B", "69 %", "77 %"]]));
        assert!(is_header(&[&["", "2023", "2024"], &["Tins", "812", "1,744"], &["Margin (%)", "-3.4", "5"]]));
        assert!(is_header(&[&["Paint", "2023", "2024"], &["Oil", "8.5", "7"]]));
        let items: [&[&str]; 3] =
            [&["Oil", "tin", "1.84"], &["Chalk", "bag of 5 kg", "14.00"], &["Brush", "piece", ""]];
        let below = |first: &'static [&'static str]| [&[first], items.as_slice()].concat();
        assert!(is_header(&below(&["Item", "Unit", "Price CHF"])));
        assert!(is_header(&below(&["item", "unit", "price"])));
        assert!(!is_header(&below(&["Rags", "box", "free"])));
        assert!(!is_header(&below(&["Rags", "box", "Free"])));
        assert!(!is_header(&below(&["Lacquer", "tin of 2 l", "12.50"])));
        assert!(!is_header(&[&["Hall 12", "level 3", "25"], &["Hall 14", "level 2", "20"]]));
        assert!(!is_header(&[&["Tin", "250 ml", "3"], &["Pot", "500 ml", "4"]]));
        assert!(is_header(&[
            &["", "2022/23", "2023/24"],
            &["Tins (m)", "1.74", "1.93"],
            &["Sold", "91.8 %", "89.9 %"]
        ]));
        assert!(is_header(&[&["Debts", "31.12.2023", "31.12.2024"], &["Bank", "1,740", "1,930"]]));
        assert!(!is_header(&[&["Open", "1/2", "3/4"], &["Tins", "1.74", "1.93"]]));
        assert!(!is_header(&[&["", "2023", "2024"], &["5", "8", "9"]]));
        assert!(!is_header(&[&["Children", "from 6 years"], &["Adults", "12.00"], &["Others", "8.00"]]));
        assert!(!is_header(&[&["1", "2", "3"], &["4", "5", "6"]]));
        assert!(is_header(&[&["Tin", "No."], &["Oil", "12"], &["Lime", "13"]]));
        assert!(is_header(&[&["Tin", "£"], &["Oil", "12.10"], &["Lime", "13.40"]]));
        let limits: [&[&str]; 6] =
            [&["Load", "kg"], &["Oil", "5"], &["Lime", "15"], &["Sand", "no limit"], &["Ice", "3"], &["Salt", "7"]];
        assert!(is_header(&limits));
        assert!(!is_header(&limits[..4]));
        assert!(!is_header(&[
            &["! tin", "It is empty."],
            &["tin1", "The 1st is full."],
            &["tin2", "The 2nd is full."]
        ]));
    }
}
