//! Joins the lines of a paragraph to its text.

use super::lines::Line;

/// Shortest line, in characters, that is taken for one of running text.
const SHORTEST_FULL: usize = 45;

/// Width of a space, in font sizes: those of common fonts are a little wider.
const NARROWEST_SPACE: f64 = 0.25;

/// Longest number or letter of an entry of a list, with the sign after it.
const LONGEST_MARK: usize = 4;

/// Shortest line, in characters, that may be cut by the end of a column: a shorter one ends by itself.
const SHORTEST_CUT: usize = 30;

/// The text of a paragraph's lines; words that were hyphenated at the end of a line are whole again.
pub(super) fn joined(lines: &[Line]) -> String {
    joined_within(lines, None)
}

/// The same; a line that was broken because the next word had no room before `edge` goes on.
pub(super) fn joined_within(lines: &[Line], edge: Option<f64>) -> String {
    let mut text = String::new();
    let mut above: Option<&Line> = None;
    for line in lines {
        let next = line.text.as_str();
        let is_broken = text.ends_with('\u{ad}') || (is_hyphenated(&text) && next.starts_with(char::is_lowercase));
        if is_broken {
            text.pop();
        } else if let Some(above) = above {
            let goes_on = edge.is_some_and(|edge| is_full(above, line, edge)) && !text.ends_with(['-', '\u{2010}']);
            match (goes_on, is_broken_path(&text, next)) {
                (true, true) => {}
                (true, false) => text.push(' '),
                (false, _) => text.push('\n'),
            }
        }
        text.push_str(next);
        above = Some(line);
    }
    text
}

/// Whether a path or an address was broken behind its sign. Between spaces the sign is one of its own.
fn is_broken_path(text: &str, next: &str) -> bool {
    let before = text.strip_suffix('/');
    before.is_some_and(|before| !before.ends_with(char::is_whitespace) || next.starts_with(char::is_lowercase))
}

/// Adds the next line to the text of a cell, whose lines are broken wherever its column ends.
pub(super) fn go_on_in_cell(text: &mut String, next: &str) {
    if is_hyphenated(text) && next.starts_with(char::is_lowercase) {
        text.pop();
    } else if !is_broken_path(text, next) {
        text.push(' ');
    }
    text.push_str(next);
}

/// Where the longest of these lines ends, along its direction.
pub(super) fn edge(lines: &[Line]) -> Option<f64> {
    lines.iter().filter_map(|line| line.cells.last()).map(|cell| cell.end).max_by(f64::total_cmp)
}

/// Whether a line was broken since the first word of the next one had no room before `edge`.
fn is_full(line: &Line, next: &Line, edge: f64) -> bool {
    let ([own], [other]) = (line.cells.as_slice(), next.cells.as_slice()) else { return false };
    let first = next.text.split_whitespace().next().unwrap_or_default();
    let is_text = line.text.chars().count() >= SHORTEST_FULL && first.contains(char::is_alphanumeric);
    // "a) …" and "2. …" open entries of a list.
    let is_mark = first.chars().count() <= LONGEST_MARK && first.ends_with(['.', ')']);
    let [word, all] = [first, next.text.trim()].map(|text| u32::try_from(text.chars().count()).unwrap_or(u32::MAX));
    let average = (other.end - other.start) / f64::from(all.max(1)) * f64::from(word.saturating_add(1));
    // The longest line may stick out a little: a word of narrow letters then takes the room of common ones.
    let room = average.max(other.word_end - other.start + NARROWEST_SPACE * next.size);
    is_text && !is_mark && own.end + room > edge
}

/// Whether a paragraph goes on with a sentence that the end of a page or of a column has cut after this line.
pub(super) fn goes_on(above: &str, below: &str) -> bool {
    let is_open =
        above.ends_with(|last: char| last.is_alphanumeric() || matches!(last, ',' | '-' | '\u{2010}' | '\u{ad}'));
    let is_text = above.chars().count() >= SHORTEST_CUT && !above.starts_with('|');
    // "a) …" opens an entry of a list.
    let is_mark = below.chars().nth(1).is_some_and(|second| matches!(second, ')' | '.'));
    is_open && is_text && below.starts_with(char::is_lowercase) && !is_mark
}

