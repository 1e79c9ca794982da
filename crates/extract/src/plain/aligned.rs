//! Tables of plain text whose cells are aligned by blanks, or divided by tabs, with a header and no rule below it.
//!
//! They are written with bars, as those over a rule are. Without a first row that names the columns, lines stay as they are:
//! listings and columns of running text look alike.

use std::{borrow::Cow, ops::Range};

use super::pieces::{Piece, pieces};
use crate::{
    grid::BETWEEN_NAMES,
    header::{are_names_of_columns, is_name_of_column, is_text, names_columns},
    rows::write_table,
};

/// Fewest rows below a header, and fewest where there are two columns.
const FEWEST_ROWS: usize = 2;
const FEWEST_OF_TWO_CELLS: usize = 3;

/// Longest name of a column, in characters.
const LONGEST_NAME: usize = 40;

/// Lines at the beginning of a paragraph that may stand above its table.
const MOST_ABOVE: usize = 3;

/// The text with such tables as rows between bars.
pub(crate) fn with_bars(text: &str) -> Cow<'_, str> {
    let lines: Vec<&str> = text.lines().collect();
    if !lines.iter().any(|line| has_gap(line)) {
        return Cow::Borrowed(text);
    }
    let mut written = String::new();
    let mut has_table = false;
    for block in lines.chunk_by(|one, next| one.trim().is_empty() == next.trim().is_empty()) {
        let found = (0..MOST_ABOVE).find_map(|above| Some((above, table(block.get(above..)?)?)));
        let (above, table) = found.map_or((block.len(), None), |(above, table)| (above, Some(table)));
        for line in block.iter().take(above) {
            written.push_str(line);
            written.push('\n');
        }
        let Some(table) = table else { continue };
        has_table = true;
        // Bars begin a table below a blank line only.
        if above > 0 {
            written.push('\n');
        }
        write_table(&table.rows, &mut written);
        let below = block.get(above + table.length..).unwrap_or_default();
        for (number, line) in below.iter().enumerate() {
            written.push_str(if number == 0 { "\n" } else { "" });
            written.push_str(line);
            written.push('\n');
        }
    }
    if has_table { Cow::Owned(written) } else { Cow::Borrowed(text) }
}

/// Whether a line has what may divide cells.
fn has_gap(line: &str) -> bool {
    let words = line.trim();
    words.contains("  ") || words.contains('\t')
}

/// A table: its rows, the first of which names the columns, and the number of lines that it takes.
struct Table {
    rows: Vec<Vec<String>>,
    length: usize,
    /// Where its columns lie; empty if tabs divide them.
    columns: Vec<Range<usize>>,
}

/// The table that a paragraph begins with.
fn table(lines: &[&str]) -> Option<Table> {
    tabbed(lines).or_else(|| aligned(lines)).or_else(|| grouped(lines))
}

/// The table of lines whose cells are divided by tabs, as copied from a sheet.
fn tabbed(lines: &[&str]) -> Option<Table> {
    let cells = |line: &&str| -> Vec<String> { line.split('\t').map(|cell| cell.trim().to_owned()).collect() };
    let columns = lines.first().map(cells)?.len();
    let rows: Vec<Vec<String>> = lines.iter().map(cells).take_while(|row| row.len() == columns).collect();
    let length = rows.len();
    (columns > 1 && has_header(&rows)).then_some(Table { rows, length, columns: Vec::new() })
}

/// The table of aligned lines that begins with its header.
fn aligned(lines: &[&str]) -> Option<Table> {
    let lines: Vec<Vec<Piece>> = lines.iter().take_while(|line| may_be_row(line)).map(|line| pieces(line)).collect();
    let columns = columns(&lines);
    if columns.len() < 2 {
        return None;
    }
    // A name at the end has no rows below it.
    let last = lines.iter().rposition(|line| line.len() > 1 || continuation(line, &columns).is_some())?;
    let lines = lines.get(..=last)?;
    let several = lines.iter().filter(|line| line.len() > 1).count();
    let named = lines.first()?.len();
    if named < 2 || named + 1 < columns.len() || several * 2 <= lines.len() {
        return None;
    }
    let mut rows: Vec<Vec<String>> = Vec::with_capacity(lines.len());
    for line in lines {
        if let Some((column, words)) = continuation(line, &columns) {
            let cell = rows.last_mut()?.get_mut(column)?;
            cell.push(' ');
            cell.push_str(words);
        } else {
            rows.push(cells(line, &columns)?);
        }
    }
    has_header(&rows).then_some(Table { rows, length: lines.len(), columns })
}

