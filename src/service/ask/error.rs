//! Errors of an ask.

use thiserror::Error;

use uuid::Uuid;

use super::{Rejection, Trace};
use crate::{
    domain::budget::{BudgetExceeded, Spent},
    providers::{FailedAttempt, ProviderError, ProvidersUnavailable},
    service::{ServiceError, daily_budget::DailyBudgetError},
    store::StoreError,
};

/// Reasons why an ask ended without an answer that may be shown.
#[derive(Debug, Error)]
pub(crate) enum AskError {
    /// Citations were still wrong after the retry.
    #[error("the answer failed citation validation after {} attempts", .0.attempts)]
    Rejected(Box<Rejection>),
    /// The time limit was reached.
    #[error("the limit of {limit_ms} ms was reached while {stage}")]
    Deadline {
        /// The activity that it interrupted.
        stage: &'static str,
        /// The limit.
        limit_ms: u64,
        /// Calls, tokens and cost.
        usage: Box<Spent>,
        /// Model calls that failed before.
        attempts: Vec<FailedAttempt>,
    },
    /// A document that was found for the ask was deleted, or hidden from its caller, before its end.
    #[error("a document that was found is no longer there for the caller")]
    Withdrawn,
    /// The answer was ready, but its audit row could not be written.
    #[error("the audit could not be written")]
    Audit(#[source] StoreError),
    /// No model answered.
    #[error(transparent)]
    Providers(#[from] ProvidersUnavailable),
    /// Anything else.
    #[error(transparent)]
    Service(#[from] ServiceError),
}

/// An ask that ended without an answer, with what leads to its record.
#[derive(Debug, Error)]
#[error("{error}")]
pub(crate) struct FailedAsk {
    /// Identity of the ask in the audit.
    pub(crate) id: Uuid,
    /// Why it ended.
    #[source]
    pub(crate) error: AskError,
    /// The trace up to there.
    pub(crate) trace: Box<Trace>,
}

impl From<BudgetExceeded> for AskError {
    fn from(error: BudgetExceeded) -> Self {
        Self::Service(error.into())
    }
}

impl From<DailyBudgetError> for AskError {
    fn from(error: DailyBudgetError) -> Self {
        Self::Service(error.into())
    }
}

impl From<ProviderError> for AskError {
    fn from(error: ProviderError) -> Self {
        Self::Service(error.into())
    }
}

impl From<StoreError> for AskError {
    fn from(error: StoreError) -> Self {
        Self::Service(error.into())
    }
}
