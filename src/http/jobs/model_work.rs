//! What models did for a job, as it shows it.

use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    domain::budget::EmbeddingSpent,
    service::ingest::{ContextGaps, ContextWork},
};

/// What the sentences took that say how chunks relate to their documents.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ContextWork, example = json!({"calls": 118, "written": 117, "reused": 40, "without": 1, "left_out": 0, "prompt_tokens": 310_000, "completion_tokens": 7_000, "cost_usd": 0.05, "estimated": false}))]
pub(super) struct ContextsBody {
    /// Calls to chat models, those that nobody answered included.
    calls: u64,
    /// Sentences that came of them.
    written: u64,
    /// Sentences that were there already.
    reused: u64,
    /// Chunks of stored documents that were indexed without a sentence.
    without: u64,
    /// Chunks of stored documents that were left out of the index for want of a sentence.
    left_out: u64,
    /// Tokens read.
    prompt_tokens: u64,
    /// Tokens written.
    completion_tokens: u64,
    /// Their cost in US dollars; 0 for models without a price.
    cost_usd: f64,
    /// Whether some tokens were counted by the service because a provider did not say.
    estimated: bool,
}

/// Chunks of a document that have no sentence.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ContextGaps, example = json!({"without": 1, "left_out": 0, "cause": "filtered", "message": "the model that writes contexts failed: …"}))]
pub(super) struct ContextGapsBody {
    /// Indexed without one.
    without: u32,
    /// Left out of the index.
    left_out: u32,
    /// Typed cause.
    cause: String,
    /// What happened and what to do about it.
    message: String,
}

/// What embeddings took, those of failed documents included. The built-in model takes nothing.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EmbeddingWork, example = json!({"tokens": 480_000, "cost_usd": 0.0096, "estimated": false}))]
pub(super) struct EmbeddingsBody {
    /// Tokens read.
    tokens: u64,
    /// Their cost in US dollars; 0 for models without a price.
    cost_usd: f64,
    /// Whether some tokens were counted by the service because a server did not say.
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
