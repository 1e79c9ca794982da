//! `POST /v1/ask`.

mod body;
mod failure;
mod messages;
mod stream;

use std::collections::HashSet;

use axum::{
    Json,
    http::{HeaderMap, Uri},
    response::{IntoResponse, Response},
};

pub(in crate::http) use self::{
    body::AskBody,
    failure::failed,
    messages::{ChatTurn, MessageBody, RoleBody},
};
use self::{
    body::IncludeBody,
    failure::AskFailures,
    stream::{AskEventBody, StreamedAsk},
};

use super::{answer::AnswerBody, extract::ValidJson, problem::ApiError, trace::trace_json};
use crate::service::{
    ask::{AskReport, FailedAsk, StreamMode},
    granted::Granted,
};

/// Ask
///
/// Answers from the documents. Each claim carries a `[^N]` marker that the server has checked and that refers to the
/// exact words of a source. A question that the documents do not answer returns `outcome: "abstained"` and a reason.
///
/// With `stream`, or with `Accept: text/event-stream`, the response is that of `POST /v1/ask/stream`.
#[utoipa::path(
    post, path = "/v1/ask", tag = "ask", request_body = AskBody,
    responses((status = 200, description = "An answer, or an honest abstention", body = AnswerBody), AskFailures),
)]
pub(in crate::http) async fn ask(
    granted: Granted,
    uri: Uri,
    headers: HeaderMap,
    ValidJson(body): ValidJson<AskBody>,
) -> Result<Response, ApiError> {
    if let Some(mode) = body.stream_mode(&headers) {
        return streamed(&granted, &uri, body, mode).await;
    }
    let form = body.format.unwrap_or_default();
    let (request, include) = body.read(&granted)?;
    let result = granted.ask(&request).await;
    Ok(Json(ended(result, &include)?.in_form(form)).into_response())
}

/// Ask, and receive the answer as it is written
///
/// The same ask as server-sent events: `sources` (the sources that the answer is written from), `token` (the next words,
/// provisional), `claim` (the next sentence that passed the check, with its citations: confirmed), `retry` (all words and
/// claims so far are void, with the reason), and finally exactly one `answer` (what `POST /v1/ask` returns) or `error`
/// (the problem document). The claims since the last `retry` are those of the answer. With `"stream": "validated"` no
/// word is sent before its claim is confirmed. Comments keep the connection alive. Closing the connection ends the ask
/// and its model calls. What is wrong with the request, an unknown collection among it, is an ordinary error response.
#[utoipa::path(
    post, path = "/v1/ask/stream", tag = "ask", request_body = AskBody,
    responses(
        (status = 200, description = "The events of the ask; a failure after its beginning is an event too",
            body = Vec<AskEventBody>, content_type = "text/event-stream"),
        AskFailures,
    ),
)]
pub(in crate::http) async fn stream_ask(
    granted: Granted,
    uri: Uri,
    ValidJson(body): ValidJson<AskBody>,
) -> Result<Response, ApiError> {
    let mode = body.required_stream_mode()?;
    streamed(&granted, &uri, body, mode).await
}

/// Starts an ask whose events are the response.
async fn streamed(granted: &Granted, uri: &Uri, body: AskBody, mode: StreamMode) -> Result<Response, ApiError> {
    let form = body.format.unwrap_or_default();
    let (request, include) = body.read(granted)?;
    match granted.stream_ask(request, mode).await {
        Ok(frames) => {
            let request_id = granted.caller().request_id.clone();
            Ok(stream::respond(frames, StreamedAsk { include, form, instance: uri.path().to_owned(), request_id }))
        }
        Err(ask) => Err(failed(ask, &include)),
    }
}

/// The response to an ask that has ended.
fn ended(result: Result<AskReport, FailedAsk>, include: &HashSet<IncludeBody>) -> Result<AnswerBody, ApiError> {
    match result {
        Ok(report) => {
            let trace = include.contains(&IncludeBody::Trace).then(|| trace_json(&report.trace));
            Ok(AnswerBody::new(report, trace))
        }
        Err(ask) => Err(failed(ask, include)),
    }
}
