//! A question in the form that the service accepts, validated.

use std::time::Duration;

use serde::Serialize;

use crate::{
    domain::{
        budget::TighterLimits, citation::Level, conversation::Turn, corrective::OnInsufficient, filter::Filter,
        speculation::Speculation,
    },
    providers::chat::ModelName,
    service::retrieval::Stages,
};

/// A question. Every member decides the answer and is part of the key of a cached answer, except for
/// those of [`AskExecution`].
#[derive(Clone, Debug, Serialize)]
pub(crate) struct AskRequest {
    /// The question, or the message of a conversation.
    pub(crate) question: String,
    /// The messages before it, oldest first.
    pub(crate) history: Vec<Turn>,
    /// Whether the conversation has messages that instruct the assistant. They are not followed.
    pub(crate) has_instructions: bool,
    /// Collections, at least one.
    pub(crate) collections: Vec<String>,
    /// Passages per round.
    pub(crate) top_k: usize,
    /// Passages below this score are left out.
    pub(crate) min_score: Option<f64>,
    /// Restricts the passages that may be found.
    pub(crate) filter: Filter,
    /// Which stages of retrieval run.
    pub(crate) stages: Stages,
    /// Whether the built-in rewriter may take words from the passages found.
    pub(crate) feedback: bool,
    /// How strictly the answer is checked.
    pub(crate) level: Level,
    /// Sampling temperature of the answering model.
    pub(crate) temperature: f32,
    /// Seed; otherwise made from question and sources.
    pub(crate) seed: Option<u64>,
    /// Whether to answer when only ambiguous passages are found.
    pub(crate) on_insufficient: OnInsufficient,
    /// Whether the answering models are shown only the parts of each source that are relevant to the question.
    pub(crate) refine: bool,
    /// How the ask is carried out.
    #[serde(skip)]
    pub(crate) execution: AskExecution,
}

/// How an ask is carried out. No member is itself part of the cache key: it either does not change the answer, or acts
/// together with the deployment's settings, and then the key contains the combined result.
#[derive(Clone, Debug, Default)]
pub(crate) struct AskExecution {
    /// Models in the order in which they are tried, each configured; empty for the deployment's. The key contains the
    /// models of every role instead.
    pub(crate) models: Vec<ModelName>,
    /// The sources that the answer may use. The key contains whether the web can be searched instead.
    pub(crate) reach: Reach,
    /// Limits, where they are tighter than the deployment's. The key contains the limits that apply instead.
    pub(crate) limits: TighterLimits,
    /// Time limit, if less than the deployment's. An ask that takes longer has no answer to cache.
    pub(crate) timeout: Option<Duration>,
    /// Whether the answer may be begun while a model still grades. The answer is the same either way.
    pub(crate) speculation: Speculation,
    /// How long the answer may be cached; `None` neither looks for a cached answer nor caches one.
    pub(crate) cache_life: Option<Duration>,
    /// Stops before anything is generated. Then there is no answer to look for or to cache.
    pub(crate) dry_run: bool,
}

/// The sources that an answer may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Reach {
    /// From the documents alone.
    Documents,
    /// From the web too where the documents are insufficient, if the deployment can search it.
    #[default]
    DocumentsAndWeb,
}
