//! `POST /v1/ask`.

mod body;
mod stream;

use std::collections::HashSet;

use axum::{
    Extension, Json,
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use self::{
    body::{AskBody, IncludeBody},
    stream::StreamedAsk,
};
pub(super) use body::LevelBody;

use super::{
    AppState,
    answer::{AnswerBody, FindingBody, draft_json},
    extract::ValidJson,
    problem::{ApiError, Problem},
    source::SourceBody,
    trace::trace_json,
};
use crate::{
    domain::{budget::Spent, identity::Caller},
    service::ask::{AskError, AskReport, Rejection},
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
                ("answered" = (summary = "Every claim is cited", value = json!({"id": "0199c1f0-a1b2-7c3d-8e4f-5a6b7c8d9e0f", "outcome": "answered", "reason": null, "missing": [], "answer": "Everyone has 28 days of paid leave a year. [^1]", "citations": [{"marker": 1, "span": [43, 47], "claim": [0, 42], "source_index": 0, "urn": "cited:handbook/0199c1f0-9d30-7311-b0aa-04f1d2c3b4a5@2#3", "support": 0.98, "quote": {"text": "Everyone has 28 days of paid leave a year.", "start": 4810, "end": 4852}}], "sources": [{"urn": "cited:handbook/0199c1f0-9d30-7311-b0aa-04f1d2c3b4a5@2#3", "document_id": "0199c1f0-9d30-7311-b0aa-04f1d2c3b4a5", "collection": "handbook", "source": "leave.md", "title": "Leave", "uri": "leave.md", "page": null, "heading": ["Annual leave"], "text": "Everyone has 28 days of paid leave a year.", "start": 4810, "end": 4852, "version": 2, "content_hash": "9e7e1473b0eed5527c55057fc3024606871f54a1dde1d2388effafe5d42b7fdd", "scores": {"dense": 0.71, "lexical": 12.3, "fused": 0.94, "reranked": 1.31}, "duplicates": [], "origin": "document", "grade": "correct", "metadata": {"team": "people"}}], "validation": {"ok": true, "level": "cited", "effective_level": "cited", "attempts": 1, "warnings": [], "errors": []}, "model": "llama-3.3-70b-versatile", "provider": "groq", "cache_hit": false, "usage": {"llm_calls": 1, "prompt_tokens": 812, "completion_tokens": 24, "estimated": false, "cost_usd": 0.0005, "wasted": {"llm_calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}}, "timings_ms": {"plan": 0.0, "retrieve": 6.9, "grade": 0.4, "rewrite": 0.0, "generate": 412.7, "validate": 0.1, "total": 420.1}}))),
                ("partial" = (summary = "A part has no answer in the documents", value = json!({"id": "0199c1f0-a1b2-7c3d-8e4f-5a6b7c8d9e0f", "outcome": "partial", "reason": null, "missing": ["who repairs broken laptops?"], "answer": "Everyone has 28 days of paid leave a year. [^1]", "citations": [{"marker": 1, "span": [43, 47], "claim": [0, 42], "source_index": 0, "urn": "cited:handbook/0199c1f0-9d30-7311-b0aa-04f1d2c3b4a5@2#3", "support": 0.98, "quote": {"text": "Everyone has 28 days of paid leave a year.", "start": 4810, "end": 4852}}], "sources": [{"urn": "cited:handbook/0199c1f0-9d30-7311-b0aa-04f1d2c3b4a5@2#3", "document_id": "0199c1f0-9d30-7311-b0aa-04f1d2c3b4a5", "collection": "handbook", "source": "leave.md", "title": "Leave", "uri": "leave.md", "page": null, "heading": ["Annual leave"], "text": "Everyone has 28 days of paid leave a year.", "start": 4810, "end": 4852, "version": 2, "content_hash": "9e7e1473b0eed5527c55057fc3024606871f54a1dde1d2388effafe5d42b7fdd", "scores": {"dense": 0.71, "lexical": 12.3, "fused": 0.94, "reranked": 1.31}, "duplicates": [], "origin": "document", "grade": "correct", "metadata": {"team": "people"}}], "validation": {"ok": true, "level": "cited", "effective_level": "cited", "attempts": 1, "warnings": [], "errors": []}, "model": "llama-3.3-70b-versatile", "provider": "groq", "cache_hit": false, "usage": {"llm_calls": 1, "prompt_tokens": 812, "completion_tokens": 24, "estimated": false, "cost_usd": 0.0005, "wasted": {"llm_calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}}, "timings_ms": {"plan": 0.0, "retrieve": 6.9, "grade": 0.4, "rewrite": 0.0, "generate": 412.7, "validate": 0.1, "total": 420.1}}))),
                ("abstained" = (summary = "The documents do not answer the question", value = json!({"id": "0199c1f0-a1b2-7c3d-8e4f-5a6b7c8d9e0f", "outcome": "abstained", "reason": "no_relevant_content", "missing": [], "answer": null, "citations": [], "sources": [{"urn": "cited:handbook/0199c1f0-9d30-7311-b0aa-04f1d2c3b4a5@2#3", "document_id": "0199c1f0-9d30-7311-b0aa-04f1d2c3b4a5", "collection": "handbook", "source": "leave.md", "title": "Leave", "uri": "leave.md", "page": null, "heading": ["Annual leave"], "text": "Everyone has 28 days of paid leave a year.", "start": 4810, "end": 4852, "version": 2, "content_hash": "9e7e1473b0eed5527c55057fc3024606871f54a1dde1d2388effafe5d42b7fdd", "scores": {"dense": 0.71, "lexical": 12.3, "fused": 0.94, "reranked": 1.31}, "duplicates": [], "origin": "document", "grade": "incorrect", "metadata": {"team": "people"}}], "validation": {"ok": true, "level": "cited", "effective_level": "cited", "attempts": 0, "warnings": [], "errors": []}, "model": null, "provider": null, "cache_hit": false, "usage": {"llm_calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "estimated": false, "cost_usd": 0.0, "wasted": {"llm_calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}}, "timings_ms": {"plan": 0.0, "retrieve": 6.9, "grade": 0.4, "rewrite": 0.0, "generate": 412.7, "validate": 0.1, "total": 420.1}}))),
                ("dry_run" = (summary = "Stopped before generation, as asked", value = json!({"id": "0199c1f0-a1b2-7c3d-8e4f-5a6b7c8d9e0f", "outcome": "dry_run", "reason": null, "missing": [], "answer": null, "citations": [], "sources": [{"urn": "cited:handbook/0199c1f0-9d30-7311-b0aa-04f1d2c3b4a5@2#3", "document_id": "0199c1f0-9d30-7311-b0aa-04f1d2c3b4a5", "collection": "handbook", "source": "leave.md", "title": "Leave", "uri": "leave.md", "page": null, "heading": ["Annual leave"], "text": "Everyone has 28 days of paid leave a year.", "start": 4810, "end": 4852, "version": 2, "content_hash": "9e7e1473b0eed5527c55057fc3024606871f54a1dde1d2388effafe5d42b7fdd", "scores": {"dense": 0.71, "lexical": 12.3, "fused": 0.94, "reranked": 1.31}, "duplicates": [], "origin": "document", "grade": "correct", "metadata": {"team": "people"}}], "validation": {"ok": true, "level": "cited", "effective_level": "cited", "attempts": 0, "warnings": [], "errors": []}, "model": null, "provider": null, "cache_hit": false, "usage": {"llm_calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "estimated": false, "cost_usd": 0.0, "wasted": {"llm_calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}}, "timings_ms": {"plan": 0.0, "retrieve": 6.9, "grade": 0.4, "rewrite": 0.0, "generate": 412.7, "validate": 0.1, "total": 420.1}, "plan": {"type": "lookup", "strategy": "direct", "sub_questions": [], "by": "built_in"}}))),
            )),
            (String = "text/event-stream", example = "event: sources\ndata: {\"sources\":[…]}\n\nevent: token\ndata: {\"text\":\"Everyone has\"}\n\nevent: claim\ndata: {\"span\":[0,42],\"markers\":[1],\"support\":0.98,\"citations\":[…]}\n\nevent: answer\ndata: {\"id\":\"0199…\",\"outcome\":\"answered\",…}\n\n"),
        )),
        (status = 400, description = "The body is not JSON", body = Problem, content_type = "application/problem+json"),
        (status = 401, description = "No valid key", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "A collection does not exist", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "A collection lives in another vector space", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "The body is too large, or the prompt is over the budget (`budget_exceeded`)", body = Problem, content_type = "application/problem+json",
            examples(
                ("prompt_tokens" = (summary = "A prompt too long", value = json!({"type": "urn:cited:problem:budget_exceeded", "title": "The request needs more than it may spend", "status": 413, "detail": "prompt_tokens would be 9120, over the limit of 8192; ask for fewer sources (top_k) or raise the limit", "code": "budget_exceeded", "instance": "/v1/ask", "request_id": "0199c1f0-a1a0-7b11-9c22-1d2e3f405162", "limit": "prompt_tokens", "value": 8192, "asked": 9120}))),
                ("daily_cost_usd" = (summary = "The day has cost enough", value = json!({"type": "urn:cited:problem:budget_exceeded", "title": "The request needs more than it may spend", "status": 413, "detail": "daily_cost_usd would be 5.0021, over the limit of 5; the next day begins at midnight UTC; raise the limit, or ask cheaper models", "code": "budget_exceeded", "instance": "/v1/ask", "request_id": "0199c1f0-a1a0-7b11-9c22-1d2e3f405162", "limit": "daily_cost_usd", "value": 5.0, "asked": 5.0021}))),
            )),
        (status = 415, description = "The body is not declared as JSON", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "A value is wrong (`invalid_request`), or the citations were wrong after the retry (`citation_validation`)", body = Problem, content_type = "application/problem+json",
            examples(
                ("citation_validation" = (summary = "Wrong citations, twice", value = json!({"type": "urn:cited:problem:citation_validation", "title": "The answer's citations do not hold", "status": 422, "detail": "the answer of llama-3.3-70b-versatile (groq) failed validation at level \"cited\" after 2 attempts; validation.errors lists what was wrong", "code": "citation_validation", "instance": "/v1/ask", "request_id": "0199c1f0-a1a0-7b11-9c22-1d2e3f405162", "validation": {"ok": false, "level": "cited", "effective_level": "cited", "attempts": 2, "warnings": [], "errors": [{"kind": "out_of_range", "detail": "source 7 does not exist; there are 3 sources", "marker": 7, "span": [41, 45]}]}, "model": "llama-3.3-70b-versatile", "provider": "groq", "usage": {"llm_calls": 2, "prompt_tokens": 912, "completion_tokens": 80, "estimated": false, "cost_usd": 0.0}, "sources": []}))),
                ("invalid_request" = (summary = "Wrong values", value = json!({"type": "urn:cited:problem:invalid_request", "title": "The request has wrong values", "status": 422, "detail": "/top_k: must be 1 to 100", "code": "invalid_request", "instance": "/v1/ask", "request_id": "0199c1f0-a1a0-7b11-9c22-1d2e3f405162", "errors": [{"pointer": "/top_k", "detail": "must be 1 to 100"}]}))),
            )),
        (status = 503, description = "Model provider or database not available, or the ask could not be audited", body = Problem, content_type = "application/problem+json",
            examples(
                ("providers_unavailable" = (summary = "No model answered", value = json!({"type": "urn:cited:problem:providers_unavailable", "title": "Something that the service needs is not available", "status": 503, "detail": "the model provider failed: no answer within 10.0 s", "code": "providers_unavailable", "instance": "/v1/ask", "request_id": "0199c1f0-a1a0-7b11-9c22-1d2e3f405162", "attempts": [{"provider": "groq", "model": "llama-3.3-70b-versatile", "kind": "timeout", "detail": "no answer within 10.0 s", "tried": true, "duration_ms": 10001.2}]}))),
                ("audit_unavailable" = (summary = "It could not be noted", value = json!({"type": "urn:cited:problem:audit_unavailable", "title": "Something that the service needs is not available", "status": 503, "detail": "the answer could not be noted in the audit, so it is not given; try again shortly", "code": "audit_unavailable", "instance": "/v1/ask", "request_id": "0199c1f0-a1a0-7b11-9c22-1d2e3f405162"}))),
            )),
        (status = 504, description = "The time limit was reached", body = Problem, content_type = "application/problem+json",
            examples(
                ("deadline" = (summary = "The time was up", value = json!({"type": "urn:cited:problem:deadline", "title": "The answer took too long", "status": 504, "detail": "the limit of 30000 ms was reached while generating; raise limits.timeout_ms or ask for less", "code": "deadline", "instance": "/v1/ask", "request_id": "0199c1f0-a1a0-7b11-9c22-1d2e3f405162", "stage": "generating", "limit_ms": 30000, "usage": {"llm_calls": 2, "prompt_tokens": 912, "completion_tokens": 80, "estimated": false, "cost_usd": 0.0}, "attempts": [{"provider": "groq", "model": "llama-3.3-70b-versatile", "kind": "timeout", "detail": "no answer within 10.0 s", "tried": true, "duration_ms": 10001.2}]}))),
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
            let draft = include.contains(&IncludeBody::Draft).then(|| draft_json(&rejection.draft));
            let problem = rejection_problem(*rejection);
            Err(match draft {
                Some(draft) => problem.with("draft", draft),
                None => problem,
            })
        }
        Err(error) => Err(error.into()),
    }
}

/// What was spent, as the API shows it.
pub(in crate::http) fn usage_json(usage: &Spent) -> Value {
    json!({
        "llm_calls": usage.llm_calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "estimated": usage.has_estimates,
        "cost_usd": usage.cost.usd(),
        "wasted": {
            "llm_calls": usage.wasted.llm_calls,
            "prompt_tokens": usage.wasted.prompt_tokens,
            "completion_tokens": usage.wasted.completion_tokens,
            "cost_usd": usage.wasted.cost.usd(),
        },
    })
}

/// 422 after the retry: what was wrong, over which sources, at what cost.
pub(in crate::http) fn rejection_problem(rejection: Rejection) -> ApiError {
    let level = rejection.level;
    let detail = format!(
        "the answer of {} ({}) failed validation at level {:?} after {} attempts; validation.errors lists what was wrong",
        rejection.by.model,
        rejection.by.provider,
        level.as_str(),
        rejection.attempts
    );
    let warnings: Vec<FindingBody> = rejection.warnings.iter().map(FindingBody::from).collect();
    let sources: Vec<SourceBody> =
        rejection.sources.into_iter().map(|graded| SourceBody::new(graded.hit, Some(graded.verdict.grade))).collect();
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "citation_validation", "The answer's citations do not hold", detail)
        .with(
            "validation",
            json!({
                "ok": false, "level": level, "effective_level": level, "attempts": rejection.attempts,
                "warnings": warnings, "errors": rejection.errors,
            }),
        )
        .with("model", json!(rejection.by.model))
        .with("provider", json!(rejection.by.provider))
        .with("usage", usage_json(&rejection.usage))
        .with("sources", json!(sources))
}
