//! Definitions of links, `[name]: address "title"`, which belong to no leaf and are not shown to a reader.

use std::ops::Range;

use super::line::{Lines, marks};

/// Reads lines that no leaf holds, one after the other: a definition goes on until a blank line.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    is_open: bool,
}

impl Definitions {
    /// Whether the next line is of a definition.
    pub(super) fn hold(&mut self, line: &str) -> bool {
        self.is_open = begins_definition(line) || self.is_open && !line.trim().is_empty();
        self.is_open
    }
}

fn begins_definition(line: &str) -> bool {
    let words = line.get(marks(line)..).unwrap_or_default().trim_start();
    words.starts_with('[') && !words.starts_with("[^") && words.contains("]:")
}

/// The lines of definitions of links among those of `bytes`, which no leaf holds.
pub(crate) fn link_definitions(text: &str, bytes: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let part = text.get(bytes.clone()).unwrap_or_default();
    let mut definitions = Definitions::default();
    let lines = Lines::of(part).filter(move |line| definitions.hold(part.get(line.clone()).unwrap_or_default()));
    lines.map(move |line| bytes.start + line.start..bytes.start + line.end)
}
