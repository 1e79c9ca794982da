//! How an ask ended, as recorded in the audit log.

use serde::{Deserialize, Serialize};

/// How an ask ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditOutcome {
    /// With a checked answer.
    Answered,
    /// With a checked answer that lacks a part of what was asked.
    Partial,
    /// With checked passages: no sentence answers the question.
    Passages,
    /// With an honest "not in these documents".
    Abstained,
    /// With a question back: the conversation does not tell what is asked for.
    Clarify,
    /// Before generation, as asked.
    DryRun,
    /// With an answer whose citations did not hold, which was not shown.
    Rejected,
    /// No model answered.
    ProvidersUnavailable,
    /// The time was up.
    Deadline,
    /// It would have spent more than it may.
    BudgetExceeded,
    /// The client disconnected.
    ClientGone,
    /// For another reason: an unknown collection, the database.
    Failed,
}

impl AuditOutcome {
    /// The name in the API and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Partial => "partial",
            Self::Passages => "passages",
            Self::Abstained => "abstained",
            Self::Clarify => "clarify",
            Self::DryRun => "dry_run",
            Self::Rejected => "rejected",
            Self::ProvidersUnavailable => "providers_unavailable",
            Self::Deadline => "deadline",
            Self::BudgetExceeded => "budget_exceeded",
            Self::ClientGone => "client_gone",
            Self::Failed => "failed",
        }
    }
}
