//! Decides how the rows of one part of a sheet belong together.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::super::{
    grid::{BETWEEN_NAMES, MOST_COLUMNS, MOST_HEADER_ROWS},
    header,
    rows::Cell,
};

/// Fewest cells of a row that is a header though a blank row follows it, or though one name is missing: two are a name and
/// its value.
const FEWEST_NAMES: usize = 3;

/// Fewest columns of a table below which sums have names in the column of another one.
const FEWEST_COLUMNS: usize = 4;

/// Longest unit of a column, in characters.
const LONGEST_UNIT: usize = 12;

/// What else the second of two columns is often called, in lower case. None of these is a value.
const NAMES_OF_VALUES: [&str; 9] =
    ["answer", "comment", "comments", "notes", "qty", "remark", "remarks", "result", "salary"];

/// A row of a sheet: its cells with text.
#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) cells: Vec<Cell>,
    /// How many columns each cell reaches over, where it is more than one; by its column.
    pub(crate) wide: BTreeMap<usize, usize>,
    /// Whether all of its text is bold.
    pub(crate) is_bold: bool,
}

impl Row {
    /// Columns that its cells fill. A single cell, however wide, is a title.
    fn width(&self) -> usize {
        let more: usize = self.wide.values().map(|columns| columns.saturating_sub(1)).sum();
        if self.cells.len() < 2 { self.cells.len() } else { self.cells.len().saturating_add(more) }
    }

    pub(super) fn is_single(&self) -> bool {
        self.cells.len() < 2
    }

    fn is_text(&self) -> bool {
        self.cells.iter().all(|(_, cell)| header::is_text(cell))
    }

    /// Whether its cells are labels such as "Date:", each with its value to the right, if it has one.
    pub(super) fn is_labelled(&self) -> bool {
        let is_label = |(_, text): &Cell| text.ends_with(':');
        let mut pairs = self.cells.iter().zip(self.cells.iter().skip(1));
        self.cells.first().is_some_and(is_label) && pairs.all(|(one, next)| is_label(one) || is_label(next))
    }

    /// Whether its cells may name columns: words, none of them a whole line "Date: 4 May".
    fn may_name(&self) -> bool {
        self.is_text() && self.cells.iter().all(|(_, cell)| !cell.ends_with(':') && !cell.contains(": "))
    }

    /// Whether its cells may name columns in a header of several rows: words or years.
    fn may_name_in_several(&self) -> bool {
        let is_name = |(_, cell): &Cell| (header::is_text(cell) && !cell.contains(": ")) || header::is_year(cell);
        self.cells.iter().all(|cell| is_name(cell) && !cell.1.ends_with(':'))
    }

    fn columns(&self) -> impl Iterator<Item = usize> {
        self.cells.iter().map(|(column, _)| *column)
    }
}

/// The names of the columns of a table, which rows below a blank one may go on with.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// Empty as long as they are not known.
    pub(super) names: BTreeMap<usize, String>,
    /// Columns of nothing but numbers.
    numeric: BTreeSet<usize>,
    /// Most cells of a row.
    widest: usize,
}

impl Header {
    pub(super) fn new(names: BTreeMap<usize, String>, below: &[Row]) -> Self {
        let widest = below.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        let is_whole = |row: &&Row| row.cells.len() * 2 > widest;
        let columns: BTreeSet<usize> = below.iter().flat_map(Row::columns).collect();
        let is_numeric = |column: &usize| is_of_numbers(*column, below.iter().filter(is_whole));
        Self { names, numeric: columns.into_iter().filter(is_numeric).collect(), widest }
    }

    /// Whether a row is no row of the table but a sum below it: its name stands in a column of numbers.
    pub(super) fn is_sum(&self, row: &Row) -> bool {
        let [(column, name), _] = row.cells.as_slice() else { return false };
        self.widest >= FEWEST_COLUMNS && self.numeric.contains(column) && header::is_text(name)
    }

