//! Splitting: a document's text into pieces that an embedder can read whole.
//!
//! Laws, held by property tests:
//! - pieces cover every character of the text that is not white space, in order, but of Markdown what no reader sees:
//!   definitions of links, pictures within links, HTML without text (unless there is nothing else), and a heading before
//!   much of that, which is in the path of the pieces after it;
//! - each is an exact slice of the text, without white space at its ends, never empty;
//! - each fits its budget by the real count of the embedder's tokenizer, overlap included;
//! - none crosses from one page to the next, and none cuts a row of a table that fits in a piece; one that begins within a
//!   row ends with it at the latest;
//! - its heading path is true for every character: above it, or the path that a line of a heading leads to, and the name
//!   of the entry that it begins within and does not go beyond;
//! - starts strictly increase, and the same input gives the same pieces.
//!
//! Counting tokens is the expensive step, so every part of the text is counted a bounded number of
//! times: sentences once (`units`), long ones once more by phrases, each finished piece once
//! (`pack`). Splitters that count each candidate chunk anew are quadratic on text without blank
//! lines, such as that of PDF files; they were rejected for that.

mod code;
mod costs;
mod front;
mod markdown;
mod outline;
mod pack;
mod pages;
mod questions;
mod run_in;
mod sections;
mod settings;
mod tables;
mod titles;
mod units;

use std::ops::Range;

use costs::{Costs, Limits};
use pack::{Packed, Packer};
use tables::Tables;

pub use front::{Front, FrontComposer, Window, embedding_text, first_words};
pub use markdown::headings as headings_of_markdown;
pub use outline::{Heading, Outline};
pub use pages::PageMap;
pub use questions::marked_questions;
pub use settings::{SizeUnit, SplitterKind, SplitterSettings, SplitterSettingsError};
pub use tables::{lines_above_rows, named_row};

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

/// The input to split.
#[derive(Debug, Clone, Copy)]
pub struct SplitSource<'source> {
    /// The document's whole text. Offsets of pieces refer to it.
    pub text: &'source str,
    /// The document's title, which is put in front of each piece and so narrows its budget.
    pub title: &'source str,
    /// The headings of the text; see [`Outline::of`].
    pub outline: &'source Outline,
    /// The pages of the text: no piece lies on two, so that its page is that of every word in it.
    pub pages: &'source PageMap,
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
    /// Headings that are in force for all of the piece, outermost first.
    pub heading_path: Vec<String>,
    /// Caption and header of the table that it begins in, if they stand in an earlier piece: they go in front of it. Where
    /// it begins within a row, also the name of that row, as a row of one cell that ends in a colon, and only the names of
    /// the columns from there.
    pub table_header: Option<String>,
    /// Tokens of the piece alone, without the text in front of it.
    pub tokens: usize,
}

/// Splits a document's text into pieces; text that is all white space has none.
///
/// The budget of a piece is `settings.size`, or less if `window` leaves less after the text in front of it. Only a single character that is more tokens than a whole budget makes a piece that exceeds it.
/// [`SplitterKind::Auto`] is [`SplitterKind::Recursive`] here: resolve it with [`SplitterKind::or`] before.
#[must_use]
pub fn split(
    source: &SplitSource<'_>,
    settings: &SplitterSettings,
    window: Window,
    counter: &dyn TokenCounter,
) -> Vec<Piece> {
    let smallest = match settings.unit {
        SizeUnit::Tokens => {
            Limits { tokens: window.piece_budget(window.front_limit(), settings.size), characters: None }
        }
        SizeUnit::Characters => Limits {
            tokens: window.piece_budget(window.front_limit(), usize::MAX),
            characters: Some(settings.size.max(1)),
        },
    };
    // In source code a bar is an operator.
    let tables = if source.outline.is_source() { Tables::default() } else { Tables::of(source.text) };
    let units = units::units_of(source, &tables, smallest, counter);
    let costs = Costs::of(source.text, &units, smallest);
    let fronts = FrontComposer::new(source.title, window, counter);
    let smallest = smallest.tokens;
    let packer = Packer { source, tables: &tables, settings, window, counter, fronts, units: &units, costs, smallest };
    to_pieces(source, packer.pack())
}

/// Adds code point offsets to ranges whose starts increase.
fn to_pieces(source: &SplitSource<'_>, packed: Vec<Packed>) -> Vec<Piece> {
    let characters_in = |range: Range<usize>| source.text.get(range).map_or(0, |slice| slice.chars().count());
    let (mut last_byte, mut last_character) = (0, 0);
    packed
        .into_iter()
        .map(|Packed { bytes, tokens, heading_path, table_header }| {
            let start = last_character + characters_in(last_byte..bytes.start);
            (last_byte, last_character) = (bytes.start, start);
            Piece { start, end: start + characters_in(bytes.clone()), heading_path, table_header, bytes, tokens }
        })
        .collect()
}

#[cfg(test)]
mod tests;
