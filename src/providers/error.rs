//! Failures of model providers, sorted by what a caller can do about them.

use std::time::Duration;

use serde::Serialize;
use thiserror::Error;

use crate::domain::unseen::seen;

/// Longest part of a provider's own message that is passed on.
const MAX_DETAIL_CHARS: usize = 300;

/// A failed call to a provider.
#[derive(Clone, Debug, Error)]
#[error("{provider} ({model}): {detail}")]
pub struct ProviderError {
    /// The kind of failure.
    pub kind: ProviderErrorKind,
    /// The provider's name.
    pub(crate) provider: String,
    /// The model's name.
    pub(crate) model: String,
    /// Description of the failure, without secrets.
    pub(crate) detail: String,
    /// Delay that the provider requested before the next call.
    pub(crate) retry_after: Option<Duration>,
}

/// Kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderErrorKind {
    /// No connection.
    Unreachable,
    /// The connection broke before the reply was complete.
    Interrupted,
    /// No reply in time.
    Timeout,
    /// The server failed (5xx).
    ServerError,
    /// Rate limit: too many requests at the moment (429).
    RateLimited,
    /// The account's quota is used up (a 429 for which waiting does not help).
    QuotaExhausted,
    /// The prompt is longer than the model's context.
    ContextLength,
    /// The key is missing, wrong, or not allowed to do this (401, 403).
    Unauthorized,
    /// Refused (other 4xx): model name, parameters.
    Rejected,
    /// The provider's content filter withheld the reply.
    Filtered,
    /// The reply does not follow the protocol: not JSON, no choice, wrong count or dimension.
    InvalidReply,
    /// The built-in model failed on this input.
    Internal,
}

impl ProviderErrorKind {
    /// Whether the same call may succeed later.
    #[must_use]
    pub(crate) const fn is_transient(self) -> bool {
        match self {
            Self::Unreachable | Self::Interrupted | Self::Timeout | Self::ServerError | Self::RateLimited => true,
            Self::QuotaExhausted
            | Self::ContextLength
            | Self::Unauthorized
            | Self::Rejected
            | Self::Filtered
            | Self::InvalidReply
            | Self::Internal => false,
        }
    }

    /// Whether every model of the same provider would fail in the same way with the same account.
    #[must_use]
    pub(crate) const fn is_about_the_account(self) -> bool {
        matches!(self, Self::QuotaExhausted | Self::Unauthorized)
    }

    /// Whether the provider may have done the work, and may bill for it, despite the failure.
    #[must_use]
    pub(crate) const fn may_be_billed(self) -> bool {
        matches!(self, Self::Interrupted | Self::Timeout | Self::Filtered | Self::InvalidReply)
    }

    /// Name in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Interrupted => "interrupted",
            Self::Timeout => "timeout",
            Self::ServerError => "server_error",
            Self::RateLimited => "rate_limited",
            Self::QuotaExhausted => "quota_exhausted",
            Self::ContextLength => "context_length",
            Self::Unauthorized => "unauthorized",
            Self::Rejected => "rejected",
            Self::Filtered => "filtered",
            Self::InvalidReply => "invalid_reply",
            Self::Internal => "internal",
        }
    }
}

/// A model of a list that did not answer.
#[derive(Clone, Debug)]
pub struct FailedAttempt {
    /// The failure.
    pub error: ProviderError,
    /// Whether the model was called; if not, `error` is the earlier failure because of which it is not called for now.
    pub(crate) was_tried: bool,
    /// Duration of the attempt.
    pub(crate) duration: Duration,
}

/// Error: no model of a list answered.
#[derive(Clone, Debug, Error)]
#[error("no model answered: {}", Self::in_words(.attempts))]
pub struct ProvidersUnavailable {
    /// Each model in the order of the list, with its failure.
    pub attempts: Vec<FailedAttempt>,
}

impl ProvidersUnavailable {
    fn in_words(attempts: &[FailedAttempt]) -> String {
        let words: Vec<String> = attempts.iter().map(|attempt| attempt.error.to_string()).collect();
        words.join("; ")
    }

    /// The shortest delay after which one of them may answer, if one of them stated a delay.
    #[must_use]
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        self.attempts.iter().filter_map(|attempt| attempt.error.retry_after).min()
    }
}

impl From<ProviderError> for FailedAttempt {
    /// A failed call outside of any list of models, with no duration.
    fn from(error: ProviderError) -> Self {
        Self { error, was_tried: true, duration: Duration::ZERO }
    }
}

impl From<ProviderError> for ProvidersUnavailable {
    fn from(error: ProviderError) -> Self {
        Self { attempts: vec![error.into()] }
    }
}

/// The beginning of a text from an external source, on one line.
pub(super) fn excerpt(text: &str) -> String {
    let flat = seen(text);
    let mut short: String = flat.trim().chars().take(MAX_DETAIL_CHARS).collect();
    if flat.trim().chars().count() > MAX_DETAIL_CHARS {
        short.push('…');
    }
    short
}

/// The innermost cause, which describes the failure. The outer levels of an error of the HTTP client contain the URL,
/// which may contain a secret.
pub(crate) fn innermost(error: &reqwest::Error) -> &dyn std::error::Error {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause
}
