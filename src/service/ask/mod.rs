//! Ask: the corrective loop (Yan et al. 2024, arXiv:2401.15884) and the strict validator behind it.
//!
//! retrieve → grade → [`next_step`] → rewrite and again, or generate → validate → answer, or abstain.

mod audit;
mod cache;
mod call;
mod flights;
mod generate;
mod grade;
mod plan;
mod pool;
mod refine;
mod report;
mod rewrite;
mod run;
mod speculate;
mod stage;
mod stream;
mod trace;
mod verify;
mod web;

use std::{sync::Arc, time::Duration};

pub use crate::providers::chat::{ChatModels, ModelName};
pub use pool::{EvidenceFound, GradedBy, GradedHit};
pub use report::{AskError, AskOutcome, AskReport, AskWarning, GeneratedBy, Rejection, SkipCause, TimingsMs};
pub use stream::{AskEvent, AskFrame, StreamMode, VoidReason};
pub use trace::{AttemptTrace, CallTrace, FailedCallTrace, Refinement, RoundTrace, Trace, VerdictTrace};

use tokio::sync::mpsc;

use self::{flights::Flights, run::Ask, stream::Listener};
use super::{
    ServiceError,
    context::Context,
    daily_budget::DailyBudget,
    retrieval::{Retriever, Stages},
};
use crate::{
    domain::{
        budget::{Limits, TighterLimits},
        citation::Level,
        corrective::{LoopSettings, OnInsufficient},
        cost::NanoUsd,
        filter::Filter,
        identity::Caller,
        speculation::Speculation,
    },
    providers::{Embedder, web_search::WebSearch},
    store::Store,
};

/// Longest time that an answer may be given again.
pub const LONGEST_CACHE_LIFE: Duration = Duration::from_hours(30 * 24);
/// Frames that wait for a slow reader; after these the model is no longer read from.
const FRAMES_AHEAD: usize = 16;

/// Defaults and limits of the deployment.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Share of correct passages among the candidates that is enough to generate.
    pub min_correct_fraction: f32,
    /// Most rewrites of one question.
    pub max_rewrite_attempts: u32,
    /// Limits of one ask; a request may ask for less.
    pub limits: Limits,
    /// Longest ask; a request may ask for less.
    pub timeout: Duration,
    /// What the asks of a tenant may cost on one day (UTC); `None` is no limit.
    pub daily_cost: Option<NanoUsd>,
    /// Whether models that cannot cite may answer without any proof, which the answer then says.
    pub allows_mode_fallback: bool,
    /// What the audit holds of an ask.
    pub audit: AuditSettings,
    /// Answers that are given again.
    pub cache: CacheSettings,
}

/// Answers that are given again.
#[derive(Clone, Copy, Debug)]
pub struct CacheSettings {
    /// How long an answer is good unless the request says so; `None` caches nothing then.
    pub life: Option<Duration>,
    /// Most answers of a tenant; the oldest make way.
    pub most_answers: u32,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self { life: None, most_answers: 10_000 }
    }
}

/// What the audit holds beside figures, names and digests.
#[derive(Clone, Copy, Debug)]
pub struct AuditSettings {
    /// The question and the queries made of it.
    pub keeps_questions: bool,
    /// The answer.
    pub keeps_answers: bool,
}

impl Default for AuditSettings {
    fn default() -> Self {
        Self { keeps_questions: true, keeps_answers: false }
    }
}

