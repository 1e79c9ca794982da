//! The rows that head the columns of a table. Reports write them in several: "Years ended June 30," above "2019" and "2018",
//! and "in millions" below.

use super::line::cells;
use crate::month::is_month;
use crate::wording::{has_digit, is_year, lower_case_words};

/// Most rows that a header has.
const MOST_ROWS: usize = 3;

/// Words that tell nothing but the unit of a column, in lower case.
const UNITS: [&str; 25] = [
    "000",
    "000s",
    "billion",
    "billions",
    "bn",
    "cad",
    "chf",
    "dollars",
    "eur",
    "euros",
    "gbp",
    "in",
    "k",
    "m",
    "mio",
    "million",
    "millions",
    "mn",
    "mrd",
    "percent",
    "thousand",
    "thousands",
    "tsd",
    "usd",
    "us",
];

/// Words of a length of time: "1-3 years", "53 weeks".
const SPANS: [&str; 12] =
    ["day", "days", "hour", "hours", "jahre", "monate", "month", "months", "week", "weeks", "year", "years"];

/// The header of a table, read row by row from the first one on.
#[derive(Debug)]
pub(super) struct ColumnHeads {
    rows: usize,
    /// The words above each column.
    labels: Vec<String>,
}

/// The content of a cell, as far as it tells a header from a row of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    Empty,
    /// A year, a quarter or a date.
    Period,
    Unit,
    /// A sign of a currency or of per cent without more.
    Sign,
    /// A length of time, or words without a digit.
    Label,
    /// Words with a digit.
    Words,
    /// A number, or a dash in its place.
    Quantity,
}

impl ColumnHeads {
    /// A header that begins with this row.
    pub(super) fn of(first: &str) -> Self {
        let mut heads = Self { rows: 0, labels: Vec::new() };
        heads.read(first);
        heads
    }

    /// Whether the row right below those that were read belongs to the header. It counts as read then.
    pub(super) fn takes(&mut self, row: &str) -> bool {
        if self.rows >= MOST_ROWS || !self.is_continued_by(row) {
            return false;
        }
        self.read(row);
        true
    }

    fn read(&mut self, row: &str) {
        self.rows += 1;
        // A name without anything beside it is the title of the table.
        let is_title = cells(row).skip(1).all(|(_, cell)| cell.is_empty());
        for (column, (_, cell)) in cells(row).enumerate() {
            let cell = if is_title { "" } else { cell };
            match self.labels.get_mut(column) {
                Some(label) => label.push_str(cell),
                None => self.labels.push(cell.to_owned()),
            }
        }
    }

    fn is_continued_by(&self, row: &str) -> bool {
        let mut row = cells(row).map(|(_, cell)| cell);
        // Without a name at its beginning it says more about the columns.
        let Some(name) = row.next().filter(|name| !name.is_empty()) else { return true };
        let kinds: Vec<Cell> = row.map(Cell::of).collect();
        let count = |those: &[Cell]| kinds.iter().filter(|kind| those.contains(kind)).count();
        let named = kinds.len() - count(&[Cell::Empty]);
        if named == 0 {
            // "(In thousands)" names no row.
            return name.starts_with('(') && name.ends_with(')');
        }
        if count(&[Cell::Quantity]) > 0 {
            return false;
        }
        let units = count(&[Cell::Unit, Cell::Sign]);
        if units == named && (count(&[Cell::Unit]) > 0 || name.starts_with('(')) {
            return true;
        }
        let marks = units + count(&[Cell::Period]);
        let fills = |kind: Cell| kinds.len() > 1 && count(&[kind, Cell::Period, Cell::Unit]) == kinds.len();
        kinds.len() > 1
            && self.is_incomplete(kinds.len())
            && (marks == named || marks > 1 || (only_label(&self.labels).is_some() && fills(Cell::Label)))
    }