/// Whether a text ends in a part of a word with a hyphen that only the end of the line put there.
pub(super) fn is_hyphenated(text: &str) -> bool {
    let Some(before) = text.strip_suffix(['-', '\u{2010}']) else { return false };
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let word = word.trim_start_matches(['(', '[', '"', '“', '„', '‘', '«', '‹']);
    // A word with hyphens of its own keeps this one as well: state-of-the-art.
    word.chars().next_back().is_some_and(char::is_lowercase) && word.chars().all(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use hayro_interpret::kurbo::{Point, Vec2};

    use super::super::{
        glyphs::PlacedGlyph,
        lines::{LineBuilder, tests::drawn},
    };
    use super::*;

    #[test]
    fn a_line_that_was_full_goes_on() {
        let text = [
            "Every gear box that leaves the plant is filled with oil",
            "whatever its plate names. It is drained before the very",
            "first run. It is never kept for another one:",
            "- the drawer holds the spare plates of all the boxes of",
            "the plant",
            "2) each has a number that is punched into its left side",
            "1",
        ];
        let mut builder = LineBuilder::default();
        for (number, line) in (0_u32..).zip(text) {
            drawn(&mut builder, line, 0.0, f64::from(number) * 12.0, 10.0);
        }
        let lines = builder.finish(None);
        let expected = [
            "Every gear box that leaves the plant is filled with oil whatever its plate names. It is drained before the very first run. It is never kept for another one:",
            "- the drawer holds the spare plates of all the boxes of the plant",
            "2) each has a number that is punched into its left side 1",
        ];
        assert_eq!(joined_within(&lines, edge(&lines)), expected.join("\n"));
        assert_eq!(joined(&lines), text.join("\n"));
    }

    #[test]
    fn the_width_of_the_next_word_decides() {
        let line = |text: &str, x: f64, width: f64| {
            let mut builder = LineBuilder::default();
            for (place, character) in text.chars().enumerate() {
                let origin = Point::new(x + f64::from(u32::try_from(place).expect("few")) * width, 0.0);
                let advance = Vec2::new(width, 0.0);
                builder.push(PlacedGlyph { text: character.to_string(), origin, advance, size: 10.0 });
            }
            builder
        };
        // Capitals are twice as wide as the small letters after them.
        let mut next = line("WWWWW", 0.0, 8.0);
        for (place, character) in " and so on, in small letters".chars().enumerate() {
            let origin = Point::new(40.0 + f64::from(u32::try_from(place).expect("few")) * 4.0, 0.0);
            next.push(PlacedGlyph { text: character.to_string(), origin, advance: Vec2::new(4.0, 0.0), size: 10.0 });
        }
        let mut lines = line("A line that is long enough to be one of a text", 0.0, 5.0).finish(None);
        lines.extend(next.finish(None));
        let end = lines[0].cells[0].end;
        assert!(joined_within(&lines, Some(end + 42.0)).contains("text WWWWW"));
        assert!(joined_within(&lines, Some(end + 43.0)).contains("text\nWWWWW"));
    }

    #[test]
    fn a_hyphen_ends_a_part_of_a_word() {
        for (text, expected) in [("a wo-", true), ("a (wo-", true), ("state-of-", false), ("A-", false), ("20-", false)]
        {
            assert_eq!(is_hyphenated(text), expected, "{text}");
        }
    }

    #[test]
    fn a_path_is_broken_behind_its_sign() {
        let mut builder = LineBuilder::default();
        drawn(&mut builder, "Every gear box that leaves it is listed in /var/", 0.0, 0.0, 10.0);
        drawn(&mut builder, "plant", 0.0, 12.0, 10.0);
        let lines = builder.finish(None);
        assert_eq!(joined_within(&lines, edge(&lines)), "Every gear box that leaves it is listed in /var/plant");
    }

    #[test]
    fn only_a_cut_sentence_goes_on() {
        let above = "A line of a column that is cut by its end";
        for (above, below, expected) in [
            (above, "and goes on.", true),
            ("A line of a column that is cut within a wo-", "rd of it.", true),
            (above, "And begins anew.", false),
            ("A line of a column that ends with its sentence.", "and goes on.", false),
            ("A short line", "and goes on.", false),
            ("| a row of a table | that is as long as a line", "and goes on.", false),
            (above, "a) an entry.", false),
            (above, "", false),
        ] {
            assert_eq!(goes_on(above, below), expected, "{above} / {below}");
        }
    }
}
