//! The headings of a text, and where they are in force.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{SplitterKind, code, markdown};

/// Longest heading that is kept, in characters: it is repeated with every piece under it.
const LONGEST_HEADING: usize = 200;

/// A heading of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading {
    /// Byte range of its line or lines in the text, markup and line end included; of its words, if the text that it heads
    /// begins on the same line.
    pub bytes: Range<usize>,
    /// 1 for the outermost; a heading ends those of its own and deeper levels.
    pub level: u8,
    /// Its text, without markup. If empty, it only ends the heading before.
    pub text: String,
}

/// The headings of a text in order, each with the one above it, the parts that are code, and those without words for a
/// reader.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outline {
    headings: Vec<(Heading, Option<usize>)>,
    code: Vec<Range<usize>>,
    unread: Vec<Range<usize>>,
    /// Whether the whole text is source code.
    is_source: bool,
}

impl Outline {
    /// The outline that `kind` reads from `text` itself: that of Markdown or of source code, or none.
    #[must_use]
    pub fn of(kind: SplitterKind, text: &str) -> Self {
        match kind {
            SplitterKind::Markdown => {
                let scan = markdown::scan(text);
                Self { code: scan.code, unread: scan.unread, ..Self::of_headings(text, scan.headings) }
            }
            SplitterKind::Code => Self { is_source: true, ..Self::nested(code::scan(text)) },
            SplitterKind::Auto | SplitterKind::Recursive => Self::from_headings(text, []),
            SplitterKind::Tokens => Self::default(),
        }
    }

    /// The outline of the headings of a text, in order of their position, and of its fenced code.
    ///
    /// A heading that overlaps the one before it is dropped, and so is one without text under it: it heads nothing,
    /// and its words are text of the section before it or, where there is none, belong to the lines of the next heading.
    #[must_use]
    pub fn from_headings(text: &str, headings: impl IntoIterator<Item = Heading>) -> Self {
        Self { code: markdown::fenced_code(text), ..Self::of_headings(text, headings) }
    }

    fn of_headings(text: &str, headings: impl IntoIterator<Item = Heading>) -> Self {
        let mut end = 0;
        let apart = headings.into_iter().filter(|heading| {
            let is_apart = heading.bytes.start >= end && !heading.bytes.is_empty();
            end = if is_apart { heading.bytes.end } else { end };
            is_apart
        });
        Self::nested(over_text(text, apart.collect()))
    }

    /// The outline of headings that do not overlap.
    fn nested(headings: impl IntoIterator<Item = Heading>) -> Self {
        let mut outline = Self::default();
        // Open headings, outermost first, as (level, index).
        let mut open: Vec<(u8, usize)> = Vec::new();
        for mut heading in headings {
            if let Some((cut, _)) = heading.text.char_indices().nth(LONGEST_HEADING) {
                heading.text.truncate(cut);
            }
            open.retain(|(level, _)| *level < heading.level);
            let above = open.last().map(|(_, index)| *index);
            open.push((heading.level, outline.headings.len()));
            outline.headings.push((heading, above));
        }
        outline
    }

    /// Texts of the headings in force at a byte offset, outermost first.
    #[must_use]
    pub fn path_at(&self, byte: usize) -> Vec<String> {
        self.path_of(self.innermost_at(byte))
    }

    /// Texts of a heading and those above it, outermost first.
    pub(super) fn path_of(&self, heading: Option<usize>) -> Vec<String> {
        let named = self.upwards(heading).filter_map(|index| self.headings.get(index));
        let mut path: Vec<String> = named.map(|(heading, _)| heading.text.clone()).collect();
        path.retain(|text| !text.is_empty());
        path.reverse();
        path
    }

    /// A heading and those above it, innermost first.
    pub(super) fn upwards(&self, heading: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(heading, |index| self.above(*index))
    }

    /// The heading above one.
    pub(super) fn above(&self, heading: usize) -> Option<usize> {
        self.headings.get(heading).and_then(|(_, above)| *above)
    }

    /// Index of the last heading that begins at or before a byte offset.
    pub(super) fn innermost_at(&self, byte: usize) -> Option<usize> {
        self.headings.partition_point(|(heading, _)| heading.bytes.start <= byte).checked_sub(1)
    }

    /// Byte range of the lines of the last heading that begins at or before a byte offset.
    pub(super) fn heading_lines_at(&self, byte: usize) -> Option<Range<usize>> {
        self.innermost_at(byte).and_then(|index| self.headings.get(index)).map(|(heading, _)| heading.bytes.clone())
    }

    /// Whether the whole text is source code.
    pub(super) const fn is_source(&self) -> bool {
        self.is_source
    }

    /// The byte ranges without words for a reader, in order and apart: no piece is made of them.
    #[must_use]
    pub fn unread(&self) -> &[Range<usize>] {
        &self.unread
    }

    /// Bytes without words for a reader within a range of the text.
    pub(super) fn unread_within(&self, bytes: &Range<usize>) -> usize {
        let first = self.unread.partition_point(|range| range.start < bytes.start);
        let within = self.unread.iter().skip(first).take_while(|range| range.end <= bytes.end);
        within.map(ExactSizeIterator::len).sum()
    }

    /// The fenced code block, fences included, that a byte offset lies in.
    pub(super) fn code_at(&self, byte: usize) -> Option<&Range<usize>> {
        let last = self.code.partition_point(|range| range.start <= byte).checked_sub(1)?;
        self.code.get(last).filter(|range| byte < range.end)
    }
}

/// The headings that text stands under, directly or under one of a deeper level.
///
/// Those without text before the first of them are put into its lines.
fn over_text(text: &str, headings: Vec<Heading>) -> Vec<Heading> {
    let is_blank = |range: Range<usize>| text.get(range).is_none_or(|between| between.trim().is_empty());
    let first = headings.first().map(|heading| heading.bytes.start).filter(|start| is_blank(0..*start));
    let (mut kept, mut next): (Vec<Heading>, usize) = (Vec::new(), text.len());
    for heading in headings.into_iter().rev() {
        let is_over_deeper = || kept.last().is_some_and(|below| below.level > heading.level);
        let is_over_text = !is_blank(heading.bytes.end..next) || is_over_deeper();
        next = heading.bytes.start;
        if is_over_text {
            kept.push(heading);
        }
    }
    if let Some((start, outermost)) = first.zip(kept.last_mut()) {
        outermost.bytes.start = start;
    }
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<(String, Vec<String>)> {
        let outline = Outline::of(SplitterKind::Markdown, text);
        let lines = text.split_inclusive('\n').scan(0, |at, line| {
            *at += line.len();
            Some((line.trim_end(), outline.path_at(*at - line.len())))
        });
        lines.filter(|(line, _)| !line.is_empty()).map(|(line, path)| (line.to_owned(), path)).collect()
    }

    #[test]
    fn a_heading_without_text_heads_nothing() {
        // A text, and the heading path of each of its lines.
        let cases: [(&str, &[&str]); 6] = [
            ("# A\n\n## B\ntext\n", &["A", "A>B", "A>B"]),
            ("text\n# A\n# B\ntext\n", &["", "", "B", "B"]),
            ("# A\ntext\n## See also\n## References\n", &["A", "A", "A", "A"]),
            ("# A\n### B\n## C\ntext\n", &["A", "A", "A>C", "A>C"]),
            ("# Title\n# A\ntext\n# B\n", &["A", "A", "A", "A"]),
            ("# A\n# B\n", &["", ""]),
        ];
        for (text, expected) in cases {
            let found: Vec<String> = paths(text).into_iter().map(|(_, path)| path.join(">")).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
