//! Definitions of links, `[name]: address "title"`, which belong to no leaf and are not shown to a reader.

use std::ops::Range;

use super::line::{Lines, marks};

/// Whether a line that no leaf holds begins the definition of a link.
pub(super) fn is_link_definition(line: &str) -> bool {
    let words = line.get(marks(line)..).unwrap_or_default().trim_start();
    words.starts_with('[') && !words.starts_with("[^") && words.contains("]:")
}

/// The definitions of links among the lines of `bytes`, which no leaf holds, each line by itself.
pub(crate) fn link_definitions(text: &str, bytes: Range<usize>) -> Vec<Range<usize>> {
    let mut definitions: Vec<Range<usize>> = Vec::new();
    let mut is_open = false;
    let part = text.get(bytes.clone()).unwrap_or_default();
    for line in Lines::of(part) {
        let words = part.get(line.clone()).unwrap_or_default();
        let range = bytes.start + line.start..bytes.start + line.end;
        is_open = is_link_definition(words) || is_open && !words.trim().is_empty();
        if is_open {
            definitions.push(range);
        }
    }
    definitions
}
