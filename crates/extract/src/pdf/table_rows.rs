//! Rows of tables: lines with cells one below the other, and the lines in which their cells go on.
//!
//! Files draw a row cell by cell, and a cell that is too long for its column in several lines. What is drawn next belongs
//! to the row if it stands in the same column or in a later one; a line that goes back to the first begins another row.

use super::lines::{Cell, Line};

/// Distance at which places count as one, in font sizes.
pub(super) const ALIGNED: f64 = 0.5;
/// Largest distance of two rows, in font sizes.
const ROW_STEP: f64 = 4.0;
/// Largest distance of two lines of a cell, in font sizes.
const LINE_STEP: f64 = 1.35;
/// Least distance of two lines of text, in font sizes.
const NEXT_LINE: f64 = 0.9;
/// How much farther rows are from one another than the lines of a cell, where only that tells that a line which begins in
/// the first column goes on with the cell above.
const ROWS_APART: f64 = 1.2;
/// Lines among which the one with the most cells shows the columns of a first row that is drawn in several.
const FIRST_LINES: usize = 8;
/// Fewest columns that prove a row by themselves.
const PROVEN: usize = 3;
/// Difference of sizes of lines of a row, as a share.
const SAME_SIZE: f64 = 0.1;
/// Most of a cell that may stand in the next column, in font sizes: a long term stands above its explanation.
const OVERHANG: f64 = 4.0;
/// Most lines of a row.
const MOST_LINES: usize = 60;
/// Number of cells that adjacent rows must have at one place.
pub(super) const ALIGNED_CELLS: usize = 2;

/// The rows that lines begin with, and how many lines they take. A line that is no row of a table is one by itself.
pub(super) fn rows(lines: &[Line]) -> (Vec<Line>, usize) {
    let Some((first, mut used)) = first_row(lines) else {
        return (lines.iter().take(1).cloned().collect(), 1);
    };
    let mut widest = first.clone();
    let mut run = vec![first];
    while let (Some(above), Some(next)) = (run.last(), lines.get(used)) {
        let is_row = are_rows(above, next);
        if is_row && next.cells.len() > widest.cells.len() {
            widest = next.clone();
        }
        let rest = lines.get(used..).unwrap_or_default();
        // Two rows prove the columns, or many cells.
        let is_proven = |row: &Line| is_row || run.len() > 1 || row.cells.len() >= PROVEN;
        let whole = row(&widest, above.origin.y, rest).filter(|(row, _)| is_proven(row));
        // Amounts may stand at the right of their columns, and their name at the left.
        let own = || row(next, above.origin.y, rest).filter(|_| next.cells.len() >= PROVEN);
        let whole = whole.or_else(|| is_row.then(|| own().unwrap_or_else(|| (next.clone(), 1))));
        let Some((row, lines)) = whole else { break };
        run.push(row);
        used += lines;
    }
    if run.len() > 1 { (run, used) } else { (lines.iter().take(1).cloned().collect(), 1) }
}

/// The first row of a table that may begin with these lines, and how many lines it takes. Its own columns are those of the
/// first line; if that has fewer cells, since a cell goes on below it, a line after it shows them.
fn first_row(lines: &[Line]) -> Option<(Line, usize)> {
    let first = lines.first()?;
    let is_row = first.cells.len() >= ALIGNED_CELLS;
    let own = || row(first, f64::NEG_INFINITY, lines).unwrap_or_else(|| (first.clone(), 1));
    let below = lines.iter().take(FIRST_LINES).skip(1);
    let wider = below.filter(|line| line.cells.len() >= PROVEN && line.cells.len() > first.cells.len());
    let whole = wider.filter_map(|columns| row(columns, f64::NEG_INFINITY, lines));
    let whole = whole.filter(|(row, used)| *used > 1 && row.cells.len() >= PROVEN);
    whole.max_by_key(|(row, _)| row.cells.len()).or_else(|| is_row.then(own))
}

/// Whether two lines, one after the other, may be rows of one table.
fn are_rows(above: &Line, below: &Line) -> bool {
    let size = above.size.max(below.size);
    let step = below.origin.y - above.origin.y;
    let is_row = |line: &Line| line.is_upright() && line.cells.len() > 1;
    let aligned = below.cells.iter().filter(|cell| above.cells.iter().any(|other| are_aligned(cell, other, size)));
    is_row(above) && is_row(below) && step > 0.0 && step <= ROW_STEP * size && aligned.count() >= ALIGNED_CELLS
}

