//! Tables as documents lay them out: a header where the format says that the first row is one, and cells that reach
//! over several columns or rows.

use super::{
    ExtractError,
    content::Content,
    header::{are_names_of_columns, names_columns},
    rows::{delimiter, row},
};

/// Most columns of a table whose cells are put in their places.
pub(super) const MOST_COLUMNS: usize = 256;

/// Longest text, in bytes, that is repeated in the rows that its cell reaches into.
pub(super) const LONGEST_REPEATED: usize = 200;

/// How far a cell reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

impl Default for Span {
    fn default() -> Self {
        Self { columns: 1, rows: 1 }
    }
}

/// Whether a row names columns, as its document says or shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowKind {
    /// Nothing tells.
    Unknown,
    /// It looks like the first row of a table, and may be one.
    LikeHeader,
    /// The document says that it is a header.
    Header,
}

impl RowKind {
    /// The kind of a row of which the document says whether it is a header.
    pub(super) const fn of(is_header: bool) -> Self {
        if is_header { Self::Header } else { Self::Unknown }
    }
}

/// A cell of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) span: Span,
}

/// Rows that are held back until it is known whether the first one names the columns.
const MOST_HELD: usize = 64;

/// Most rows of a header.
pub(super) const MOST_HEADER_ROWS: usize = 3;

/// Between the names that a column has in the rows of a header.
pub(super) const BETWEEN_NAMES: &str = " – ";

/// Writes the rows of one table.
#[derive(Debug, Default)]
pub(super) struct Grid {
    /// Whether the first row names the columns, once that is known.
    has_header: Option<bool>,
    /// By rows of the header so far: the name of each column, that of a cell in all columns that it reaches over.
    names: Vec<Vec<String>>,
    /// Whether a cell of the header reaches over several columns or rows.
    has_spans: bool,
    /// The first rows, until then.
    held: Vec<Vec<String>>,
    has_begun: bool,
    /// By column: the text of a cell above that reaches down, and into how many more rows.
    reaching: Vec<(String, usize)>,
}

impl Grid {
    /// Writes a row; see [`Self::lines`].
    pub(super) fn write(&mut self, cells: Vec<Cell>, kind: RowKind, content: &mut Content) -> Result<(), ExtractError> {
        let follows = self.has_begun;
        write_lines(&self.lines(cells, kind), follows, content)
    }

    /// Writes what is held back. The next row begins another table.
    pub(super) fn end(&mut self, content: &mut Content) -> Result<(), ExtractError> {
        let follows = self.has_begun;
        write_lines(&self.last_lines(), follows, content)
    }

    /// The lines that are ready after another row, a header with the line below it. With a header above, each cell stands in
    /// its own column; without, empty ones are left out.
    pub(super) fn lines(&mut self, cells: Vec<Cell>, kind: RowKind) -> Vec<String> {
        let has_spans = cells.iter().any(|cell| cell.span.columns > 1 || cell.span.rows > 1);
        let (texts, names) = self.placed(cells);
        let filled = texts.iter().filter(|text| !text.is_empty()).count();
        if filled == 0 {
            return Vec::new();
        }
        // A cell above all columns but the first names them; one above all of them is the title of the table.
        let is_label =
            texts.first().is_some_and(String::is_empty) && names.iter().filter(|name| !name.is_empty()).count() > 1;
        if (filled > 1 || is_label) && self.goes_on_with_header(kind) {
            self.has_header = Some(true);
            self.has_spans |= has_spans;
            self.names.push(names);
            self.held.push(texts);
            return Vec::new();
        }
        self.join_header();
        self.held.push(texts);
        if self.has_header.is_some() || self.held.len() == MOST_HELD { self.decided() } else { Vec::new() }
    }

    /// Whether a row of this kind belongs to the header, which is the first row and those below it that are marked or
    /// needed as such: a cell above reaches over several columns.
    fn goes_on_with_header(&self, kind: RowKind) -> bool {
        let is_above_body =
            !self.has_begun && self.names.len() == self.held.len() && self.names.len() <= MOST_HEADER_ROWS;
        is_above_body
            && match kind {
                RowKind::Unknown => false,
                RowKind::LikeHeader => self.names.is_empty() || self.has_spans,
                RowKind::Header => true,
            }
    }

    /// Makes one row of those of the header: each column has the names that stand above it. In a table of nothing but
    /// headers the first row is the header.
    fn join_header(&mut self) {
        let rows = std::mem::take(&mut self.names);
        if !(2..=MOST_HEADER_ROWS).contains(&rows.len()) {
            return;
        }
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let name = |column: usize| {
            let mut names: Vec<&str> = rows.iter().filter_map(|row| row.get(column)).map(String::as_str).collect();
            names.retain(|name| !name.is_empty());
            names.dedup();
            names.join(BETWEEN_NAMES)
        };
        self.held.splice(..rows.len(), [(0..columns).map(name).collect()]);
    }

