//! Detects headings of a PDF by font size: few files mark them.

use std::collections::BTreeMap;

use super::lines::Line;

/// Minimum ratio of a heading's size to the size of the text.
pub(super) const LARGER: f64 = 1.15;
/// Sizes that differ by less than this count as equal, in points.
const STEP: f64 = 0.5;
/// Largest number of lines of a heading.
const MOST_LINES: usize = 3;
const MOST_CHARACTERS: usize = 120;
/// Dots and blanks that lead to the number of a page in a table of contents.
const LEADERS: [&str; 2] = ["....", ". . ."];
/// If more than this share of its characters is larger than the rest, in per cent, a document uses several text sizes, not
/// headings. Lines are no measure: a short document may have a heading for every two of them.
const MOST_SHARE: usize = 20;
/// Deepest level.
const DEEPEST: usize = 4;

/// The sizes of a document's headings.
#[derive(Debug, Default)]
pub(super) struct HeadingSizes {
    /// The sizes in multiples of the step, largest first.
    steps: Vec<u32>,
}

impl HeadingSizes {
    /// Finds the size of the text, which most characters have, and those that are larger.
    pub(super) fn of<'line>(lines: impl Iterator<Item = &'line Line>) -> Self {
        let characters = characters_by_step(lines);
        let body = most_frequent(&characters);
        let is_larger = |step: u32| f64::from(step) >= f64::from(body) * LARGER;
        let all: usize = characters.values().sum();
        let larger: usize = characters.iter().filter(|(step, _)| is_larger(**step)).map(|(_, count)| count).sum();
        if larger * 100 > all * MOST_SHARE {
            return Self::default();
        }
        Self { steps: characters.into_keys().rev().filter(|step| is_larger(*step)).collect() }
    }

    /// The level of a paragraph with this number of lines that begins with `first`, if it is a heading.
    pub(super) fn level_of(&self, first: &Line, lines: usize) -> Option<u8> {
        let text = first.text.trim();
        let is_phrase = text.chars().any(char::is_alphabetic)
            && text.chars().count() <= MOST_CHARACTERS
            && !text.ends_with(['.', ',', ';'])
            && !LEADERS.iter().any(|leader| text.contains(leader));
        if lines > MOST_LINES || !is_phrase {
            return None;
        }
        let place = self.steps.iter().position(|step| *step == step_of(first))?;
        u8::try_from(place.min(DEEPEST - 1) + 1).ok()
    }
}

/// The size of most characters, in points.
pub(super) fn body_size<'line>(lines: impl Iterator<Item = &'line Line>) -> f64 {
    f64::from(most_frequent(&characters_by_step(lines))) * STEP
}

fn characters_by_step<'line>(lines: impl Iterator<Item = &'line Line>) -> BTreeMap<u32, usize> {
    let mut characters = BTreeMap::new();
    for line in lines {
        *characters.entry(step_of(line)).or_insert(0) += line.text.len();
    }
    characters
}

fn most_frequent(characters: &BTreeMap<u32, usize>) -> u32 {
    characters.iter().max_by_key(|(_, count)| **count).map_or(0, |(step, _)| *step)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounding is meant, and casts saturate")]
fn step_of(line: &Line) -> u32 {
    (line.size / STEP).round() as u32
}

#[cfg(test)]
mod tests {
    use super::super::lines::{LineBuilder, tests::drawn};
    use super::*;

    fn lines(sizes: &[f64]) -> Vec<Line> {
        let mut builder = LineBuilder::default();
        for (number, size) in sizes.iter().enumerate() {
            drawn(&mut builder, "Words on a line", 0.0, f64::from(u32::try_from(number).expect("few")) * 40.0, *size);
        }
        builder.finish(None)
    }

    #[test]
    fn larger_lines_are_headings() {
        let lines = lines(&[20.0, 10.0, 10.1, 14.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 6.0]);
        let sizes = HeadingSizes::of(lines.iter());
        let levels: Vec<Option<u8>> = lines.iter().map(|line| sizes.level_of(line, 1)).collect();
        assert_eq!(levels[..4], [Some(1), None, None, Some(2)]);
        assert_eq!(levels[11], None);
        assert_eq!(sizes.level_of(&lines[0], 9), None);
        let mut entry = lines[0].clone();
        "1 Introduction . . . . 5".clone_into(&mut entry.text);
        assert_eq!(sizes.level_of(&entry, 1), None);
    }

    #[test]
    fn a_short_page_may_have_many_headings() {
        let mut lines = lines(&[16.0, 11.0, 13.0, 11.0]);
        for line in lines.iter_mut().filter(|line| step_of(line) == 22) {
            line.text = line.text.repeat(8);
        }
        let sizes = HeadingSizes::of(lines.iter());
        let levels: Vec<Option<u8>> = lines.iter().map(|line| sizes.level_of(line, 1)).collect();
        assert_eq!(levels, [Some(1), None, Some(2), None]);
    }

    #[test]
    fn a_page_of_many_sizes_has_none() {
        let lines = lines(&[20.0, 10.0, 30.0, 10.0]);
        assert_eq!(HeadingSizes::of(lines.iter()).level_of(&lines[0], 1), None);
    }
}
