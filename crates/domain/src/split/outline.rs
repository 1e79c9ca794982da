//! The headings of a text, and where they are in force.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{SplitterKind, code, markdown};

/// Longest heading that is kept, in characters: it is repeated with every piece under it.
const LONGEST_HEADING: usize = 200;

/// A heading of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading {
    /// Byte range of its line or lines in the text, markup and line end included.
    pub bytes: Range<usize>,
    /// 1 for the outermost; a heading ends those of its own and deeper levels.
    pub level: u8,
    /// Its text, without markup. If empty, it only ends the heading before.
    pub text: String,
}

/// The headings of a text in order, each with the one above it, and the parts that are code.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outline {
    headings: Vec<(Heading, Option<usize>)>,
    code: Vec<Range<usize>>,
    /// Whether the whole text is source code.
    is_source: bool,
}

impl Outline {
    /// The outline that `kind` reads from `text` itself: that of Markdown or of source code, or none.
    #[must_use]
    pub fn of(kind: SplitterKind, text: &str) -> Self {
        match kind {
            SplitterKind::Markdown => {
                let (headings, code) = markdown::scan(text);
                Self { code, ..Self::from_headings(headings) }
            }
            SplitterKind::Code => Self { is_source: true, ..Self::from_headings(code::scan(text)) },
            SplitterKind::Auto | SplitterKind::Recursive | SplitterKind::Tokens => Self::default(),
        }
    }

    /// The outline of headings found by other means (HTML, DOCX), in order of their position.
    ///
    /// A heading that overlaps the one before it is dropped.
    #[must_use]
    pub fn from_headings(headings: impl IntoIterator<Item = Heading>) -> Self {
        let mut outline = Self::default();
        // Open headings, outermost first, as (level, index).
        let mut open: Vec<(u8, usize)> = Vec::new();
        let mut end = 0;
        for mut heading in headings {
            if heading.bytes.start < end || heading.bytes.is_empty() {
                continue;
            }
            end = heading.bytes.end;
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
        let mut path = Vec::new();
        let mut next = self.innermost_at(byte);
        while let Some((heading, above)) = next.and_then(|index| self.headings.get(index)) {
            if !heading.text.is_empty() {
                path.push(heading.text.clone());
            }
            next = *above;
        }
        path.reverse();
        path
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

    /// Whether a byte offset lies in a fenced code block.
    pub(super) fn is_code(&self, byte: usize) -> bool {
        self.code
            .partition_point(|range| range.start <= byte)
            .checked_sub(1)
            .and_then(|index| self.code.get(index))
            .is_some_and(|range| byte < range.end)
    }
}
