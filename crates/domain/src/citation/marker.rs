//! The grammar of citation markers.
//!
//! A marker is `[^N]` with N a positive decimal without leading zero that fits `u32`. An odd number of
//! backslashes before it makes it literal text. Fenced code holds no markers; inline code hides none.
//! Text that begins like a marker but is not one is reported, never dropped.

use std::ops::Range;

use crate::markdown::{Block, BlockKind};
use crate::span::{IndexedText, Span};

/// Longest label, in code points, that is looked through for its closing bracket. Digits do not count.
const LONGEST_LABEL: usize = 64;

/// A well-formed marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    /// The number of the source it names, from 1; it may still be out of range.
    pub number: u32,
    /// Where it stands, from `[` to `]`, in bytes.
    pub bytes: Range<usize>,
    /// The same in code points.
    pub span: Span,
}

/// Text that begins like a marker but is not well-formed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MalformedMarker {
    /// The kind of fault.
    pub fault: MarkerFault,
    /// Where it stands, in bytes.
    pub bytes: Range<usize>,
    /// The same in code points.
    pub span: Span,
}

/// Faults of a malformed marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum MarkerFault {
    /// `[^]`.
    #[error("the marker has no number")]
    Empty,
    /// `[^abc]`, and any label without a more specific fault.
    #[error("the marker is not a plain number")]
    NotANumber,
    /// `[^-1]`.
    #[error("the number is negative")]
    Negative,
    /// `[^0]`.
    #[error("sources are numbered from 1")]
    Zero,
    /// `[^01]`.
    #[error("the number has a leading zero")]
    LeadingZero,
    /// A number above `u32::MAX`.
    #[error("the number is too large")]
    Overflow,
    /// No closing bracket before the end of the line, the next bracket, or 64 characters.
    #[error("the marker is not closed by \"]\"")]
    Unterminated,
}

/// All markers of a text, each list in order of appearance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Markers {
    /// The well-formed ones.
    pub valid: Vec<Marker>,
    /// The others.
    pub malformed: Vec<MalformedMarker>,
}

/// Finds the markers of a text whose blocks are known. Takes linear time for any text.
#[must_use]
pub fn markers(text: &IndexedText<'_>, blocks: &[Block]) -> Markers {
    let mut found = Markers::default();
    let mut code = blocks.iter().filter(|block| block.kind == BlockKind::Code).peekable();
    let mut at = 0;
    while let Some(start) = find_from(text.text(), "[^", at) {
        at = start + 2;
        while code.peek().is_some_and(|block| block.range.end <= start) {
            code.next();
        }
        if let Some(block) = code.peek().filter(|block| block.range.start <= start) {
            at = block.range.end;
            continue;
        }
        if is_escaped(text.text(), start) {
            continue;
        }
        let label = Label::read(text.text().get(at..).unwrap_or_default());
        at += label.length;
        let bytes = start..at;
        let span = text.span(&bytes);
        match label.number {
            Ok(number) => found.valid.push(Marker { number, bytes, span }),
            Err(fault) => found.malformed.push(MalformedMarker { fault, bytes, span }),
        }
    }
    found
}

/// Bytes of the marker that `text` begins with, well-formed or not, if it is closed.
pub(crate) fn marker_length(text: &str) -> Option<usize> {
    let label = Label::read(text.strip_prefix("[^")?);
    (label.number != Err(MarkerFault::Unterminated)).then_some(label.length + 2)
}

/// Bytes of the marker that `text` begins with, including a malformed one.
pub(super) fn whole_marker_length(text: &str) -> Option<usize> {
    Some(Label::read(text.strip_prefix("[^")?).length + 2)
}

fn find_from(text: &str, pattern: &str, from: usize) -> Option<usize> {
    text.get(from..)?.find(pattern).map(|at| from + at)
}

/// Whether an odd number of backslashes stands before `at`.
pub(super) fn is_escaped(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    (before.len() - before.trim_end_matches('\\').len()) % 2 == 1
}

/// The text after `[^`: its bytes, closing bracket included, and the number or the fault.
struct Label {
    length: usize,
    number: Result<u32, MarkerFault>,
}

impl Label {
    fn read(rest: &str) -> Self {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let after_digits = rest.get(digits..).unwrap_or_default();
        let mut first_gap = None;
        let mut length = digits;
        for character in after_digits.chars().take(LONGEST_LABEL) {
            match character {
                ']' => {
                    let label = rest.get(..length).unwrap_or_default();
                    return Self { length: length + 1, number: read_number(label) };
                }
                '[' | '\n' | '\r' => break,
                _ if character.is_whitespace() => {
                    first_gap.get_or_insert(length);
                }
                _ => {}
            }
            length += character.len_utf8();
        }
        // An unclosed label ends with its first word; the words after it are the answer's own.
        Self { length: first_gap.unwrap_or(length), number: Err(MarkerFault::Unterminated) }
    }
}

fn read_number(label: &str) -> Result<u32, MarkerFault> {
    let is_decimal = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if label.is_empty() {
        return Err(MarkerFault::Empty);
    }
    if label.strip_prefix('-').is_some_and(is_decimal) {
        return Err(MarkerFault::Negative);
    }
    if !is_decimal(label) {
        return Err(MarkerFault::NotANumber);
    }
    if label == "0" {
        return Err(MarkerFault::Zero);
    }
    if label.starts_with('0') {
        return Err(MarkerFault::LeadingZero);
    }
    label.parse().map_err(|_| MarkerFault::Overflow)
}
