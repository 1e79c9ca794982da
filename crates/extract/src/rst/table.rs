//! Tables: drawn as a grid, by columns under rules, as a list of lists, or as separated values.

use std::ops::Range;

use super::{directive::items, inline, names::Names};

/// Most columns of a table that is drawn.
const MOST_COLUMNS: usize = 200;

/// Rows of cells, each with its text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
    /// How many of the first are the header.
    headers: usize,
}

impl Table {
    pub(super) fn write(&self, names: &Names<'_>, out: &mut String) {
        out.push_str("<table>");
        for (number, row) in self.rows.iter().enumerate() {
            let cell = if number < self.headers { "th" } else { "td" };
            out.push_str("<tr>");
            for text in row {
                out.extend(["<", cell, ">", &inline::html(text.trim(), names), "</", cell, ">"]);
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</table>\n");
    }

    /// A list of rows, each a list of cells.
    pub(super) fn of_list(lines: &[&str], headers: usize) -> Self {
        let cells = |row: &Vec<&str>| items(row, '-').iter().map(|cell| cell.join(" ")).collect();
        Self { rows: items(lines, '*').iter().map(cells).collect(), headers }
    }

    /// Separated values (RFC 4180), whose header may be an option.
    pub(super) fn of_csv(lines: &[&str], header: Option<&str>, delimiter: Option<&str>, headers: usize) -> Self {
        let delimiter = match delimiter {
            Some("tab") => b'\t',
            Some("space") => b' ',
            Some(sign) => sign.bytes().next().unwrap_or(b','),
            None => b',',
        };
        let mut reader = csv::ReaderBuilder::new();
        reader.has_headers(false).flexible(true).delimiter(delimiter).trim(csv::Trim::All);
        let read = |text: String| -> Vec<Vec<String>> {
            let mut records = reader.from_reader(text.as_bytes());
            // Bytes of a text are text: only a broken reader could fail here.
            let cells = |record: csv::StringRecord| record.iter().map(str::to_owned).collect();
            records.records().filter_map(Result::ok).map(cells).collect()
        };
        let named: Vec<Vec<String>> = header.map(|header| read(header.to_owned())).unwrap_or_default();
        let headers = headers + named.len();
        // A space before a quoted value is none of its text.
        let sign = char::from(delimiter);
        let text = lines.join("\n").replace(&format!("{sign} \""), &format!("{sign}\""));
        let rows = named.into_iter().chain(read(text.trim().to_owned())).collect();
        Self { rows, headers }
    }
}

/// The table under rules of equals signs that lines begin with, and how many of them are its.
pub(super) fn simple(lines: &[&str]) -> Option<(Table, usize)> {
    let is_rule = |line: &str| line.contains("= =") || line.contains("==  ");
    let is_border = |line: &str| line.starts_with('=') && line.bytes().all(|byte| matches!(byte, b'=' | b' '));
    let first = lines.first().filter(|line| is_border(line) && is_rule(line))?;
    let columns = columns_of(first);
    let blank_after = |at: &usize| lines.get(at + 1).is_none_or(|next| next.is_empty());
    // The last border has a blank line below it.
    let borders: Vec<usize> =
        lines.iter().enumerate().skip(1).filter(|(_, line)| is_border(line)).map(|(at, _)| at).take(2).collect();
    let end = *borders.iter().find(|at| blank_after(at))?;
    let header_end = borders.first().copied().filter(|at| *at < end);
    let mut table = Table::default();
    for (at, line) in lines.iter().enumerate().take(end).skip(1) {
        if Some(at) == header_end {
            table.headers = table.rows.len();
            continue;
        }
        let is_span = line.starts_with('-') && line.bytes().all(|byte| matches!(byte, b'-' | b' '));
        if line.is_empty() || is_span {
            continue;
        }
        let cells = cells_of(line, &columns);
        match table.rows.last_mut().filter(|_| cells.first().is_some_and(String::is_empty)) {
            // Without text in the first column a line goes on with the row above.
            Some(row) => {
                for (cell, more) in row.iter_mut().zip(cells).filter(|(_, more)| !more.is_empty()) {
                    cell.push(' ');
                    cell.push_str(&more);
                }
            }
            // An escaped space stands for a first cell without text.
            None => table.rows.push(cells),
        }
    }
    Some((table, end + 1))
}

/// The columns under the runs of a rule, in characters; the last one has no end.
fn columns_of(rule: &str) -> Vec<Range<usize>> {
    let mut columns: Vec<Range<usize>> = Vec::new();
    let mut before = ' ';
    for (at, sign) in rule.chars().enumerate() {
        match (before, sign) {
            (' ', '=') => columns.push(at..usize::MAX),
            ('=', ' ') => columns.iter_mut().last().into_iter().for_each(|last| last.end = at),
            _ => {}
        }
        before = sign;
    }
    if let Some(last) = columns.last_mut() {
        last.end = usize::MAX;
    }
    columns.truncate(MOST_COLUMNS);
    columns
}

/// The cells of a line. A word that reaches into the next column belongs to the one in which it begins.
fn cells_of(line: &str, columns: &[Range<usize>]) -> Vec<String> {
    let signs: Vec<char> = line.chars().collect();
    let mut start = 0;
    let mut cell = |column: &Range<usize>| {
        let mut end = column.end.min(signs.len());
        while signs.get(end).is_some_and(|sign| !sign.is_whitespace()) {
            end += 1;
        }
        let text: String = signs.get(start.max(column.start).min(end)..end).unwrap_or_default().iter().collect();
        start = end;
        text.trim().to_owned()
    };
    columns.iter().map(&mut cell).collect()
}

/// Lines between two rules of a grid.
struct Band {
    /// The text of each column.
    cells: Vec<String>,
    /// Whether the cell of a column ends at the rule below.
    ends: Vec<bool>,
}

/// The table drawn as a grid that lines begin with, and how many of them are its.
pub(super) fn grid(lines: &[&str]) -> Option<(Table, usize)> {
    let is_border = |line: &str| {
        line.len() > 2
            && line.starts_with('+')
            && line.ends_with('+')
            && line.bytes().all(|byte| matches!(byte, b'+' | b'-' | b'='))
    };
    lines.first().filter(|line| is_border(line))?;
    let length = lines.iter().take_while(|line| line.starts_with(['+', '|'])).count();
    let own: Vec<Vec<char>> = lines.get(..length)?.iter().map(|line| line.chars().collect()).collect();
    let mut corners: Vec<usize> = own
        .iter()
        .filter(|line| line.first() == Some(&'+'))
        .flat_map(|line| line.iter().enumerate().filter(|(_, sign)| **sign == '+').map(|(at, _)| at))
        .collect();
    corners.sort_unstable();
    corners.dedup();
    if length < 3 || corners.len() > MOST_COLUMNS {
        return None;
    }
    let columns: Vec<Range<usize>> =
        corners.iter().zip(corners.iter().skip(1)).map(|(start, end)| start + 1..*end).collect();
    let mut headers = 0;
    let mut bands: Vec<Band> = Vec::new();
    let mut open = vec![String::new(); columns.len()];
    for line in own.iter().skip(1) {
        let ends: Vec<bool> = columns.iter().map(|column| is_ruled(line, column)).collect();
        if ends.contains(&true) {
            if line.get(1) == Some(&'=') {
                headers = bands.len() + 1;
            }
            let cells = open.iter_mut().map(std::mem::take).collect();
            bands.push(Band { cells, ends });
            continue;
        }
        for (column, text) in texts(line, &columns) {
            if let Some(cell) = open.get_mut(column).filter(|_| !text.is_empty()) {
                cell.push_str(if cell.is_empty() { "" } else { " " });
                cell.push_str(&text);
            }
        }
    }
    Some((Table { rows: rows_of(bands), headers }, length))
}

/// Whether a line is a rule within a column.
fn is_ruled(line: &[char], column: &Range<usize>) -> bool {
    let part = line.get(column.clone()).unwrap_or_default();
    !part.is_empty() && part.iter().all(|sign| matches!(sign, '-' | '=' | '+'))
}

/// The texts of a line by the columns in which they begin: cells reach as far as there is no bar.
fn texts(line: &[char], columns: &[Range<usize>]) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for (number, column) in columns.iter().enumerate() {
        let end = column.end.min(line.len());
        let text: String = line.get(column.start.min(end)..end).unwrap_or_default().iter().collect();
        let begins =
            column.start.checked_sub(1).and_then(|bar| line.get(bar)).is_none_or(|bar| matches!(bar, '|' | '+'));
        match found.last_mut().filter(|_| !begins) {
            Some((_, before)) => {
                before.extend(column.start.checked_sub(1).and_then(|bar| line.get(bar)));
                before.push_str(&text);
            }
            None => found.push((number, text)),
        }
    }
    found.into_iter().map(|(column, text)| (column, text.trim().to_owned())).collect()
}

/// The rows of a grid: a cell over several of them is told in each.
fn rows_of(mut bands: Vec<Band>) -> Vec<Vec<String>> {
    let columns = bands.first().map_or(0, |band| band.cells.len());
    for column in 0..columns {
        let mut first = 0;
        for at in 0..bands.len() {
            let ends = bands.get(at).and_then(|band| band.ends.get(column)).copied().unwrap_or(true);
            if !ends && at + 1 < bands.len() {
                continue;
            }
            let own = bands.get(first..=at).unwrap_or_default();
            let parts: Vec<&str> = own.iter().filter_map(|band| band.cells.get(column)).map(String::as_str).collect();
            let whole = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
            for cell in
                bands.get_mut(first..=at).unwrap_or_default().iter_mut().filter_map(|band| band.cells.get_mut(column))
            {
                cell.clone_from(&whole);
            }
            first = at + 1;
        }
    }
    bands.into_iter().map(|band| band.cells).collect()
}
