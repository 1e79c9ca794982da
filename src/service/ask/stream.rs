//! An ask as a stream of frames: provisional words, confirmed claims, and what became void.
//!
//! The law: the claims since the last [`AskEvent::Void`] are, in their order, the first of the answer's; at the end they
//! are all of them. So however a model's words are cut into pieces, a reader of the stream ends up with the same answer as
//! a caller who waits for it.

use std::sync::Arc;

use super::{AskError, AskReport, GradedHit};
use crate::domain::citation::{CitationError, ConfirmedClaim};

/// Which words are sent before their claim is confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamMode {
    /// All, as the model writes them.
    Provisional,
    /// None.
    Validated,
}

/// Something that happened on the way.
#[derive(Clone, Debug)]
pub enum AskEvent {
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
pub enum VoidReason {
    /// Its citations do not hold; the model writes another one.
    CitationValidation(Vec<CitationError>),
    /// The model failed on its way; another one begins.
    ProviderFailed,
    /// Seen as a whole its sentences are others than they seemed; they follow.
    ReadAnew,
    /// It only says that the sources do not answer the question.
    Ignorance,
}

impl VoidReason {
    /// The name in the API.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::CitationValidation(_) => "citation_validation",
            Self::ProviderFailed => "provider_failed",
            Self::ReadAnew => "read_anew",
            Self::Ignorance => "ignorance",
        }
    }
}

/// One item of a stream: any number of events, then the end.
#[derive(Debug)]
pub enum AskFrame {
    /// Something that happened.
    Event(AskEvent),
    /// The end, already audited.
    End(Box<Result<AskReport, AskError>>),
}
