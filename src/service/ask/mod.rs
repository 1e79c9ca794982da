//! Ask: the corrective loop (Yan et al. 2024, arXiv:2401.15884) and the strict validator behind it.
//!
//! retrieve → grade → [`next_step`] → rewrite and again, or generate → validate → answer, or abstain.

mod audit;
mod cache;
mod cache_key;
mod call;
mod flights;
mod generate;
mod grade;
mod plan;
mod pool;
mod refine;
mod report;
mod request;
mod rewrite;
mod run;
mod settings;
mod speculate;
mod stage;
mod stream;
mod trace;
mod verify;
mod web;

use std::sync::Arc;

pub use crate::providers::chat::{ChatModels, ModelName};
pub use pool::{EvidenceFound, GradedBy, GradedHit};
pub use report::{AskError, AskOutcome, AskReport, AskWarning, GeneratedBy, Rejection, SkipCause, TimingsMs};
pub use request::{AskExecution, AskRequest, Reach};
pub use settings::{AuditSettings, CacheSettings, LONGEST_CACHE_LIFE, Settings};
pub use stream::{AskEvent, AskFrame, StreamMode, VoidReason};
pub use trace::{AttemptTrace, CallTrace, FailedCallTrace, Refinement, RoundTrace, Trace, VerdictTrace};

use tokio::sync::mpsc;

use self::{flights::Flights, run::Ask, stream::Listener};
use super::{ServiceError, context::Context, daily_budget::DailyBudget, retrieval::Retriever};
use crate::{
    domain::identity::Caller,
    providers::{Embedder, web_search::WebSearch},
    store::Store,
};

/// Frames that wait for a slow reader; after these the model is no longer read from.
const FRAMES_AHEAD: usize = 16;

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
