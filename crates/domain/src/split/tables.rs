//! The tables of a text: their rows, which are not cut, and what is repeated in front of the later ones.

use std::ops::Range;

use crate::markdown::{Block, BlockKind, blocks, cells};

/// Longest line, in bytes, that is taken for the caption of the table below it.
const LONGEST_CAPTION: usize = 160;

/// Most rows that a header has.
const MOST_HEADER_ROWS: usize = 3;

/// The tables of a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Tables {
    /// The rows of all tables, in order; a header is one.
    rows: Vec<Row>,
    /// Caption and header of each table, line by line; empty for a table that has neither.
    headers: Vec<String>,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// Its lines in the text.
    pub(super) bytes: Range<usize>,
    /// Number of its table.
    table: usize,
    /// Where it stands in its table.
    pub(super) place: Place,
}

/// Where a row stands in its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The first one, below a caption.
    BelowCaption,
    /// The first one.
    First,
    /// Right below the header.
    BelowHeader,
    /// Any other one.
    Later,
}

impl Tables {
    /// Finds the tables of a text by the bars of their rows.
    pub(super) fn of(text: &str) -> Self {
        let mut reader = Reader { text, found: Self::default(), caption: None, header_rows: 0, end: 0 };
        if text.contains('|') {
            for block in blocks(text) {
                reader.read(&block);
            }
        }
        reader.found
    }

    /// All rows, in order.
    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the text to repeat in front of a piece that begins at this byte: the header of the table whose later rows
    /// it begins with.
    pub(super) fn header_at(&self, byte: usize) -> Option<&str> {
        let row = self.rows.partition_point(|row| row.bytes.start <= byte).checked_sub(1)?;
        let row = self.rows.get(row).filter(|row| byte < row.bytes.end)?;
        let begins_table = matches!(row.place, Place::BelowCaption | Place::First) && byte == row.bytes.start;
        self.headers.get(row.table).map(String::as_str).filter(|header| !begins_table && !header.is_empty())
    }
}

/// Reads tables block by block.
struct Reader<'t> {
    text: &'t str,
    found: Tables,
    /// The line before, if it may be a caption.
    caption: Option<Range<usize>>,
    /// Rows of the header under way; 0 below it.
    header_rows: usize,
    /// End of the last row.
    end: usize,
}

impl Reader<'_> {
    fn read(&mut self, block: &Block) {
        let follows = self.end > 0 && self.lines_between(self.end, block.range.start) == 1;
        let line = self.text.get(block.content..block.range.end).unwrap_or_default();
        match block.kind {
            BlockKind::TableHeader => {
                let place = self.begin_table();
                self.header_rows = 1;
                self.push(block, place);
                self.add_header(line);
            }
            BlockKind::Rule if follows && line.contains('|') => self.extend(block),
            BlockKind::TableRow if !follows => {
                let place = self.begin_table();
                self.push(block, place);
            }
            BlockKind::TableRow => self.row(block, line),
            BlockKind::Paragraph | BlockKind::Heading | BlockKind::Code | BlockKind::Rule => {
                self.end = 0;
                self.caption = (block.kind == BlockKind::Paragraph && is_caption(line)).then(|| block.range.clone());
            }
        }
    }

    /// A row below another row.
    fn row(&mut self, block: &Block, line: &str) {
        // Without a name at its beginning it says more about the columns.
        let is_unnamed = cells(line).next().is_some_and(|(_, cell)| cell.is_empty());
        if is_unnamed && (1..MOST_HEADER_ROWS).contains(&self.header_rows) {
            self.header_rows += 1;
            self.extend(block);
            self.add_header(line);
        } else {
            let place = if self.header_rows > 0 { Place::BelowHeader } else { Place::Later };
            self.header_rows = 0;
            self.push(block, place);
        }
    }

    fn begin_table(&mut self) -> Place {
        self.header_rows = 0;
        let caption = self.caption.take().and_then(|caption| self.text.get(caption));
        self.found.headers.push(caption.unwrap_or_default().trim().to_owned());
        if caption.is_some() { Place::BelowCaption } else { Place::First }
    }

    fn push(&mut self, block: &Block, place: Place) {
        let table = self.found.headers.len() - 1;
        self.found.rows.push(Row { bytes: block.range.clone(), table, place });
        self.end = block.range.end;
    }

    /// Adds a line to the last row.
    fn extend(&mut self, block: &Block) {
        if let Some(row) = self.found.rows.last_mut() {
            row.bytes.end = block.range.end;
        }
        self.end = block.range.end;
    }

    fn add_header(&mut self, line: &str) {
        if let Some(header) = self.found.headers.last_mut() {
            if !header.is_empty() {
                header.push('\n');
            }
            header.push_str(line.trim());
        }
    }

    fn lines_between(&self, from: usize, to: usize) -> usize {
        self.text.get(from..to).map_or(0, |gap| gap.matches('\n').count().max(gap.matches('\r').count()))
    }
}

/// Whether a line names what is below it rather than stating something.
fn is_caption(line: &str) -> bool {
    let line = line.trim();
    line.len() <= LONGEST_CAPTION && !line.contains(['\n', '\r']) && !line.ends_with(['.', '!', '?', '。', '！', '？'])
}

#[cfg(test)]
#[expect(clippy::string_slice, reason = "a test may stop on what it did not expect")]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<(&str, Option<String>)> {
        let tables = Tables::of(text);
        let header = |row: &Row| tables.header_at(row.bytes.start).map(str::to_owned);
        tables.rows().iter().map(|row| (&text[row.bytes.clone()], header(row))).collect()
    }

    #[test]
    fn later_rows_know_caption_and_header() {
        let text = "Rates of 2026:\n\n| Name | Rate |\n|---|---|\n| A | 5 |\n| B | 6 |\n\n| C | 7 |\n";
        let header = || Some("Rates of 2026:\n| Name | Rate |".to_owned());
        let expected = [
            ("| Name | Rate |\n|---|---|", None),
            ("| A | 5 |", header()),
            ("| B | 6 |", header()),
            ("| C | 7 |", None),
        ];
        assert_eq!(rows(text), expected);
        assert_eq!(Tables::of(text).header_at(text.find("---").expect("there")), header().as_deref());
    }

    #[test]
    fn a_header_may_have_several_rows() {
        let text = "We sold:\n\n|  |  | Years |\n|--|--|--|\n|  | 2019 | 2018 |\n| Tea | 5 | 6 |\n| Rum | 7 | 8 |\n";
        let header = "We sold:\n|  |  | Years |\n|  | 2019 | 2018 |".to_owned();
        assert_eq!(rows(text).last(), Some(&("| Rum | 7 | 8 |", Some(header))));
    }

    #[test]
    fn rows_may_have_no_header() {
        let text = "It is so.\n| name: Ann | city: Bern |\n| name: Bo |\nText | more\n\nCities\n\n| a | b |\n| c | d |";
        let expected = [
            ("| name: Ann | city: Bern |", None),
            ("| name: Bo |", None),
            ("| a | b |", None),
            ("| c | d |", Some("Cities".to_owned())),
        ];
        assert_eq!(rows(text), expected);
        assert_eq!(rows("a or b\n\n```\n| a | b |\n```\n"), []);
    }
}
