//! The built-in answerer: it answers by quoting, so that its citations are right by construction.
//!
//! Two steps, so that the caller can embed in between: [`candidates`] picks a bounded number of sentences by their
//! words alone, [`compose`] ranks them (with the cosine of question and sentence where there is one) and writes the
//! best one to three, each followed by its marker. For a question of several parts, or a comparison, the answer has a
//! sentence for each part and names the part that the sources lack.
//!
//! Where no sentence can be an answer (what to do, a comparison, a summary, a list), [`passages`] gives whole passages
//! instead, each with the reason why it is there.
//!
//! Quotes are exact except for five changes. Four keep an answer a paragraph of plain sentences, with the items of a list
//! that one leads in below it: white space is normalised, `&nbsp;` included; Markdown signs and marks of callouts before a
//! sentence and tags of HTML that lay a page out are removed; and text in the source that looks like a marker is escaped as the
//! marker grammar requires (`\[^1]`). The fifth: a cell of a table comes after the name of its column.

mod asked;
mod attribute;
mod calculation;
mod candidate;
mod cells_asked;
mod choose;
mod compared;
mod compose;
pub mod confidence;
mod entry;
mod excerpt;
mod form;
mod fragment;
mod header;
mod lines;
mod listed;
#[cfg(test)]
mod manual_tests;
mod named_entry;
mod naming;
mod need;
#[cfg(test)]
mod office_tests;
mod otherwise;
mod parts;
mod passages;
#[cfg(test)]
mod passages_tests;
mod people;
mod pointer;
mod quotation;
mod quote;
pub mod ranking;
mod read_source;
mod release;
mod role;
mod row;
#[cfg(test)]
mod row_tests;
mod rows_asked;
mod section;
mod select;
mod sentence_reader;
mod setting;
mod sought;
mod stated;
mod steps;
mod superlative;
mod surroundings;
#[cfg(test)]
mod tests;
mod units;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::evidence::Question;
use crate::evidence::passage::PassageEvidence;
use crate::identity::ChunkKey;
use crate::subject::Label;

pub use self::candidate::SentenceCandidate;
pub use self::compose::compose;
pub use self::need::{PassageReason, asks_for_steps, is_headed_as_steps};
pub(crate) use self::parts::{compared, has_opening, questions};
pub use self::passages::{closest, passages};
pub use self::rows_asked::asks_over_rows;
pub use self::select::{MAX_CANDIDATES, candidates};
pub use self::setting::AskedDefault;
pub use self::superlative::asks_for_extreme;

/// A graded passage to quote from. Its number in markers is its place in the list, from 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnswerSource<'s> {
    /// Its first chunk.
    pub key: ChunkKey,
    /// The title of its document.
    pub title: &'s str,
    /// The path or the URL of its document.
    pub origin: &'s str,
    /// The headings above it.
    pub heading: &'s [String],
    /// Its text.
    pub text: &'s str,
    /// The header of the table that it begins in, if that stands before it.
    pub table_header: Option<&'s str>,
    /// Whether a table at its beginning or its end goes on beyond it.
    pub has_cut_table: bool,
    /// Probability that it answers the question, 0 to 1, as graded; 0.5 where there is none.
    pub probability: f32,
    /// Cosine of its vector and that of the question; `None` where it has none.
    pub similarity: Option<f32>,
}

impl<'s> AnswerSource<'s> {
    /// Its document, by what names its subject.
    pub(crate) const fn label(&self) -> Label<'s> {
        Label { title: self.title, source: self.origin }
    }

    /// A text by itself: without a document, headings or a grade.
    #[must_use]
    pub const fn alone(text: &'s str) -> Self {
        let key = ChunkKey { document_id: uuid::Uuid::nil(), ordinal: 0 };
        Self {
            key,
            title: "",
            origin: "",
            heading: &[],
            text,
            table_header: None,
            has_cut_table: false,
            probability: 0.5,
            similarity: None,
        }
    }
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
    /// The features of its best sentence, which tell how sure it is.
    pub features: confidence::Features,
    /// Whether none of them holds the number or the date that is asked for.
    pub lacks_kind: bool,
    /// Whether another passage is nearer to the question, and a sentence elsewhere answers it nearly as well.
    pub is_rivalled: bool,
    /// Whether its best sentence hardly answers the question, by its [features](Features).
    pub is_unlikely: bool,
}

/// The material of an answer: the question, the sources, and what each holds of the question.
#[derive(Debug, Clone, Copy)]
pub struct Material<'m> {
    /// The question.
    pub question: &'m Question,
    /// The sources in marker order.
    pub sources: &'m [AnswerSource<'m>],
    /// Made of the texts of the sources, in the same order.
    pub evidence: &'m [PassageEvidence],
}

/// Passages with markers, given where no sentence answers the question.
#[derive(Debug, Clone, PartialEq)]
pub struct QuotedPassages {
    /// The passages under their titles and headings, `[^N]` after each sentence, and at the end what the sources lack.
    pub text: String,
    /// The passages in the order of the text.
    pub passages: Vec<GivenPassage>,
}

/// A passage that is given instead of an answer. Part of the API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenPassage {
    /// Place of its source in the list, from 0; its marker is one more.
    pub source_index: usize,
    /// Why it is given.
    pub reason: PassageReason,
    /// Which of the things compared it is about.
    pub about: Option<String>,
}
