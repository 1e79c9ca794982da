//! Cells of a table that reach over several rows: the document names them again in each.

use std::collections::BTreeMap;

use super::super::super::grid::{Cell, LONGEST_REPEATED};

/// How a cell belongs to the one above it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Merge {
    /// It stands alone.
    #[default]
    Nothing,
    /// It reaches into the rows below.
    Begins,
    /// It is a part of the one above.
    GoesOn,
}

/// The cells of a table that reach down, by column.
#[derive(Debug, Default)]
pub(super) struct Merged(BTreeMap<usize, String>);

impl Merged {
    /// Repeats the texts of cells above in the cells of a row that are parts of them.
    pub(super) fn fill(&mut self, cells: &mut [Cell], merges: &[Merge]) {
        let mut column = 0_usize;
        for (cell, merge) in cells.iter_mut().zip(merges) {
            match merge {
                Merge::Begins if cell.text.len() <= LONGEST_REPEATED => {
                    self.0.insert(column, cell.text.clone());
                }
                Merge::GoesOn if cell.text.is_empty() => {
                    cell.text = self.0.get(&column).cloned().unwrap_or_default();
                }
                Merge::Begins | Merge::GoesOn | Merge::Nothing => {
                    self.0.remove(&column);
                }
            }
            column = column.saturating_add(cell.span.columns.max(1));
        }
    }
}
