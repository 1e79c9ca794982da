//! `POST /v1/chat/completions`.

use std::convert::Infallible;

use axum::{
    Json,
    extract::State,
    http::HeaderMap,
    response::{
        IntoResponse, Response,
        sse::{Event, Sse},
    },
};
use futures::stream;
use serde::Serialize;

use super::{
    super::{
        AppState,
        answer::AnswerBody,
        in_flight::LargeJson,
        problem::ApiError,
        public_url::public_url,
        reply::{Annotation, Delivered},
    },
    completion::{ChunkBody, CompletionBody, CompletionUsageBody, Identity},
    error::OpenAiProblem,
    housekeeping,
    model::ModelRef,
    ready_ask::ReadyAsk,
    request::ChatBody,
    stream::Protocol,
};
use crate::{domain::budget::Spent, service::granted::Granted};

/// Create a chat completion
///
/// OpenAI-compatible. Answers the last message from the documents, like `POST /v1/ask`; the messages before it make it a
/// question that stands alone, and are never sources. Citations are `[1]` in the text and `url_citation` annotations
/// beside it, whose addresses show the passage in its document. Without an answer the message says so; the whole
/// outcome is in `cited`. Citations that do not hold are an error 422, which clients do not repeat.
#[utoipa::path(
    post, path = "/v1/chat/completions", tag = "openai", request_body = ChatBody,
    responses(
        (status = 200, description = "An answer, or a message that there is none", content(
            (CompletionBody = "application/json"), (ChunkBody = "text/event-stream"),
        )),
        (status = 400, description = "The body is not JSON, a value is wrong, or a parameter is not supported", body = OpenAiProblem),
        (status = 404, description = "A collection does not exist", body = OpenAiProblem),
        (status = 422, description = "The citations were wrong after the retry", body = OpenAiProblem),
    ),
)]
pub(in crate::http) async fn create_chat_completion(
    State(state): State<AppState>,
    granted: Granted,
    headers: HeaderMap,
    LargeJson(body, room): LargeJson<ChatBody>,
) -> Result<Response, ApiError> {
    let identity = Identity {
        id: format!("chatcmpl-{}", granted.caller().request_id.as_deref().unwrap_or_default()),
        created: state.context.clock.now().unix_timestamp(),
        model: body.model.clone(),
    };
    let wants_usage = body.stream_options.is_some_and(|options| options.include_usage);
    let is_streamed = body.stream == Some(true);
    if let Some(reply) = body.only_message().and_then(housekeeping::reply_to) {
        return Ok(housekept(identity, reply, is_streamed));
    }
    let model = ModelRef::read(&body.model)?;
    let base = public_url(&state, &headers);
    let ask = ReadyAsk::new(granted, model, base, |collections| body.into_ask(collections)).await?;
    drop(room);
    if is_streamed {
        return ask.stream(Chunks { identity, wants_usage, cited: Vec::new() }).await;
    }
    let (delivered, spent, cited) = ask.whole().await?;
    let usage = CompletionUsageBody::from(&spent);
    Ok(Json(CompletionBody::new(identity, delivered, usage, Some(Box::new(cited)))).into_response())
}

/// The reply to a prompt of a chat front end about the conversation itself.
fn housekept(identity: Identity, reply: String, is_streamed: bool) -> Response {
    if !is_streamed {
        let delivered = Delivered { text: reply, annotations: Vec::new() };
        return Json(CompletionBody::new(identity, delivered, CompletionUsageBody::default(), None)).into_response();
    }
    let chunks =
        [ChunkBody::first(&identity), ChunkBody::words(&identity, reply), ChunkBody::last(&identity, &[], None)];
    let events: Vec<Event> = chunks.iter().filter_map(event).chain([done()]).collect();
    Sse::new(stream::iter(events.into_iter().map(Ok::<_, Infallible>))).into_response()
}

/// A completion that is streamed in chunks.
struct Chunks {
    identity: Identity,
    wants_usage: bool,
    cited: Vec<Annotation>,
}

impl Protocol for Chunks {
    fn start(&mut self) -> Vec<Event> {
        event(&ChunkBody::first(&self.identity)).into_iter().collect()
    }

    fn words(&mut self, delivered: Delivered) -> Vec<Event> {
        let Delivered { text, annotations } = delivered;
        let words = (!text.is_empty()).then(|| ChunkBody::words(&self.identity, text));
        let citations = (!annotations.is_empty()).then(|| ChunkBody::annotations(&self.identity, &annotations));
        self.cited.extend(annotations);
        words.iter().chain(&citations).filter_map(event).collect()
    }

    fn end(&mut self, spent: Spent, cited: AnswerBody) -> Vec<Event> {
        let usage = CompletionUsageBody::from(&spent);
        let usage = self.wants_usage.then(|| ChunkBody::usage(&self.identity, usage));
        let last = ChunkBody::last(&self.identity, &self.cited, Some(Box::new(cited)));
        std::iter::once(&last).chain(&usage).filter_map(event).chain([done()]).collect()
    }

    fn error(&mut self, problem: OpenAiProblem) -> Vec<Event> {
        event(&problem).into_iter().collect()
    }
}

fn event(data: &impl Serialize) -> Option<Event> {
    Event::default().json_data(data).ok()
}

/// The end of a stream of chunks.
fn done() -> Event {
    Event::default().data("[DONE]")
}
