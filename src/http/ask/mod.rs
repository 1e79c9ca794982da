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
    failure::AskProblem,
    stream::{AskEventBody, StreamedAsk},
};

use super::{answer::AnswerBody, extract::ValidJson, problem::ApiError, trace::trace_json};
use crate::service::{
    ask::{AskReport, FailedAsk},
    granted::Granted,
};

/// Ask
///
/// Answers from the documents. Each claim carries a `[^N]` marker that the server has checked and that refers to the
/// exact words of a source. A question that the documents do not answer returns `outcome: "abstained"` and a reason.
///
/// As a stream of server-sent events the answer arrives as `sources` (the sources that the answer is written from),
/// `token` (the next words, provisional), `claim` (the next sentence that passed the check, with its citations:
/// confirmed), `retry` (all words and claims so far are void, with the reason), and finally exactly one `answer` (the
/// body of the 200) or `error` (the problem document). The claims since the last `retry` are those of the answer.
/// Comments keep the connection alive. Closing the connection ends the ask and its model calls.
#[utoipa::path(
    post, path = "/v1/ask", tag = "ask", request_body = AskBody,
    responses(
        (status = 200, description = "An answer, or an honest abstention; as a stream also every later failure", content(
            (AnswerBody = "application/json"), (Vec<AskEventBody> = "text/event-stream"),
        )),
        (status = 404, description = "A collection does not exist"),
        (status = 409, description = "A collection lives in another vector space"),
        (status = 413, description = "The body is too large (`body_too_large`), or the ask is over its budget (`budget_exceeded`)",
            body = AskProblem, content_type = "application/problem+json"),
        (status = 422, description = "A value is wrong (`invalid_request`), or the citations were wrong after the retry (`citation_validation`)",
            body = AskProblem, content_type = "application/problem+json"),
        (status = 503, description = "Model provider or database not available, or the ask could not be audited",
            body = AskProblem, content_type = "application/problem+json"),
        (status = 504, description = "The time limit was reached", body = AskProblem, content_type = "application/problem+json"),
    ),
)]
pub(in crate::http) async fn ask(
    granted: Granted,
    uri: Uri,
    headers: HeaderMap,
    ValidJson(body): ValidJson<AskBody>,
) -> Result<Response, ApiError> {
    let mode = body.stream_mode(&headers);
    let (request, include) = body.read(&granted)?;
    if let Some(mode) = mode {
        let ask =
            StreamedAsk { include, instance: uri.path().to_owned(), request_id: granted.caller().request_id.clone() };
        return Ok(stream::respond(granted.stream_ask(request, mode), ask));
    }
    let result = granted.ask(&request).await;
    Ok(Json(ended(result, &include)?).into_response())
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
