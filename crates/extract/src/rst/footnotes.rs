//! Footnotes, which many texts gather at their end: each is read in the section that refers to it.

use std::collections::{BTreeMap, HashMap};

use super::{block::title_length, indented};

/// The lines with each footnote at the end of the section with its first mark.
pub(super) fn in_their_sections<'t>(lines: &[&'t str]) -> Vec<&'t str> {
    let titles: Vec<usize> =
        (0..lines.len()).filter(|at| title_length(lines.get(*at..).unwrap_or_default()).is_some()).collect();
    let marks = marks(lines);
    // By the title before which they go: the lines of notes.
    let mut moved: BTreeMap<usize, Vec<&'t str>> = BTreeMap::new();
    let mut left: Vec<&'t str> = Vec::with_capacity(lines.len());
    let mut places = Vec::with_capacity(lines.len());
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let length = 1 + indented(lines.get(at + 1..).unwrap_or_default(), 1);
        let mark = label(line).and_then(|label| marks.get(label));
        let end = mark.and_then(|mark| titles.get(titles.partition_point(|title| title <= mark)));
        if let Some(title) = end.filter(|title| **title < at) {
            let own = moved.entry(*title).or_default();
            own.extend(lines.get(at..at + length).unwrap_or_default());
            own.push("");
            at += length;
        } else {
            left.push(line);
            places.push(at);
            at += 1;
        }
    }
    let mut ordered = Vec::with_capacity(lines.len());
    for (line, place) in left.into_iter().zip(places) {
        ordered.extend(moved.remove(&place).unwrap_or_default());
        ordered.push(line);
    }
    ordered
}

/// The label of the footnote that a line begins.
fn label(line: &str) -> Option<&str> {
    let (label, _) = line.strip_prefix(".. [")?.split_once("] ")?;
    let is_note = label.len() > 1 && label.starts_with('#') || label.bytes().all(|byte| byte.is_ascii_digit());
    is_note.then_some(label)
}

/// The first line with the mark of each footnote.
fn marks<'t>(lines: &[&'t str]) -> HashMap<&'t str, usize> {
    let mut marks = HashMap::new();
    for (number, line) in lines.iter().enumerate() {
        for part in line.split("]_").take(line.matches("]_").count()) {
            if let Some((_, label)) = part.rsplit_once('[') {
                marks.entry(label).or_insert(number);
            }
        }
    }
    marks
}
