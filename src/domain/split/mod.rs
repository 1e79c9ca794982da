//! Splitting: a document's text into pieces that an embedder can read whole.
//!
//! Laws, held by property tests:
//! - pieces cover every character of the text that is not white space, in order;
//! - each is an exact slice of the text, without white space at its ends, never empty;
//! - each fits its budget by the real count of the embedder's tokenizer, overlap included;
//! - starts strictly increase, and the same input gives the same pieces.
//!
//! Counting tokens is what costs, so that every part of the text is counted a bounded number of
//! times: sentences once (`units`), long ones once more by phrases, each finished piece once
//! (`pack`). Splitters that count each candidate chunk anew are quadratic on text without blank
//! lines, such as that of PDF files; they were rejected for that.

mod front;
mod markdown;
mod outline;
mod pack;
mod units;

use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use front::{Front, FrontComposer, Window, embedding_text};
pub use outline::{Heading, Outline};

/// Counts tokens as the embedding model will, without its special tokens.
pub trait TokenCounter {
    /// Number of tokens of `text`. Must be a function of the text alone.
    fn count(&self, text: &str) -> usize;
}

impl<F: Fn(&str) -> usize> TokenCounter for F {
    fn count(&self, text: &str) -> usize {
        self(text)
    }
}

/// Where a splitter prefers to cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitterKind {
    /// At paragraphs, else lines, else sentences, else words.
    #[default]
    Recursive,
    /// As [`Self::Recursive`], but at headings first; headings are read from Markdown syntax.
    Markdown,
    /// Wherever the budget is full, at a word.
    Tokens,
}

/// What a collection may set about its splitter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SplitterSettings {
    /// Where to cut.
    pub kind: SplitterKind,
    /// Largest piece, in tokens of the embedder; the embedder's window lowers it further.
    pub max_tokens: usize,
    /// How much of a piece the next one repeats, in tokens. Unset, 12 % of the piece's budget.
    pub overlap_tokens: Option<usize>,
}

impl Default for SplitterSettings {
    fn default() -> Self {
        Self { kind: SplitterKind::default(), max_tokens: 512, overlap_tokens: None }
    }
}

/// A fault of [`SplitterSettings`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SplitterSettingsError {
    /// Pieces would be too small to say anything, or too large for any embedder.
    #[error("max_tokens must lie between {MIN_MAX_TOKENS} and {MAX_MAX_TOKENS}, not {0}")]
    MaxTokens(usize),
    /// More of a piece would be repetition than news.
    #[error("overlap_tokens must be at most half of max_tokens, not {0}")]
    OverlapTokens(usize),
}

/// Smallest `max_tokens` that leaves room for a sentence.
const MIN_MAX_TOKENS: usize = 16;

/// Largest `max_tokens`: no embedder in use reads more.
const MAX_MAX_TOKENS: usize = 32_768;

impl SplitterSettings {
    /// Checks what a client sent. [`split`] also copes with settings that fail here.
    ///
    /// # Errors
    ///
    /// The first value found out of range.
    pub fn check(&self) -> Result<(), SplitterSettingsError> {
        if !(MIN_MAX_TOKENS..=MAX_MAX_TOKENS).contains(&self.max_tokens) {
            return Err(SplitterSettingsError::MaxTokens(self.max_tokens));
        }
        match self.overlap_tokens {
            Some(overlap) if overlap > self.max_tokens / 2 => Err(SplitterSettingsError::OverlapTokens(overlap)),
            Some(_) | None => Ok(()),
        }
    }

    /// Tokens that a piece of `budget` tokens shares with the one before it, at most half of it.
    fn overlap_of(&self, budget: usize) -> usize {
        // 12 % is the customary share; it keeps a sentence or two of context across a cut.
        self.overlap_tokens.unwrap_or(budget * 12 / 100).min(budget / 2)
    }
}

/// What is to be split.
#[derive(Debug, Clone, Copy)]
pub struct SplitSource<'source> {
    /// The document's whole text. Offsets of pieces refer to it.
    pub text: &'source str,
    /// The document's title, which is put in front of each piece and so narrows its budget.
    pub title: &'source str,
    /// The headings of the text; see [`Outline::of`].
    pub outline: &'source Outline,
}

/// A piece of a document's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// First character, in Unicode code points from the beginning of the text.
    pub start: usize,
    /// Character after the last, in code points.
    pub end: usize,
    /// The same range in bytes: `text[bytes]` is the piece.
    pub bytes: Range<usize>,
    /// Headings in force at the start of the piece, outermost first.
    pub heading_path: Vec<String>,
    /// Tokens of the piece alone, without what is put in front of it.
    pub tokens: usize,
}

/// Splits a document's text into pieces; text that is all white space has none.
///
/// The budget of a piece is `settings.max_tokens`, or what `window` leaves beside the title and the
/// heading path in front of it. Only a single character that is more tokens than a whole budget
/// makes a piece that exceeds it.
#[must_use]
pub fn split(
    source: &SplitSource<'_>,
    settings: &SplitterSettings,
    window: Window,
    counter: &dyn TokenCounter,
) -> Vec<Piece> {
    let smallest_budget = window.piece_budget(window.front_limit(), settings.max_tokens);
    let units = units::units_of(source.text, source.outline, smallest_budget, counter);
    let fronts = FrontComposer::new(source.title, window, counter);
    let packer = pack::Packer { source, settings, window, counter, fronts, units: &units };
    to_pieces(source, packer.pack())
}

/// Adds code point offsets and heading paths to ranges whose starts increase.
fn to_pieces(source: &SplitSource<'_>, packed: Vec<pack::Packed>) -> Vec<Piece> {
    let characters_in = |range: Range<usize>| source.text.get(range).map_or(0, |slice| slice.chars().count());
    let (mut last_byte, mut last_character) = (0, 0);
    packed
        .into_iter()
        .map(|pack::Packed { bytes, tokens }| {
            let start = last_character + characters_in(last_byte..bytes.start);
            (last_byte, last_character) = (bytes.start, start);
            Piece {
                start,
                end: start + characters_in(bytes.clone()),
                heading_path: source.outline.path_at(bytes.start),
                bytes,
                tokens,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
