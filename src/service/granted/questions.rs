//! Asks, searches, checks, citations and the audit, for one caller.

use tokio::sync::mpsc;
use uuid::Uuid;

use super::Granted;
use crate::{
    domain::citation::Urn,
    providers::chat::ChatModels,
    service::{
        ServiceError,
        ask::{AskFrame, AskReport, AskRequest, FailedAsk, Settings, StreamMode},
        audit::{AuditFilter, AuditRow},
        check::{CheckReport, CheckRequest},
        citations::{CitedInDocument, CitedState},
        retrieval::Retrieved,
        search::SearchRequest,
    },
};

impl Granted {
    /// The deployment's defaults and limits of an ask.
    #[must_use]
    pub(crate) fn ask_settings(&self) -> &Settings {
        self.parts.ask.settings()
    }

    /// The configured models.
    #[must_use]
    pub(crate) fn chat_models(&self) -> &ChatModels {
        self.parts.ask.models()
    }

    /// Whether a configured model writes the answers to this request.
    #[must_use]
    pub(crate) fn has_answering_model(&self, request: &AskRequest) -> bool {
        self.parts.ask.has_answering_model(request)
    }

    /// Answers a question.
    ///
    /// # Errors
    /// As [`AskService::ask`](crate::service::ask::AskService::ask).
    pub(crate) async fn ask(&self, request: &AskRequest) -> Result<AskReport, FailedAsk> {
        self.parts.ask.ask(&self.caller, request).await
    }

    /// The same as a stream of frames.
    ///
    /// # Errors
    /// As [`AskService::stream`](crate::service::ask::AskService::stream).
    pub(crate) async fn stream_ask(
        &self,
        request: AskRequest,
        mode: StreamMode,
    ) -> Result<mpsc::Receiver<AskFrame>, FailedAsk> {
        self.parts.ask.stream(self.caller.clone(), request, mode).await
    }

    /// Returns the best passages for a query.
    ///
    /// # Errors
    /// As [`SearchService::search`](crate::service::search::SearchService::search).
    pub(crate) async fn search(&self, request: &SearchRequest) -> Result<Retrieved, ServiceError> {
        self.parts.search.search(&self.caller.grant, request).await
    }

    /// Checks a text.
    ///
    /// # Errors
    /// As [`CheckService::check`](crate::service::check::CheckService::check).
    pub(crate) async fn check(&self, request: CheckRequest) -> Result<CheckReport, ServiceError> {
        self.parts.check.check(&self.caller, request).await
    }

    /// The current state of a cited passage.
    ///
    /// # Errors
    /// As [`CitationService::get`](crate::service::citations::CitationService::get).
    pub(crate) async fn citation(&self, urn: &Urn) -> Result<CitedState, ServiceError> {
        self.parts.citations.get(&self.caller.grant, urn).await
    }

    /// The same, with the text around it or in its place.
    ///
    /// # Errors
    /// As [`Self::citation`].
    pub(crate) async fn citation_in_document(&self, urn: &Urn) -> Result<CitedInDocument, ServiceError> {
        self.parts.citations.in_document(&self.caller.grant, urn).await
    }

    /// Past asks, newest first: those that searched nothing but the caller's collections.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn asks(&self, mut filter: AuditFilter, limit: i64) -> Result<Vec<AuditRow>, ServiceError> {
        filter.among = self.among(None);
        self.parts.audit.list(self.tenant(), &filter, limit).await
    }

    /// One past ask.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn past_ask(&self, id: Uuid) -> Result<AuditRow, ServiceError> {
        let filter = AuditFilter { ask_id: Some(id), ..AuditFilter::default() };
        let found = self.asks(filter, 1).await?.pop();
        found.ok_or_else(|| ServiceError::NotFound { what: "ask", name: id.to_string() })
    }
}
