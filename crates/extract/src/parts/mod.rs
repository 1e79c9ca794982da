//! The parts of a sheet, which blank rows divide: tables, lines of words, and names with their values.
//!
//! A table often does not begin at the top of its sheet, and is not the only one. Lines above its header are paragraphs;
//! rows below a blank one go on with the header above, unless they have one of their own or do not fit.

mod layout;

use super::{
    ExtractError,
    content::Content,
    header,
    rows::{self, Cell, Rows},
};
use layout::{Header, Layout, names};

pub(super) use layout::Row;

/// Rows that are held back until it is known how they belong together.
const MOST_HELD: usize = 64;

/// Longest name, in characters, that a value follows on its line.
const LONGEST_NAME: usize = 100;

/// Writes the parts of one sheet.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// The first rows of the part under way, until then.
    held: Vec<Row>,
    /// The table under way.
    table: Option<Rows>,
    /// The header of the last table.
    header: Header,
    /// Whether it has no rows yet, and is not written.
    is_pending: bool,
    /// Whether the part under way is lines, and whether the last one is.
    are_lines: bool,
    lines_follow: bool,
}

impl Parts {
    /// Adds a row. One without text ends a part.
    pub(super) fn push(&mut self, mut row: Row, content: &mut Content) -> Result<(), ExtractError> {
        for (_, cell) in &mut row.cells {
            *cell = cell.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        row.cells.retain(|(_, cell)| !cell.is_empty());
        if row.cells.is_empty() {
            return self.end(content);
        }
        if let Some(table) = &mut self.table {
            return table.push(&cells_of(row, &self.header), content);
        }
        if self.are_lines {
            return self.write_lines(&[row], content);
        }
        self.held.push(row);
        if self.held.len() == MOST_HELD { self.decide(content) } else { Ok(()) }
    }

    /// Ends a part.
    pub(super) fn end(&mut self, content: &mut Content) -> Result<(), ExtractError> {
        if !self.held.is_empty() {
            self.decide(content)?;
        }
        if let Some(table) = self.table.take() {
            self.header.names = table.finish(content)?;
        }
        self.are_lines = false;
        Ok(())
    }

    /// Writes what is left.
    pub(super) fn finish(mut self, content: &mut Content) -> Result<(), ExtractError> {
        self.end(content)?;
        self.end_pending(content)
    }

    fn decide(&mut self, content: &mut Content) -> Result<(), ExtractError> {
        let rows = std::mem::take(&mut self.held);
        let above = Some(&self.header).filter(|header| !header.names.is_empty());
        let layout = Layout::of(&rows, above);
        if layout == Layout::GoesOn {
            self.is_pending = false;
            let names = std::mem::take(&mut self.header.names);
            return self.begin(Rows::labelled(names), rows, content);
        }
        self.end_pending(content)?;
        let (at, height) = match layout {
            Layout::Lines => {
                self.are_lines = true;
                return self.write_lines(&rows, content);
            }
            Layout::GoesOn => (0, 0),
            Layout::Table(at) => (at, 0),
            Layout::Names(at) => (at, 1),
            Layout::Headed(at, height) => (at, height),
        };
        let mut rows = rows.into_iter();
        for title in rows.by_ref().take(at) {
            content.block(&line_of(&title))?;
        }
        let header: Vec<Row> = rows.by_ref().take(height).collect();
        let body: Vec<Row> = rows.collect();
        // The first row may be a header that is still to be found.
        let below = body.get(usize::from(height == 0)..).unwrap_or_default();
        self.header = Header::new(names(&header), below);
        self.is_pending = body.is_empty();
        if self.is_pending {
            return Ok(());
        }
        let names = std::mem::take(&mut self.header.names);
        let table = if names.is_empty() { Rows::default() } else { Rows::labelled(names) };
        self.begin(table, body, content)
    }

    /// Begins a table with these rows.
    fn begin(&mut self, mut table: Rows, rows: Vec<Row>, content: &mut Content) -> Result<(), ExtractError> {
        self.lines_follow = false;
        rows.into_iter().try_for_each(|row| table.push(&cells_of(row, &self.header), content))?;
        self.table = Some(table);
        Ok(())
    }

    /// Writes a header that has no rows.
    fn end_pending(&mut self, content: &mut Content) -> Result<(), ExtractError> {
        if !std::mem::take(&mut self.is_pending) {
            return Ok(());
        }
        self.lines_follow = false;
        let names: Vec<String> = std::mem::take(&mut self.header.names).into_values().collect();
        content.block(&rows::row(&names))
    }

    fn write_lines(&mut self, rows: &[Row], content: &mut Content) -> Result<(), ExtractError> {
        for line in rows.iter().map(line_of) {
            if std::mem::replace(&mut self.lines_follow, true) { content.line(&line) } else { content.block(&line) }?;
        }
        Ok(())
    }
}

/// The cells of a row of a table. A label with its value, such as a sum below the others, has no other name.
fn cells_of(row: Row, header: &Header) -> Vec<Cell> {
    let is_pair = row.is_labelled() && !row.is_single() || header.is_sum(&row);
    if is_pair { vec![(usize::MAX, line_of(&row))] } else { row.cells }
}

/// A row as a line, or as several: names with their values, or words.
fn line_of(row: &Row) -> String {
    if row.is_labelled() {
        let starts = row.cells.iter().enumerate();
        let text = |(place, (_, text)): (usize, &Cell)| {
            let gap = if place == 0 {
                ""
            } else if text.ends_with(':') {
                "\n"
            } else {
                " "
            };
            format!("{gap}{text}")
        };
        return starts.map(text).collect();
    }
    let texts: Vec<&str> = row.cells.iter().map(|(_, text)| text.as_str()).collect();
    if texts.iter().any(|text| text.contains(": ")) {
        return texts.join("\n");
    }
    match texts.as_slice() {
        [name, value] if header::is_text(name) && name.chars().count() <= LONGEST_NAME => {
            let colon = if name.ends_with('?') { "" } else { ":" };
            format!("{name}{colon} {value}")
        }
        texts => rows::row(texts),
    }
}

#[cfg(test)]
mod tests;
