//! An ask of a client of OpenAI, whatever the protocol of its answer.

use std::collections::HashSet;

use axum::response::Response;

use super::{
    super::{
        answer::AnswerBody,
        ask::{AskBody, failed},
        problem::ApiError,
        reply::{Delivered, Writer},
    },
    model::ModelRef,
    progress::Progress,
    request::repointed,
    stream::{Protocol, Relay, respond},
};
use crate::{
    domain::{answer_form::AnswerForm, budget::Spent},
    service::{
        ask::{AskRequest, StreamMode},
        granted::Granted,
    },
};

/// An ask that was read and may run.
pub(super) struct ReadyAsk {
    granted: Granted,
    request: AskRequest,
    writer: Writer,
}

impl ReadyAsk {
    /// The ask of the model's collections that `into_ask` makes; links begin with `base`.
    ///
    /// # Errors
    /// Faults of the request, with its own pointers; a collection list that cannot be read.
    pub(super) async fn new(
        granted: Granted,
        model: ModelRef,
        base: String,
        into_ask: impl FnOnce(Vec<String>) -> Result<AskBody, ApiError>,
    ) -> Result<Self, ApiError> {
        let style = model.style;
        let collections = model.collections(&granted).await?;
        let ask = into_ask(collections)?;
        // Chat clients show what they receive as Markdown, and load the images in it.
        let writer = Writer::new(style, ask.format.unwrap_or(AnswerForm::SafeMarkdown), base);
        let (request, _) = ask.read(&granted).map_err(repointed)?;
        Ok(Self { granted, request, writer })
    }

    /// Sampling temperature of the answering model.
    pub(super) const fn temperature(&self) -> f32 {
        self.request.temperature
    }

    /// Runs it, and streams its answer.
    ///
    /// # Errors
    /// As an ask that ended before its retrieval began.
    pub(super) async fn stream(self, protocol: impl Protocol) -> Result<Response, ApiError> {
        let Self { granted, request, writer } = self;
        let progress = Progress::new(writer, granted.has_answering_model(&request));
        let begun = granted.stream_ask(request, StreamMode::Validated).await;
        let frames = begun.map_err(|ask| failed(ask, &HashSet::new()))?;
        Ok(respond(protocol, Relay::new(frames, progress, granted.caller().request_id.clone())))
    }

    /// Runs it to its end: the text, the cost, and the answer as `POST /v1/ask` returns it.
    ///
    /// # Errors
    /// As an ask.
    pub(super) async fn whole(mut self) -> Result<(Delivered, Spent, AnswerBody), ApiError> {
        let report = Box::pin(self.granted.ask(&self.request)).await.map_err(|ask| failed(ask, &HashSet::new()))?;
        let delivered = self.writer.whole(&report);
        let spent = report.usage;
        Ok((delivered, spent, AnswerBody::new(report, None).in_form(self.writer.form())))
    }
}
