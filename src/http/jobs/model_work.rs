//! The work of models for a job, as the API returns it.

use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    domain::budget::EmbeddingSpent,
    service::ingest::{ContextGaps, ContextWork},
};

/// Calls, tokens and cost of the sentences that describe how chunks relate to their documents.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ContextWork, example = json!({"calls": 118, "written": 117, "reused": 40, "without": 1, "left_out": 0, "prompt_tokens": 310_000, "completion_tokens": 7_000, "cost_usd": 0.05, "estimated": false}))]
pub(super) struct ContextsBody {
    /// Number of calls to chat models, including those that no model answered.
    calls: u64,
    /// Number of sentences that these calls produced.
    written: u64,
    /// Number of existing sentences that were reused.
    reused: u64,
    /// Number of chunks of stored documents that were indexed without a sentence.
    without: u64,
    /// Number of chunks of stored documents that were left out of the index because they have no sentence.
    left_out: u64,
    /// Tokens read by the models.
    prompt_tokens: u64,
    /// Tokens written by the models.
    completion_tokens: u64,
    /// Cost in US dollars; 0 for models without a configured price.
    cost_usd: f64,
    /// Whether some tokens were counted by this service because a provider did not report them.
    estimated: bool,
}

/// Chunks of a document that have no context sentence.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ContextGaps, example = json!({"without": 1, "left_out": 0, "cause": "filtered", "message": "the model that writes contexts failed: …"}))]
pub(super) struct ContextGapsBody {
    /// Number of chunks indexed without a sentence.
    without: u32,
    /// Number of chunks left out of the index.
    left_out: u32,
    /// Typed cause.
    cause: String,
    /// A description of the cause and how to resolve it.
    message: String,
}

/// Tokens and cost of embeddings, those of failed documents included. The built-in model counts no tokens and costs
/// nothing.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EmbeddingWork, example = json!({"tokens": 480_000, "cost_usd": 0.0096, "estimated": false}))]
pub(super) struct EmbeddingsBody {
    /// Tokens read by the models.
    tokens: u64,
    /// Cost in US dollars; 0 for models without a configured price.
    cost_usd: f64,
    /// Whether some tokens were counted by this service because a server did not report them.
    estimated: bool,
}

impl From<EmbeddingSpent> for EmbeddingsBody {
    fn from(spent: EmbeddingSpent) -> Self {
        let EmbeddingSpent { tokens, cost, has_estimates } = spent;
        Self { tokens, cost_usd: cost.usd(), estimated: has_estimates }
    }
}

impl From<ContextWork> for ContextsBody {
    fn from(work: ContextWork) -> Self {
        let ContextWork {
            calls,
            written,
            reused,
            prompt_tokens,
            completion_tokens,
            cost,
            has_estimates,
            without,
            left_out,
        } = work;
        Self {
            calls,
            written,
            reused,
            without,
            left_out,
            prompt_tokens,
            completion_tokens,
            cost_usd: cost.usd(),
            estimated: has_estimates,
        }
    }
}

impl From<ContextGaps> for ContextGapsBody {
    fn from(gaps: ContextGaps) -> Self {
        let ContextGaps { without, left_out, cause, message } = gaps;
        Self { without, left_out, cause, message }
    }
}