/// The same below a line that names groups of as many columns each: "2023  2024" above "Q1  Q2  Q1  Q2".
fn grouped(lines: &[&str]) -> Option<Table> {
    let (first, below) = lines.split_first()?;
    let mut table = aligned(below)?;
    let groups = pieces(first);
    let named = table.columns.get(1..)?;
    if groups.is_empty() || !named.len().is_multiple_of(groups.len()) || named.len() == groups.len() {
        return None;
    }
    let width = named.len() / groups.len();
    let is_above = |(group, columns): (&Piece, &[Range<usize>])| {
        let (Some(first), Some(last)) = (columns.first(), columns.last()) else { return false };
        group.columns.start + 1 >= first.start && group.columns.end <= last.end + 1
    };
    if !groups.iter().zip(named.chunks(width)).all(is_above) {
        return None;
    }
    for (column, name) in table.rows.first_mut()?.iter_mut().skip(1).enumerate() {
        *name = format!("{}{BETWEEN_NAMES}{name}", groups.get(column / width)?.words);
    }
    table.length += 1;
    Some(table)
}

/// Whether a line has no bars and no tabs.
fn may_be_row(line: &str) -> bool {
    !line.contains(['|', '\t'])
}

/// The columns of lines: those of the lines with most pieces, each of which stands in its own; empty where they overlap.
fn columns(lines: &[Vec<Piece>]) -> Vec<Range<usize>> {
    let most = lines.iter().map(Vec::len).max().unwrap_or(0);
    let mut columns: Vec<Range<usize>> = Vec::new();
    for line in lines.iter().filter(|line| line.len() == most) {
        for (place, piece) in line.iter().enumerate() {
            match columns.get_mut(place) {
                Some(column) => {
                    *column = column.start.min(piece.columns.start)..column.end.max(piece.columns.end);
                }
                None => columns.push(piece.columns.clone()),
            }
        }
    }
    let are_apart = columns.windows(2).all(|pair| matches!(pair, [one, next] if one.end < next.start));
    if are_apart { columns } else { Vec::new() }
}

/// The column, other than the first, of a line that goes on with a cell of the row above, and its words.
fn continuation<'l>(line: &'l [Piece], columns: &[Range<usize>]) -> Option<(usize, &'l str)> {
    let [piece] = line else { return None };
    let column = columns.iter().position(|column| column.start == piece.columns.start).filter(|column| *column > 0)?;
    let is_inside = columns.get(column + 1).is_none_or(|next| piece.columns.end < next.start);
    is_inside.then_some((column, &piece.words))
}

/// The cells of a line; `None` if two of its pieces stand in one column. A piece alone is the name of those below it.
fn cells(line: &[Piece], columns: &[Range<usize>]) -> Option<Vec<String>> {
    let mut cells = vec![String::new(); columns.len()];
    let mut put = |column: usize, words: &str| {
        let cell = cells.get_mut(column).filter(|cell| cell.is_empty())?;
        words.trim().clone_into(cell);
        Some(())
    };
    for piece in line {
        let last = columns.iter().rposition(|column| column.start < piece.columns.end)?;
        let first = columns.iter().position(|column| column.end > piece.columns.start).unwrap_or(last).min(last);
        if line.len() == 1 {
            put((first == 0).then_some(0)?, &piece.words)?;
        } else if first == last {
            put(first, &piece.words)?;
        } else {
            // One blank may be left between a long name and the next cell.
            let (words, next) = cut(piece, columns.get(last).filter(|_| first + 1 == last)?)?;
            put(first, &words)?;
            put(last, &next)?;
        }
    }
    Some(cells)
}

/// The words of a piece before a column that it reaches into, and those in it.
fn cut(piece: &Piece, column: &Range<usize>) -> Option<(String, String)> {
    let signs: Vec<char> = piece.words.chars().collect();
    let begins = |at: &usize| signs.get(*at) == Some(&' ') && piece.columns.start + at + 2 > column.start;
    let at = (0..signs.len()).find(begins)?;
    Some((signs.iter().take(at).collect(), signs.iter().skip(at + 1).collect()))
}

