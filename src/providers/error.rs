//! Failures of model providers, sorted by what a caller can do about them.

use std::time::Duration;

use serde::Serialize;
use thiserror::Error;

/// Longest part of a provider's own words that is passed on.
const MAX_DETAIL_CHARS: usize = 300;

/// A failed call to a provider.
#[derive(Clone, Debug, Error)]
#[error("{provider} ({model}): {detail}")]
pub struct ProviderError {
    /// What kind of failure.
    pub kind: ProviderErrorKind,
    /// Which provider.
    pub provider: String,
    /// Which model.
    pub model: String,
    /// What happened, in words, without secrets.
    pub detail: String,
    /// How long the provider asked to be left alone.
    pub retry_after: Option<Duration>,
}

/// Kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderErrorKind {
    /// No connection, or it broke.
    Unreachable,
    /// No answer in time.
    Timeout,
    /// The server failed (5xx).
    ServerError,
    /// Too many requests for now (429).
    RateLimited,
    /// The account's quota is used up (429 that waiting does not mend).
    QuotaExhausted,
    /// The prompt is longer than the model's context.
    ContextLength,
    /// Refused (4xx): key, model name, parameters.
    Rejected,
    /// The answer is not what the protocol promises: not JSON, no choice, wrong count or dimension.
    InvalidReply,
    /// The built-in model failed on this input.
    Internal,
}

impl ProviderErrorKind {
    /// Whether the same call may succeed later.
    #[must_use]
    pub const fn is_transient(self) -> bool {
        match self {
            Self::Unreachable | Self::Timeout | Self::ServerError | Self::RateLimited => true,
            Self::QuotaExhausted | Self::ContextLength | Self::Rejected | Self::InvalidReply | Self::Internal => false,
        }
    }

    /// Name in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Timeout => "timeout",
            Self::ServerError => "server_error",
            Self::RateLimited => "rate_limited",
            Self::QuotaExhausted => "quota_exhausted",
            Self::ContextLength => "context_length",
            Self::Rejected => "rejected",
            Self::InvalidReply => "invalid_reply",
            Self::Internal => "internal",
        }
    }
}

/// The beginning of some text from outside, on one line.
pub(super) fn excerpt(text: &str) -> String {
    let flat: String = text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    let mut short: String = flat.trim().chars().take(MAX_DETAIL_CHARS).collect();
    if flat.trim().chars().count() > MAX_DETAIL_CHARS {
        short.push('…');
    }
    short
}
