//! The layout of a page: columns that were drawn line by line are read one by one, and rows of tables are told from
//! lines of text.
//!
//! Both show as cells, parts of a line that a gap separates. Cells of a column begin at one place; those of a table
//! begin, end or are centred at one place, and hold a few words.

use super::{
    super::header::names_columns,
    lines::{Cell, Line},
    table_rows::{ALIGNED, ALIGNED_CELLS, are_aligned, distance, rows},
};

/// Number of lines with cells that prove columns of text, and their share of the lines that have cells, in per cent.
const COLUMN_LINES: usize = 5;
const COLUMN_SHARE: usize = 60;
/// Words of a line in a column of text: half of its lines have at least as many.
const COLUMN_WORDS: usize = 3;
/// Lines of text fill their column, those of tables do not: share of its width, and share of the lines that fill as
/// much, in per cent.
const FILLED_WIDTH: f64 = 0.7;
const FILLED_LINES: usize = 75;
/// Number of rows of a table with that many columns or more, and of one with two.
const ROWS: usize = 2;
const ROWS_OF_TWO: usize = 3;

/// Signs before an entry of a list.
const BULLETS: [&str; 10] = ["•", "◦", "▪", "●", "■", "○", "‣", "·", "–", "-"];

/// Lines of a page that belong together.
#[derive(Debug, PartialEq)]
pub(super) enum Part {
    /// Text.
    Lines(Vec<Line>),
    /// Rows of a table, and whether the first of them names the columns.
    Rows(Vec<Vec<String>>, bool),
    /// More rows of the table that ended the page before, each with a cell for each of its columns.
    MoreRows(Vec<Vec<String>>),
}

/// The parts of a page in reading order. `header` is that of the table that the page before ended with, and is set to that
/// of the table that this one ends with.
pub(super) fn parts(lines: Vec<Line>, header: &mut Option<Line>) -> Vec<Part> {
    let mut above = header.take();
    let lines = columns_apart(lines.into_iter().map(item).collect());
    let mut rest = lines.as_slice();
    let (mut parts, mut text) = (Vec::new(), Vec::new());
    while !rest.is_empty() {
        let (run, used) = rows(rest);
        let (own, after) = rest.split_at(used.min(rest.len()));
        rest = after;
        *header = None;
        let more = above.take().and_then(|above| Some((go_on_below(&above, &run)?, above)));
        if let Some((rows, above)) = more {
            parts.push(rows);
            *header = Some(above);
        } else if is_table(&run) {
            if !text.is_empty() {
                parts.push(Part::Lines(std::mem::take(&mut text)));
            }
            let (rows, names) = table(&run);
            parts.push(Part::Rows(rows, names.is_some()));
            *header = names;
        } else {
            text.extend_from_slice(own);
        }
    }
    if !text.is_empty() {
        parts.push(Part::Lines(text));
    }
    parts
}

/// A line whose bullet is drawn apart from its text as an entry of a list; another one as it is.
fn item(mut line: Line) -> Line {
    if let [bullet, text] = line.cells.as_slice()
        && BULLETS.contains(&bullet.text.as_str())
    {
        line.text = format!("- {}", text.text);
        line.cells = vec![Cell { text: line.text.clone(), start: bullet.start, ..text.clone() }];
        line.is_item = true;
    }
    line
}

/// The rows at the beginning of a page that stand in the columns of the table above; the header may be drawn again.
fn go_on_below(header: &Line, run: &[Line]) -> Option<Part> {
    let aligned = |line: &Line| {
        let cells = line.cells.iter();
        cells.filter(|cell| header.cells.iter().any(|other| are_aligned(cell, other, header.size))).count()
    };
    if !run.iter().all(|line| line.is_upright() && aligned(line) >= ALIGNED_CELLS) {
        return None;
    }
    let rows: Vec<Vec<String>> = run.iter().map(|line| placed(line, header)).collect::<Option<_>>()?;
    let is_repeated = rows.first().is_some_and(|first| first.iter().eq(header.cells.iter().map(|cell| &cell.text)));
    Some(if is_repeated { Part::Rows(rows, true) } else { Part::MoreRows(rows) })
}

/// Puts columns that were drawn line by line, across the page, one after the other.
fn columns_apart(lines: Vec<Line>) -> Vec<Line> {
    let Some(starts) = columns(&lines) else { return lines };
    let mut ordered = Vec::with_capacity(lines.len());
    let mut open: Vec<Vec<Line>> = vec![Vec::new(); starts.len()];
    for line in lines {
        if let Some(cells) = in_columns(&line, &starts) {
            for (column, cell) in cells {
                if let Some(column) = open.get_mut(column) {
                    column.push(line.of_cell(cell));
                }
            }
        } else {
            // A line across the columns ends them.
            ordered.extend(open.iter_mut().flat_map(std::mem::take));
            ordered.push(line);
        }
    }
    ordered.extend(open.into_iter().flatten());
    ordered
}

