//! Streams an ask in the events of another protocol.

use std::{
    collections::{HashSet, VecDeque},
    convert::Infallible,
    time::Duration,
};

use axum::response::{
    IntoResponse, Response,
    sse::{Event, KeepAlive, Sse},
};
use futures::stream;
use tokio::sync::mpsc;

use super::{
    super::{answer::AnswerBody, ask::failed, problem::ApiError, reply::Delivered},
    error::OpenAiProblem,
    progress::Progress,
};
use crate::{domain::budget::Spent, service::ask::AskFrame};

/// Interval of keep-alive comments: proxies cut connections that are silent for a minute or so, some for less.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// The events of a protocol.
pub(super) trait Protocol: Send + 'static {
    /// Before the first words.
    fn start(&mut self) -> Vec<Event>;
    /// For the next words.
    fn words(&mut self, delivered: Delivered) -> Vec<Event>;
    /// After the last words, with the cost of the ask and its answer as `POST /v1/ask` returns it.
    fn end(&mut self, spent: Spent, cited: AnswerBody) -> Vec<Event>;
    /// For a failure, after which nothing follows.
    fn error(&mut self, problem: OpenAiProblem) -> Vec<Event>;
}

/// The frames of an ask, and the text that they make.
pub(super) struct Relay {
    frames: mpsc::Receiver<AskFrame>,
    progress: Progress,
    request_id: Option<String>,
    /// Events that are not yet sent.
    pending: VecDeque<Event>,
    is_over: bool,
}

impl Relay {
    pub(super) fn new(frames: mpsc::Receiver<AskFrame>, progress: Progress, request_id: Option<String>) -> Self {
        Self { frames, progress, request_id, pending: VecDeque::new(), is_over: false }
    }

    /// The next event; `None` after the last.
    async fn next(&mut self, protocol: &mut impl Protocol) -> Option<Event> {
        while self.pending.is_empty() && !self.is_over {
            let frame = self.frames.recv().await;
            let events = self.take(frame, protocol);
            self.pending.extend(events);
        }
        self.pending.pop_front()
    }

    fn take(&mut self, frame: Option<AskFrame>, protocol: &mut impl Protocol) -> Vec<Event> {
        match frame {
            Some(AskFrame::Event(event)) => {
                self.progress.event(event).map(|delivered| protocol.words(delivered)).unwrap_or_default()
            }
            Some(AskFrame::End(result)) => {
                self.is_over = true;
                match *result {
                    Ok(report) => {
                        let mut events = protocol.words(self.progress.end(&report));
                        let spent = report.usage;
                        events.extend(protocol.end(spent, AnswerBody::new(report, None).in_form(self.progress.form())));
                        events
                    }
                    Err(ask) => protocol.error(self.problem(failed(ask, &HashSet::new()))),
                }
            }
            // The task that was to send the end has died.
            None => {
                self.is_over = true;
                protocol.error(self.problem(ApiError::internal("an ask ended without its end")))
            }
        }
    }

    fn problem(&self, error: ApiError) -> OpenAiProblem {
        error.into_problem(None, self.request_id.clone()).into()
    }
}

/// Streams the ask.
pub(super) fn respond(mut protocol: impl Protocol, mut relay: Relay) -> Response {
    relay.pending.extend(protocol.start());
    let events = stream::unfold((protocol, relay), |(mut protocol, mut relay)| async move {
        let event = relay.next(&mut protocol).await?;
        Some((Ok::<_, Infallible>(event), (protocol, relay)))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}