pub(super) fn are_aligned(one: &Cell, other: &Cell, size: f64) -> bool {
    distance(one, other) <= ALIGNED * size
}

/// The least distance of the beginnings, ends and centres of two cells.
pub(super) fn distance(one: &Cell, other: &Cell) -> f64 {
    let (start, end) = (one.start - other.start, one.end - other.end);
    start.abs().min(end.abs()).min((start + end).abs() / 2.0)
}

/// The row that lines below the height `above` begin with, in columns as those of this line, as one line, and how many
/// lines it takes. It has cells in two columns at least.
fn row(columns: &Line, above: f64, lines: &[Line]) -> Option<(Line, usize)> {
    let first = lines.first()?;
    let mut cells: Vec<Option<Cell>> = vec![None; columns.cells.len()];
    let (mut column, mut y, mut bottom) = (0, first.origin.y, first.origin.y);
    let mut used = 0;
    // The steps to lines that go on with a cell and hold others, which may be rows as well.
    let mut widest_step = 0.0_f64;
    for line in lines.iter().take(MOST_LINES) {
        let Some(places) = places(line, columns) else { break };
        let (Some(begin), Some(end)) = (places.first().copied(), places.last().copied()) else { break };
        let is_near = (line.origin.y - first.origin.y).abs() <= ROW_STEP * line.size;
        let step = line.origin.y - y;
        let is_of_size = (line.size - first.size).abs() <= SAME_SIZE * first.size;
        let goes_on = used > 0 && begin == column && step > 0.0 && step <= LINE_STEP * line.size;
        // A line of text may stand over a header that has no name over the first column.
        let is_below_text = above.is_infinite() && used == 1 && first.cells.len() == 1 && step >= NEXT_LINE * line.size;
        let is_next = if used == 0 { begin == 0 } else { begin > column && !is_below_text };
        if is_of_size
            && used > 0
            && step > 0.0
            && step <= LINE_STEP * line.size
            && goes_on_within(&places, &cells, line)
        {
            // Lines of rows are as near to one another as those of a cell in tables without room.
            if above.is_infinite() || step * ROWS_APART > first.origin.y - above {
                break;
            }
            if let (Some(Some(whole)), Some(cell)) = (cells.get_mut(begin), line.cells.first()) {
                whole.go_on(cell);
            }
            (y, bottom, used) = (line.origin.y, bottom.max(line.origin.y), used + 1);
            continue;
        }
        if !is_of_size || line.origin.y <= above || !(goes_on || is_next && is_near) {
            break;
        }
        if goes_on && end > column {
            let is_taken = |place: &usize| cells.get(*place).is_some_and(Option::is_some);
            if places.iter().skip(1).any(is_taken) || step * ROWS_APART > first.origin.y - above {
                break;
            }
            widest_step = widest_step.max(step);
        }
        for (place, cell) in places.iter().zip(&line.cells) {
            match cells.get_mut(*place)? {
                Some(whole) if starts_alike(whole, cell, line.size) => whole.go_on(cell),
                Some(_) => return finished(first, cells, bottom, used),
                empty => *empty = Some(cell.clone()),
            }
        }
        (column, y, bottom) = (end, line.origin.y, bottom.max(line.origin.y));
        used += 1;
    }
    let is_apart = |next: &Line| next.origin.y - bottom >= widest_step * ROWS_APART;
    if above.is_infinite() && widest_step > 0.0 && !lines.get(used).is_some_and(is_apart) {
        return None;
    }
    finished(first, cells, bottom, used)
}

/// Whether a line is the next one of a cell that others stand beside: rows are drawn line by line too.
fn goes_on_within(places: &[usize], cells: &[Option<Cell>], line: &Line) -> bool {
    let ([place], [cell]) = (places, line.cells.as_slice()) else { return false };
    let follows = cells.iter().skip(place + 1).any(Option::is_some);
    let whole = cells.get(*place).and_then(Option::as_ref);
    *place > 0 && follows && whole.is_some_and(|whole| starts_alike(whole, cell, line.size))
}

fn starts_alike(one: &Cell, other: &Cell, size: f64) -> bool {
    (one.start - other.start).abs() <= ALIGNED * size
}

