//! Drafts of an answer: what one is written from, which one is wanted, and what it is.

use super::{GeneratedBy, GradedHit, early_draft::EarlyDraft, state::LoopState};
use crate::domain::citation::{Attempt, Draft, PreparedSource};

/// The question and the sources that an answer is written from.
pub(super) struct Assignment<'a> {
    pub(super) state: &'a LoopState,
    /// In marker order.
    pub(super) sources: &'a [GradedHit],
    /// The same, as claims are held against them.
    pub(super) prepared: Vec<PreparedSource>,
}

impl<'a> Assignment<'a> {
    pub(super) fn new(state: &'a LoopState, sources: &'a [GradedHit]) -> Self {
        Self { state, sources, prepared: sources.iter().map(GradedHit::prepare).collect() }
    }

    /// Reads an answer as a draft over the sources.
    pub(super) fn read(&self, text: &str) -> Draft {
        Draft::new(text, &self.prepared)
    }
}

/// Which draft is wanted.
pub(super) enum DraftRequest<'a> {
    /// The first.
    First,
    /// The first, which was begun early.
    Begun(EarlyDraft<'a>),
    /// The second and last.
    Retry(Retry),
}

/// A draft that did not pass, and the prompt that says why.
pub(super) struct Retry {
    pub(super) draft: String,
    pub(super) prompt: String,
}

impl DraftRequest<'_> {
    pub(super) const fn attempt(&self) -> Attempt {
        match self {
            Self::First | Self::Begun(_) => Attempt::First,
            Self::Retry(_) => Attempt::Retry,
        }
    }
}

/// A draft and its author.
pub(super) struct Written {
    pub(super) text: String,
    pub(super) by: GeneratedBy,
}
