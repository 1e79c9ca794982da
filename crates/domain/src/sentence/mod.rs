//! Sentences of prose and Markdown, as byte ranges.
//!
//! One splitter serves answers and sources alike, so that a sentence quoted from a source is the same
//! sentence when the answer that holds it is checked. Every character that is not white space lies in
//! exactly one sentence. One pass, bounded look-ahead, no allocation per character.

mod boundary;
mod line_break;
#[cfg(test)]
mod tests;

use std::ops::Range;

use self::boundary::{Style, boundary_after, is_terminator};
use self::line_break::LineBreaks;
use super::markdown::{Block, BlockKind, blocks, quote_marks};

/// A sentence, or a block treated as one: a heading, a table row, a code block, a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// Bytes of the sentence with the markup before it, white space trimmed.
    pub range: Range<usize>,
    /// Byte at which its words start, after bullets, quote marks and heading signs.
    pub content: usize,
    /// Number of its block, from 0. Sentences of one paragraph share it.
    pub block: usize,
    /// The kind of its block.
    pub kind: BlockKind,
    /// Whether a reader sees words in its block: [`Block::has_words`].
    pub has_words: bool,
}

impl Sentence {
    /// Bytes of its words, without the markup before them.
    #[must_use]
    pub fn words(&self) -> Range<usize> {
        self.content..self.range.end
    }
}

/// Splits a text into sentences, in order, without overlap.
///
/// Citation markers after a full stop (`It is so. [^1]`) belong to the sentence before.
#[must_use]
pub fn sentences(text: &str) -> Vec<Sentence> {
    sentences_of(text, &blocks(text))
}

/// The same over blocks that the caller has scanned already.
#[must_use]
pub fn sentences_of(text: &str, blocks: &[Block]) -> Vec<Sentence> {
    let style = Style::of(text);
    let mut found = Vec::new();
    for (number, block) in blocks.iter().enumerate() {
        let mut push = |start: usize, content: usize, end: usize| {
            let first = found.last().is_none_or(|last: &Sentence| last.block != number);
            let range = trim(text, if first { block.range.start } else { start }..end);
            if !range.is_empty() {
                found.push(Sentence {
                    content: content.clamp(range.start, range.end),
                    range,
                    block: number,
                    kind: block.kind,
                    has_words: block.has_words,
                });
            }
        };
        let content = block.content..block.range.end;
        match block.kind {
            BlockKind::Paragraph => split(text, content, style, push),
            BlockKind::Heading | BlockKind::Code | BlockKind::TableHeader | BlockKind::TableRow | BlockKind::Rule => {
                let start = trim(text, content).start;
                push(start, start, block.range.end);
            }
        }
    }
    found
}

/// Splits running text and emits the start of each sentence, that of its words, and its end.
fn split(text: &str, range: Range<usize>, style: Style, mut push: impl FnMut(usize, usize, usize)) {
    let range = trim(text, range);
    let lines = LineBreaks::of(text.get(range.clone()).unwrap_or_default());
    let end = range.end;
    let (mut start, mut words) = (range.start, range.start);
    let mut at = start;
    loop {
        let rest = text.as_bytes().get(at..end).unwrap_or_default();
        at += rest.iter().take_while(|byte| is_inside(**byte)).count();
        let Some(character) = text.get(at..end).and_then(|rest| rest.chars().next()) else { break };
        let mut cut = None;
        if is_terminator(character) {
            let boundary = boundary_after(text, start, at, end, style);
            at = boundary.resume;
            cut = boundary.ends_at;
        } else {
            at += character.len_utf8();
            if character == '\n' && lines.is_deliberate(text, start, at, end) {
                cut = Some(at);
            }
        }
        if let Some(cut) = cut {
            push(start, words, cut);
            start = trim(text, cut..end).start;
            words = start + marks_before(text, cut, start..end);
            at = words;
        }
    }
    push(start, words, end);
}

/// Bytes of the marks of a quotation before the words of a sentence that begins on another line than the one before ended at.
fn marks_before(text: &str, cut: usize, range: Range<usize>) -> usize {
    let gap = text.get(cut.saturating_sub(1)..range.start).unwrap_or_default();
    let rest = text.get(range).unwrap_or_default();
    let marks = if gap.contains('\n') { quote_marks(rest) } else { 0 };
    let words = rest.get(marks..).unwrap_or_default();
    if words.trim().is_empty() { 0 } else { marks + (words.len() - words.trim_start().len()) }
}

/// Whether this byte certainly ends no sentence, which holds for most bytes: the fast path through a text.
const fn is_inside(byte: u8) -> bool {
    byte.is_ascii() && !matches!(byte, b'.' | b'!' | b'?' | b'\n')
}

/// The range without white space at either end.
fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let words = text.get(range.clone()).unwrap_or_default();
    let end = range.start + words.trim_end().len();
    let start = range.start + (words.len() - words.trim_start().len());
    start.min(end)..end
}