/// Whether there are enough rows, and the first one names their columns.
fn has_header(rows: &[Vec<String>]) -> bool {
    let Some((first, body)) = rows.split_first() else { return false };
    let is_name = |name: &String| name.chars().count() <= LONGEST_NAME && !name.ends_with(['.', ':', ',', ';']);
    if !first.iter().all(is_name) || body.iter().any(|row| row.iter().zip(first).any(|(cell, name)| cell == name)) {
        return false;
    }
    let are_words = first.iter().all(|name| is_text(name) && !name.contains(|sign: char| sign.is_ascii_digit()));
    let are_capitals = || are_words && first.iter().all(|name| !name.contains(char::is_lowercase));
    if first.len() == 2 {
        let are_named = are_names_of_columns(first) || (are_capitals() && names_columns(rows));
        return body.len() >= FEWEST_OF_TWO_CELLS && are_named;
    }
    let begins_large = || first.iter().all(|name| name.starts_with(char::is_uppercase));
    let are_known = || are_words && begins_large() && first.iter().any(|name| is_name_of_column(name));
    body.len() >= FEWEST_ROWS && (names_columns(rows) || are_capitals() || are_known())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_below_names_are_rows() {
        let text = "Sales by site:\nRegion       2023    2024\nNorth         1.2    10.5\nSouth-west   11.0     9.5\nAll in all   12.2    20.0\n\nText.\n";
        let table = "Sales by site:\n\n| Region | 2023 | 2024 |\n|---|---|---|\n| North | 1.2 | 10.5 |\n| South-west | 11.0 | 9.5 |\n| All in all | 12.2 | 20.0 |\n\nText.\n";
        assert_eq!(with_bars(text), table);
        let words = "  Name        Team    Office\n  Anna Berg   Sales   Oslo\n  Bo Lind     Paint   Kiel, North\n                      and Ulm\n";
        let table = "| Name | Team | Office |\n|---|---|---|\n| Anna Berg | Sales | Oslo |\n| Bo Lind | Paint | Kiel, North and Ulm |\n";
        assert_eq!(with_bars(words), table);
        let listed = "ID      STATE    FOR\nab12    up       two days\ncd34    down     \n";
        assert_eq!(
            with_bars(listed),
            "| ID | STATE | FOR |\n|---|---|---|\n| ab12 | up | two days |\n| cd34 | down |  |\n"
        );
        assert_eq!(
            with_bars("Tin\tLitres\tPrice\nOil\t5\t9.50\nLime\t\t4.10\n"),
            "| Tin | Litres | Price |\n|---|---|---|\n| Oil | 5 | 9.50 |\n| Lime |  | 4.10 |\n"
        );
    }

    #[test]
    fn one_blank_may_be_left_between_a_long_name_and_the_next_cell() {
        let text = "Route           Adult  Crossing (min)\nKiel - Laboe     6.50              45\nLaboe - Schilksee 4.40             20\nKiel - Strande   7.90              70\n";
        let table = "| Route | Adult | Crossing (min) |\n|---|---|---|\n| Kiel - Laboe | 6.50 | 45 |\n| Laboe - Schilksee | 4.40 | 20 |\n| Kiel - Strande | 7.90 | 70 |\n";
        assert_eq!(with_bars(text), table);
    }

    #[test]
    fn names_of_groups_stand_above_their_columns_and_of_rows_above_these() {
        let text = "              2023          2024\nSite        Q1    Q2      Q1    Q2\nHarbour:\n  Pier      10    12      14    15\n  Quay       7     9       8    11\n";
        let table = "| Site | 2023 – Q1 | 2023 – Q2 | 2024 – Q1 | 2024 – Q2 |\n|---|---|---|---|---|\n| Harbour: |  |  |  |  |\n| Pier | 10 | 12 | 14 | 15 |\n| Quay | 7 | 9 | 8 | 11 |\n";
        assert_eq!(with_bars(text), table);
    }

    #[test]
    fn other_lines_with_gaps_stay() {
        for text in [
            "One sentence.  Two sentences.  Three of them.\nAnd more.  Of this.  And that.\nNo end.  It seems.  So it is.\n",
            "  -v    talk much     always\n  -q    talk little   never\n  -x    be rude       often\n",
            "src/     all code\ndocs/    all words\nbin/     all else\n",
            "Oil     tin      shelf\nLime    bag      floor\nSand    box      yard\n",
            "10:01  INFO   begun\n10:02  WARN   late\n10:03  INFO   done\n",
            "Version:    1.2     now\nName:       3.4     old\nSize:       5.6     new\n",
            "push    ebp\nmov     eax5\nadd     ecx6\nsub     edx7\n",
            "| a |  b  |  c |\n| 1 |  2  |  3 |\n| 4 |  5  |  6 |\n",
            "",
        ] {
            assert_eq!(with_bars(text), text);
        }
    }
}
