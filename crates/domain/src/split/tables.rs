//! The tables of a text: their rows, which are not cut, and what is repeated in front of the later ones and of the later
//! parts of one that fits in no piece.

use std::ops::Range;

use crate::markdown::{Block, BlockKind, blocks, cells};

/// Longest line, in bytes, that is taken for the caption of the table below it.
const LONGEST_CAPTION: usize = 160;

/// Longest row of a header, in bytes, that is repeated: it is stored with each piece.
const LONGEST_HEADER_ROW: usize = 4_000;

/// Cells at the beginning of a row that may name it: numbers, and then a name.
const MOST_NAMING_CELLS: usize = 3;

/// Longest part of such a cell, in bytes, that is repeated.
const LONGEST_NAME: usize = 80;

/// The tables of a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Tables {
    /// The rows of all tables, in order; a header is one.
    rows: Vec<Row>,
    headers: Vec<Header>,
}

/// The text above the rows of a table; empty if there is none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Header {
    caption: String,
    rows: Vec<HeaderRow>,
}

/// A row that names columns.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HeaderRow {
    line: String,
    /// Bytes at which its cells begin.
    starts: Vec<usize>,
}

/// A row that fits in no piece.
#[derive(Debug)]
pub(super) struct CutRow {
    /// Its number.
    row: usize,
    /// The cells that name it.
    name: String,
    /// Bytes of the text at which its cells begin.
    starts: Vec<usize>,
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
        let mut reader = Reader { text, found: Self::default(), caption: None, is_in_header: false, end: 0 };
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
    /// it begins with; where it begins within a row, the name of that row and the names of the columns from there.
    ///
    /// `cut` holds the row of the call before, whose cells are not looked for again.
    pub(super) fn header_at(&self, text: &str, byte: usize, cut: &mut Option<CutRow>) -> Option<String> {
        let number = self.rows.partition_point(|row| row.bytes.start <= byte).checked_sub(1)?;
        let row = self.rows.get(number).filter(|row| byte < row.bytes.end)?;
        let header = self.headers.get(row.table)?;
        let is_first = matches!(row.place, Place::BelowCaption | Place::First);
        let begins_row = text.get(row.bytes.start..byte).is_some_and(|before| before.trim().is_empty());
        let repeated = match (begins_row, is_first) {
            (true, true) => return None,
            (false, true) if !header.rows.is_empty() => header.whole(),
            (true, false) => header.whole(),
            (false, _) => {
                let cut = match cut.take().filter(|cut| cut.row == number) {
                    Some(known) => cut.insert(known),
                    None => cut.insert(CutRow::of(text, number, row, header)),
                };
                header.beginning_at(cut.column_at(byte), &cut.name)
            }
        };
        Some(repeated).filter(|repeated| !repeated.is_empty())
    }
}

impl Header {
    fn whole(&self) -> String {
        self.beginning_at(0, "")
    }

    /// Caption, name of a row, and the names of the columns from one on, line by line.
    fn beginning_at(&self, column: usize, row: &str) -> String {
        let name = if row.is_empty() { String::new() } else { format!("| {row}: |") };
        let names = self.rows.iter().map(|row| row.beginning_at(column));
        let lines = [self.caption.as_str(), &name].into_iter().chain(names);
        lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    }
}

impl HeaderRow {
    fn of(line: &str) -> Self {
        let line = line.trim();
        Self { line: line.to_owned(), starts: cells(line).map(|(start, _)| start).collect() }
    }

    /// The cells from a column on, as far as they are repeated.
    fn beginning_at(&self, column: usize) -> &str {
        let starts = self.starts.get(column..).unwrap_or_default();
        let Some(start) = starts.first() else { return "" };
        let most = start + LONGEST_HEADER_ROW;
        let end = if most < self.line.len() {
            // A single cell that is longer names nothing.
            starts.partition_point(|start| *start <= most).checked_sub(1).and_then(|last| starts.get(last)).copied()
        } else {
            Some(self.line.len())
        };
        end.and_then(|end| self.line.get(*start..end)).unwrap_or_default().trim_end()
    }
}

