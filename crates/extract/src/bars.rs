//! Tables whose rows have bars between their cells and none at their ends: `Tin | Litres`.
//!
//! Rows are told from running text by the bar that they begin with, also in a piece of the text that holds a few of them. So
//! each is written with bars at its ends.

use std::borrow::Cow;

use domain::markdown::{cells, is_fence};

use super::{
    header::{is_text, names_columns},
    rows::delimiter,
};

/// Fewest rows of a table that has no line below its header, and fewest where its rows have two cells.
const FEWEST_ROWS: usize = 3;
const FEWEST_OF_TWO_CELLS: usize = 4;

/// Longest cell of such a table, in bytes: alternatives in running text are longer.
const LONGEST_CELL: usize = 80;

/// How a text marks a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marked {
    /// By a line below its header, as Markdown does; code stands between fences.
    ByDelimiter,
    /// By that, by a line that is drawn (`---+---`), or by as many bars in each row.
    ByLayout,
}

/// The text with the rows of its tables between bars.
pub(super) fn closed(text: &str, marked: Marked) -> Cow<'_, str> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    if !lines.iter().any(|line| is_open_row(line)) {
        return Cow::Borrowed(text);
    }
    let mut written = String::with_capacity(text.len() + text.len() / 8);
    let (mut in_code, mut at) = (false, 0);
    while let Some(line) = lines.get(at) {
        in_code ^= marked == Marked::ByDelimiter && is_fence(line);
        let rest = lines.get(at..).unwrap_or_default();
        let rows = if in_code { 0 } else { table(rest, marked) };
        if rows == 0 {
            written.push_str(line);
            at += 1;
            continue;
        }
        write(rest.get(..rows).unwrap_or_default(), &mut written);
        at += rows;
    }
    Cow::Owned(written)
}

/// Whether a line has bars between cells, and none at its beginning.
fn is_open_row(line: &str) -> bool {
    let words = line.trim();
    words.contains('|') && !words.starts_with(['|', '>', '#', '-', '*', '+']) && cells(words).nth(1).is_some()
}

/// The number of cells in the line below a header.
fn columns_drawn(line: &str, marked: Marked) -> Option<usize> {
    let words = line.trim();
    let is_line = |signs: &[char]| words.contains('-') && words.chars().all(|sign| signs.contains(&sign));
    if words.contains('|') && is_line(&['|', '-', ':', ' ']) {
        return Some(cells(words).count());
    }
    let is_drawn = marked == Marked::ByLayout && words.contains('+') && is_line(&['+', '-', ' ']);
    (is_drawn && !words.starts_with('+')).then(|| words.matches('+').count() + 1)
}

/// The number of lines of the table that the text begins with; 0 if there is none.
fn table(lines: &[&str], marked: Marked) -> usize {
    let Some(first) = lines.first().filter(|line| is_open_row(line)) else { return 0 };
    let columns = cells(first.trim()).count();
    if lines.get(1).and_then(|line| columns_drawn(line, marked)) == Some(columns) {
        return 2 + lines.iter().skip(2).take_while(|line| is_open_row(line)).count();
    }
    if marked == Marked::ByDelimiter {
        return 0;
    }
    let is_row = |line: &&&str| is_open_row(line) && cells(line.trim()).count() == columns && are_cells(line);
    let rows = lines.iter().take_while(is_row).count();
    let fewest = if columns > 2 { FEWEST_ROWS } else { FEWEST_OF_TWO_CELLS };
    if rows >= fewest { rows } else { 0 }
}

/// Whether what stands between the bars of a line can be cells: brief, each apart from its bars, and no syntax of a command.
fn are_cells(line: &str) -> bool {
    let is_brief =
        |cell: &str| cell.len() <= LONGEST_CELL && !cell.contains(['[', ']', '{', '}', '<', '>', '$', '`', ';']);
    let words = line.trim();
    let bars = words.match_indices('|').map(|(at, _)| at);
    let mut apart = bars.map(|at| {
        let [before, after] = [words.get(..at), words.get(at + 1..)].map(Option::unwrap_or_default);
        before.ends_with([' ', '\t']) && (after.is_empty() || after.starts_with([' ', '\t']))
    });
    apart.all(|is_apart| is_apart) && cells(words).all(|(_, cell)| is_brief(cell))
}

