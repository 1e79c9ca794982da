//! Rows of a table as lines, each cell between bars, as in Markdown.
//!
//! The bars tell rows from paragraphs for everything that reads the text: a row is not cut, and it is quoted and cited
//! on its own. In data ([`Rows`]) each cell is labelled by its column, because a row is found far from the header.

use std::{borrow::Cow, collections::BTreeMap};

use super::{ExtractError, content::Content, grid::BETWEEN_NAMES, header};

/// A row of these cells. A single cell is a paragraph that stands in a table.
pub(super) fn row(cells: &[impl AsRef<str>]) -> String {
    match cells {
        [cell] => cell.as_ref().to_owned(),
        cells => barred(cells),
    }
}

/// The line between a header of that many cells and the rows below it.
pub(super) fn delimiter(cells: usize) -> String {
    format!("|{}", "---|".repeat(cells))
}

/// Writes the rows of a table, of which the first names the columns.
pub(super) fn write_table(rows: &[Vec<String>], written: &mut String) {
    for (number, cells) in rows.iter().enumerate() {
        written.push_str(&row(cells));
        written.push('\n');
        if number == 0 {
            written.push_str(&delimiter(cells.len()));
            written.push('\n');
        }
    }
}

fn barred(cells: &[impl AsRef<str>]) -> String {
    let cells: String = cells.iter().map(|cell| format!(" {} |", cell.as_ref().replace('|', "\\|"))).collect();
    format!("|{cells}")
}

/// Longest name of a column, in characters: it is repeated in every row.
const LONGEST_LABEL: usize = 100;
/// Number of rows used to judge whether a first row with numbers is a header.
const SAMPLE: usize = 16;

/// Most lines above a table that say what it is.
const MOST_TITLES: usize = 8;

/// A cell: its column, from 0, and its text. Sheets may be thousands of columns wide and nearly empty.
pub(super) type Cell = (usize, String);

/// Writes the rows of one table.
#[derive(Debug, Default)]
pub(super) struct Rows {
    header: BTreeMap<usize, String>,
    /// Rows of one cell at the beginning, until it is known whether a header stands below them.
    titles: Vec<Vec<Cell>>,
    /// The first row and the rows after it, while they are needed to decide whether the first one is the header.
    undecided: Vec<Vec<Cell>>,
    has_begun: bool,
    has_body: bool,
}

impl Rows {
    /// The rows of a table with these names of its columns.
    pub(super) fn labelled(header: BTreeMap<usize, String>) -> Self {
        Self { header, has_begun: true, ..Self::default() }
    }

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
        if !self.has_begun && cells.len() == 1 && self.titles.len() < MOST_TITLES {
            self.titles.push(cells);
            return Ok(());
        }
        if !self.titles.is_empty() && !self.end_titles(&cells, content)? {
            return self.write(&cells, content);
        }
        if !std::mem::replace(&mut self.has_begun, true) {
            if is_header(&cells) {
                self.header = cells.into_iter().collect();
                return Ok(());
            }
            if may_be_header(&cells) {
                self.undecided.push(cells);
                return Ok(());
            }
        }
        if !self.undecided.is_empty() {
            self.undecided.push(cells);
            return if self.undecided.len() > SAMPLE { self.decide(content) } else { Ok(()) };
        }
        self.write(&cells, content)
    }

    /// Writes the lines above the first row of several cells: as text if that may be a header, else as rows. Returns whether
    /// it may be.
    fn end_titles(&mut self, below: &[Cell], content: &mut Content) -> Result<bool, ExtractError> {
        let are_titles = is_header(below) || may_be_header(below);
        for title in std::mem::take(&mut self.titles) {
            match title.first().filter(|_| are_titles) {
                Some((_, text)) => content.block(text)?,
                None => self.write(&title, content)?,
            }
        }
        self.has_begun = !are_titles;
        Ok(are_titles)
    }

    /// Ends the table, and returns the names of its columns: a header without rows is text as well.
    pub(super) fn finish(mut self, content: &mut Content) -> Result<BTreeMap<usize, String>, ExtractError> {
        self.end_titles(&[], content)?;
        self.decide(content)?;
        if !self.has_body && !self.header.is_empty() {
            let labels: Vec<&str> = self.header.values().map(String::as_str).collect();
            content.block(&row(&labels))?;
        }
        Ok(self.header)
    }

    /// Writes the rows that were held back, after deciding whether the first ones are the header.
    fn decide(&mut self, content: &mut Content) -> Result<(), ExtractError> {
        let rows = std::mem::take(&mut self.undecided);
        let (header, height) = header_of(&rows);
        if height > 0 {
            self.header = header;
        }
        rows.iter().skip(height).try_for_each(|row| self.write(row, content))
    }

    fn write(&mut self, cells: &[Cell], content: &mut Content) -> Result<(), ExtractError> {
        let line = self.line(cells);
        if std::mem::replace(&mut self.has_body, true) { content.line(&line) } else { content.block(&line) }
    }

    fn line(&self, cells: &[Cell]) -> String {
        let labelled: Vec<String> = cells
            .iter()
            .map(|(column, cell)| match self.header.get(column) {
                Some(label) => format!("{label}: {cell}"),
                None => cell.clone(),
            })
            .collect();
        if self.header.is_empty() { row(&labelled) } else { barred(&labelled) }
    }
}