    /// Whether rows are some of the table: they have about as many cells, in the same columns, with numbers in those of
    /// numbers.
    fn covers(&self, rows: &[Row]) -> bool {
        let widest = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        let is_wide = widest > 1 && widest * 2 > self.names.len();
        let lies_below = rows.iter().flat_map(Row::columns).all(|column| self.names.contains_key(&column));
        let fits = |column: &usize| {
            let (cells, numbers) = column_of(*column, rows)
                .fold((0, 0), |(cells, numbers), cell| (cells + 1, numbers + usize::from(is_number(cell))));
            numbers * 2 >= cells
        };
        is_wide && lies_below && self.numeric.iter().all(fits)
    }
}

/// What the rows of a part are.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Lines of words, and names with their values.
    Lines,
    /// More rows of the table above.
    GoesOn,
    /// A header in the row of this number, and no rows below it.
    Names(usize),
    /// A table whose first row has this number. It may have a header.
    Table(usize),
    /// A table whose header begins in the row of this number and is so many rows high.
    Headed(usize, usize),
}

impl Layout {
    /// The layout of rows below a table with such a header, or of the first ones.
    pub(super) fn of(rows: &[Row], above: Option<&Header>) -> Self {
        let Some(width) = usual_width(rows) else { return Self::Lines };
        if rows.iter().filter(|row| !row.is_single()).all(Row::is_labelled) {
            return Self::Lines;
        }
        let at = header_row(rows, width);
        let (Some(first), below) = (rows.get(at), rows.get(at + 1..).unwrap_or_default()) else { return Self::Lines };
        let height = header_height(rows, at);
        let is_marked = height > 1 || (first.may_name() && is_bold_above(first, below));
        if is_marked {
            return Self::Headed(at, height);
        }
        let is_proven = first.may_name() && is_over_numbers(first, below);
        if above.is_some_and(|above| at == 0 && !is_proven && above.covers(rows)) {
            return Self::GoesOn;
        }
        let is_alone = below.is_empty();
        match first.may_name() {
            true if is_alone && (first.cells.len() >= FEWEST_NAMES || first.is_bold) => Self::Names(at),
            _ if are_pairs(rows) => Self::Lines,
            false if is_alone => Self::Lines,
            _ => Self::Table(at),
        }
    }
}

/// The names of columns that stand in the rows of a header: of each column all that stand above it.
pub(super) fn names(rows: &[Row]) -> BTreeMap<usize, String> {
    let mut names: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for row in rows {
        let next = row.columns().skip(1).map(Some).chain([None]);
        for ((column, text), next) in row.cells.iter().zip(next) {
            let wide = row.wide.get(column).copied().unwrap_or(1).min(MOST_COLUMNS);
            let end = column.saturating_add(wide);
            for column in *column..next.map_or(end, |next| end.min(next)) {
                let above = names.entry(column).or_default();
                if above.last() != Some(&text.as_str()) {
                    above.push(text);
                }
            }
        }
    }
    names.into_iter().map(|(column, names)| (column, names.join(BETWEEN_NAMES))).collect()
}

/// How many columns the rows of most cells fill, if any fills several.
fn usual_width(rows: &[Row]) -> Option<usize> {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    for row in rows.iter().filter(|row| !row.is_single()) {
        *counts.entry(row.width()).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(width, count)| (width.saturating_mul(*count), *width)).map(|(width, _)| width)
}

/// The number of the first row that fills as many columns as most rows do, or one less: the name of one may be missing.
fn header_row(rows: &[Row], width: usize) -> usize {
    let fewest = if width > FEWEST_NAMES { width - 1 } else { width };
    let at = rows.iter().position(|row| !row.is_single() && row.width() >= fewest).unwrap_or(0);
    let corner = || at.checked_sub(1).and_then(|above| rows.get(above)).filter(|row| !row.is_single());
    // Of three columns too, where the row below them does not name them.
    let is_corner =
        |row: &Row| row.width() + 1 == width && row.may_name() && rows.get(at).is_some_and(|row| !row.may_name());
    if corner().is_some_and(is_corner) { at - 1 } else { at }
}

