//! Ranges of text counted in Unicode code points, the unit of every offset in the API.
//!
//! Rust slices by byte, readers in other languages by code point. [`IndexedText`] converts between
//! the two after one pass over the text, so that a conversion never rescans it from the start.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A half-open range of code points, from 0, end exclusive. Serialises as `[start, end]`.
///
/// Like [`std::ops::Range`], a span whose end is not after its start is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(into = "(usize, usize)", try_from = "(usize, usize)")]
pub struct Span {
    /// First code point of the range.
    pub start: usize,
    /// The code point after the last one of the range.
    pub end: usize,
}

impl Span {
    /// The span from `start` up to, not including, `end`, both in code points.
    #[must_use]
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Length in code points; 0 for an inverted span.
    #[must_use]
    pub const fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Whether the span holds no code point.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// Whether `other` lies wholly inside this span.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The same span `offset` code points further on: from a chunk's text to its document's.
    #[must_use]
    pub const fn shifted(self, offset: usize) -> Self {
        Self { start: self.start.saturating_add(offset), end: self.end.saturating_add(offset) }
    }

    /// The words at this span in `text`, or `None` when the span runs past the end or is inverted.
    ///
    /// Scans from the start of `text`; for several look-ups use [`IndexedText::slice`].
    #[must_use]
    pub fn slice(self, text: &str) -> Option<&str> {
        let length = self.end.checked_sub(self.start)?;
        let mut boundaries = text.char_indices().map(|(byte, _)| byte).chain(std::iter::once(text.len()));
        let start = boundaries.nth(self.start)?;
        let end = match length {
            0 => start,
            _ => boundaries.nth(length - 1)?,
        };
        text.get(start..end)
    }
}

impl From<Span> for (usize, usize) {
    fn from(span: Span) -> Self {
        (span.start, span.end)
    }
}

/// A pair of offsets whose end lies before its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a span must not end ({end}) before it starts ({start})")]
pub struct InvertedSpan {
    start: usize,
    end: usize,
}

impl TryFrom<(usize, usize)> for Span {
    type Error = InvertedSpan;

    fn try_from((start, end): (usize, usize)) -> Result<Self, Self::Error> {
        if end < start {
            return Err(InvertedSpan { start, end });
        }
        Ok(Self { start, end })
    }
}

/// Bytes between two remembered positions: the most that a conversion has to scan.
const STRIDE: usize = 128;

/// A text with a table from bytes to code points.
///
/// Made in one pass; a look-up scans at most one stride of 128 bytes, and nothing at all in ASCII.
#[derive(Debug, Clone)]
pub struct IndexedText<'t> {
    text: Cow<'t, str>,
    /// `code_points[i]` is the number of code points that start before byte `i * STRIDE`. Empty for ASCII.
    code_points: Vec<usize>,
    length: usize,
}

impl<'t> IndexedText<'t> {
    /// Indexes a text, borrowed or owned.
    #[must_use]
    pub fn new(text: impl Into<Cow<'t, str>>) -> Self {
        let text = text.into();
        if text.is_ascii() {
            let length = text.len();
            return Self { text, code_points: Vec::new(), length };
        }
        let mut code_points = Vec::with_capacity(text.len() / STRIDE + 1);
        let mut length = 0;
        for block in text.as_bytes().chunks(STRIDE) {
            code_points.push(length);
            length += count_starts(block);
        }
        Self { text, code_points, length }
    }

    /// The text itself.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Length of the text in code points.
    #[must_use]
    pub fn code_points(&self) -> usize {
        self.length
    }

    /// The number of code points before `byte`.
    ///
    /// A byte inside a character counts as that character's start; one past the end as the end.
    #[must_use]
    pub fn code_point_at(&self, byte: usize) -> usize {
        let mut byte = byte.min(self.text.len());
        if self.code_points.is_empty() {
            return byte;
        }
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        let block = byte / STRIDE;
        let Some(before) = self.code_points.get(block) else {
            return self.length;
        };
        let scanned = self.text.as_bytes().get(block * STRIDE..byte);
        before + scanned.map_or(0, count_starts)
    }

    /// The byte at which a code point starts; the length in bytes when there is no such code point.
    #[must_use]
    pub fn byte_at(&self, code_point: usize) -> usize {
        if code_point >= self.length {
            return self.text.len();
        }
        if self.code_points.is_empty() {
            return code_point;
        }
        let block = self.code_points.partition_point(|&before| before <= code_point).saturating_sub(1);
        let mut remaining = code_point - self.code_points.get(block).copied().unwrap_or(0);
        let from = block * STRIDE;
        let bytes = self.text.as_bytes().get(from..).unwrap_or_default();
        for (offset, byte) in bytes.iter().enumerate() {
            if is_start(*byte) {
                if remaining == 0 {
                    return from + offset;
                }
                remaining -= 1;
            }
        }
        self.text.len()
    }

    /// The span, in code points, of a range of bytes.
    #[must_use]
    pub fn span(&self, bytes: &Range<usize>) -> Span {
        Span::new(self.code_point_at(bytes.start), self.code_point_at(bytes.end))
    }

    /// The range of bytes of a span; offsets past the end count as the end.
    #[must_use]
    pub fn bytes(&self, span: Span) -> Range<usize> {
        self.byte_at(span.start)..self.byte_at(span.end)
    }

    /// The words at a span, or `None` when it is inverted or runs past the end.
    #[must_use]
    pub fn slice(&self, span: Span) -> Option<&str> {
        if span.end > self.length || span.end < span.start {
            return None;
        }
        self.text.get(self.bytes(span))
    }
}

fn is_start(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

fn count_starts(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| is_start(**byte)).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn serialises_as_a_pair() {
        let span = Span::new(12, 16);
        assert_eq!(serde_json::to_string(&span).unwrap(), "[12,16]");
        assert_eq!(serde_json::from_str::<Span>("[12,16]").unwrap(), span);
        assert!(serde_json::from_str::<Span>("[16,12]").is_err());
    }

    #[test]
    fn counts_code_points_not_bytes() {
        let text = IndexedText::new("naïve 你好 [^1]");
        assert_eq!(text.span(&(13..17)), Span::new(8, 12));
        assert_eq!(text.slice(Span::new(9, 13)), Some("[^1]"));
        assert_eq!(text.slice(Span::new(9, 14)), None);
        assert_eq!(text.slice(Span::new(4, 2)), None);
    }

    proptest! {
        #[test]
        fn conversions_agree_with_a_plain_count(text in any::<String>(), repeat in 1usize..40) {
            let text = text.repeat(repeat);
            let indexed = IndexedText::new(text.as_str());
            prop_assert_eq!(indexed.code_points(), text.chars().count());
            let bytes = text.char_indices().map(|(byte, _)| byte).chain([text.len()]);
            for (code_point, byte) in bytes.enumerate() {
                prop_assert_eq!(indexed.code_point_at(byte), code_point);
                prop_assert_eq!(indexed.byte_at(code_point), byte);
            }
        }

        #[test]
        fn both_slices_agree(text in any::<String>(), start in 0usize..80, end in 0usize..80) {
            let span = Span::new(start, end);
            let indexed = IndexedText::new(text.as_str());
            prop_assert_eq!(span.slice(&text), indexed.slice(span));
        }

        #[test]
        fn any_offset_is_harmless(text in any::<String>(), offset in any::<usize>()) {
            let indexed = IndexedText::new(text.as_str());
            prop_assert!(indexed.code_point_at(offset) <= indexed.code_points());
            prop_assert!(text.is_char_boundary(indexed.byte_at(offset)));
        }
    }
}
