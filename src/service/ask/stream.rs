//! An ask as a stream of frames: provisional words, confirmed claims, and notices that a draft is void.
//!
//! Invariant: the claims since the last [`AskEvent::Void`] are, in their order, the first of the answer's; at the end
//! they are all of them. So however a model's words are split into pieces, a reader of the stream receives the same
//! answer as a caller who waits for it.

use std::sync::Arc;

use super::{AskReport, FailedAsk, GradedHit};
use crate::domain::citation::{CitationError, ConfirmedClaim};

/// The words that are sent before their claim is confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamMode {
    /// All, as the model writes them.
    Provisional,
    /// None.
    Validated,
}

/// An event during the ask.
#[derive(Clone, Debug)]
pub(crate) enum AskEvent {
    /// The sources of the answer, in marker order.
    Sources(Arc<[GradedHit]>),
    /// The next words of the draft.
    Token(String),
    /// The next claim of the draft passed the validator.
    Claim(ConfirmedClaim),
    /// All words and claims so far are void; the draft begins anew.
    Void(VoidReason),
}

/// Why a draft is void.
#[derive(Clone, Debug)]
pub(crate) enum VoidReason {
    /// Its citations do not hold; the model writes another draft.
    CitationValidation(Vec<CitationError>),
    /// The model failed before the end of its reply; another one begins.
    ProviderFailed,
    /// The complete text has other sentences than its beginning suggested; they follow.
    ReadAnew,
    /// It only states that the sources do not answer the question.
    NonAnswer,
    /// It was begun before its sources were graded, and the grades do not confirm it.
    NotConfirmed,
}

impl VoidReason {
    /// The name in the API.
    #[must_use]
    pub(crate) const fn as_str(&self) -> &'static str {
        match self {
            Self::CitationValidation(_) => "citation_validation",
            Self::ProviderFailed => "provider_failed",
            Self::ReadAnew => "read_anew",
            Self::NonAnswer => "ignorance",
            Self::NotConfirmed => "not_confirmed",
        }
    }
}

/// One item of a stream: any number of events, then the end.
#[derive(Debug)]
pub(crate) enum AskFrame {
    /// An event during the ask.
    Event(AskEvent),
    /// The end, already audited.
    End(Box<Result<AskReport, FailedAsk>>),
}
