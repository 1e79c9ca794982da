//! Signs of an answer that the grades of the single passages and that of the whole round are both told by.

use super::features::Passage;
use super::{headed, release, row};
use crate::evidence::passage::PassageEvidence;
use crate::evidence::{Question, TermMask};

/// Probability of a passage with a line that holds all of the question. Not fitted: the sets have too few of them.
pub(super) const LINE: f32 = 0.6;

/// Probability of a passage with the entry of a setting or a code that the question names, or of an option in a document about
/// the rest of it. Not fitted: the questions of the sets name none.
pub(super) const ENTRY: f32 = 0.6;

/// Share of the rest of the question in titles from which a document is about it.
const TITLED_ENTRY: f32 = 0.4;

/// Share of the question's weight that counts as all of it.
pub(super) const ALL: f32 = 0.95;

/// Fewest terms of a question that a row, a line or a section can be found by.
pub(super) const FEWEST_TERMS: usize = 2;

/// The signs in the passages of a round, read once.
pub(super) struct Signs {
    /// For each passage whether one of its rows, or a line of release notes, holds all of the question.
    pub(super) have_line: Vec<bool>,
    /// For each passage its probability by its title and its headings.
    pub(super) headed: Vec<f32>,
    /// Whether a passage has the entry of a code that the question names.
    pub(super) has_code: bool,
    /// The terms of the question that some passage or its title holds.
    pub(super) held: TermMask,
}

impl Signs {
    pub(super) fn of(question: &Question, passages: &[Passage<'_>], evidence: &[PassageEvidence]) -> Self {
        let have_line = passages.iter().zip(evidence).map(|(passage, evidence)| {
            row::answers(question, passage, evidence) || release::answers(question, passage, evidence)
        });
        let has_code = |(passage, evidence): (&Passage<'_>, &PassageEvidence)| {
            question.terms.has_code_entry(passage.text) && is_entry_named(question, passage, evidence)
        };
        Self {
            has_code: passages.iter().zip(evidence).any(has_code),
            have_line: have_line.collect(),
            headed: headed::probabilities(question, evidence),
            held: held_by(evidence),
        }
    }
}

/// Whether a passage has the entry of an option or a code that the question names, in a document about the rest of it.
pub(super) fn is_entry_named(question: &Question, passage: &Passage<'_>, evidence: &PassageEvidence) -> bool {
    question.terms.entry_share(evidence.title_mask, passage.text).is_some_and(|titled| titled >= TITLED_ENTRY)
}

/// The terms of a question that some passage or its title holds.
pub(super) fn held_by(evidence: &[PassageEvidence]) -> TermMask {
    evidence.iter().fold(0, |held, evidence| held | evidence.mask())
}