/// Whether a first row names columns: several texts, no numbers among them, none twice.
fn is_header(cells: &[Cell]) -> bool {
    cells.len() > 1 && can_label(cells) && cells.iter().all(|(_, cell)| header::is_text(cell))
}

/// Whether a first row may use numbers as column names too, as `region, 2022, 2023`, or a name twice. With two columns
/// this cannot be decided: `Founded, 1998` is a row.
fn may_be_header(cells: &[Cell]) -> bool {
    let has_name = || cells.iter().any(|(_, cell)| header::is_text(cell)) || !are_distinct(cells);
    cells.len() > 2 && are_short(cells) && has_name()
}

/// The names of columns in the first rows, and in how many.
fn header_of(rows: &[Vec<Cell>]) -> (BTreeMap<usize, String>, usize) {
    let Some((first, below)) = rows.split_first() else { return (BTreeMap::new(), 0) };
    let names: BTreeMap<usize, String> = first.iter().cloned().collect();
    if are_distinct(first) {
        return (names, usize::from(header::differs(first, below)));
    }
    if let Some((second, body)) = below.split_first()
        && let Some(names) = joined(&names, second).filter(|_| header::stands_over_numbers(second, body))
    {
        return (names, 2);
    }
    let are_words = first.iter().all(|(_, cell)| header::is_text(cell));
    (names, usize::from(are_words && header::stands_over_numbers(first, below)))
}

/// The names of columns that two rows make together, the upper one those of groups: `2025 – Plan`. `None` if the lower one
/// does not name all columns of the upper one, or not by words, or if the names are not distinct.
fn joined(groups: &BTreeMap<usize, String>, cells: &[Cell]) -> Option<BTreeMap<usize, String>> {
    let name = |(column, cell): &Cell| match groups.get(column) {
        Some(group) => (*column, format!("{group}{BETWEEN_NAMES}{cell}")),
        None => (*column, cell.clone()),
    };
    let names: Vec<Cell> = cells.iter().map(name).collect();
    let are_words = cells.iter().all(|(_, cell)| header::is_text(cell));
    let is_joined = are_words && cells.len() >= groups.len() && are_distinct(&names) && are_short(&names);
    is_joined.then(|| names.into_iter().collect())
}

fn can_label(cells: &[Cell]) -> bool {
    are_distinct(cells) && are_short(cells)
}

/// Whether no two cells have the same text.
fn are_distinct(cells: &[Cell]) -> bool {
    let distinct: std::collections::HashSet<&str> = cells.iter().map(|(_, cell)| cell.as_str()).collect();
    distinct.len() == cells.len()
}

/// Whether no cell is too long for a name.
fn are_short(cells: &[Cell]) -> bool {
    cells.iter().all(|(_, cell)| cell.chars().count() <= LONGEST_LABEL)
}

/// Adds a table of separated values.
pub(super) fn separated(text: &str, is_tabbed: bool, content: &mut Content) -> Result<(), ExtractError> {
    let (told, text) = told_delimiter(text);
    let delimiter = if is_tabbed { b'\t' } else { told.unwrap_or_else(|| delimiter_of(without_comments(text))) };
    let (comments, text) = comments_above(text, delimiter);
    comments.iter().try_for_each(|comment| content.block(comment))?;
    let mut rows = Rows::default();
    for record in reader(&with_ended_quotations(text, delimiter), delimiter).records() {
        let record = record.map_err(|error| ExtractError::malformed("table", error))?;
        let cells: Vec<Cell> = record.iter().map(str::to_owned).enumerate().collect();
        rows.push(&cells, content)?;
    }
    rows.finish(content).map(|_| ())
}