/// Writes the lines of a table; where none is drawn below its header, a line stands there if the first row names columns.
fn write(lines: &[&str], written: &mut String) {
    let is_drawn = lines.get(1).is_some_and(|line| !line.contains(char::is_alphanumeric) && line.contains('-'));
    let row = |line: &str| -> Vec<String> { cells(line.trim()).map(|(_, cell)| cell.to_owned()).collect() };
    let rows: Vec<Vec<String>> = lines.iter().map(|line| row(line)).collect();
    let is_headed = !is_drawn && (names_columns(&rows) || are_words_over_figures(&rows));
    for (number, (line, cells)) in lines.iter().zip(&rows).enumerate() {
        let ending = line.get(line.trim_end_matches(['\n', '\r']).len()..).unwrap_or_default();
        if is_drawn && number == 1 {
            written.push_str(&delimiter(rows.first().map_or(0, Vec::len)));
        } else {
            written.push_str("| ");
            written.push_str(&cells.join(" | "));
            written.push_str(" |");
        }
        written.push_str(ending);
        if is_headed && number == 0 {
            written.push_str(&delimiter(cells.len()));
            written.push_str(if ending.is_empty() { "\n" } else { ending });
        }
    }
}

/// Whether the first row has no figure, and each one below it has one.
fn are_words_over_figures(rows: &[Vec<String>]) -> bool {
    let has_figure = |row: &Vec<String>| row.iter().any(|cell| cell.contains(|sign: char| sign.is_ascii_digit()));
    let Some((first, body)) = rows.split_first() else { return false };
    !has_figure(first) && first.iter().all(|cell| is_text(cell)) && body.iter().all(has_figure)
}

#[cfg(test)]
mod tests {
    use crate::extract;

    fn read(text: &str, kind: &str) -> String {
        extract(text.as_bytes(), kind, None).expect("readable").text
    }

    #[test]
    fn rows_without_bars_at_their_ends_get_them() {
        let table =
            "# Tins\n\nTin | 5 l | 10 l\n----|-----|:---:\nWeight (kg) | 6 | 11\nLid \\| rim | a |\n\nText | more.\n";
        let expected = "# Tins\n\n| Tin | 5 l | 10 l |\n|---|---|---|\n| Weight (kg) | 6 | 11 |\n| Lid \\| rim | a |\n\nText | more.\n";
        assert_eq!(read(table, "text/markdown"), expected);
        assert_eq!(read(table, "text/plain"), expected);
        let code = "```\nTin | Lid\n----|----\n5 | 6\n```\n";
        assert_eq!(read(code, "text/markdown"), code);
    }

    #[test]
    fn plain_text_has_tables_by_their_bars_alone() {
        let listed = "Stock:\n\nTin     | Size | Shelf\nred oil | 5 l  | A 1\nlime    | 10 l | A 2\n\nEnd.\n";
        let expected =
            "Stock:\n\n| Tin | Size | Shelf |\n|---|---|---|\n| red oil | 5 l | A 1 |\n| lime | 10 l | A 2 |\n\nEnd.\n";
        assert_eq!(read(listed, "text/plain"), expected);
        let drawn = " tin | litres\n-----+--------\n red | 5\n";
        assert_eq!(read(drawn, "text/plain"), "| tin | litres |\n|---|---|\n| red | 5 |\n");
        let rows = "Ann | Bern | red\nBo | Rome | blue\nCy | Oslo | red\n";
        assert_eq!(read(rows, "text/plain"), "| Ann | Bern | red |\n| Bo | Rome | blue |\n| Cy | Oslo | red |\n");
    }

    #[test]
    fn bars_in_running_text_and_commands_stay() {
        for text in [
            "Choose red | blue | lime.\n\nIt dries | or not.\n",
            "paint [ red | blue | old ]\npaint [ lime | chalk | new ]\npaint [ oil | egg | x ]\n",
            "ls | sort | head\ncat a | b\nAnd then it is done.\n",
            "Open | Close\nUp | Down\n",
        ] {
            assert_eq!(read(text, "text/plain"), text);
        }
        let markdown = "Tin | Lid\nred | blue\nold | new\nup | down\n";
        assert_eq!(read(markdown, "text/markdown"), markdown);
    }
}
