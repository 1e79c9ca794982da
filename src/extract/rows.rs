//! Rows of a table as lines, each cell labelled by its column.
//!
//! A row is found and cited on its own, far from the header, so that it must say what its cells are.

use std::collections::BTreeMap;

use super::{ExtractError, content::Content};

/// Stands between the cells of a row.
pub(super) const CELL_SEPARATOR: &str = " | ";

/// Longest name of a column, in characters: it is repeated in every row.
const LONGEST_LABEL: usize = 100;

/// A cell: its column, from 0, and what it says. Sheets may be thousands of columns wide and nearly empty.
pub(super) type Cell = (usize, String);

/// Writes the rows of one table.
#[derive(Debug, Default)]
pub(super) struct Rows {
    header: BTreeMap<usize, String>,
    has_begun: bool,
    has_body: bool,
}

impl Rows {
    /// Adds a row. The first one is the header if it reads like one.
    pub(super) fn push(&mut self, cells: &[Cell], content: &mut Content) -> Result<(), ExtractError> {
        let cells: Vec<Cell> = cells
            .iter()
            .map(|(column, cell)| (*column, cell.split_whitespace().collect::<Vec<_>>().join(" ")))
            .filter(|(_, cell)| !cell.is_empty())
            .collect();
        if cells.is_empty() {
            return Ok(());
        }
        if !std::mem::replace(&mut self.has_begun, true) && is_header(&cells) {
            self.header = cells.into_iter().collect();
            return Ok(());
        }
        let line = self.line(&cells);
        if std::mem::replace(&mut self.has_body, true) { content.line(&line) } else { content.block(&line) }
    }

    /// Ends the table: a header without rows is text as well.
    pub(super) fn finish(self, content: &mut Content) -> Result<(), ExtractError> {
        let labels: Vec<String> = self.header.into_values().collect();
        if self.has_body { Ok(()) } else { content.block(&labels.join(CELL_SEPARATOR)) }
    }

    fn line(&self, cells: &[Cell]) -> String {
        let labelled: Vec<String> = cells
            .iter()
            .map(|(column, cell)| match self.header.get(column) {
                Some(label) => format!("{label}: {cell}"),
                None => cell.clone(),
            })
            .collect();
        labelled.join(CELL_SEPARATOR)
    }
}

/// Whether a first row names columns: several texts, no numbers among them, none twice.
fn is_header(cells: &[Cell]) -> bool {
    let distinct: std::collections::HashSet<&str> = cells.iter().map(|(_, cell)| cell.as_str()).collect();
    cells.len() > 1
        && distinct.len() == cells.len()
        && distinct.iter().all(|cell| cell.chars().any(char::is_alphabetic) && cell.chars().count() <= LONGEST_LABEL)
}

/// Adds a table of separated values.
pub(super) fn separated(text: &str, is_tabbed: bool, content: &mut Content) -> Result<(), ExtractError> {
    let delimiter = if is_tabbed { b'\t' } else { delimiter_of(text) };
    let mut rows = Rows::default();
    for record in reader(text, delimiter).records() {
        let record = record.map_err(|error| ExtractError::malformed("table", error))?;
        let cells: Vec<Cell> = record.iter().map(str::to_owned).enumerate().collect();
        rows.push(&cells, content)?;
    }
    rows.finish(content)
}

fn reader(text: &str, delimiter: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text.as_bytes())
}

/// The delimiter under which most of the first rows have as many cells as the first one, and more than one.
fn delimiter_of(text: &str) -> u8 {
    const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];
    const SAMPLE_ROWS: usize = 32;
    let score = |delimiter: u8| {
        let widths: Vec<usize> = reader(text, delimiter)
            .records()
            .take(SAMPLE_ROWS)
            .filter_map(Result::ok)
            .map(|record| record.len())
            .collect();
        let first = widths.first().copied().unwrap_or(0);
        let agreeing = if first > 1 { widths.iter().filter(|width| **width == first).count() } else { 0 };
        (agreeing, first)
    };
    // Of equals, `max_by_key` takes the last: the comma.
    DELIMITERS.into_iter().rev().max_by_key(|delimiter| score(*delimiter)).unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, is_tabbed: bool) -> String {
        let mut content = Content::default();
        separated(text, is_tabbed, &mut content).expect("a table");
        content.text
    }

    #[test]
    fn rows_are_labelled_by_header() {
        let cases = [
            ("name,city\nAnn,Bern\nBo,\n", "name: Ann | city: Bern\nname: Bo"),
            ("name;price\nAnn;1,50\n\"B\n;o\";2,50\n", "name: Ann | price: 1,50\nname: B ;o | price: 2,50"),
            ("name|city\nAnn|Bern\n", "name: Ann | city: Bern"),
            ("a,b\n", "a | b"),
            ("1,2\n3,4,5\n", "1 | 2\n3 | 4 | 5"),
            ("id,id\n1,2\n", "id | id\n1 | 2"),
            ("one column\nof text\n", "one column\nof text"),
            (",,\n\n", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(lines(text, false), expected, "{text:?}");
        }
        assert_eq!(lines("name, first\tcity\nAnn\tBern", true), "name, first: Ann | city: Bern");
    }
}