/// Where columns of text begin, if lines run across several.
fn columns(lines: &[Line]) -> Option<Vec<f64>> {
    let across: Vec<&Line> = lines.iter().filter(|line| line.is_upright() && line.cells.len() > 1).collect();
    if across.len() < COLUMN_LINES {
        return None;
    }
    let mut places: Vec<f64> = across.iter().flat_map(|line| &line.cells).map(|cell| cell.start).collect();
    places.sort_by(f64::total_cmp);
    let tolerance = ALIGNED * across.first()?.size;
    let starts: Vec<f64> = places
        .chunk_by(|one, next| next - one <= tolerance)
        .filter(|group| group.len() * 100 >= across.len() * COLUMN_SHARE)
        .filter_map(|group| group.first().copied())
        .collect();
    let in_column = |column: usize| {
        let cells = across.iter().filter_map(|line| in_columns(line, &starts)).flatten();
        cells.filter(move |(place, _)| *place == column).map(|(_, cell)| cell).collect::<Vec<&Cell>>()
    };
    (starts.len() > 1 && (0..starts.len()).all(|column| is_text(&in_column(column)))).then_some(starts)
}

/// Whether cells, one above the other, are lines of text.
fn is_text(cells: &[&Cell]) -> bool {
    let widest = cells.iter().map(|cell| cell.end - cell.start).fold(0.0, f64::max);
    let filled = cells.iter().filter(|cell| cell.end - cell.start >= widest * FILLED_WIDTH).count();
    let long = cells.iter().filter(|cell| cell.text.split_whitespace().count() >= COLUMN_WORDS).count();
    cells.len() >= COLUMN_LINES && filled * 100 >= cells.len() * FILLED_LINES && long * 2 >= cells.len()
}

/// The cells of a line with the columns that they lie in; `None` if one does not lie in any.
fn in_columns<'l>(line: &'l Line, starts: &[f64]) -> Option<Vec<(usize, &'l Cell)>> {
    if !line.is_upright() {
        return None;
    }
    let tolerance = ALIGNED * line.size;
    let column_of = |cell: &'l Cell| {
        let column = starts.iter().rposition(|start| *start <= cell.start + tolerance)?;
        let fits = starts.get(column + 1).is_none_or(|next| cell.end <= *next);
        fits.then_some((column, cell))
    };
    line.cells.iter().map(column_of).collect()
}

fn is_table(run: &[Line]) -> bool {
    let columns = run.iter().map(|line| line.cells.len()).max().unwrap_or_default();
    run.len() >= if columns > 2 { ROWS } else { ROWS_OF_TWO }
}

/// The rows of a table, and its header: the first row, if it reads like one. Each row then has a cell in each column.
fn table(run: &[Line]) -> (Vec<Vec<String>>, Option<Line>) {
    let header = first_line(run);
    let placed: Option<Vec<Vec<String>>> = run.iter().map(|line| placed(line, header.as_ref()?)).collect();
    if let Some(rows) = placed.as_ref().filter(|rows| names_columns(rows)) {
        return (rows.clone(), header);
    }
    if let Some(rows) = placed.and_then(with_merged_cells) {
        return (rows, None);
    }
    let texts = |line: &Line| line.cells.iter().map(|cell| cell.text.clone()).collect();
    (run.iter().map(texts).collect(), None)
}

/// Rows in which the first cell of a row is only missing as that above reaches into it: it is repeated. `None` if no row is
/// so, or if other cells are missing.
fn with_merged_cells(mut rows: Vec<Vec<String>>) -> Option<Vec<Vec<String>>> {
    let mut above = String::new();
    let mut is_merged = false;
    for row in &mut rows {
        let (first, others) = row.split_first_mut()?;
        if others.len() < 2 || others.iter().any(String::is_empty) {
            return None;
        }
        if first.is_empty() {
            first.clone_from(&above);
            is_merged = true;
        }
        above.clone_from(first);
    }
    (is_merged && rows.iter().flatten().all(|cell| !cell.is_empty())).then_some(rows)
}