    /// The lines of the rows that are held back. The next row begins another table.
    pub(super) fn last_lines(&mut self) -> Vec<String> {
        // Above no rows, several rows of a header are a table.
        self.names.clear();
        let lines = self.decided();
        *self = Self::default();
        lines
    }

    /// The line of a row that is a table by itself: one in a cell, or one around tables. Empty if it holds no text.
    pub(super) fn only_line(cells: Vec<Cell>) -> String {
        let (mut texts, _) = Self::default().placed(cells);
        texts.retain(|text| !text.is_empty());
        if texts.is_empty() { String::new() } else { row(&texts) }
    }

    fn decided(&mut self) -> Vec<String> {
        let held = std::mem::take(&mut self.held);
        // Of two columns their names decide: `Length | 12` may be a row below `Material | Steel`.
        let is_wide = held.first().is_some_and(|first| first.len() > 2);
        let are_named = || held.len() > 2 && held.first().is_some_and(|first| are_names_of_columns(first));
        let has_header = *self.has_header.get_or_insert_with(|| is_wide && names_columns(&held) || are_named());
        let line = |mut texts: Vec<String>| {
            if !has_header {
                texts.retain(|text| !text.is_empty());
            }
            let line = row(&texts);
            let is_header = has_header && !std::mem::replace(&mut self.has_begun, true);
            if is_header { format!("{line}\n{}", delimiter(texts.len())) } else { line }
        };
        let lines: Vec<String> = held.into_iter().map(line).collect();
        self.has_begun |= !lines.is_empty();
        lines
    }

    /// The texts of a row by column, and the same with each text in all columns that its cell reaches over. A cell that
    /// reaches over several rows is repeated in each, one that reaches over several columns stands in the first.
    fn placed(&mut self, cells: Vec<Cell>) -> (Vec<String>, Vec<String>) {
        let (mut texts, mut names) = (Vec::with_capacity(cells.len()), Vec::with_capacity(cells.len()));
        if cells.is_empty() {
            return (texts, names);
        }
        for cell in cells {
            self.repeat_above(&mut texts, &mut names);
            for column in 0..cell.span.columns.clamp(1, MOST_COLUMNS.saturating_sub(texts.len()).max(1)) {
                let text = if column == 0 { cell.text.clone() } else { String::new() };
                if self.reaching.len() <= texts.len() {
                    self.reaching.resize_with(texts.len() + 1, Default::default);
                }
                let is_short = cell.text.len() <= LONGEST_REPEATED;
                if let Some(below) = self.reaching.get_mut(texts.len()) {
                    let repeated = if is_short { text.clone() } else { String::new() };
                    *below = (repeated, cell.span.rows.saturating_sub(1));
                }
                names.push(if is_short { cell.text.clone() } else { text.clone() });
                texts.push(text);
            }
        }
        self.repeat_above(&mut texts, &mut names);
        (texts, names)
    }

    /// Fills the next columns that cells above reach into.
    fn repeat_above(&mut self, texts: &mut Vec<String>, names: &mut Vec<String>) {
        while let Some((text, rows)) = self.reaching.get_mut(texts.len()).filter(|(_, rows)| *rows > 0) {
            *rows -= 1;
            texts.push(text.clone());
            names.push(text.clone());
        }
    }
}

