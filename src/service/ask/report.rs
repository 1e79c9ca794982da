//! What an ask ends with.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

use super::{
    pool::{EvidenceFound, GradedHit},
    trace::Trace,
};
use crate::{
    domain::{
        budget::{BudgetExceeded, Spent},
        citation::{CitationError, CitedAnswer, Level},
        corrective::AbstainReason,
        planning::Plan,
    },
    providers::{FailedAttempt, ProviderError, ProvidersUnavailable, chat::CallRole},
    service::{ServiceError, daily_budget::DailyBudgetError},
    store::StoreError,
};

/// Who wrote an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedBy {
    /// Model.
    pub model: String,
    /// Its provider.
    pub provider: String,
}

/// How an ask ended. An answer is here only if the validator made it.
#[derive(Clone, Debug)]
pub enum AskOutcome {
    /// With a checked answer.
    Answered {
        /// The answer.
        answer: CitedAnswer,
        /// Who wrote it.
        by: GeneratedBy,
    },
    /// The documents do not answer the question.
    Abstained(AbstainReason),
    /// Before generation, as asked.
    DryRun,
}

/// Everything about a finished ask.
#[derive(Clone, Debug)]
pub struct AskReport {
    /// Identity of this ask.
    pub id: Uuid,
    /// How it ended.
    pub outcome: AskOutcome,
    /// Sources in marker order, then those that were found but not used.
    pub sources: Vec<GradedHit>,
    /// Whether what was found is enough.
    pub evidence: EvidenceFound,
    /// What was spent.
    pub usage: Spent,
    /// Where the time went.
    pub timings: TimingsMs,
    /// The level asked for.
    pub level: Level,
    /// The level applied.
    pub effective_level: Level,
    /// What the caller should know about how the answer came about.
    pub warnings: Vec<AskWarning>,
    /// Sub-questions that the documents do not answer; only with an answer.
    pub missing: Vec<String>,
    /// How the question would be gone about; of a dry run only.
    pub plan: Option<Plan>,
    /// Whether it was given before, from the cache.
    pub is_cache_hit: bool,
    /// The whole path.
    pub trace: Trace,
}

/// Something that a caller should know about how an answer came about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AskWarning {
    /// None of the models can cite, so nothing was demanded of the answer.
    ModeFallback {
        /// The models.
        models: Vec<String>,
    },
    /// The answer ends where the model's tokens were used up.
    LengthCut {
        /// The model.
        model: String,
        /// Most tokens that it was allowed.
        tokens: u32,
    },
    /// A configured model had no part in the answer where it should have; the built-in one did its work.
    ModelSkipped {
        /// Its role.
        role: CallRole,
        /// Why.
        cause: SkipCause,
    },
    /// The documents fell short, and the web could not be searched.
    WebSearchFailed {
        /// Why.
        detail: String,
    },
}

/// Why a configured model had no part in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SkipCause {
    /// The calls that the budget has left are needed for the answer.
    NoCallLeft,
    /// What it replied could not be used.
    UnusableReply,
}

impl AskWarning {
    /// The name in the API.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::ModeFallback { .. } => "mode_fallback",
            Self::LengthCut { .. } => "length_cut",
            Self::ModelSkipped { .. } => "model_skipped",
            Self::WebSearchFailed { .. } => "web_search_failed",
        }
    }
}

/// Milliseconds by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TimingsMs {
    /// Planning by a model.
    pub plan: f64,
    /// Retrieval, all rounds.
    pub retrieve: f64,
    /// Grading, all rounds.
    pub grade: f64,
    /// Rewriting.
    pub rewrite: f64,
    /// Generation, both attempts.
    pub generate: f64,
    /// Validation.
    pub validate: f64,
    /// From the first to the last.
    pub total: f64,
}

/// An answer that failed validation twice.
#[derive(Clone, Debug)]
pub struct Rejection {
    /// What was wrong with the last draft.
    pub errors: Vec<CitationError>,
    /// The last draft.
    pub draft: String,
    /// Drafts that were made.
    pub attempts: u8,
    /// The level asked for.
    pub level: Level,
    /// What the caller should know about how the draft came about.
    pub warnings: Vec<AskWarning>,
    /// Who wrote it.
    pub by: GeneratedBy,
    /// Sources in marker order, then those that were found but not used.
    pub sources: Vec<GradedHit>,
    /// What was spent.
    pub usage: Spent,
    /// Where the time went.
    pub timings: TimingsMs,
}

/// An ask that ended without an answer that may be shown.
#[derive(Debug, Error)]
pub enum AskError {
    /// Citations were wrong after the retry.
    #[error("the answer failed citation validation after {} attempts", .0.attempts)]
    Rejected(Box<Rejection>),
    /// It took too long.
    #[error("the limit of {limit_ms} ms was reached while {stage}")]
    Deadline {
        /// What was being done.
        stage: &'static str,
        /// The limit.
        limit_ms: u64,
        /// What was spent.
        usage: Box<Spent>,
        /// Model calls that failed on the way.
        attempts: Vec<FailedAttempt>,
    },
    /// The answer was ready, but it could not be noted that it was given.
    #[error("the audit could not be written")]
    Audit(#[source] StoreError),
    /// No model answered.
    #[error(transparent)]
    Providers(#[from] ProvidersUnavailable),
    /// Anything else.
    #[error(transparent)]
    Service(#[from] ServiceError),
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