    /// Whether columns behind the first have no name of their own yet, below nothing that names what stands in the first.
    fn is_incomplete(&self, columns: usize) -> bool {
        let labels: Vec<&str> = self.labels.iter().skip(1).map(String::as_str).collect();
        let has_gaps = labels.len() < columns || labels.iter().any(|label| label.is_empty());
        let are_equal = labels.len() > 1 && labels.windows(2).all(|pair| pair.first() == pair.last());
        let has_corner = self.labels.first().is_some_and(|corner| !corner.is_empty());
        are_equal || (has_gaps && (!has_corner || labels.iter().all(|label| label.is_empty())))
    }
}

impl Cell {
    fn of(cell: &str) -> Self {
        let said =
            cell.trim_matches(|sign: char| sign.is_whitespace() || matches!(sign, '*' | '_' | '\\' | '†' | '‡' | ':'));
        let words: Vec<String> = lower_case_words(said).collect();
        let is_money = said.contains(['$', '€', '£', '¥']);
        if said.is_empty() {
            Self::Empty
        } else if words.is_empty() {
            if said.chars().all(|sign| matches!(sign, '$' | '€' | '£' | '¥' | '%' | '(' | ')')) {
                Self::Sign
            } else {
                Self::Quantity
            }
        } else if words.iter().all(|word| UNITS.contains(&word.as_str())) && (is_money || !has_only_small_words(&words))
        {
            Self::Unit
        } else if !is_money && is_period(&words) {
            Self::Period
        } else if !has_digit(said) || words.iter().any(|word| SPANS.contains(&word.as_str())) {
            Self::Label
        } else if said.starts_with(char::is_alphabetic) {
            Self::Words
        } else {
            Self::Quantity
        }
    }
}

/// The column, from 0, of the only label in a row of a header, if it is not the first: it stands above all columns but that.
pub(crate) fn only_label<S: AsRef<str>>(row: &[S]) -> Option<usize> {
    let mut named = (0..).zip(row).filter(|(_, label)| !label.as_ref().is_empty()).map(|(column, _)| column);
    named.next().filter(|column| *column > 0 && named.next().is_none())
}

/// The column, from 0, whose label in a row of a header stands above each column: its own, but for one label above all columns
/// but the first, and for labels of groups of the same number of columns, each before the blanks that it reaches over.
pub(crate) fn labelling_columns(row: &str) -> Vec<usize> {
    let labels: Vec<&str> = cells(row).map(|(_, label)| label).collect();
    let columns = 0..labels.len();
    if let Some(only) = only_label(&labels) {
        return columns.map(|column| if column == 0 { 0 } else { only }).collect();
    }
    let is_named = |column: &usize| labels.get(*column).is_some_and(|label| !label.is_empty());
    let width = columns.clone().skip(2).find(is_named).map_or(1, |second| second - 1);
    let begins_group = |column: usize| (column - 1).is_multiple_of(width);
    let are_groups = (labels.len().max(1) - 1).is_multiple_of(width)
        && columns.clone().skip(1).all(|column| is_named(&column) == begins_group(column));
    columns.map(|column| if column == 0 || !are_groups { column } else { column - (column - 1) % width }).collect()
}

/// Whether these are no words of a unit by themselves: "in", "us".
fn has_only_small_words(words: &[String]) -> bool {
    words.iter().all(|word| matches!(word.as_str(), "in" | "us"))
}

