//! Combines glyphs to lines, and finds out which lines are of one paragraph.
//!
//! Glyphs are processed in the order in which the file draws them, which is the reading order in files written by word
//! processors, TeX and browsers, columns included. Sorting by position was rejected: it mixes columns.

use std::collections::HashMap;

use hayro_interpret::kurbo::{Point, Vec2};

use super::{
    direction::in_reading_order,
    glyphs::PlacedGlyph,
    joining::go_on_in_cell,
    tags::{Kind, Tag},
};
use crate::superscript::{Place, written};

/// Gap between glyphs that counts as a space, in font sizes. Spaces are usually a quarter, kerning a twentieth.
const SPACE: f64 = 0.15;
/// Gap that separates columns of a table.
const COLUMN: f64 = 2.0;
/// Gap that may separate cells or columns: spaces of justified text are hardly ever so wide.
const CELL: f64 = 1.0;
/// Largest distance of a glyph above or below the line at which it still belongs to it: super- and subscripts.
const SHIFT: f64 = 0.5;
/// Largest distance that a glyph may start before the end of the previous one, for kerning and accents.
const OVERLAP: f64 = 0.6;
/// Distance of lines that separates paragraphs, in font sizes. Lines of one paragraph have 1 to 1.5.
const PARAGRAPH: f64 = 1.75;
/// Difference of sizes that separates paragraphs.
const SAME_SIZE: f64 = 0.1;
/// The same character at less than this distance is the same glyph drawn again, to look bold or to cast a shadow.
/// The narrowest letters advance by a fifth.
const SAME_PLACE: f64 = 0.1;
/// Size of an exponent and its least distance above the line, as shares of the size of the line.
const SMALL: f64 = 0.85;
const RAISED: f64 = 0.15;
/// Signs of exponents.
const EXPONENTS: [char; 12] = ['⁻', '⁺', '⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
/// Two directions count as equal if their cosine is at least this.
const SAME_DIRECTION: f64 = 0.99;

/// A line of a page.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) text: String,
    /// Size of most of its characters, in points.
    pub(super) size: f64,
    /// Start of the line.
    pub(super) origin: Point,
    /// Direction of the line, as a vector of length 1.
    direction: Vec2,
    /// The parts of the line that wide gaps separate; the whole line if it is of a right-to-left script.
    pub(super) cells: Vec<Cell>,
    /// The block that it is a part of, where the page is tagged.
    pub(super) tag: Option<Tag>,
    /// Whether it is an entry of a list whose bullet was drawn apart.
    pub(super) is_item: bool,
}

/// A part of a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cell {
    pub(super) text: String,
    /// Where it begins and ends along the line, in points.
    pub(super) start: f64,
    pub(super) end: f64,
    /// Where its first word ends.
    pub(super) word_end: f64,
}

impl Cell {
    /// Adds the next line of the cell.
    pub(super) fn go_on(&mut self, next: &Self) {
        go_on_in_cell(&mut self.text, &next.text);
        self.start = self.start.min(next.start);
        self.end = self.end.max(next.end);
    }
}

impl Line {
    /// Whether the line runs from left to right on the upright page.
    pub(super) fn is_upright(&self) -> bool {
        self.direction.x >= SAME_DIRECTION
    }

    /// A line that is one cell of this one.
    pub(super) fn of_cell(&self, cell: &Cell) -> Self {
        Self {
            text: cell.text.clone(),
            origin: Point::new(cell.start, self.origin.y),
            cells: vec![cell.clone()],
            ..*self
        }
    }
}

/// Puts lines together.
#[derive(Debug, Default)]
pub(super) struct LineBuilder {
    done: Vec<Line>,
    open: Option<OpenLine>,
    /// Where each text was drawn, by the cell of a grid that is as wide as the distance of the same place.
    drawn: HashMap<(String, i64, i64), Point>,
}

/// A line that is being read.
#[derive(Debug)]
struct OpenLine {
    glyphs: Vec<PlacedGlyph>,
    /// The numbers of the glyphs that begin a cell after the first.
    cells: Vec<usize>,
    direction: Vec2,
    /// Where the rightmost glyph ends, along the direction.
    end: f64,
    /// Its height on the page, across the direction.
    base: f64,
    size: f64,
}

fn across(direction: Vec2) -> Vec2 {
    Vec2::new(-direction.y, direction.x)
}

impl LineBuilder {
    /// Adds the next glyph in drawing order.
    pub(super) fn push(&mut self, glyph: PlacedGlyph) {
        if glyph.text.is_empty() || glyph.size <= 0.0 || self.is_drawn(&glyph) {
            return;
        }
        if let Some(line) = &mut self.open
            && line.takes(&glyph)
        {
            line.add(glyph);
            return;
        }
        self.close();
        let length = glyph.advance.hypot();
        let direction = if length > 0.0 { glyph.advance / length } else { Vec2::new(1.0, 0.0) };
        let place = glyph.origin.to_vec2();
        self.open = Some(OpenLine {
            end: place.dot(direction) + length,
            base: place.dot(across(direction)),
            size: glyph.size,
            direction,
            glyphs: vec![glyph],
            cells: Vec::new(),
        });
    }