impl CutRow {
    fn of(text: &str, number: usize, row: &Row, header: &Header) -> Self {
        let line = text.get(row.bytes.clone()).unwrap_or_default();
        let starts = cells(line).map(|(start, _)| row.bytes.start + start).collect();
        Self { row: number, name: name_of(line, !header.rows.is_empty()), starts }
    }

    /// The column of the cell at a byte.
    fn column_at(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte).saturating_sub(1)
    }
}

/// The cells at the beginning of a row up to the first with words, or its first cell if there are only numbers. Without a
/// header above it a cell may begin with the name of its column.
fn name_of(line: &str, has_header: bool) -> String {
    let has_words = |cell: &str| {
        let value = if has_header { cell } else { cell.split_once(": ").map_or(cell, |(_, value)| value) };
        value.contains(char::is_alphabetic)
    };
    let first: Vec<&str> =
        cells(line).map(|(_, cell)| cell).take(MOST_NAMING_CELLS).filter(|cell| !cell.is_empty()).collect();
    let last = first.iter().position(|cell| has_words(cell)).unwrap_or(0);
    first.iter().take(last + 1).map(|cell| beginning(cell)).collect::<Vec<_>>().join(", ")
}

/// The row that a piece with this repeated text begins within.
#[must_use]
pub fn named_row(table_header: &str) -> Option<&str> {
    let is_name = |line: &&str| line.ends_with(": |") && cells(line).nth(1).is_none();
    table_header.lines().take(2).find(|line| line.starts_with("| ") && is_name(line))
}

/// The lines of Markdown that make a table of the rows below this repeated text; empty where it heads no rows, since the piece
/// begins within one.
#[must_use]
pub fn lines_above_rows(table_header: &str) -> String {
    let is_row = |line: &&str| line.trim_start().starts_with('|');
    let first = table_header.lines().find(is_row).filter(|_| named_row(table_header).is_none());
    let Some(first) = first else { return String::new() };
    let caption = table_header.lines().filter(|line| !is_row(line)).map(|line| format!("{line}\n\n"));
    let delimiter = format!("{first}\n|{}\n", "---|".repeat(cells(first.trim()).count()));
    let others = table_header.lines().filter(is_row).skip(1).map(|line| format!("{line}\n"));
    caption.chain([delimiter]).chain(others).collect()
}

/// As many words at the beginning of a cell as are repeated.
fn beginning(cell: &str) -> &str {
    if cell.len() <= LONGEST_NAME {
        return cell;
    }
    let most = cell.get(..cell.floor_char_boundary(LONGEST_NAME)).unwrap_or_default();
    most.rsplit_once(' ').map_or(most, |(words, _)| words)
}

/// Reads tables block by block.
struct Reader<'t> {
    text: &'t str,
    found: Tables,
    /// The line before, if it may be a caption.
    caption: Option<Range<usize>>,
    /// Whether the last row is of the header.
    is_in_header: bool,
    /// End of the last row.
    end: usize,
}