/// The columns that the cells of a line stand in, from left to right; `None` if one stands in none.
fn places(line: &Line, columns: &Line) -> Option<Vec<usize>> {
    let size = line.size.max(columns.size);
    let place = |cell: &Cell| {
        let place = columns.cells.iter().position(|column| are_aligned(cell, column, size))?;
        let fits = columns.cells.get(place + 1).is_none_or(|next| cell.end <= next.start + OVERHANG * size);
        fits.then_some(place)
    };
    let places: Vec<usize> = line.cells.iter().map(place).collect::<Option<_>>()?;
    (line.is_upright() && !line.is_item && places.is_sorted_by(|one, next| one < next)).then_some(places)
}

fn finished(first: &Line, cells: Vec<Option<Cell>>, bottom: f64, used: usize) -> Option<(Line, usize)> {
    let mut row = first.clone();
    row.cells = cells.into_iter().flatten().collect();
    row.text = row.cells.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>().join("\t");
    row.origin.y = bottom;
    (row.cells.len() >= ALIGNED_CELLS).then_some((row, used))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::lines::{LineBuilder, tests::drawn};

    /// The cells of the rows that these lines begin with, and how many lines are left.
    fn read(texts: &[(&str, f64, f64)]) -> (Vec<String>, usize) {
        let mut builder = LineBuilder::default();
        for (text, x, y) in texts {
            drawn(&mut builder, text, *x, *y, 10.0);
        }
        let lines = builder.finish(None);
        let (rows, used) = rows(&lines);
        let texts = |row: &Line| row.cells.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>().join("|");
        (rows.iter().map(texts).collect(), lines.len() - used)
    }

    #[test]
    fn cells_go_on_in_further_lines() {
        let table = [
            ("Paint", 0.0, 0.0),
            ("Use", 100.0, 0.0),
            ("Price", 300.0, 0.0),
            ("Oil", 0.0, 20.0),
            ("on wood, and wherever", 100.0, 20.0),
            ("it is wet", 100.0, 32.0),
            ("12", 300.0, 20.0),
            // Its first cell stands at the bottom, and a word of its second is cut.
            ("Chalk of the", 0.0, 72.0),
            ("south", 0.0, 84.0),
            ("on walls that are dry, an-", 100.0, 60.0),
            ("cient", 100.0, 72.0),
            ("8", 300.0, 84.0),
            ("Lime", 0.0, 100.0),
            ("anywhere", 100.0, 100.0),
            ("A text below the table.", 0.0, 114.0),
        ];
        let expected = [
            "Paint|Use|Price",
            "Oil|on wood, and wherever it is wet|12",
            "Chalk of the south|on walls that are dry, ancient|8",
            "Lime|anywhere",
        ];
        assert_eq!(read(&table), (expected.map(str::to_owned).to_vec(), 1));
    }

    #[test]
    fn a_cell_goes_on_below_a_row_that_was_drawn_first() {
        let table = [
            ("No", 0.0, 0.0),
            ("Paint", 60.0, 0.0),
            ("Price", 260.0, 0.0),
            ("1", 0.0, 20.0),
            ("Oil, for wood and", 60.0, 20.0),
            ("12", 260.0, 20.0),
            ("for stone", 60.0, 32.0),
            ("2", 0.0, 52.0),
            ("Chalk", 60.0, 52.0),
            // Its place is not that of the name of its column.
            ("9", 300.0, 52.0),
            ("or lime", 60.0, 64.0),
            ("A text below.", 0.0, 76.0),
        ];
        let rows = ["No|Paint|Price", "1|Oil, for wood and for stone|12", "2|Chalk or lime|9"];
        assert_eq!(read(&table), (rows.map(str::to_owned).to_vec(), 1));
    }

    #[test]
    fn a_name_goes_on_in_the_line_of_its_row() {
        let table = [
            ("Tin", 0.0, 0.0),
            ("Red", 100.0, 0.0),
            ("Blue", 160.0, 0.0),
            ("Green", 220.0, 0.0),
            // Each cell stands at the bottom of its row.
            ("Large, of", 0.0, 20.0),
            ("oak", 0.0, 32.0),
            ("12", 100.0, 32.0),
            ("14", 160.0, 32.0),
            ("9", 220.0, 32.0),
            ("Small", 0.0, 52.0),
            ("3", 100.0, 52.0),
            ("5", 160.0, 52.0),
            ("8", 220.0, 52.0),
            ("Round, for", 0.0, 72.0),
            ("walls", 0.0, 84.0),
            ("2", 100.0, 84.0),
            ("4", 160.0, 84.0),
            ("6", 220.0, 84.0),
            ("A text below the table.", 0.0, 110.0),
        ];
        let rows = ["Tin|Red|Blue|Green", "Large, of oak|12|14|9", "Small|3|5|8", "Round, for walls|2|4|6"];
        assert_eq!(read(&table), (rows.map(str::to_owned).to_vec(), 1));
        // The first row too.
        assert_eq!(read(&table[4..]), (rows[1..].iter().map(|row| (*row).to_owned()).collect(), 1));
        // Rows as near to one another as lines are: the first is one of a single cell.
        let near = [
            ("Inside", 0.0, 0.0),
            ("Oak", 0.0, 12.0),
            ("12", 100.0, 12.0),
            ("14", 160.0, 12.0),
            ("Elm", 0.0, 24.0),
            ("3", 100.0, 24.0),
            ("5", 160.0, 24.0),
            ("Outside", 0.0, 36.0),
            ("Ash", 0.0, 48.0),
            ("7", 100.0, 48.0),
            ("1", 160.0, 48.0),
        ];
        assert_eq!(read(&near), (vec!["Inside".to_owned()], 4));
        assert_eq!(read(&near[1..]), (vec!["Oak|12|14".to_owned(), "Elm|3|5".to_owned()], 2));
    }

    #[test]
    fn a_header_of_cells_that_go_on_shows_its_columns_in_a_later_line() {
        let rows = [("Oak", 0.0, 40.0), ("12", 100.0, 40.0), ("14", 160.0, 40.0)];
        let bottom = [("Wood", 0.0, 12.0), ("Tins of", 100.0, 0.0), ("paint", 100.0, 12.0), ("Price", 160.0, 12.0)];
        let top = [("Wood", 0.0, 0.0), ("Tins of", 100.0, 0.0), ("paint", 100.0, 12.0), ("Price", 160.0, 0.0)];
        for header in [bottom, top] {
            let table: Vec<_> = header.into_iter().chain(rows).collect();
            assert_eq!(read(&table), (vec!["Wood|Tins of paint|Price".to_owned(), "Oak|12|14".to_owned()], 0));
        }
    }

    #[test]
    fn text_over_a_header_without_its_first_name_is_no_cell_of_it() {
        let table = [
            ("$ free", 0.0, 0.0),
            ("total", 100.0, 12.0),
            ("used", 160.0, 12.0),
            ("free", 220.0, 12.0),
            ("Mem:", 0.0, 24.0),
            ("12", 100.0, 24.0),
            ("7", 160.0, 24.0),
            ("5", 220.0, 24.0),
        ];
        assert_eq!(read(&table), (vec!["$ free".to_owned()], 2));
        assert_eq!(read(&table[1..]), (vec!["total|used|free".to_owned(), "Mem:|12|7|5".to_owned()], 0));
    }

    #[test]
    fn a_header_goes_on_too_and_text_does_not() {
        let table = [
            ("Paint", 0.0, 0.0),
            ("Price of", 100.0, 0.0),
            ("a tin", 100.0, 12.0),
            ("Oil", 0.0, 30.0),
            ("12", 100.0, 30.0),
        ];
        assert_eq!(read(&table), (vec!["Paint|Price of a tin".to_owned(), "Oil|12".to_owned()], 0));
        let text = [("Paint:", 0.0, 0.0), ("oil", 100.0, 0.0), ("in tins", 100.0, 12.0), ("A text.", 0.0, 30.0)];
        assert_eq!(read(&text), (vec!["Paint:|oil".to_owned()], 2));
        let wide = [
            ("Paint", 0.0, 0.0),
            ("Oil", 100.0, 0.0),
            ("Wood", 0.0, 20.0),
            ("dry", 100.0, 20.0),
            ("A line that goes across both columns", 0.0, 32.0),
            ("of text", 100.0, 44.0),
        ];
        assert_eq!(read(&wide), (vec!["Paint|Oil".to_owned(), "Wood|dry".to_owned()], 2));
        let far = [
            ("Paint", 0.0, 0.0),
            ("Oil", 100.0, 0.0),
            ("Wood", 0.0, 20.0),
            ("dry", 100.0, 20.0),
            ("A note", 100.0, 90.0),
        ];
        assert_eq!(read(&far), (vec!["Paint|Oil".to_owned(), "Wood|dry".to_owned()], 1));
    }
}
