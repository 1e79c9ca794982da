//! The built-in answerer: it answers by quoting, so that its citations are right by construction.
//!
//! Two steps, so that the caller can embed in between: [`candidates`] picks a bounded number of sentences by their
//! words alone, [`compose`] ranks them (with the cosine of question and sentence where there is one) and writes the
//! best one to three, each followed by its marker. For a question of several parts, or a comparison, the answer has a
//! sentence for each part and names the part that the sources lack.
//!
//! Quotes are exact except for four changes. Three keep an answer one paragraph of plain sentences: white space is
//! normalised, Markdown signs before a sentence are removed, and text in the source that looks like a marker is escaped
//! as the marker grammar requires (`\[^1]`). The fourth: a cell of a table comes after the name of its column.

mod candidate;
mod choose;
mod compose;
mod parts;
mod quote;
mod row;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use self::candidate::{MAX_CANDIDATES, SentenceCandidate, candidates};
pub use self::compose::compose;
pub(crate) use self::parts::{compared, questions};

/// A graded passage to quote from. Its number in markers is its place in the list, from 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnswerSource<'s> {
    /// Its text.
    pub text: &'s str,
    /// The header of the table that it begins in, if that stands before it.
    pub table_header: Option<&'s str>,
    /// Probability that it answers the question, 0 to 1, as graded; 0.5 where there is none.
    pub probability: f32,
}

/// A sentence as the answer quotes it.
#[derive(Debug, Clone, PartialEq)]
pub struct QuotedSentence {
    /// Place of its source in the list, from 0; its marker is one more.
    pub source: usize,
    /// Bytes of the sentence in the source's text.
    pub range: Range<usize>,
    /// How well it answers, 0 to about 1; comparable within one answer only.
    pub score: f32,
    /// Whether it was brought for the sentence after it, which begins with a pronoun.
    pub is_context: bool,
}

/// An answer made of quotes, with markers.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtractiveAnswer {
    /// The answer with `[^N]` after each sentence, and at its end what the sources lack.
    pub text: String,
    /// Its sentences in order.
    pub sentences: Vec<QuotedSentence>,
}
