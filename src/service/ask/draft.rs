//! Drafts of an answer: the input of a draft, the request for one, and the draft itself.

use super::{AskOutcome, GeneratedBy, GradedHit, context::AskContext, state::LoopState};
use crate::domain::{
    answering::GivenPassage,
    citation::{Attempt, Basis, CitedAnswer, Draft},
};

/// The question and the sources that an answer is written from.
pub(super) struct Assignment<'a> {
    pub(super) state: &'a LoopState,
    /// In marker order.
    pub(super) sources: &'a [GradedHit],
    /// The same sources and the question, prepared for checking an answer against them.
    pub(super) basis: Basis,
}

impl<'a> Assignment<'a> {
    pub(super) fn new(ask: &AskContext, state: &'a LoopState, sources: &'a [GradedHit]) -> Self {
        Self { state, sources, basis: basis(ask, sources) }
    }

    /// Parses an answer as a draft over the sources.
    pub(super) fn read(&self, text: &str) -> Draft {
        Draft::over(text, &self.basis)
    }
}

/// The sources and the question, prepared for checking an answer against them.
pub(super) fn basis(ask: &AskContext, sources: &[GradedHit]) -> Basis {
    let message = &ask.request.question;
    let question = ask.question();
    // An answer may use the words of the question that was made of the message, too.
    let asked = if question == message { message.clone() } else { format!("{message}\n{question}") };
    Basis::new(sources.iter().map(GradedHit::prepare).collect(), &asked)
}

/// The draft that is requested.
pub(super) enum DraftRequest {
    /// The first.
    First,
    /// The second and last, after one whose citations do not hold.
    Retry(Retry),
    /// The second and last, after a reply that the sources do not answer although one was graded correct.
    SecondLook(SecondLook),
}

/// A draft that did not pass, and the prompt that explains why.
pub(super) struct Retry {
    pub(super) draft: String,
    pub(super) prompt: String,
}

/// A reply that found no answer, and the part of a correct source that comes nearest to the question.
pub(super) struct SecondLook {
    pub(super) reply: String,
    /// Position of the source.
    pub(super) source: usize,
    /// The part of its text.
    pub(super) part: String,
}

impl DraftRequest {
    pub(super) const fn attempt(&self) -> Attempt {
        match self {
            Self::First => Attempt::First,
            Self::Retry(_) | Self::SecondLook(_) => Attempt::Retry,
        }
    }
}

/// A draft and its author.
pub(super) struct Written {
    pub(super) text: String,
    pub(super) by: GeneratedBy,
    /// The passages that it consists of, where it is no answer.
    pub(super) passages: Vec<GivenPassage>,
    /// Probability that the best sentence of a quotation answers the question; `None` of a model's answer.
    pub(super) confidence: Option<f32>,
}

impl Written {
    /// An answer of a model.
    pub(super) const fn answer(text: String, by: GeneratedBy) -> Self {
        Self { text, by, passages: Vec::new(), confidence: None }
    }

    /// The outcome of the draft, checked.
    pub(super) fn outcome(self, answer: CitedAnswer) -> AskOutcome {
        let Self { by, passages, .. } = self;
        if passages.is_empty() {
            AskOutcome::Answered { answer, by }
        } else {
            AskOutcome::Passages { answer, by, passages }
        }
    }
}