fn write_lines(lines: &[String], mut follows: bool, content: &mut Content) -> Result<(), ExtractError> {
    lines.iter().try_for_each(|line| {
        if std::mem::replace(&mut follows, true) { content.line(line) } else { content.block(line) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rows: &[&[&str]]) -> Vec<String> {
        let mut grid = Grid::default();
        let cells =
            |row: &[&str]| row.iter().map(|text| Cell { text: (*text).to_owned(), ..Cell::default() }).collect();
        let mut lines: Vec<String> = rows.iter().flat_map(|row| grid.lines(cells(row), RowKind::Unknown)).collect();
        lines.extend(grid.last_lines());
        lines
    }

    #[test]
    fn words_over_numbers_name_the_columns() {
        let grades: [&[&str]; 3] = [&["Grade", "From", "To"], &["4", "£31,500", ""], &["5", "£37,000", "£46,000"]];
        let expected = ["| Grade | From | To |\n|---|---|---|", "| 4 | £31,500 |  |", "| 5 | £37,000 | £46,000 |"];
        assert_eq!(read(&grades), expected);
    }

    #[test]
    fn two_columns_are_named_by_what_columns_are_called() {
        let limits: [&[&str]; 3] = [&["Place", "Limit"], &["London", "£165"], &["Elsewhere", "ask"]];
        assert_eq!(read(&limits), ["| Place | Limit |\n|---|---|", "| London | £165 |", "| Elsewhere | ask |"]);
    }

    #[test]
    fn other_first_rows_are_rows() {
        assert_eq!(read(&[&["Name", "Mira"], &["Room", "12"], &["Team", "Sales"]])[0], "| Name | Mira |");
        assert_eq!(read(&[&["2024", "2025"], &["1", "2"]])[0], "| 2024 | 2025 |");
        assert_eq!(read(&[&["Words", "alone"]]), ["| Words | alone |"]);
        assert_eq!(read(&[&["Material", "Steel"], &["Length", "12"]])[0], "| Material | Steel |");
        assert_eq!(read(&[&["Place", "Oslo"], &["Price", "12"]])[0], "| Place | Oslo |");
        assert_eq!(read(&[&["A", "B", "C"], &["1", "2", "3", "4"]])[0], "| A | B | C |");
        assert_eq!(read(&[]).len(), 0);
    }

    #[test]
    fn columns_have_the_names_of_all_rows_of_the_header() {
        let cell =
            |text: &str, columns: usize, rows: usize| Cell { text: text.to_owned(), span: Span { columns, rows } };
        let read = |kind: RowKind, rows: Vec<Vec<Cell>>| {
            let mut grid = Grid::default();
            let last = rows.len() - 1;
            let kind = |at: usize| if at == last { RowKind::Unknown } else { kind };
            let mut lines: Vec<String> =
                rows.into_iter().enumerate().flat_map(|(at, row)| grid.lines(row, kind(at))).collect();
            lines.extend(grid.last_lines());
            lines.join("\n")
        };
        let body = || vec![cell("Oil", 1, 1), cell("8", 1, 1), cell("24", 1, 1)];
        let first = || vec![cell("Paint", 1, 2), cell("Indoors", 2, 1)];
        let second = || vec![cell("Litres", 1, 1), cell("Hours", 1, 1)];
        let joined = "| Paint | Indoors – Litres | Indoors – Hours |\n|---|---|---|\n| Oil | 8 | 24 |";
        assert_eq!(read(RowKind::Header, vec![first(), second(), body()]), joined);
        assert_eq!(read(RowKind::LikeHeader, vec![first(), second(), body()]), joined);
        let units = || vec![cell("", 1, 1), cell("l", 1, 1), cell("h", 1, 1)];
        let plain = || vec![cell("Paint", 1, 1), cell("Amount", 1, 1), cell("Time", 1, 1)];
        let joined = "| Paint | Amount – l | Time – h |\n|---|---|---|\n| Oil | 8 | 24 |";
        assert_eq!(read(RowKind::Header, vec![plain(), units(), body()]), joined);
        let bold = read(RowKind::LikeHeader, vec![plain(), units(), body()]);
        assert_eq!(bold, "| Paint | Amount | Time |\n|---|---|---|\n|  | l | h |\n| Oil | 8 | 24 |");
        let above = || vec![cell("", 1, 1), cell("At noon", 2, 1)];
        let joined = "| Paint | At noon – Amount | At noon – Time |\n|---|---|---|\n| Oil | 8 | 24 |";
        assert_eq!(read(RowKind::Header, vec![above(), plain(), body()]), joined);
        let many = read(RowKind::Header, vec![plain(), units(), units(), units(), body()]);
        assert!(many.starts_with("| Paint | Amount | Time |\n|---|---|---|\n|  | l | h |\n"), "{many}");
        let mut grid = Grid::default();
        let mut alone = grid.lines(plain(), RowKind::Header);
        alone.extend(grid.lines(units(), RowKind::Header));
        alone.extend(grid.last_lines());
        assert_eq!(alone, ["| Paint | Amount | Time |\n|---|---|---|", "|  | l | h |"]);
    }

    #[test]
    fn a_long_table_is_not_held_back_whole() {
        let mut grid = Grid::default();
        let cells = |text: &str| vec![Cell { text: text.to_owned(), ..Cell::default() }; 3];
        assert_eq!(grid.lines(cells("Name"), RowKind::Unknown).len(), 0);
        let counts: Vec<usize> =
            (0..MOST_HELD).map(|number| grid.lines(cells(&number.to_string()), RowKind::Unknown).len()).collect();
        assert_eq!(counts[MOST_HELD - 3..], [0, MOST_HELD, 1]);
        assert_eq!(grid.last_lines().len(), 0);
    }
}