    /// Whether the same text was drawn at the same position before; if not, records it.
    fn is_drawn(&mut self, glyph: &PlacedGlyph) -> bool {
        let side = SAME_PLACE * glyph.size;
        let (column, row) = (cell(glyph.origin.x / side), cell(glyph.origin.y / side));
        let is_near = (-1..=1).any(|x| {
            (-1..=1).any(|y| {
                let key = (glyph.text.clone(), column.saturating_add(x), row.saturating_add(y));
                self.drawn.get(&key).is_some_and(|place| place.distance(glyph.origin) < side)
            })
        });
        if !is_near {
            self.drawn.insert((glyph.text.clone(), column, row), glyph.origin);
        }
        is_near
    }

    /// The lines that are not empty, as parts of this block.
    pub(super) fn finish(mut self, tag: Option<Tag>) -> Vec<Line> {
        self.close();
        self.done.iter_mut().for_each(|line| line.tag = tag);
        self.done
    }

    fn close(&mut self) {
        let Some(line) = self.open.take() else { return };
        let Some(first) = line.glyphs.first() else { return };
        let (origin, direction, size) = (first.origin, line.direction, line.size);
        let cells = line.cells();
        let text = in_reading_order(line.glyphs);
        if !text.trim().is_empty() {
            self.done.push(Line {
                text: text.trim_end().to_owned(),
                size,
                origin,
                direction,
                cells,
                tag: None,
                is_item: false,
            });
        }
    }
}

impl OpenLine {
    fn along(&self, glyph: &PlacedGlyph) -> f64 {
        glyph.origin.to_vec2().dot(self.direction)
    }

    /// Whether a glyph continues the line.
    fn takes(&self, glyph: &PlacedGlyph) -> bool {
        let length = glyph.advance.hypot();
        let turns = length > 0.0 && (glyph.advance / length).dot(self.direction) < SAME_DIRECTION;
        let size = self.size.max(glyph.size);
        let shift = (glyph.origin.to_vec2().dot(across(self.direction)) - self.base).abs();
        let along = self.along(glyph);
        let goes_on = along >= self.end - OVERLAP * size;
        // Right-to-left scripts may be drawn in reading order, glyph by glyph.
        let goes_back = self.glyphs.last().is_some_and(|last| {
            super::direction::runs_left(&glyph.text) && (self.along(last) - (along + length)).abs() < COLUMN * size
        });
        !turns && shift <= SHIFT * size && (goes_on || goes_back)
    }

    /// Whether a glyph is a small raised digit after a number, or after such a digit: "10³" is not 103.
    fn is_exponent(&self, glyph: &PlacedGlyph) -> bool {
        let Some(last) = self.glyphs.last() else { return false };
        let raised = (last.origin - glyph.origin).dot(across(self.direction));
        let is_above = glyph.size < SMALL * last.size && raised > RAISED * last.size;
        let is_beside = glyph.size <= last.size && raised.abs() <= RAISED * last.size;
        let is_near = self.along(glyph) - self.end <= SPACE * self.size;
        let goes_on = is_above && last.text.ends_with(|sign: char| sign.is_ascii_digit())
            || is_beside && last.text.ends_with(|sign: char| EXPONENTS.contains(&sign));
        goes_on
            && is_near
            && glyph.text.chars().all(|sign| sign.is_ascii_digit() || matches!(sign, '-' | '−' | '–' | '+'))
    }

    /// The cells of the line.
    fn cells(&self) -> Vec<Cell> {
        let is_left = self.glyphs.iter().any(|glyph| super::direction::runs_left(&glyph.text));
        let breaks = if is_left { [].as_slice() } else { &self.cells };
        let ends = breaks.iter().copied().chain([self.glyphs.len()]);
        let starts = std::iter::once(0).chain(breaks.iter().copied());
        let cells = starts.zip(ends).filter_map(|(start, end)| {
            let glyphs: Vec<&PlacedGlyph> =
                self.glyphs.get(start..end)?.iter().filter(|glyph| !glyph.text.trim().is_empty()).collect();
            let (first, last) = (glyphs.first()?, glyphs.last()?);
            let is_space = |glyph: &&PlacedGlyph| glyph.text.trim().is_empty();
            let word = self.glyphs.get(start..end)?.iter().skip_while(is_space).take_while(|glyph| !is_space(glyph));
            let end_of = |glyph: &PlacedGlyph| self.along(glyph) + glyph.advance.hypot();
            Some(Cell {
                word_end: end_of(word.last().unwrap_or(last)),
                text: in_reading_order(self.glyphs.get(start..end)?.to_vec()).trim().to_owned(),
                start: self.along(first),
                end: end_of(last),
            })
        });
        cells.collect()
    }

