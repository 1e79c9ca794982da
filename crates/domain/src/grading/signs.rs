//! Signs of an answer that the grades of the single passages and that of the whole round are both told by.

use super::features::Passage;
use super::{headed, row};
use crate::evidence::passage::PassageEvidence;
use crate::evidence::{Question, TermMask};

/// The signs in the passages of a round, read once.
pub(super) struct Signs {
    /// For each passage whether one of its rows holds all of the question.
    pub(super) have_row: Vec<bool>,
    /// For each passage its probability by its title and its headings.
    pub(super) headed: Vec<f32>,
    /// The terms of the question that some passage or its title holds.
    pub(super) held: TermMask,
}

impl Signs {
    pub(super) fn of(question: &Question, passages: &[Passage<'_>], evidence: &[PassageEvidence]) -> Self {
        let of_passages = passages.iter().zip(evidence);
        Self {
            have_row: of_passages.map(|(passage, evidence)| row::answers(question, passage, evidence)).collect(),
            headed: headed::probabilities(question, evidence),
            held: held_by(evidence),
        }
    }
}

/// The terms of a question that some passage or its title holds.
pub(super) fn held_by(evidence: &[PassageEvidence]) -> TermMask {
    evidence.iter().fold(0, |held, evidence| held | evidence.mask())
}
