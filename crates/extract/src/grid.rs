//! Tables as documents lay them out: a header where the format says that the first row is one, and cells that reach
//! over several columns or rows.

use super::{
    ExtractError,
    content::Content,
    rows::{delimiter, row},
};

/// Most columns of a table whose cells are put in their places.
const MOST_COLUMNS: usize = 256;

/// Longest text, in bytes, that is repeated in the rows that its cell reaches into.
const LONGEST_REPEATED: usize = 200;

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

/// A cell of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) span: Span,
}

/// Rows that are held back until it is known whether the first one names the columns.
const MOST_HELD: usize = 64;

/// Share of cells with digits below a row of words, in per cent, from which that row names the columns.
const DIGITS_SHARE: usize = 50;

/// Writes the rows of one table.
#[derive(Debug, Default)]
pub(super) struct Grid {
    /// Whether the first row names the columns, once that is known.
    has_header: Option<bool>,
    /// The first rows, until then.
    held: Vec<Vec<String>>,
    has_begun: bool,
    /// By column: the text of a cell above that reaches down, and into how many more rows.
    reaching: Vec<(String, usize)>,
}

impl Grid {
    /// Writes a row; see [`Self::lines`].
    pub(super) fn write(
        &mut self,
        cells: Vec<Cell>,
        is_header: bool,
        content: &mut Content,
    ) -> Result<(), ExtractError> {
        let follows = self.has_begun;
        write_lines(&self.lines(cells, is_header), follows, content)
    }

    /// Writes what is held back. The next row begins another table.
    pub(super) fn end(&mut self, content: &mut Content) -> Result<(), ExtractError> {
        let follows = self.has_begun;
        write_lines(&self.last_lines(), follows, content)
    }

    /// The lines that are ready after another row, a header with the line below it. With a header above, each cell stands in
    /// its own column; without, empty ones are left out.
    pub(super) fn lines(&mut self, cells: Vec<Cell>, is_header: bool) -> Vec<String> {
        let texts = self.placed(cells);
        let filled = texts.iter().filter(|text| !text.is_empty()).count();
        if filled == 0 {
            return Vec::new();
        }
        let is_first = self.held.is_empty() && !self.has_begun;
        if is_first && is_header && filled > 1 {
            self.has_header = Some(true);
        }
        self.held.push(texts);
        if self.has_header.is_some() || self.held.len() == MOST_HELD { self.decided() } else { Vec::new() }
    }

    /// The lines of the rows that are held back. The next row begins another table.
    pub(super) fn last_lines(&mut self) -> Vec<String> {
        let lines = self.decided();
        *self = Self::default();
        lines
    }

    /// The row that a table in a cell is, which has no header of its own.
    pub(super) fn only_line(cells: Vec<Cell>) -> String {
        let mut texts = Self::default().placed(cells);
        texts.retain(|text| !text.is_empty());
        if texts.is_empty() { String::new() } else { row(&texts) }
    }

    fn decided(&mut self) -> Vec<String> {
        let held = std::mem::take(&mut self.held);
        // Of two columns this cannot be decided: `Length | 12` may be a row below `Material | Steel`.
        let is_wide = held.first().is_some_and(|first| first.len() > 2);
        let has_header = *self.has_header.get_or_insert_with(|| is_wide && names_columns(&held));
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

    /// The texts of a row by column. A cell that reaches over several rows is repeated in each, one that reaches over
    /// several columns stands in the first.
    fn placed(&mut self, cells: Vec<Cell>) -> Vec<String> {
        let mut texts = Vec::with_capacity(cells.len());
        if cells.is_empty() {
            return texts;
        }
        for cell in cells {
            self.repeat_above(&mut texts);
            for column in 0..cell.span.columns.clamp(1, MOST_COLUMNS.saturating_sub(texts.len()).max(1)) {
                let text = if column == 0 { cell.text.clone() } else { String::new() };
                if self.reaching.len() <= texts.len() {
                    self.reaching.resize_with(texts.len() + 1, Default::default);
                }
                if let Some(below) = self.reaching.get_mut(texts.len()) {
                    let repeated = if text.len() <= LONGEST_REPEATED { text.clone() } else { String::new() };
                    *below = (repeated, cell.span.rows.saturating_sub(1));
                }
                texts.push(text);
            }
        }
        self.repeat_above(&mut texts);
        texts
    }

    /// Fills the next columns that cells above reach into.
    fn repeat_above(&mut self, texts: &mut Vec<String>) {
        while let Some((text, rows)) = self.reaching.get_mut(texts.len()).filter(|(_, rows)| *rows > 0) {
            *rows -= 1;
            texts.push(text.clone());
        }
    }
}

fn write_lines(lines: &[String], mut follows: bool, content: &mut Content) -> Result<(), ExtractError> {
    lines.iter().try_for_each(|line| {
        if std::mem::replace(&mut follows, true) { content.line(line) } else { content.block(line) }
    })
}

/// Whether the first row of a table, which the format does not call a header, names its columns: it has a cell for each, all
/// of them words, and below are mostly numbers.
pub(super) fn names_columns(rows: &[Vec<String>]) -> bool {
    let Some((first, body)) = rows.split_first() else { return false };
    let has_digit = |text: &String| text.contains(|character: char| character.is_ascii_digit());
    let is_full = body.iter().all(|row| row.len() <= first.len());
    let is_words = first.iter().all(|text| !has_digit(text) && text.contains(char::is_alphabetic));
    let texts = body.iter().flatten().filter(|text| !text.is_empty());
    let (all, digits) = texts.fold((0, 0), |(all, digits), text| (all + 1, digits + usize::from(has_digit(text))));
    all > 0 && is_full && is_words && digits * 100 >= all * DIGITS_SHARE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rows: &[&[&str]]) -> Vec<String> {
        let mut grid = Grid::default();
        let cells =
            |row: &[&str]| row.iter().map(|text| Cell { text: (*text).to_owned(), ..Cell::default() }).collect();
        let mut lines: Vec<String> = rows.iter().flat_map(|row| grid.lines(cells(row), false)).collect();
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
    fn other_first_rows_are_rows() {
        assert_eq!(read(&[&["Name", "Mira"], &["Room", "12"], &["Team", "Sales"]])[0], "| Name | Mira |");
        assert_eq!(read(&[&["2024", "2025"], &["1", "2"]])[0], "| 2024 | 2025 |");
        assert_eq!(read(&[&["Words", "alone"]]), ["| Words | alone |"]);
        assert_eq!(read(&[&["Material", "Steel"], &["Length", "12"]])[0], "| Material | Steel |");
        assert_eq!(read(&[&["A", "B", "C"], &["1", "2", "3", "4"]])[0], "| A | B | C |");
        assert_eq!(read(&[]).len(), 0);
    }

    #[test]
    fn a_long_table_is_not_held_back_whole() {
        let mut grid = Grid::default();
        let cells = |text: &str| vec![Cell { text: text.to_owned(), ..Cell::default() }; 3];
        assert_eq!(grid.lines(cells("Name"), false).len(), 0);
        let counts: Vec<usize> =
            (0..MOST_HELD).map(|number| grid.lines(cells(&number.to_string()), false).len()).collect();
        assert_eq!(counts[MOST_HELD - 3..], [0, MOST_HELD, 1]);
        assert_eq!(grid.last_lines().len(), 0);
    }
}