/// How many rows high the header is: a row below a cell that reaches over several columns belongs to it, and one of units.
fn header_height(rows: &[Row], at: usize) -> usize {
    let is_above = |row: &&Row| row.may_name_in_several() && !row.wide.is_empty() && !row.is_single();
    let groups = rows.iter().skip(at).take_while(is_above).take(MOST_HEADER_ROWS - 1).count();
    let below = |number: usize| rows.get(at + number..).unwrap_or_default();
    let names = groups > 0 && below(groups).split_first().is_some_and(|(row, body)| names_in_groups(row, body));
    let height = if names { groups + 1 } else { 1 };
    let is_named = || below(height - 1).first().is_some_and(Row::may_name_in_several);
    let are_units = || below(height).split_first().is_some_and(|(row, body)| is_of_units(row, body));
    if height < MOST_HEADER_ROWS && is_named() && are_units() { height + 1 } else { height }
}

/// Whether a row below wide names has the names of the single columns. A row of words there may be one of the table.
fn names_in_groups(row: &Row, body: &[Row]) -> bool {
    let cells = || body.iter().map(|row| row.cells.clone()).collect::<Vec<_>>();
    let differs = || if row.is_text() { is_over_numbers(row, body) } else { header::differs(&row.cells, &cells()) };
    row.may_name_in_several() && !row.is_single() && (is_bold_above(row, body) || differs())
}

/// Whether a row has the units of columns: brief words over nothing but numbers, and none in the first column, which has names.
fn is_of_units(row: &Row, body: &[Row]) -> bool {
    let is_unit = |(column, cell): &Cell| {
        let is_brief = cell.chars().count() <= LONGEST_UNIT && !header::is_placeholder(cell);
        is_brief && is_of_numbers(*column, body)
    };
    let first = body.iter().flat_map(Row::columns).min();
    let is_below_names = first.is_some_and(|first| row.columns().all(|column| column > first));
    is_below_names && !row.is_single() && row.may_name() && row.cells.iter().all(is_unit)
}

fn is_bold_above(first: &Row, below: &[Row]) -> bool {
    first.is_bold && below.first().is_some_and(|row| !row.is_bold)
}

/// Whether a row of words stands over numbers.
fn is_over_numbers(first: &Row, below: &[Row]) -> bool {
    first.columns().any(|column| is_of_numbers(column, below))
}

/// Whether a column has cells, and all are numbers.
fn is_of_numbers<'r>(column: usize, rows: impl IntoIterator<Item = &'r Row>) -> bool {
    let mut cells = column_of(column, rows).peekable();
    cells.peek().is_some() && cells.all(is_number)
}

/// Whether rows are names with their values: two columns whose first row is like the others.
fn are_pairs(rows: &[Row]) -> bool {
    let rows: Vec<&Row> = rows.iter().filter(|row| !row.is_single()).collect();
    let mut pairs = Vec::with_capacity(rows.len());
    let mut places = HashSet::new();
    for row in &rows {
        let [(column, name), (other, value)] = row.cells.as_slice() else { return false };
        places.insert((column, other));
        pairs.push((name.as_str(), value.as_str()));
    }
    let Some(((_, value), below)) = pairs.split_first() else { return false };
    let names: HashSet<&str> = pairs.iter().map(|(name, _)| *name).collect();
    let are_names = names.len() == pairs.len() && names.iter().all(|name| header::is_text(name));
    if places.len() > 1 || !are_names || is_name_of_values(value) {
        return false;
    }
    if below.is_empty() || !header::is_text(value) {
        return true;
    }
    match (below, below.iter().filter(|(_, value)| is_number(value)).count()) {
        (_, 0) => value.contains(|sign: char| sign.is_ascii_digit()),
        // A date below words is one more value.
        ([(_, only)], _) => !header::is_number(only),
        (_, numbers) => numbers < below.len() && !header::are_mostly_numbers(numbers, below.len()),
    }
}

/// Whether a cell is what the second of two columns is often called.
fn is_name_of_values(cell: &str) -> bool {
    header::is_name_of_column(cell) || NAMES_OF_VALUES.contains(&cell.to_lowercase().as_str())
}

fn column_of<'r>(column: usize, rows: impl IntoIterator<Item = &'r Row>) -> impl Iterator<Item = &'r str> {
    let cells = rows.into_iter().flat_map(|row| &row.cells);
    cells.filter(move |(other, _)| *other == column).map(|(_, cell)| cell.as_str())
}

/// Whether a cell holds digits and no words.
fn is_number(cell: &str) -> bool {
    cell.contains(|sign: char| sign.is_ascii_digit()) && !header::is_text(cell)
}
