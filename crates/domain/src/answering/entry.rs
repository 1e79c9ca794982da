//! Entries of plain text, as manual pages list options, settings and fields: a name, and what it is indented below.

use std::ops::Range;

use super::fragment::ends_like_sentence;
use crate::evidence::TermMask;
use crate::evidence::passage::SentenceEvidence;
use crate::wording::start_of_line;

/// Longest line, in bytes, that names an entry of plain text.
const LONGEST_LABEL: usize = 60;

/// The beginning of an entry of plain text: a short line, and the text about it indented below.
pub(super) struct Entry {
    /// Question terms in the line.
    pub(super) mask: TermMask,
    /// Its line, or the line and the first sentence below it.
    pub(super) range: Range<usize>,
}

impl Entry {
    /// The entry that begins with a sentence, the first of its block.
    pub(super) fn begun_by(text: &str, first: &SentenceEvidence) -> Option<Self> {
        let start = first.range.start;
        let line = start_of_line(text, start);
        let mut lines = text.get(line..).unwrap_or_default().lines();
        let indent = |line: &str| line.len() - line.trim_start().len();
        let (label, below) = (lines.next()?, lines.next()?);
        let is_entry = label.trim().len() <= LONGEST_LABEL && !below.trim().is_empty() && indent(below) > indent(label);
        is_entry.then(|| Self { mask: first.mask, range: first.range.clone() })
    }

    /// Whether a sentence is the first one that says something: that of its line, or the one below it.
    pub(super) fn is_opened_by(&self, text: &str, sentence: &SentenceEvidence) -> bool {
        let is_below = self.range.end <= sentence.range.start;
        if self.is_bare(text) { is_below } else { self.range.start == sentence.range.start }
    }

    /// The name of what it is about, the first word of its line: `UMASK` of `UMASK (number)`.
    pub(super) fn name<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.range.clone()).and_then(|words| words.split_whitespace().next()).unwrap_or_default()
    }

    /// Whether it is what it is called and how it is written alone.
    pub(super) fn is_bare(&self, text: &str) -> bool {
        let words = text.get(self.range.clone()).map(str::trim);
        words.is_some_and(|words| !words.contains('\n') || !ends_like_sentence(words))
    }
}