/// Whether words name a time: a year, an abbreviated one ("FY19"), or a month with what belongs to a date.
fn is_period(words: &[String]) -> bool {
    let is_short_year = |word: &str| {
        let digits = word.trim_start_matches(['f', 'y', 'q', 'h']);
        digits.len() < word.len() && (1..=4).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let has_month = words.iter().any(|word| is_month(word));
    let has_year = words.iter().any(|word| is_year(word) || is_short_year(word));
    let is_dated = |word: &String| {
        !has_digit(word) || is_year(word) || is_short_year(word) || (word.len() <= 2 && (has_month || has_year))
    };
    (has_month || has_year) && words.iter().any(|word| has_digit(word)) && words.iter().all(is_dated)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header_rows(rows: &[&str]) -> usize {
        let mut heads = ColumnHeads::of(rows[0]);
        1 + rows[1..].iter().take_while(|row| heads.takes(row)).count()
    }

    #[test]
    fn a_header_of_several_rows_ends_where_values_begin() {
        let tables: [(&[&str], usize); 18] = [
            (&["| | 2019 | 2018 |", "| Net sales | 10 | 9 |"], 1),
            (&["| | | 2019 |", "| | Notes | $'000 |", "| Trade | | 3,770 |"], 2),
            (&["| | Year ended March 31, | |", "| (In thousands) | 2019 | 2018 |", "| Sales | 10 | 9 |"], 2),
            (
                &["| ($ in millions) | | |", "| For the year ended December 31: | 2019 | 2018 |", "| Sales | 10 | 9 |"],
                2,
            ),
            (
                &[
                    "| Gas emissions | | |",
                    "| | Tonnes | |",
                    "| Emissions from: | FY19** | FY18*** |",
                    "| Fuel | 1 | 2 |",
                ],
                3,
            ),
            (
                &[
                    "| Years ended August 31, | 2019 | 2018 |",
                    "| (in Canadian dollars) | $ | $ |",
                    "| Sales | 10 | 9 |",
                ],
                2,
            ),
            (&["| | 2019 | 2018 |", "| Revenue | £m | £m |", "| UK | 10 | 9 |"], 2),
            (&["| | Year Ended | Year Ended |", "| Type | December 31, 2019 | August 31,2018 |", "| A | 1 | 2 |"], 2),
            (
                &[
                    "| | | Payments by period | |",
                    "| Obligations | Total | 1-3 Years | 5 Years |",
                    "| Debt | 1 | 2 | 3 |",
                ],
                2,
            ),
            (
                &[
                    "| | F19 | F18 | | |",
                    "| $ MILLION | 53 WEEKS | 52 WEEKS | CHANGE | % |",
                    "| Sales | 1 | 2 | 3 | 4 |",
                ],
                1,
            ),
            (&["| | June 30, | |", "| Core | 2019 (1) | Change |", "| A | 1 | 2 |"], 2),
            (&["| October 31, | 2019 | 2018 |", "| (In thousands) | | |", "| Feed | 10 | 9 |"], 2),
            // Values may be years, words and codes.
            (&["| Name | Born | |", "| Anna | 1990 | Berlin |"], 1),
            (&["| Who | Team | |", "| Anna | Sales | Berlin |"], 1),
            (&["| | Acme | Beta |", "| Founded | 1998 | 2003 |"], 1),
            (&["| Plan | | |", "| Basic | 10 users | 5 GB |"], 1),
            (&["| | Low | High |", "| Loss | $— | — |"], 1),
            (&["| Year | |", "| Acme | 2019 |"], 1),
        ];
        for (rows, expected) in tables {
            assert_eq!(header_rows(rows), expected, "{rows:?}");
        }
    }

    #[test]
    fn labels_reach_over_groups_of_columns() {
        assert_eq!(labelling_columns("| Weight | Zone 1 | | Zone 2 | |"), [0, 1, 1, 3, 3]);
        assert_eq!(labelling_columns("| | | Payments due | |"), [0, 2, 2, 2]);
        for own in
            ["| | 2019 | 2018 |", "| | F19 | F18 | | |", "| | | 2019 | | 2018 |", "| In thousands | | 2019 |", "|"]
        {
            let columns = labelling_columns(own);
            assert!(columns.iter().enumerate().all(|(column, label)| column == *label), "{own}: {columns:?}");
        }
    }

    #[test]
    fn a_header_has_three_rows_at_most() {
        assert_eq!(header_rows(&["| | a |", "| | b |", "| | c |", "| | d |"]), 3);
    }
}
