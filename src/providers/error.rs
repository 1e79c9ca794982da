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
    /// No connection.
    Unreachable,
    /// The connection broke before the reply was whole.
    Interrupted,
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
    /// The key is missing, wrong, or not allowed to do this (401, 403).
    Unauthorized,
    /// Refused (other 4xx): model name, parameters.
    Rejected,
    /// The provider's content filter withheld the reply.
    Filtered,
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

    /// Whether no model of the same provider would fare better with the same account.
    #[must_use]
    pub const fn is_about_the_account(self) -> bool {
        matches!(self, Self::QuotaExhausted | Self::Unauthorized)
    }

    /// Whether the provider may have done the work, and bill for it, all the same.
    #[must_use]
    pub const fn may_be_billed(self) -> bool {
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
    /// What happened.
    pub error: ProviderError,
    /// Whether it was asked; if not, `error` is the earlier failure for which it is left alone.
    pub was_tried: bool,
    /// How long it took.
    pub duration: Duration,
}

/// No model of a list answered.
#[derive(Clone, Debug, Error)]
#[error("no model answered: {}", Self::in_words(.attempts))]
pub struct ProvidersUnavailable {
    /// Each model in the order of the list, with what happened.
    pub attempts: Vec<FailedAttempt>,
}

impl ProvidersUnavailable {
    fn in_words(attempts: &[FailedAttempt]) -> String {
        let words: Vec<String> = attempts.iter().map(|attempt| attempt.error.to_string()).collect();
        words.join("; ")
    }

    /// The shortest time after which one of them may answer, if one said so.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.attempts.iter().filter_map(|attempt| attempt.error.retry_after).min()
    }
}

impl From<ProviderError> for FailedAttempt {
    /// A call outside of any list of models; nobody took its time.
    fn from(error: ProviderError) -> Self {
        Self { error, was_tried: true, duration: Duration::ZERO }
    }
}

impl From<ProviderError> for ProvidersUnavailable {
    fn from(error: ProviderError) -> Self {
        Self { attempts: vec![error.into()] }
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

/// The innermost cause, which says what happened. What stands above it in an error of the HTTP client holds the URL,
/// which may hold a secret.
pub(crate) fn innermost(error: &reqwest::Error) -> &dyn std::error::Error {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause
}
