//! Ask: the corrective loop (Yan et al. 2024, arXiv:2401.15884) and the strict validator after it. The processing of a
//! question is in `pipeline.rs`.

mod audit;
mod beside;
mod cache;
mod condense;
mod context;
mod continuation;
mod currency;
mod draft;
mod early_draft;
mod emit;
mod error;
mod evidence_pool;
mod generate;
mod grade;
mod model_call;
mod models;
mod pipeline;
mod plan;
mod prompt_sources;
mod quote;
mod record;
mod report;
mod request;
mod retrieve;
mod rewrite;
mod settings;
mod single_flight;
mod state;
mod stream;
mod sub_questions;
mod validate;
mod verify;
mod web;
mod withdrawal;

use std::sync::Arc;

pub(in crate::service) use self::{
    model_call::size_of,
    verify::{call_about, cited},
};
pub(crate) use crate::providers::chat::ChatModels;
pub(crate) use crate::providers::chat::ModelName;
pub(crate) use condense::CondensedBy;
pub(crate) use error::{AskError, FailedAsk};
pub(crate) use evidence_pool::{EvidenceFound, GradedBy, GradedHit};
pub(crate) use record::{
    AttemptTrace, CallFigures, CallTrace, ConversationTrace, FailedCallTrace, Refinement, RoundTrace, Trace,
};
pub(crate) use report::{AskOutcome, AskReport, AskWarning, GeneratedBy, Rejection, SkipCause, TimingsMs};
pub(crate) use request::{AskExecution, AskRequest, Reach};
pub(crate) use settings::{AuditSettings, CacheSettings, LONGEST_CACHE_LIFE, MOST_PASSAGES, Settings};
pub(crate) use stream::{AskEvent, AskFrame, StreamMode, VoidReason};

use tokio::sync::{mpsc, oneshot};
use tracing::Instrument;

use self::{context::AskContext, emit::Emitter, single_flight::SingleFlight};
use super::{
    access::AccessService, context::Context, daily_budget::DailyBudget, instructions::RoleInstructions, quotas::Quotas,
    retrieval::Retriever,
};
use crate::{
    domain::identity::Caller,
    metrics::Metrics,
    providers::{Embedder, chat::CallRole, web_search::WebSearch},
    store::Store,
};

/// Number of frames buffered for a slow reader; beyond them the model's reply is no longer read.
const FRAMES_AHEAD: usize = 16;

/// The services and settings that asks use.
pub(crate) struct AskParts {
    /// Counts asks that cost more against the rate of their key.
    pub(crate) access: AccessService,
    /// Counts asks against the day of their key.
    pub(crate) quotas: Quotas,
    /// Store of the audit.
    pub(crate) store: Store,
    /// Finds passages.
    pub(crate) retriever: Retriever,
    /// Compares the question with individual sentences.
    pub(crate) embedder: Arc<dyn Embedder>,
    /// Models that condense, plan, grade, rewrite, answer and verify; built-in parts perform the roles without a model.
    pub(crate) models: Arc<ChatModels>,
    /// Instructions of the deployment to these models.
    pub(crate) instructions: RoleInstructions,
    /// Searches the web where the documents are insufficient, if configured.
    pub(crate) web: Option<Arc<WebSearch>>,
    /// Defaults and limits of the deployment.
    pub(crate) settings: Settings,
    /// The daily cost limit of tenants.
    pub(crate) daily_budget: DailyBudget,
    /// Time and identities.
    pub(crate) context: Context,
    /// Counts asks.
    pub(crate) metrics: Metrics,
}

/// The use case.
#[derive(Clone)]
pub(crate) struct AskService {
    parts: Arc<AskParts>,
    single_flight: SingleFlight,
}

impl AskService {
    /// Ask with these parts.
    #[must_use]
    pub(crate) fn new(parts: AskParts) -> Self {
        Self { parts: Arc::new(parts), single_flight: SingleFlight::default() }
    }

    /// The deployment's defaults and limits.
    #[must_use]
    pub(crate) fn settings(&self) -> &Settings {
        &self.parts.settings
    }

    /// The configured models.
    #[must_use]
    pub(crate) fn models(&self) -> &ChatModels {
        &self.parts.models
    }

    /// Whether a configured model writes the answers to this request.
    #[must_use]
    pub(crate) fn has_answering_model(&self, request: &AskRequest) -> bool {
        self.parts.models.chain(CallRole::Generate, &request.execution.models).is_some()
    }

    /// Answers a question from the documents, or reports that they do not answer it. When this returns the ask is in
    /// the audit, however it ended.
    ///
    /// # Errors
    /// [`FailedAsk`] with an [`AskError`]: rejected citations, deadline, unknown collection, provider or store failure, or that the
    /// audit could not be written.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the model call under way; the audit then records that the caller disconnected.
    pub(crate) async fn ask(&self, caller: &Caller, request: &AskRequest) -> Result<AskReport, FailedAsk> {
        let context = AskContext::new(self, caller.clone(), request.clone(), false);
        pipeline::run(&context, Emitter::silent()).await
    }

    /// The same as a stream of frames, once its collections and models are known to exist. The last frame is the end, and
    /// there is exactly one; [events](AskEvent) before it are sent as they happen, no faster than they are read. Dropping
    /// the receiver ends the ask.
    ///
    /// # Errors
    /// [`FailedAsk`] if the ask ended before its retrieval began.
    ///
    /// # Cancel safety
    /// Dropping the future ends the ask.
    pub(crate) async fn stream(
        &self,
        caller: Caller,
        request: AskRequest,
        mode: StreamMode,
    ) -> Result<mpsc::Receiver<AskFrame>, FailedAsk> {
        let (frames, mut receiver) = mpsc::channel(FRAMES_AHEAD);
        let (begun, has_begun) = oneshot::channel();
        let service = self.clone();
        let asking = async move {
            let answering = async {
                let context = AskContext::new(&service, caller, request, true);
                pipeline::run(&context, Emitter::new(&context, frames.clone(), begun, mode)).await
            };
            tokio::select! {
                result = answering => {
                    // The ask has its audit row even if the reader has disconnected by now.
                    let _ = frames.send(AskFrame::End(Box::new(result))).await;
                }
                () = frames.closed() => {}
            }
        };
        tokio::spawn(asking.in_current_span());
        if has_begun.await.is_err()
            && let Some(AskFrame::End(result)) = receiver.recv().await
            && let Err(failed) = *result
        {
            return Err(failed);
        }
        Ok(receiver)
    }
}