/// The first line of a table, with an empty cell over the first column if it has one for each of the others only.
fn first_line(run: &[Line]) -> Option<Line> {
    let first = run.first()?;
    let widest = run.iter().rev().max_by_key(|line| line.cells.len())?;
    let (corner, others) = widest.cells.split_first()?;
    let lacks_corner = others.len() == first.cells.len()
        && others.iter().zip(&first.cells).all(|(cell, name)| are_aligned(cell, name, first.size));
    let corner = lacks_corner.then(|| Cell { text: String::new(), ..corner.clone() });
    let mut line = first.clone();
    line.cells.splice(..0, corner);
    Some(line)
}

/// The cells of a row by the columns of the header; `None` if two would stand in one.
fn placed(line: &Line, header: &Line) -> Option<Vec<String>> {
    let mut row = vec![String::new(); header.cells.len()];
    for cell in &line.cells {
        let columns = header.cells.iter().enumerate();
        let (column, _) =
            columns.min_by(|(_, one), (_, other)| distance(cell, one).total_cmp(&distance(cell, other)))?;
        let place = row.get_mut(column).filter(|place| place.is_empty())?;
        place.clone_from(&cell.text);
    }
    Some(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::lines::{LineBuilder, tests::drawn};

    fn read(draw: impl FnOnce(&mut LineBuilder)) -> Vec<String> {
        read_below(&mut None, draw)
    }

    fn read_below(header: &mut Option<Line>, draw: impl FnOnce(&mut LineBuilder)) -> Vec<String> {
        let mut builder = LineBuilder::default();
        draw(&mut builder);
        let text = |part| match part {
            Part::Lines(lines) => lines.iter().map(|line| line.text.clone()).collect::<Vec<_>>().join("\n"),
            Part::Rows(rows, has_header) => {
                let rows: Vec<String> = rows.iter().map(|row| row.join("|")).collect();
                format!("{}{}", if has_header { "header: " } else { "rows: " }, rows.join("\n"))
            }
            Part::MoreRows(rows) => {
                format!("more: {}", rows.iter().map(|row| row.join("|")).collect::<Vec<_>>().join("\n"))
            }
        };
        parts(builder.finish(None), header).into_iter().map(text).collect()
    }

    fn y(line: usize) -> f64 {
        f64::from(u32::try_from(line).expect("few")) * 12.0
    }

    #[test]
    fn columns_that_were_drawn_line_by_line_are_read_one_by_one() {
        let (left, right) = ("left line of four words", "right line of more words");
        let parts = read(|builder| {
            drawn(builder, "A title across both of the columns of this page", 0.0, y(0), 10.0);
            for line in 1..=6 {
                drawn(builder, left, 0.0, y(line), 10.0);
                drawn(builder, right, 140.0, y(line), 10.0);
            }
            drawn(builder, "the end of the left", 0.0, y(7), 10.0);
        });
        let expected = [
            "A title across both of the columns of this page",
            &[left; 6].join("\n"),
            "the end of the left",
            &[right; 6].join("\n"),
        ];
        assert_eq!(parts, [expected.join("\n")]);
    }

    #[test]
    fn rows_of_a_table_are_told_from_lines() {
        let parts = read(|builder| {
            drawn(builder, "Text above the table.", 0.0, y(0), 10.0);
            for (line, cells) in
                [["Region", "Income", "Share"], ["North", "1,200", "5"], ["South", "900", "12"]].iter().enumerate()
            {
                for (cell, x) in cells.iter().zip([0.0, 100.0, 200.0]) {
                    drawn(builder, cell, x, y(line + 2), 10.0);
                }
            }
            drawn(builder, "West", 0.0, y(5), 10.0);
            drawn(builder, "7", 200.0, y(5), 10.0);
            drawn(builder, "Text below.", 0.0, y(7), 10.0);
        });
        assert_eq!(
            parts,
            [
                "Text above the table.",
                "header: Region|Income|Share\nNorth|1,200|5\nSouth|900|12\nWest||7",
                "Text below."
            ]
        );
    }

    #[test]
    fn the_cell_over_the_names_of_rows_may_be_missing() {
        let rows = [["", "2023", "2024"], ["Tins", "9,310", "9,672"], ["Staff", "731", "742"]];
        let parts = read(|builder| {
            for (line, cells) in rows.iter().enumerate() {
                for (cell, x) in cells.iter().zip([0.0, 100.0, 200.0]).filter(|(cell, _)| !cell.is_empty()) {
                    drawn(builder, cell, x, y(line), 10.0);
                }
            }
        });
        assert_eq!(parts, ["header: |2023|2024\nTins|9,310|9,672\nStaff|731|742"]);
    }

    #[test]
    fn words_over_words_are_rows_without_a_header() {
        let rows = [["Name:", "Mira"], ["Office:", "Bern"], ["Manager:", "Jan"]];
        let draw = |builder: &mut LineBuilder, count: usize| {
            for (line, [name, value]) in rows.iter().take(count).enumerate() {
                drawn(builder, name, 0.0, y(line), 10.0);
                drawn(builder, value, 100.0, y(line), 10.0);
            }
        };
        assert_eq!(read(|builder| draw(builder, 3)), ["rows: Name:|Mira\nOffice:|Bern\nManager:|Jan"]);
        assert_eq!(read(|builder| draw(builder, 2)), ["Name:\tMira\nOffice:\tBern"]);
    }

    /// Draws rows at these places, empty cells left out.
    fn draw_rows(builder: &mut LineBuilder, rows: &[&[&str]], places: &[f64]) {
        for (line, cells) in rows.iter().enumerate() {
            for (cell, x) in cells.iter().zip(places).filter(|(cell, _)| !cell.is_empty()) {
                drawn(builder, cell, *x, y(line), 10.0);
            }
        }
    }

    #[test]
    fn bullets_are_no_column() {
        let list: [&[&str]; 3] = [&["•", "Close the tin."], &["•", "Wait."], &["•", "Stir."]];
        assert_eq!(read(|builder| draw_rows(builder, &list, &[0.0, 20.0])), ["- Close the tin.\n- Wait.\n- Stir."]);
        let below: [&[&str]; 5] =
            [&["Who", "Ann"], &["When", "May"], &["How", "alone"], &["Steps:"], &["", "•", "Stir it."]];
        let parts = read(|builder| draw_rows(builder, &below, &[0.0, 100.0, 120.0]));
        assert_eq!(parts, ["rows: Who|Ann\nWhen|May\nHow|alone", "Steps:\n- Stir it."]);
    }

    #[test]
    fn a_name_that_ends_with_a_number_sign_is_no_sentence() {
        for name in ["Part no.", "Order No.", "Art. Nr."] {
            let rows: [&[&str]; 3] = [&["Pos", name, "Tins"], &["1", "M-7", "2"], &["2", "M-9", "31"]];
            let expected = format!("header: Pos|{name}|Tins\n1|M-7|2\n2|M-9|31");
            assert_eq!(read(|builder| draw_rows(builder, &rows, &[0.0, 100.0, 200.0])), [expected]);
        }
    }

    #[test]
    fn a_cell_that_reaches_into_the_row_below_is_repeated() {
        let rows: [&[&str]; 4] =
            [&["Room", "Work", "Staff"], &["Shed", "Oil", "Ann"], &["", "Chalk", "Bob"], &["Hall", "Lime", "Cy"]];
        let expected = ["rows: Room|Work|Staff\nShed|Oil|Ann\nShed|Chalk|Bob\nHall|Lime|Cy"];
        assert_eq!(read(|builder| draw_rows(builder, &rows, &[0.0, 100.0, 200.0])), expected);
        let sums: [&[&str]; 3] = [&["Oil", "tin", "dry"], &["Lime", "bag", "wet"], &["", "Total", ""]];
        let read = read(|builder| draw_rows(builder, &sums, &[0.0, 100.0, 200.0])).join("\n");
        assert!(!read.contains("Lime|Total"), "{read}");
    }

    #[test]
    fn a_table_goes_on_over_the_end_of_a_page() {
        let rows = |builder: &mut LineBuilder, from: usize, rows: &[[&str; 3]]| {
            for (line, cells) in rows.iter().enumerate() {
                for (cell, x) in cells.iter().zip([0.0, 100.0, 200.0]).filter(|(cell, _)| !cell.is_empty()) {
                    drawn(builder, cell, x, y(from + line), 10.0);
                }
            }
        };
        let names = ["Region", "Income", "Share"];
        let mut header = None;
        let mut page = |draw: &dyn Fn(&mut LineBuilder)| read_below(&mut header, draw).join(" / ");
        let first = page(&|builder| rows(builder, 0, &[names, ["North", "1,200", "5"]]));
        assert_eq!(first, "header: Region|Income|Share\nNorth|1,200|5");
        // One row, of words, that lacks a cell.
        assert_eq!(page(&|builder| rows(builder, 0, &[["South", "", "unknown"]])), "more: South||unknown");
        let again = page(&|builder| rows(builder, 0, &[names, ["West", "none", "none"]]));
        assert_eq!(again, "header: Region|Income|Share\nWest|none|none");
        let after = page(&|builder| {
            rows(builder, 0, &[["East", "7", "1"]]);
            drawn(builder, "Text below.", 0.0, y(3), 10.0);
        });
        assert_eq!(after, "more: East|7|1 / Text below.");
        assert_eq!(page(&|builder| rows(builder, 0, &[["Up", "a", "b"]])), "Up\ta\tb");
    }
}