    fn add(&mut self, mut glyph: PlacedGlyph) {
        if self.is_exponent(&glyph) {
            glyph.text = written(&glyph.text, Place::Above);
        }
        let along = self.along(&glyph);
        let length = glyph.advance.hypot();
        if let Some(last) = self.glyphs.last() {
            let before = self.along(last);
            let gap = if along >= before { along - self.end } else { before - (along + length) };
            let is_apart = last.text.ends_with(char::is_whitespace) || glyph.text.starts_with(char::is_whitespace);
            let space = match gap / glyph.size.min(self.size) {
                gap if gap > COLUMN => "\t",
                gap if gap > SPACE && !is_apart => " ",
                _ => "",
            };
            if gap / glyph.size.min(self.size) > CELL {
                self.cells.push(self.glyphs.len());
            }
            if !space.is_empty() {
                self.glyphs.push(PlacedGlyph { text: space.to_owned(), ..glyph.clone() });
            }
        }
        self.end = self.end.max(along + length);
        // A line is as large as its text, not as the small capitals or the number of a note on it.
        if glyph.size > self.size && !glyph.text.trim().is_empty() {
            self.size = glyph.size;
            self.base = glyph.origin.to_vec2().dot(across(self.direction));
        }
        self.glyphs.push(glyph);
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a cell of a grid; casts saturate")]
fn cell(place: f64) -> i64 {
    place.floor() as i64
}

/// Whether two lines, one after the other, are of one paragraph.
pub(super) fn belong_together(above: &Line, below: &Line) -> bool {
    let is_heading = above.tag.is_some_and(|tag| matches!(tag.kind, Kind::Heading(_)));
    if above.tag != below.tag || is_heading {
        return above.tag == below.tag;
    }
    let size = above.size.max(below.size);
    let step = (below.origin - above.origin).dot(across(above.direction));
    above.direction.dot(below.direction) >= SAME_DIRECTION
        && (above.size - below.size).abs() <= SAME_SIZE * size
        && (-SHIFT * size..=PARAGRAPH * size).contains(&step)
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::joining::joined;
    use super::*;

    /// Draws a text glyph by glyph, each half as wide as high.
    pub(in crate::pdf) fn drawn(builder: &mut LineBuilder, text: &str, x: f64, y: f64, size: f64) {
        for (place, character) in text.chars().enumerate() {
            let x = x + f64::from(u32::try_from(place).expect("short")) * size / 2.0;
            builder.push(PlacedGlyph {
                text: character.to_string(),
                origin: Point::new(x, y),
                advance: Vec2::new(size / 2.0, 0.0),
                size,
            });
        }
    }

    fn texts(draw: impl FnOnce(&mut LineBuilder)) -> Vec<String> {
        let mut builder = LineBuilder::default();
        draw(&mut builder);
        builder.finish(None).chunk_by(belong_together).map(joined).collect()
    }

    #[test]
    fn gaps_are_spaces_and_columns() {
        let lines = texts(|builder| {
            drawn(builder, "two", 0.0, 10.0, 10.0);
            drawn(builder, "words", 18.0, 10.0, 10.0);
            drawn(builder, "apart", 80.0, 10.0, 10.0);
            drawn(builder, "2", 105.0, 6.0, 6.0);
        });
        assert_eq!(lines, ["two words\tapart2"]);
    }

    #[test]
    fn raised_digits_after_a_number_are_exponents() {
        let lines = texts(|builder| {
            drawn(builder, "3 x 10", 0.0, 10.0, 10.0);
            drawn(builder, "-12", 30.0, 6.0, 6.0);
            drawn(builder, "tins", 44.0, 10.0, 10.0);
            drawn(builder, "10", 0.0, 40.0, 10.0);
            drawn(builder, "5", 10.0, 40.0, 6.0);
            // A large bullet before the text.
            drawn(builder, "o", 0.0, 80.0, 14.0);
            drawn(builder, "40 tins", 9.0, 77.0, 10.0);
        });
        assert_eq!(lines, ["3 x 10⁻¹² tins", "105", "o 40 tins"]);
    }

    #[test]
    fn distance_parts_paragraphs_and_columns_are_read_one_by_one() {
        let lines = texts(|builder| {
            for (x, y, text) in
                [(0.0, 10.0, "left one"), (0.0, 22.0, "left two"), (0.0, 50.0, "left three"), (200.0, 10.0, "right")]
            {
                drawn(builder, text, x, y, 10.0);
            }
        });
        assert_eq!(lines, ["left one\nleft two", "left three", "right"]);
    }

    #[test]
    fn words_cut_at_the_end_of_a_line_are_whole_again() {
        let lines = texts(|builder| {
            for (number, text) in
                ["an exam-", "ple of state-of-", "the art\u{ad}", "work, 2020-", "x A-", "b"].into_iter().enumerate()
            {
                drawn(builder, text, 0.0, f64::from(u32::try_from(number).expect("few")) * 12.0, 10.0);
            }
        });
        assert_eq!(lines, ["an example of state-of-\nthe artwork, 2020-\nx A-\nb"]);
    }

    #[test]
    fn what_is_drawn_several_times_is_read_once() {
        let lines = texts(|builder| {
            drawn(builder, "Bold", 0.0, 10.0, 10.0);
            drawn(builder, "Bold", 0.3, 10.0, 10.0);
            drawn(builder, "Bold", 0.6, 10.2, 10.0);
            drawn(builder, "ly", 20.0, 10.0, 10.0);
        });
        assert_eq!(lines, ["Boldly"]);
    }
}
