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

/// Writes the rows of one table.
#[derive(Debug, Default)]
pub(super) struct Grid {
    has_begun: bool,
    has_header: bool,
    /// By column: the text of a cell above that reaches down, and into how many more rows.
    reaching: Vec<(String, usize)>,
}

impl Grid {
    /// Writes a row; see [`Self::line`].
    pub(super) fn write(
        &mut self,
        cells: Vec<Cell>,
        is_header: bool,
        content: &mut Content,
    ) -> Result<(), ExtractError> {
        let follows = self.has_begun;
        match self.line(cells, is_header) {
            Some(line) if follows => content.line(&line),
            Some(line) => content.block(&line),
            None => Ok(()),
        }
    }

    /// The next row, if it holds text; a header with the line below it. With a header above, each cell stands in its own
    /// column; without, empty ones are left out.
    pub(super) fn line(&mut self, cells: Vec<Cell>, is_header: bool) -> Option<String> {
        let mut texts = self.placed(cells);
        let filled = texts.iter().filter(|text| !text.is_empty()).count();
        if filled == 0 {
            return None;
        }
        let begins = !std::mem::replace(&mut self.has_begun, true);
        self.has_header |= begins && is_header && filled > 1;
        if !self.has_header {
            texts.retain(|text| !text.is_empty());
        }
        let line = row(&texts);
        Some(if begins && self.has_header { format!("{line}\n{}", delimiter(texts.len())) } else { line })
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
