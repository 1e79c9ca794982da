//! An ask as server-sent events.

use std::{borrow::Cow, collections::HashSet, convert::Infallible, sync::Arc, time::Duration};

use axum::response::{
    IntoResponse, Response,
    sse::{Event, KeepAlive, Sse},
};
use futures::{Stream, stream};
use serde::Serialize;
use tokio::sync::mpsc;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, Schema},
};

use super::{
    super::{
        answer::{AnswerBody, CitationBody, FindingBody},
        problem::{ApiError, Problem},
        source::SourceBody,
    },
    body::IncludeBody,
    ended,
    failure::AskFailure,
};
use crate::{
    domain::{answer_form::AnswerForm, citation::ConfirmedClaim, span::Span},
    service::ask::{AskEvent, AskFrame, GradedHit, VoidReason},
};

/// Interval of keep-alive comments: proxies cut connections that are silent for a minute or so, some for less.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Data of the request that is needed at the end of its stream.
pub(super) struct StreamedAsk {
    pub(crate) include: HashSet<IncludeBody>,
    pub(crate) form: AnswerForm,
    /// Path of the request.
    pub(crate) instance: String,
    pub(crate) request_id: Option<String>,
}

/// Streams the frames of an ask as server-sent events.
pub(super) fn respond(frames: mpsc::Receiver<AskFrame>, ask: StreamedAsk) -> Response {
    let relay = Relay { frames, ask, sources: Arc::default(), is_over: false };
    Sse::new(relay.events()).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

/// Forwards frames until the end of the ask.
struct Relay {
    frames: mpsc::Receiver<AskFrame>,
    ask: StreamedAsk,
    /// The sources that citations refer to.
    sources: Arc<[GradedHit]>,
    is_over: bool,
}

impl Relay {
    fn events(self) -> impl Stream<Item = Result<Event, Infallible>> {
        stream::unfold(self, |mut relay| async move {
            let event = relay.next().await?;
            Some((Ok(event), relay))
        })
    }

    async fn next(&mut self) -> Option<Event> {
        if self.is_over {
            return None;
        }
        match self.shown_frame().await {
            Some(AskFrame::Event(event)) => self.event(event),
            Some(AskFrame::End(result)) => {
                self.is_over = true;
                match ended(*result, &self.ask.include) {
                    Ok(body) => AskEventBody::Answer(Box::new(body.in_form(self.ask.form))).frame(),
                    Err(error) => self.error(error),
                }
            }
            // The task that was to send the end has died.
            None => {
                self.is_over = true;
                self.error(ApiError::internal("an ask ended without its end"))
            }
        }
    }

    /// The next frame that the form of the answer lets through: its words are known at the end only.
    async fn shown_frame(&mut self) -> Option<AskFrame> {
        loop {
            let frame = self.frames.recv().await?;
            let is_of_words = matches!(frame, AskFrame::Event(AskEvent::Token(_) | AskEvent::Claim(_)));
            if !is_of_words || self.ask.form == AnswerForm::Markdown {
                return Some(frame);
            }
        }
    }

    fn event(&mut self, event: AskEvent) -> Option<Event> {
        let event = match event {
            AskEvent::Sources(sources) => {
                let shown = sources
                    .iter()
                    .map(|graded| SourceBody::new(graded.hit.clone(), Some(graded.verdict.grade)))
                    .collect();
                self.sources = sources;
                AskEventBody::Sources(SourcesFrame { sources: shown })
            }
            AskEvent::Token(text) => AskEventBody::Token(TokenFrame { text }),
            AskEvent::Claim(claim) => AskEventBody::Claim(ClaimFrame::new(&claim, &self.sources)),
            AskEvent::Void(reason) => AskEventBody::Retry(RetryFrame::new(&reason)),
        };
        event.frame()
    }

    fn error(&self, error: ApiError) -> Option<Event> {
        let problem = error.into_problem(Some(self.ask.instance.clone()), self.ask.request_id.clone());
        AskEventBody::Error(Box::new(FailureFrame(problem))).frame()
    }
}

/// An event of an ask: its name, and its data as JSON.
#[derive(Serialize, ToSchema)]
#[serde(tag = "event", content = "data", rename_all = "snake_case")]
#[schema(as = AskEvent)]
pub(super) enum AskEventBody {
    /// The sources that the answer is written from.
    Sources(SourcesFrame),
    /// The next words of the draft, provisional.
    Token(TokenFrame),
    /// The next sentence that passed the check.
    Claim(ClaimFrame),
    /// All words and claims so far are void.
    Retry(RetryFrame),
    /// The end of the stream: the answer, as returned without a stream.
    Answer(Box<AnswerBody>),
    /// The end of the stream: a failure.
    Error(Box<FailureFrame>),
}

impl AskEventBody {
    /// The event as sent. Its data is serialised directly: a detour through a JSON value would give numbers other
    /// digits than in an answer.
    fn frame(&self) -> Option<Event> {
        match self {
            Self::Sources(data) => Event::default().event("sources").json_data(data),
            Self::Token(data) => Event::default().event("token").json_data(data),
            Self::Claim(data) => Event::default().event("claim").json_data(data),
            Self::Retry(data) => Event::default().event("retry").json_data(data),
            Self::Answer(data) => Event::default().event("answer").json_data(data),
            Self::Error(data) => Event::default().event("error").json_data(data),
        }
        .ok()
    }
}

/// The sources that the answer is written from.
#[derive(Serialize, ToSchema)]
#[schema(as = AskSources)]
pub(super) struct SourcesFrame {
    /// The sources in marker order: `[^N]` cites the Nth.
    sources: Vec<SourceBody>,
}

/// The next words of the draft.
#[derive(Serialize, ToSchema)]
#[schema(as = AskToken)]
pub(super) struct TokenFrame {
    /// The words.
    text: String,
}

/// A claim that passed the check.
#[derive(Serialize, ToSchema)]
#[schema(as = AskClaim)]
pub(super) struct ClaimFrame {
    /// Position of the claim in the answer: start and end in Unicode code points.
    #[schema(value_type = [usize; 2])]
    span: Span,
    /// Numbers of the claim's markers.
    markers: Vec<u32>,
    /// How well the sources support the claim, 0 to 1.
    support: f32,
    /// Citations of the claim.
    citations: Vec<CitationBody>,
}

impl ClaimFrame {
    fn new(confirmed: &ConfirmedClaim, sources: &[GradedHit]) -> Self {
        let ConfirmedClaim { claim, citations } = confirmed;
        Self {
            span: claim.span,
            markers: claim.markers.clone(),
            support: claim.support,
            citations: citations.iter().map(|citation| CitationBody::new(citation, sources)).collect(),
        }
    }
}

/// The reason why all words and claims so far are void.
#[derive(Serialize, ToSchema)]
#[schema(as = AskRetry)]
pub(super) struct RetryFrame {
    /// Stable name of the reason, such as `citation_validation`.
    reason: &'static str,
    /// Errors of the draft, if it was refused.
    errors: Vec<FindingBody>,
}

impl RetryFrame {
    fn new(reason: &VoidReason) -> Self {
        let errors = match reason {
            VoidReason::CitationValidation(errors) => errors.iter().map(FindingBody::from).collect(),
            VoidReason::ProviderFailed | VoidReason::ReadAnew | VoidReason::NonAnswer | VoidReason::NotConfirmed => {
                Vec::new()
            }
        };
        Self { reason: reason.as_str(), errors }
    }
}

/// The problem document that ends a stream; its schema is that of the response.
#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct FailureFrame(Problem);

impl PartialSchema for FailureFrame {
    fn schema() -> RefOr<Schema> {
        AskFailure::schema()
    }
}

impl ToSchema for FailureFrame {
    fn name() -> Cow<'static, str> {
        AskFailure::name()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        AskFailure::schemas(schemas);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn events_have_the_names_of_the_document() {
        let retry = RetryFrame { reason: "provider_failed", errors: Vec::new() };
        let events = [AskEventBody::Token(TokenFrame { text: "a".to_owned() }), AskEventBody::Retry(retry)];
        for event in events {
            let described = serde_json::to_value(&event).expect("JSON");
            let written = format!("{:?}", event.frame().expect("an event"));
            let name = described["event"].as_str().expect("a name");
            assert!(written.contains(&format!("event: {name}")), "{written}");
            assert!(described.get("data").is_some_and(Value::is_object), "{described}");
        }
    }
}
