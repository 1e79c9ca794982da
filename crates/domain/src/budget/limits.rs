//! Spending limits, and the error for a call that would exceed one.

use serde::Serialize;

use crate::cost::NanoUsd;

/// The limits of a budget. `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Chat calls in all, the validation retry included.
    pub llm_calls: Option<u32>,
    /// Embedding calls in all.
    pub embedding_calls: Option<u32>,
    /// Calls of a reranking model in all.
    pub rerank_calls: Option<u32>,
    /// Estimated tokens of one prompt.
    pub prompt_tokens: Option<u32>,
    /// Tokens that one reply may have.
    pub completion_tokens: u32,
    /// Bytes of source text in one prompt.
    pub source_bytes: Option<u64>,
}

impl Limits {
    /// The limits of one ask unless configured otherwise.
    #[must_use]
    pub const fn ask() -> Self {
        Self {
            llm_calls: Some(8),
            embedding_calls: Some(32),
            rerank_calls: Some(32),
            prompt_tokens: Some(8192),
            completion_tokens: 1024,
            source_bytes: Some(262_144),
        }
    }

    /// The limits of an ingest job: as many calls as its documents need. How much a job may hold is
    /// bounded where documents are admitted; a limit here would leave half of them indexed.
    #[must_use]
    pub const fn ingest() -> Self {
        Self { llm_calls: None, embedding_calls: None, source_bytes: None, ..Self::ask() }
    }
}

/// Tighter limits that a request asks for. `None` leaves the deployment's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TighterLimits {
    /// Instead of [`Limits::llm_calls`].
    pub llm_calls: Option<u32>,
    /// Instead of [`Limits::prompt_tokens`].
    pub prompt_tokens: Option<u32>,
    /// Instead of [`Limits::completion_tokens`].
    pub completion_tokens: Option<u32>,
    /// Instead of [`Limits::source_bytes`].
    pub source_bytes: Option<u64>,
}

impl Limits {
    /// The lower of each two limits: a request cannot raise them.
    #[must_use]
    pub fn tightened(self, by: TighterLimits) -> Self {
        fn lower<Number: Ord>(one: Option<Number>, two: Option<Number>) -> Option<Number> {
            one.into_iter().chain(two).min()
        }
        Self {
            llm_calls: lower(self.llm_calls, by.llm_calls),
            prompt_tokens: lower(self.prompt_tokens, by.prompt_tokens),
            completion_tokens: by
                .completion_tokens
                .map_or(self.completion_tokens, |few| few.min(self.completion_tokens)),
            source_bytes: lower(self.source_bytes, by.source_bytes),
            ..self
        }
    }
}

/// Which limit a call would have exceeded. The words are part of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LimitKind {
    /// [`Limits::llm_calls`].
    LlmCalls,
    /// [`Limits::embedding_calls`].
    EmbeddingCalls,
    /// [`Limits::rerank_calls`].
    RerankCalls,
    /// [`Limits::prompt_tokens`].
    PromptTokens,
    /// [`Limits::completion_tokens`].
    CompletionTokens,
    /// [`Limits::source_bytes`].
    SourceBytes,
    /// The cost of all asks of a tenant on one day (UTC). Enforced by the code that keeps daily totals.
    DailyCost,
}

impl LimitKind {
    /// The limit's name in the API and in messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LlmCalls => "llm_calls",
            Self::EmbeddingCalls => "embedding_calls",
            Self::RerankCalls => "rerank_calls",
            Self::PromptTokens => "prompt_tokens",
            Self::CompletionTokens => "completion_tokens",
            Self::SourceBytes => "source_bytes",
            Self::DailyCost => "daily_cost_usd",
        }
    }
}

/// A call that was refused because it would exceed a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{} would be {}, over the limit of {}", .limit.as_str(), .limit.shown(*.asked), .limit.shown(*.value))]
pub struct BudgetExceeded {
    /// The limit.
    pub limit: LimitKind,
    /// Its value; of a cost in billionths of a dollar.
    pub value: u64,
    /// The amount requested: for calls, the number made including this one; for the daily cost, the most that the day
    /// would then have cost; otherwise the size of this call.
    pub asked: u64,
}

impl BudgetExceeded {
    /// Whether a smaller prompt would have been within the limit.
    #[must_use]
    pub const fn is_of_one_prompt(&self) -> bool {
        matches!(self.limit, LimitKind::PromptTokens | LimitKind::SourceBytes)
    }
}

impl LimitKind {
    /// Converts an amount to the unit that the limit's name states: dollars for a cost.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "sizes of prompts are small, and costs are shown")]
    pub fn shown(self, amount: u64) -> f64 {
        match self {
            Self::DailyCost => NanoUsd::new(amount).usd(),
            Self::LlmCalls
            | Self::EmbeddingCalls
            | Self::RerankCalls
            | Self::PromptTokens
            | Self::CompletionTokens
            | Self::SourceBytes => amount as f64,
        }
    }
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;
