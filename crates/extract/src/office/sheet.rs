//! A sheet of a workbook: its name is a heading, its rows are tables and lines.

use std::collections::{BTreeMap, HashMap};

use calamine::Dimensions;

use super::super::{
    Cause, ExtractError,
    content::Content,
    grid::LONGEST_REPEATED,
    parts::{Parts, Row},
};

/// A sheet that is being read, row by row.
pub(crate) struct Sheet {
    /// Name of the sheet, until it has been written above the first row.
    name: Option<String>,
    /// Cells that reach over others, by their place.
    merged: HashMap<(u32, u32), Dimensions>,
    /// By column: the text of a cell above that reaches down, and the last row that it reaches.
    reaching: BTreeMap<u32, (String, u32)>,
    parts: Parts,
    row: BTreeMap<u32, Text>,
    number: u32,
    /// Number of the last row with text.
    last: Option<u32>,
}

/// The text of a cell, as a program shows it.
#[derive(Debug, Default)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) is_bold: bool,
}

impl Sheet {
    /// A sheet of this name, if it is still to be written.
    pub(crate) fn new(name: Option<String>, merged: impl IntoIterator<Item = Dimensions>) -> Self {
        Self {
            name,
            merged: merged.into_iter().map(|region| (region.start, region)).collect(),
            reaching: BTreeMap::new(),
            parts: Parts::default(),
            row: BTreeMap::new(),
            number: 0,
            last: None,
        }
    }

    /// Adds the next cell, which stands to the right of the last one or in a row below.
    pub(crate) fn push(
        &mut self,
        (row, column): (u32, u32),
        text: Text,
        content: &mut Content,
    ) -> Result<(), ExtractError> {
        if row != self.number {
            self.end_row(content)?;
            self.number = row;
        }
        if !text.text.trim().is_empty() {
            self.row.insert(column, text);
        }
        Ok(())
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self, content: &mut Content) -> Result<(), ExtractError> {
        self.end_row(content)?;
        self.parts.finish(content)
    }

    fn end_row(&mut self, content: &mut Content) -> Result<(), ExtractError> {
        let cells = std::mem::take(&mut self.row);
        if cells.is_empty() {
            return Ok(());
        }
        if let Some(name) = self.name.take() {
            content.heading(1, &name)?;
        }
        if self.last.replace(self.number).is_some_and(|last| last + 1 < self.number) {
            self.parts.end(content)?;
        }
        let row = self.placed(cells);
        self.parts.push(row, content)
    }

    /// The row with the texts of cells above that reach into it.
    fn placed(&mut self, mut cells: BTreeMap<u32, Text>) -> Row {
        let number = self.number;
        let is_bold = cells.values().all(|cell| cell.is_bold);
        self.reaching.retain(|_, (_, last)| *last >= number);
        let mut row = Row { is_bold, ..Row::default() };
        for (column, cell) in &cells {
            let Some(region) = self.merged.get(&(number, *column)) else { continue };
            if region.end.1 > *column {
                row.wide.insert(place(*column), place(region.end.1 - column).saturating_add(1));
            }
            if region.end.0 > number && cell.text.len() <= LONGEST_REPEATED {
                self.reaching.insert(*column, (cell.text.clone(), region.end.0));
            }
        }
        for (column, (text, _)) in &self.reaching {
            cells.entry(*column).or_insert_with(|| Text { text: text.clone(), is_bold });
        }
        row.cells = cells.into_iter().map(|(column, cell)| (place(column), cell.text)).collect();
        row
    }
}

fn place(column: u32) -> usize {
    usize::try_from(column).unwrap_or(usize::MAX)
}

/// The error of a workbook that needs a password.
pub(super) fn needs_password() -> ExtractError {
    ExtractError::new(Cause::Encrypted, "the workbook needs a password; save it without one and send it again")
}
