//! A question as the service takes it, checked.

use std::time::Duration;

use serde::Serialize;

use crate::{
    domain::{
        budget::TighterLimits, citation::Level, corrective::OnInsufficient, filter::Filter, speculation::Speculation,
    },
    providers::chat::ModelName,
    service::retrieval::Stages,
};

/// A question. Every member decides the answer and is part of the key of a cached answer, except for
/// those of [`AskExecution`].
#[derive(Clone, Debug, Serialize)]
pub struct AskRequest {
    /// The question.
    pub question: String,
    /// Collections, at least one.
    pub collections: Vec<String>,
    /// Passages per round.
    pub top_k: usize,
    /// Passages below this score are left out.
    pub min_score: Option<f64>,
    /// Restricts the passages that may be found.
    pub filter: Filter,
    /// Which stages of retrieval run.
    pub stages: Stages,
    /// Whether the built-in rewriter may take words from the passages found.
    pub feedback: bool,
    /// How strictly the answer is checked.
    pub level: Level,
    /// Sampling temperature of the answering model.
    pub temperature: f32,
    /// Seed; otherwise made from question and sources.
    pub seed: Option<u64>,
    /// Whether to answer when only ambiguous passages are found.
    pub on_insufficient: OnInsufficient,
    /// Whether the models that answer are shown only what bears on the question of each source.
    pub refine: bool,
    /// How the ask is carried out.
    #[serde(skip)]
    pub execution: AskExecution,
}

/// How an ask is carried out. No member is part of the cache key as the request has it: it either leaves the answer as it
/// is, or acts together with the deployment's settings, and then the key holds what results from both.
#[derive(Clone, Debug, Default)]
pub struct AskExecution {
    /// Models in the order in which they are tried, each configured; empty for the deployment's. The key holds the models
    /// of every role instead.
    pub models: Vec<ModelName>,
    /// Where the answer may come from. The key holds whether the web can be searched instead.
    pub reach: Reach,
    /// Limits, where they are tighter than the deployment's. The key holds the limits that apply instead.
    pub limits: TighterLimits,
    /// Longest time, if less than the deployment allows. An ask that takes longer has no answer to keep.
    pub timeout: Option<Duration>,
    /// Whether the answer may be begun while a model still grades. It is the same answer either way.
    pub speculation: Speculation,
    /// How long the answer may be given again; `None` neither looks for one nor keeps it.
    pub cache_life: Option<Duration>,
    /// Stop before anything is generated. Then there is no answer to look for or to keep.
    pub dry_run: bool,
}

/// Where an answer may come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// From the documents alone.
    Documents,
    /// From the web too where they fall short, if the deployment can search it.
    #[default]
    DocumentsAndWeb,
}
