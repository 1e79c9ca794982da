//! `POST /v1/ask`.

mod body;
mod examples;
mod failure;
mod stream;

use std::collections::HashSet;

use axum::{
    Extension, Json,
    extract::State,
    http::{HeaderMap, Uri},
    response::{IntoResponse, Response},
};
use serde_json::json;

use self::{
    body::{AskBody, IncludeBody},
    stream::StreamedAsk,
};
pub(super) use body::LevelBody;

use super::{
    AppState,
    answer::AnswerBody,
    extract::ValidJson,
    problem::{ApiError, Problem},
    trace::trace_json,
};
use crate::{
    domain::identity::Caller,
    service::ask::{AskError, AskReport},
};

/// Ask
///
/// Answers from the documents: each claim carries a `[^N]` marker that the server has checked and that leads to
/// the exact words. What the documents do not say is answered with `outcome: "abstained"` and a reason.
///
/// As a stream of server-sent events it comes as `sources` (what the answer is written from), `token` (the next words,
/// provisional), `claim` (the next sentence that passed the check, with its citations: confirmed), `retry` (all words
/// and claims so far are void, and why), and in the end exactly one `answer` (the body of the 200) or `error` (the
/// problem document). The claims since the last `retry` are those of the answer. Comments keep the connection alive.
/// Whoever closes it ends the ask and its model calls.
#[utoipa::path(
    post, path = "/v1/ask", tag = "ask", operation_id = "ask", request_body = AskBody,
    responses(
        (status = 200, description = "An answer, or an honest abstention; as a stream also every later failure", content(
            (AnswerBody = "application/json", examples(
                ("answered" = (summary = "Every claim is cited", value = json!(examples::answered()))),
                ("partial" = (summary = "A part has no answer in the documents", value = json!(examples::partial()))),
                ("no_relevant_content" = (summary = "The documents do not answer the question", value = json!(examples::no_relevant_content()))),
                ("low_support" = (summary = "The documents may answer it, not surely", value = json!(examples::low_support()))),
                ("empty_collection" = (summary = "There is nothing to search", value = json!(examples::empty_collection()))),
                ("out_of_budget" = (summary = "The model calls were used up", value = json!(examples::out_of_budget()))),
                ("dry_run" = (summary = "Stopped before generation, as asked", value = json!(examples::dry_run()))),
            )),
            (String = "text/event-stream", examples(
                ("answer" = (summary = "A draft that is refused, and one that passes", value = json!(examples::stream_of_an_answer()))),
                ("error" = (summary = "A model that falls silent", value = json!(examples::stream_of_an_error()))),
            )),
        )),
        (status = 400, description = "The body is not JSON", body = Problem, content_type = "application/problem+json",
            examples(
                ("unreadable_body" = (summary = "No JSON", value = json!(examples::unreadable_body()))),
            )),
        (status = 401, description = "No valid key", body = Problem, content_type = "application/problem+json",
            examples(
                ("unauthorized" = (summary = "No key", value = json!(examples::unauthorized()))),
            )),
        (status = 404, description = "A collection does not exist", body = Problem, content_type = "application/problem+json",
            examples(
                ("not_found" = (summary = "No such collection", value = json!(examples::not_found()))),
            )),
        (status = 409, description = "A collection lives in another vector space", body = Problem, content_type = "application/problem+json",
            examples(
                ("embedding_profile_mismatch" = (summary = "Vectors of two models", value = json!(examples::embedding_profile_mismatch()))),
            )),
        (status = 413, description = "The body is too large (`body_too_large`), or the ask is over its budget (`budget_exceeded`)", body = Problem, content_type = "application/problem+json",
            examples(
                ("body_too_large" = (summary = "A body too large", value = json!(examples::body_too_large()))),
                ("prompt_tokens" = (summary = "A prompt too long", value = json!(examples::prompt_tokens()))),
                ("daily_cost_usd" = (summary = "The day has cost enough", value = json!(examples::daily_cost()))),
            )),
        (status = 415, description = "The body is not declared as JSON", body = Problem, content_type = "application/problem+json",
            examples(
                ("unsupported_media_type" = (summary = "Not declared as JSON", value = json!(examples::unsupported_media_type()))),
            )),
        (status = 422, description = "A value is wrong (`invalid_request`), or the citations were wrong after the retry (`citation_validation`)", body = Problem, content_type = "application/problem+json",
            examples(
                ("out_of_range" = (summary = "A source that does not exist, twice", value = json!(examples::out_of_range()))),
                ("unsupported_claim" = (summary = "A claim that its source does not support, twice", value = json!(examples::unsupported_claim()))),
                ("invalid_request" = (summary = "Wrong values", value = json!(examples::invalid_request()))),
            )),
        (status = 431, description = "Path, query and headers are too large", body = Problem, content_type = "application/problem+json",
            examples(
                ("headers_too_large" = (summary = "A cookie too long", value = json!(examples::headers_too_large()))),
            )),
        (status = 503, description = "Model provider or database not available, or the ask could not be audited", body = Problem, content_type = "application/problem+json",
            examples(
                ("providers_unavailable" = (summary = "No model answered", value = json!(examples::providers_unavailable()))),
                ("audit_unavailable" = (summary = "It could not be noted", value = json!(examples::audit_unavailable()))),
                ("database_unavailable" = (summary = "The database is away", value = json!(examples::database_unavailable()))),
            )),
        (status = 504, description = "The time limit was reached", body = Problem, content_type = "application/problem+json",
            examples(
                ("deadline" = (summary = "The time was up", value = json!(examples::deadline()))),
            )),
    ),
    security(("bearer" = []), ()),
)]
pub(in crate::http) async fn ask(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    uri: Uri,
    headers: HeaderMap,
    ValidJson(body): ValidJson<AskBody>,
) -> Result<Response, ApiError> {
    let mode = body.stream_mode(&headers);
    let service = &state.services.ask;
    let (request, include) = body.read(service)?;
    if let Some(mode) = mode {
        let ask = StreamedAsk { include, instance: uri.path().to_owned(), request_id: caller.request_id.clone() };
        return Ok(stream::respond(service.stream(caller, request, mode), ask));
    }
    let result = service.ask(&caller, &request).await;
    Ok(Json(ended(result, &include)?).into_response())
}

/// The end of an ask as the API shows it.
fn ended(result: Result<AskReport, AskError>, include: &HashSet<IncludeBody>) -> Result<AnswerBody, ApiError> {
    match result {
        Ok(report) => {
            let trace = include.contains(&IncludeBody::Trace).then(|| trace_json(&report.trace));
            Ok(AnswerBody::new(report, trace))
        }
        Err(AskError::Rejected(rejection)) => {
            let draft = include.contains(&IncludeBody::Draft).then(|| rejection.draft.clone());
            let problem = failure::rejected(*rejection);
            Err(match draft {
                Some(draft) => problem.with("draft", json!(draft)),
                None => problem,
            })
        }
        Err(error) => Err(error.into()),
    }
}