impl Default for Settings {
    fn default() -> Self {
        let LoopSettings { min_correct_fraction, max_rewrite_attempts, .. } = LoopSettings::default();
        Self {
            min_correct_fraction,
            max_rewrite_attempts,
            limits: Limits::ask(),
            timeout: Duration::from_secs(30),
            daily_cost: None,
            allows_mode_fallback: false,
            audit: AuditSettings::default(),
            cache: CacheSettings::default(),
        }
    }
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

/// A question, checked.
#[derive(Clone, Debug)]
pub struct AskRequest {
    /// The question.
    pub question: String,
    /// Collections, at least one.
    pub collections: Vec<String>,
    /// Passages per round.
    pub top_k: usize,
    /// Passages below this score are left out.
    pub min_score: Option<f64>,
    /// What may be found.
    pub filter: Filter,
    /// Which stages of retrieval run.
    pub stages: Stages,
    /// Whether the built-in rewriter may take words from the passages found.
    pub feedback: bool,
    /// How strictly the answer is checked.
    pub level: Level,
    /// Models in the order in which they are tried, each configured; empty for the deployment's.
    pub models: Vec<ModelName>,
    /// Sampling temperature of the answering model.
    pub temperature: f32,
    /// Seed; otherwise made from question and sources.
    pub seed: Option<u64>,
    /// What to do when only ambiguous passages are found.
    pub on_insufficient: OnInsufficient,
    /// Whether the models that answer are shown only what bears on the question of each source.
    pub refine: bool,
    /// Where the answer may come from.
    pub reach: Reach,
    /// Whether the answer may be begun while a model still grades.
    pub speculation: Speculation,
    /// Limits, where they are tighter than the deployment's.
    pub limits: TighterLimits,
    /// Longest time, if less than the deployment allows.
    pub timeout: Option<Duration>,
    /// How long the answer may be given again; `None` neither looks for one nor keeps it.
    pub cache_life: Option<Duration>,
    /// Stop before anything is generated.
    pub dry_run: bool,
}

/// What an ask is made with.
pub struct AskParts {
    /// Where answers are audited.
    pub store: Store,
    /// Finds passages.
    pub retriever: Retriever,
    /// Compares the question with single sentences.
    pub embedder: Arc<dyn Embedder>,
    /// They grade the doubtful cases, rewrite and answer; without any the built-in parts do.
    pub models: Arc<ChatModels>,
    /// Searches the web where the documents fall short, if at all.
    pub web: Option<Arc<WebSearch>>,
    /// Defaults and limits of the deployment.
    pub settings: Settings,
    /// What the model calls of a tenant may cost on one day.
    pub daily_budget: DailyBudget,
    /// Time and identities.
    pub context: Context,
}

/// The use case.
#[derive(Clone)]
pub struct AskService {
    parts: Arc<AskParts>,
    /// Asks that others wait for.
    flights: Flights,
}

impl AskService {
    /// Ask with these parts.
    #[must_use]
    pub fn new(parts: AskParts) -> Self {
        Self { parts: Arc::new(parts), flights: Flights::default() }
    }

    /// The deployment's defaults and limits.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.parts.settings
    }

    /// The configured models.
    #[must_use]
    pub fn models(&self) -> &ChatModels {
        &self.parts.models
    }

    /// Answers a question from the documents, or says that they do not. When this returns the ask is in the
    /// audit, however it ended.
    ///
    /// # Errors
    /// [`AskError`]: rejected citations, deadline, unknown collection, provider or store failure, or that the
    /// audit could not be written.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the model call under way; the audit then tells that whoever asked went away.
    pub async fn ask(&self, caller: &Caller, request: &AskRequest) -> Result<AskReport, AskError> {
        let mut ask = Ask::new(self, caller, request, None);
        let result = ask.run().await;
        ask.finish(result).await
    }

    /// The same piece by piece. The last frame is the end, and there is exactly one; what comes before it is
    /// [told](AskEvent) as it happens, no faster than it is read. Dropping the receiver ends the ask.
    #[must_use]
    pub fn stream(&self, caller: Caller, request: AskRequest, mode: StreamMode) -> mpsc::Receiver<AskFrame> {
        let (frames, receiver) = mpsc::channel(FRAMES_AHEAD);
        let service = self.clone();
        tokio::spawn(async move {
            let told = async {
                let mut ask = Ask::new(&service, &caller, &request, Some(Listener::new(frames.clone(), mode)));
                let result = ask.run().await;
                ask.finish(result).await
            };
            tokio::select! {
                result = told => {
                    // A listener that is gone by now has its row in the audit all the same.
                    let _ = frames.send(AskFrame::End(Box::new(result))).await;
                }
                () = frames.closed() => {}
            }
        });
        receiver
    }
}

impl From<crate::store::StoreError> for AskError {
    fn from(error: crate::store::StoreError) -> Self {
        Self::Service(ServiceError::Store(error))
    }
}
