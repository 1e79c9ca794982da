//! An ask as server-sent events.

use std::{collections::HashSet, convert::Infallible, sync::Arc, time::Duration};

use axum::response::{
    IntoResponse, Response,
    sse::{Event, KeepAlive, Sse},
};
use futures::{Stream, stream};
use serde::Serialize;
use tokio::sync::mpsc;

use super::{
    super::{
        answer::{CitationBody, FindingBody},
        problem::ApiError,
        source::SourceBody,
    },
    body::IncludeBody,
    ended,
};
use crate::{
    domain::{citation::ConfirmedClaim, span::Span},
    service::ask::{AskEvent, AskFrame, GradedHit, VoidReason},
};

/// Proxies cut connections that are silent for a minute or so; some for less.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// What the end of a stream needs to know of its request.
pub(super) struct StreamedAsk {
    pub include: HashSet<IncludeBody>,
    /// Path of the request.
    pub instance: String,
    pub request_id: Option<String>,
}

/// The frames of an ask on the wire.
pub(super) fn respond(frames: mpsc::Receiver<AskFrame>, ask: StreamedAsk) -> Response {
    let relay = Relay { frames, ask, sources: Arc::default(), is_over: false };
    Sse::new(relay.events()).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

/// Passes frames on until the end.
struct Relay {
    frames: mpsc::Receiver<AskFrame>,
    ask: StreamedAsk,
    /// What citations are shown with.
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
        match self.frames.recv().await {
            Some(AskFrame::Event(event)) => self.event(event),
            Some(AskFrame::End(result)) => {
                self.is_over = true;
                match ended(*result, &self.ask.include) {
                    Ok(body) => frame("answer", &body),
                    Err(error) => self.error(error),
                }
            }
            // Whoever was to send the end died.
            None => {
                self.is_over = true;
                self.error(ApiError::internal("an ask ended without its end"))
            }
        }
    }

    fn event(&mut self, event: AskEvent) -> Option<Event> {
        match event {
            AskEvent::Sources(sources) => {
                let shown = sources
                    .iter()
                    .map(|graded| SourceBody::new(graded.hit.clone(), Some(graded.verdict.grade)))
                    .collect();
                self.sources = sources;
                frame("sources", &SourcesFrame { sources: shown })
            }
            AskEvent::Token(text) => frame("token", &TokenFrame { text }),
            AskEvent::Claim(claim) => frame("claim", &ClaimFrame::new(&claim, &self.sources)),
            AskEvent::Void(reason) => frame("retry", &RetryFrame::new(&reason)),
        }
    }

    fn error(&self, error: ApiError) -> Option<Event> {
        frame("error", &error.into_problem(Some(self.ask.instance.clone()), self.ask.request_id.clone()))
    }
}

/// What the answer is written from.
#[derive(Serialize)]
struct SourcesFrame {
    sources: Vec<SourceBody>,
}

/// The next words of the draft.
#[derive(Serialize)]
struct TokenFrame {
    text: String,
}

/// A claim that passed the check.
#[derive(Serialize)]
struct ClaimFrame {
    span: Span,
    markers: Vec<u32>,
    support: f32,
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

/// All words and claims so far are void.
#[derive(Serialize)]
struct RetryFrame {
    reason: &'static str,
    errors: Vec<FindingBody>,
}

impl RetryFrame {
    fn new(reason: &VoidReason) -> Self {
        let errors = match reason {
            VoidReason::CitationValidation(errors) => errors.iter().map(FindingBody::from).collect(),
            VoidReason::ProviderFailed | VoidReason::ReadAnew | VoidReason::Ignorance => Vec::new(),
        };
        Self { reason: reason.as_str(), errors }
    }
}

/// Serialised as it is: by way of a JSON value numbers would have other digits than in an answer.
fn frame(name: &'static str, data: &impl Serialize) -> Option<Event> {
    Event::default().event(name).json_data(data).ok()
}