/// The delimiter that a first line tells to spreadsheets, `sep=;`, and the text below it.
fn told_delimiter(text: &str) -> (Option<u8>, &str) {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let told = first.trim().trim_matches('"');
    let sign = told.get(..4).filter(|name| name.eq_ignore_ascii_case("sep=")).and_then(|_| told.as_bytes().get(4..));
    // The sign of a tab is trimmed.
    match sign {
        Some([]) if first.contains('\t') => (Some(b'\t'), rest),
        Some([sign]) if sign.is_ascii_punctuation() => (Some(*sign), rest),
        _ => (None, text),
    }
}

/// The text below the lines at the beginning that are comments or blank.
fn without_comments(text: &str) -> &str {
    let above = text.split_inclusive('\n').take_while(|line| line.starts_with('#') || line.trim().is_empty());
    let below = text.get(above.map(str::len).sum()..).unwrap_or_default();
    if below.is_empty() { text } else { below }
}

/// The comments above a table, and the table. A line with as many cells as the row below it names the columns, although
/// it begins like a comment.
fn comments_above(text: &str, delimiter: u8) -> (Vec<&str>, &str) {
    let table = without_comments(text);
    let above = text.get(..text.len() - table.len()).unwrap_or_default();
    let width = |line: &str| reader(line, delimiter).records().next().and_then(Result::ok).map_or(0, |row| row.len());
    let columns = width(table);
    let last = above.trim_end().lines().next_back().unwrap_or_default();
    let names = columns > 1 && width(last) == columns;
    let start = if names { above.rfind(last).unwrap_or(above.len()) } else { above.len() };
    let comments = above.get(..start).unwrap_or_default().lines().map(|line| line.trim_start_matches('#').trim());
    (comments.filter(|comment| !comment.is_empty()).collect(), text.get(start..).unwrap_or_default())
}

fn reader(text: &str, delimiter: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text.as_bytes())
}

/// The text of a table in which every quotation ends.
///
/// In a well-formed file the number of quote signs is even (RFC 4180). Where one is missing, the rows up to the next
/// sign, or to the end, would be one cell. Quotations must then end within their line, and in other lines the quote sign
/// is an ordinary character.
fn with_ended_quotations(text: &str, delimiter: u8) -> Cow<'_, str> {
    if !has_open_quotation(text, delimiter) {
        return Cow::Borrowed(text);
    }
    let is_balanced = |line: &str| line.matches('"').count().is_multiple_of(2) && !has_open_quotation(line, delimiter);
    let lines = text.split_inclusive(['\r', '\n']);
    let ended = lines.map(|line| if is_balanced(line) { line.into() } else { literal(line, delimiter) });
    Cow::Owned(ended.collect())
}

/// Whether a quotation does not end, as the reader sees it: only a quote sign at the beginning of a cell opens one, and
/// two of them in a quotation stand for the sign itself. A sign on a later line that could only open one ends none.
fn has_open_quotation(text: &str, delimiter: u8) -> bool {
    let is_border = |at: Option<usize>| {
        at.and_then(|at| text.as_bytes().get(at)).is_none_or(|byte| [delimiter, b'\r', b'\n'].contains(byte))
    };
    let opens = |at: usize| is_border(at.checked_sub(1));
    let spans_lines = |from, to| text.get(from..to).is_some_and(|quotation| quotation.contains(['\r', '\n']));
    let mut signs = text.match_indices('"').map(|(at, _)| at).peekable();
    let mut opened = None;
    while let Some(at) = signs.next() {
        opened = match opened {
            None => opens(at).then_some(at),
            Some(_) if signs.next_if_eq(&(at + 1)).is_some() => opened,
            Some(from) if opens(at) && !is_border(Some(at + 1)) && spans_lines(from, at) => return true,
            Some(_) => None,
        };
    }
    opened.is_some()
}

/// A line whose cells the reader takes literally.
fn literal(line: &str, delimiter: u8) -> Cow<'static, str> {
    let delimiter = char::from(delimiter);
    let cells = line.trim_end_matches(['\r', '\n']).replace('"', "\"\"");
    let cells = cells.replace(delimiter, &format!("\"{delimiter}\""));
    format!("\"{cells}\"\n").into()
}