impl Reader<'_> {
    fn read(&mut self, block: &Block) {
        let follows = self.end > 0 && self.lines_between(self.end, block.range.start) == 1;
        let line = self.text.get(block.content..block.range.end).unwrap_or_default();
        match block.kind {
            BlockKind::TableHeader if follows && self.is_in_header => {
                self.extend(block);
                self.add_header(line);
            }
            BlockKind::TableHeader => {
                let place = self.begin_table();
                self.is_in_header = true;
                self.push(block, place);
                self.add_header(line);
            }
            BlockKind::Rule if follows && (line.contains('|') || self.is_in_header) => self.extend(block),
            BlockKind::TableRow if !follows => {
                let place = self.begin_table();
                self.push(block, place);
            }
            BlockKind::TableRow => self.row(block),
            BlockKind::Paragraph | BlockKind::Heading | BlockKind::Code | BlockKind::Rule => {
                self.end = 0;
                self.caption = (block.kind == BlockKind::Paragraph && is_caption(line)).then(|| block.range.clone());
            }
        }
    }

    /// A row below another row.
    fn row(&mut self, block: &Block) {
        let place = if self.is_in_header { Place::BelowHeader } else { Place::Later };
        self.is_in_header = false;
        self.push(block, place);
    }

    fn begin_table(&mut self) -> Place {
        self.is_in_header = false;
        let caption = self.caption.take().and_then(|caption| self.text.get(caption));
        self.found.headers.push(Header { caption: caption.unwrap_or_default().trim().to_owned(), rows: Vec::new() });
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
            header.rows.push(HeaderRow::of(line));
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
        let header = |row: &Row| tables.header_at(text, row.bytes.start, &mut None);
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
        let within = text.find("---").expect("there");
        assert_eq!(Tables::of(text).header_at(text, within, &mut None), header());
    }

    #[test]
    fn drawn_tables_have_a_header_above_their_second_line() {
        let text = "Colours:\n\n  +---+-----+\n  | N | Tin |\n  +---+-----+\n  | 1 | red |\n  | 2 | old |\n  +---+-----+\n\nText.";
        let found = rows(text);
        let header = found.last().and_then(|(_, header)| header.clone()).unwrap_or_default();
        assert_eq!((found.len(), header.lines().last().map(str::trim)), (3, Some("| N | Tin |")));
        // Each row has a line under it.
        let drawn = "+---+\n| a | b |\n+---+\n| c | d |\n+---+\n| e | f |\n+---+\n";
        assert!(rows(drawn).iter().all(|(_, header)| header.is_none()));
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

    #[test]
    fn within_a_row_its_name_stands_above_the_columns_from_there() {
        let cases = [
            (
                "Staff:\n\n| Name | Phone | Room |\n|---|---|---|\n| Bob | 1 | 2 |\n| Cyd | 3 | 4 |\n",
                "| 3 |",
                "Staff:\n| Cyd: |\n| Phone | Room |",
            ),
            ("| id: 7 | name: Bob | phone: 1 |\n| id: 8 | name: Cyd | phone: 3 |", "phone: 3", "| id: 8, name: Cyd: |"),
            ("| id: 7 | name: Bob | phone: 1 |", "phone: 1", "| id: 7, name: Bob: |"),
            ("| 1 | 2 | 3 | 4 |", "| 4 |", "| 1: |"),
            ("| a | b | c |\n|---|---|---|\n| 5 | 6 | 7 |", "7 |", "| 5: |\n| c |"),
            ("|  | b | c |\n|---|---|---|\n|  | d | e |\n| f | x | y |", "y |", "| f: |\n| c |\n| e |"),
        ];
        for (text, at, expected) in cases {
            let found = Tables::of(text).header_at(text, text.find(at).expect("there"), &mut None);
            assert_eq!(found.as_deref().unwrap_or_default(), expected, "{text}");
            let name = expected.lines().find(|line| line.ends_with(": |"));
            assert_eq!(found.as_deref().and_then(named_row), name);
        }
        assert_eq!(named_row("Staff:\n| Name | Phone: |"), None);
        let long = format!("| {} | b |", "word ".repeat(40));
        let found = Tables::of(&long).header_at(&long, long.len() - 3, &mut None).expect("a name");
        assert_eq!(found, format!("| {}: |", ["word"; 16].join(" ")));
    }

    #[test]
    fn of_a_very_long_header_only_the_next_columns_are_repeated() {
        let names: String = (0..3_000).map(|number| format!(" Column {number} |")).collect();
        let text = format!("|{names}\n|---|---|\n| a | b |\n");
        let header = rows(&text).pop().and_then(|(_, header)| header).expect("a header");
        assert!((LONGEST_HEADER_ROW - 30..=LONGEST_HEADER_ROW).contains(&header.len()), "{}", header.len());
        assert!(header.starts_with("| Column 0 |") && !header.ends_with('|'), "{header}");
    }
}