/// The delimiter with which most of the first rows have as many cells as the first one, and more than one.
fn delimiter_of(text: &str) -> u8 {
    const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];
    const SAMPLE_ROWS: usize = 32;
    let score = |delimiter: u8| {
        let widths: Vec<usize> = reader(&with_ended_quotations(text, delimiter), delimiter)
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
            ("name,city\nAnn,Bern\nBo,\n", "| name: Ann | city: Bern |\n| name: Bo |"),
            ("name;price\nAnn;1,50\n\"B\n;o\";2,50\n", "| name: Ann | price: 1,50 |\n| name: B ;o | price: 2,50 |"),
            ("name|city\nAnn|Bern\n", "| name: Ann | city: Bern |"),
            ("name,sign\nor,|\n", "| name: or | sign: \\| |"),
            ("a,b\n", "| a | b |"),
            ("1,2\n3,4,5\n", "| 1 | 2 |\n| 3 | 4 | 5 |"),
            ("id,id\n1,2\n", "| id | id |\n| 1 | 2 |"),
            ("one column\nof text\n", "one column\nof text"),
            ("Prices\nof May\nroute,low\nA,1\n", "Prices\n\nof May\n\n| route: A | low: 1 |"),
            ("Prices\n1,2\n", "Prices\n| 1 | 2 |"),
            (",,\n\n", ""),
            (
                "# Tins, of May. By a\n# Unit, mm\n\nday,low,high\n1,2.4,3\n",
                "Tins, of May. By a\n\nUnit, mm\n\n| day: 1 | low: 2.4 | high: 3 |",
            ),
            ("# Tins\n#id,low\n1,2\n", "Tins\n\n| #id: 1 | low: 2 |"),
            ("# Tins\n# only\n", "# Tins\n# only"),
            (
                "sep=;\r\nname;price\r\nAnn;1,50\r\nBo, C;2,50\r\n",
                "| name: Ann | price: 1,50 |\n| name: Bo, C | price: 2,50 |",
            ),
            ("sep=\t\nname\tprice\nAnn\t1\n", "| name: Ann | price: 1 |"),
            ("sep=none;of\na;b\n", "| sep=none: a | of: b |"),
        ];
        for (text, expected) in cases {
            assert_eq!(lines(text, false), expected, "{text:?}");
        }
        assert_eq!(lines("name, first\tcity\nAnn\tBern", true), "| name, first: Ann | city: Bern |");
    }

    #[test]
    fn a_quotation_without_end_takes_no_rows() {
        let cases = [
            ("name,city\n\"Ann,Bern\nBob,Basel\n", "| name: \"Ann | city: Bern |\n| name: Bob | city: Basel |"),
            ("name,city\r\nAnn,\"Bern\r\nBob,Basel", "| name: Ann | city: \"Bern |\n| name: Bob | city: Basel |"),
            ("name,city\rAnn,\"Bern\rBob,Basel\r", "| name: Ann | city: \"Bern |\n| name: Bob | city: Basel |"),
            ("\"name;city\nAnn;Bern\nBob;Basel\n", "| \"name: Ann | city: Bern |\n| \"name: Bob | city: Basel |"),
            (
                "name,city\n\"Ann, Dr\",\"the \"\"old\"\" town\"\nBob,\"Basel\n\"Cy\",\"Chur\"\n",
                "| name: Ann, Dr | city: the \"old\" town |\n| name: Bob | city: \"Basel |\n| name: Cy | city: Chur |",
            ),
            (
                "name,city\nAnn,\"Bern\nBob,Basel\nCy,\"Chur\"\n",
                "| name: Ann | city: \"Bern |\n| name: Bob | city: Basel |\n| name: Cy | city: Chur |",
            ),
            (
                "name,city\n\"Ann,Bern\nBob,Basel\n\"Cy,Chur\n",
                "| name: \"Ann | city: Bern |\n| name: Bob | city: Basel |\n| name: \"Cy | city: Chur |",
            ),
            // A quote sign within a cell opens no quotation, so this number of them is even.
            ("size,city\n5\",\"Bern\n6,Basel\n", "| size: 5\" | city: \"Bern |\n| size: 6 | city: Basel |"),
        ];
        for (text, expected) in cases {
            assert_eq!(lines(text, false), expected, "{text:?}");
        }
        let tabbed = lines("name\tcity\n\"Ann\tBern\nBob\tBasel\n", true);
        assert_eq!(tabbed, "| name: \"Ann | city: Bern |\n| name: Bob | city: Basel |");
    }

    #[test]
    fn quotations_that_end_are_read_as_they_are() {
        for text in [
            "a,b\n\"1\n2\",\"x \"\"y\"\"\nz\"\n",
            "a,b\n\"\"\"1\n\"\"\",\"\"\n5\",6\n",
            "a,b\r\n\"1\r\n,\"\",\r\n\",2\r\n",
            "a,b\n5\",x\n\"A\" B,\"C\"",
            "a,b\n\"1\n2\" ,\"\n\"\n\",\n\",\"3,\"4\"\n",
            "a,b\n1,2\n",
        ] {
            assert!(matches!(with_ended_quotations(text, b','), Cow::Borrowed(same) if same == text), "{text:?}");
        }
        assert_eq!(
            lines("size,city\n5\",Bern\n\"6\n7\",Basel\n", false),
            "| size: 5\" | city: Bern |\n| size: 6 7 | city: Basel |"
        );
    }

    #[test]
    fn numbers_name_columns_where_the_rows_below_say_so() {
        let cases = [
            (
                "region,2022,2023\nNorth,120,130\nSouth,95,1990\n",
                "| region: North | 2022: 120 | 2023: 130 |\n| region: South | 2022: 95 | 2023: 1990 |",
            ),
            ("region,lead,2023\nNorth,Ann,12.5\n", "| region: North | lead: Ann | 2023: 12.5 |"),
            ("item,1,2,3\nAnn,yes,no,yes\n", "| item: Ann | 1: yes | 2: no | 3: yes |"),
            ("#,name,price\n1,Tea,2.50\n", "| #: 1 | name: Tea | price: 2.50 |"),
            ("sex,18-64,65+\nf,120,30\n", "| sex: f | 18-64: 120 | 65+: 30 |"),
            ("region,2022,2023\n", "| region | 2022 | 2023 |"),
        ];
        for (text, expected) in cases {
            assert_eq!(lines(text, false), expected, "{text:?}");
        }
        let long: String = (0..100).map(|row| format!("R{row},{},{row}.5\n", row + 100)).collect();
        let labelled = lines(&format!("region,2022,2023\n{long}"), false);
        assert_eq!(labelled.lines().count(), 100);
        assert!(labelled.ends_with("| region: R99 | 2022: 199 | 2023: 99.5 |"), "{labelled}");
    }

    #[test]
    fn names_may_occur_twice_over_numbers() {
        let cases = [
            ("site,cost,cost,note\nMill,6,5,leased\n", "| site: Mill | cost: 6 | cost: 5 | note: leased |"),
            (
                ",2025,2025,2026\nRegion,Plan,Actual,Plan\nNorth,10,12,14\n",
                "| Region: North | 2025 – Plan: 10 | 2025 – Actual: 12 | 2026 – Plan: 14 |",
            ),
            ("Ann,yes,yes\nBo,no,yes\n", "| Ann | yes | yes |\n| Bo | no | yes |"),
            ("Ann,5,5\nBo,6,8\n", "| Ann | 5 | 5 |\n| Bo | 6 | 8 |"),
            ("2,2,3\na,b,c\n4,5,6\n", "| 2 – a: 4 | 2 – b: 5 | 3 – c: 6 |"),
        ];
        for (text, expected) in cases {
            assert_eq!(lines(text, false), expected, "{text:?}");
        }
    }

    #[test]
    fn a_table_without_header_has_no_labels() {
        for text in [
            "Ann,2022,2023\nBo,2019,2021\n",
            "Ann,5,7\nBo,6,8\nCy,,9\n",
            "North,12,13\nSouth,12.5,14.1\nWest,11.5,9.0\n",
            "North,2000,1950\nSouth,1200,1100\nWest,900,870\n",
            "North,Ann,2000\nSouth,Bo,1200\nWest,Cy,870\n",
            "Founded,1998\nStaff,250\nMargin,12.5%\n",
            "Ann,-,5\nBo,3,6\n",
            "2024-01-31,Ann,5\n2024-02-28,Bo,7\n",
            "Ann,10.0.0.1,80\nBo,10.0.0.2,443\n",
            "1,Ann,2022\n2,Bo,2021\n",
            "x,1,2\n",
            "1,2,3\n4,5,6\n",
        ] {
            let row = |line: &str| format!("| {} |", line.replace(",,", ",").replace(',', " | "));
            let expected = text.lines().map(row).collect::<Vec<_>>().join("\n");
            assert_eq!(lines(text, false), expected, "{text:?}");
        }
    }
}
