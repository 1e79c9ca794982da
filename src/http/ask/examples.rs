//! Examples of what an ask ends with, for the `OpenAPI` document.

use serde_json::{Value, json};

const URN: &str = "cited:handbook/0199c1f0-9d30-7311-b0aa-04f1d2c3b4a5@2#3";
const SENTENCE: &str = "Everyone has 28 days of paid leave a year.";

fn source(grade: &str) -> Value {
    json!({
        "urn": URN, "document_id": "0199c1f0-9d30-7311-b0aa-04f1d2c3b4a5", "collection": "handbook",
        "source": "leave.md", "title": "Leave", "uri": "leave.md", "page": null, "heading": ["Annual leave"],
        "text": SENTENCE, "start": 4810, "end": 4852, "version": 2,
        "content_hash": "9e7e1473b0eed5527c55057fc3024606871f54a1dde1d2388effafe5d42b7fdd",
        "scores": {"dense": 0.71, "lexical": 12.3, "fused": 0.94, "reranked": 1.31},
        "duplicates": [], "origin": "document", "grade": grade, "metadata": {"team": "people"},
    })
}

fn citation() -> Value {
    json!({
        "marker": 1, "span": [43, 47], "claim": [0, 42], "source_index": 0, "urn": URN, "support": 0.98,
        "quote": {"text": SENTENCE, "start": 4810, "end": 4852},
    })
}

fn usage(llm_calls: u32, prompt_tokens: u32, completion_tokens: u32) -> Value {
    json!({
        "llm_calls": llm_calls, "prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens,
        "estimated": false, "cost_usd": 0.0,
        "wasted": {"llm_calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0},
    })
}

/// An answer with the members of `other` in place of its own.
fn answer(other: Value) -> Value {
    let mut answer = json!({
        "id": "0199c1f0-a1b2-7c3d-8e4f-5a6b7c8d9e0f", "outcome": "answered", "reason": null, "missing": [],
        "answer": format!("{SENTENCE} [^1]"), "citations": [citation()], "sources": [source("correct")],
        "evidence": {"answerability": 0.97, "correct": 1, "ambiguous": 0, "incorrect": 0},
        "validation": {
            "ok": true, "level": "cited", "effective_level": "cited", "attempts": 1, "warnings": [], "errors": [],
        },
        "model": "llama-3.3-70b-versatile", "provider": "groq", "cache_hit": false, "usage": usage(1, 812, 24),
        "timings_ms": {
            "plan": 0.0, "retrieve": 6.9, "grade": 0.4, "rewrite": 0.0, "generate": 412.7, "validate": 0.1,
            "total": 420.1,
        },
    });
    merge(&mut answer, other);
    answer
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => into.extend(from),
        (into, from) => *into = from,
    }
}

/// An answer that was not written.
fn unwritten(other: Value) -> Value {
    let mut none = answer(json!({
        "answer": null, "citations": [], "model": null, "provider": null, "usage": usage(0, 0, 0),
        "validation": {
            "ok": true, "level": "cited", "effective_level": "cited", "attempts": 0, "warnings": [], "errors": [],
        },
        "timings_ms": {
            "plan": 0.0, "retrieve": 6.9, "grade": 0.4, "rewrite": 0.0, "generate": 0.0, "validate": 0.0, "total": 7.3,
        },
    }));
    merge(&mut none, other);
    none
}

pub(super) fn answered() -> Value {
    answer(json!({}))
}

pub(super) fn partial() -> Value {
    answer(json!({"outcome": "partial", "missing": ["who repairs broken laptops?"]}))
}

pub(super) fn dry_run() -> Value {
    unwritten(json!({
        "outcome": "dry_run",
        "plan": {"type": "lookup", "strategy": "direct", "sub_questions": [], "by": "built_in"},
    }))
}

pub(super) fn no_relevant_content() -> Value {
    abstained(
        "no_relevant_content",
        "incorrect",
        &json!({"answerability": 0.02, "correct": 0, "ambiguous": 0, "incorrect": 1}),
    )
}

pub(super) fn low_support() -> Value {
    abstained("low_support", "ambiguous", &json!({"answerability": 0.34, "correct": 0, "ambiguous": 1, "incorrect": 0}))
}

pub(super) fn out_of_budget() -> Value {
    abstained(
        "out_of_budget",
        "ambiguous",
        &json!({"answerability": 0.34, "correct": 0, "ambiguous": 1, "incorrect": 0}),
    )
}

pub(super) fn empty_collection() -> Value {
    unwritten(json!({
        "outcome": "abstained", "reason": "empty_collection", "sources": [],
        "evidence": {"answerability": null, "correct": 0, "ambiguous": 0, "incorrect": 0},
    }))
}

fn abstained(reason: &str, grade: &str, evidence: &Value) -> Value {
    unwritten(json!({
        "outcome": "abstained", "reason": reason, "sources": [source(grade)], "evidence": evidence,
    }))
}

/// A problem document of an ask, with the members that its kind adds.
fn problem(status: u16, code: &str, title: &str, detail: &str, other: Value) -> Value {
    let mut problem = json!({
        "type": format!("urn:cited:problem:{code}"), "title": title, "status": status, "detail": detail, "code": code,
        "instance": "/v1/ask", "request_id": "0199c1f0-a1a0-7b11-9c22-1d2e3f405162",
    });
    merge(&mut problem, other);
    problem
}

pub(super) fn unreadable_body() -> Value {
    let detail = "the body is not valid JSON: expected `,` or `}` at line 1 column 31";
    problem(400, "unreadable_body", "The request body cannot be read", detail, json!({}))
}

pub(super) fn unauthorized() -> Value {
    let detail = "this service needs a key; send it as Authorization: Bearer <key>";
    problem(401, "unauthorized", "The request has no valid key", detail, json!({}))
}

pub(super) fn not_found() -> Value {
    problem(404, "not_found", "There is no such thing", "collection \"handbok\" does not exist", json!({}))
}

pub(super) fn embedding_profile_mismatch() -> Value {
    let detail = "collections \"handbook\" and \"archive\" were embedded with minilm and bge-m3, whose vectors cannot be \
                  compared; search them one after the other, or with mode \"lexical\"";
    let title = "The request contradicts what is stored";
    problem(409, "embedding_profile_mismatch", title, detail, json!({}))
}

pub(super) fn unsupported_media_type() -> Value {
    let detail = "send application/json and say so in the Content-Type header";
    problem(415, "unsupported_media_type", "The request body has the wrong format", detail, json!({}))
}

pub(super) fn body_too_large() -> Value {
    let detail = "the request body is over the limit of 262144 bytes; send less at once";
    let limit = json!({"limit": "body_bytes", "value": 262_144});
    problem(413, "body_too_large", "The request body is too large", detail, limit)
}

pub(super) fn headers_too_large() -> Value {
    let detail = "path, query and headers have 40118 bytes together, the limit is 32768; send long values in the body";
    problem(431, "headers_too_large", "The headers are too large", detail, json!({}))
}

fn budget(detail: &str, limit: Value) -> Value {
    problem(413, "budget_exceeded", "The request needs more than it may spend", detail, limit)
}

pub(super) fn prompt_tokens() -> Value {
    budget(
        "prompt_tokens would be 9120, over the limit of 8192; ask for fewer sources (top_k) or raise the limit",
        json!({"limit": "prompt_tokens", "value": 8192, "asked": 9120}),
    )
}

pub(super) fn daily_cost() -> Value {
    budget(
        "daily_cost_usd would be 5.0021, over the limit of 5; the next day begins at midnight UTC; raise the limit, \
         or ask cheaper models",
        json!({"limit": "daily_cost_usd", "value": 5.0, "asked": 5.0021}),
    )
}

fn rejected(level: &str, errors: &Value) -> Value {
    let detail = format!(
        "the answer of llama-3.3-70b-versatile (groq) failed validation at level \"{level}\" after 2 attempts; \
         validation.errors lists what was wrong"
    );
    let validation = json!({
        "ok": false, "level": level, "effective_level": level, "attempts": 2, "warnings": [], "errors": errors,
    });
    problem(
        422,
        "citation_validation",
        "The answer's citations do not hold",
        &detail,
        json!({
            "validation": validation, "model": "llama-3.3-70b-versatile", "provider": "groq",
            "usage": usage(2, 912, 80), "sources": [source("correct")],
        }),
    )
}

pub(super) fn out_of_range() -> Value {
    let detail = "source 7 does not exist; there is 1 source";
    rejected("cited", &json!([{"kind": "out_of_range", "detail": detail, "marker": 7, "span": [43, 47]}]))
}

pub(super) fn unsupported_claim() -> Value {
    let detail = "[^1] supports this statement to 0.31, less than 0.34; not found there: the number 30";
    let error = json!({"kind": "unsupported_claim", "detail": detail, "marker": 1, "span": [0, 42], "support": 0.31});
    rejected("supported", &json!([error]))
}

pub(super) fn invalid_request() -> Value {
    problem(
        422,
        "invalid_request",
        "The request has wrong values",
        "/top_k: must lie between 1 and 100",
        json!({"errors": [{"pointer": "/top_k", "detail": "must lie between 1 and 100"}]}),
    )
}

fn attempts() -> Value {
    json!([{
        "provider": "groq", "model": "llama-3.3-70b-versatile", "kind": "timeout", "detail": "no answer within 10.0 s",
        "tried": true, "duration_ms": 10001.2,
    }])
}

fn unavailable(code: &str, detail: &str, other: Value) -> Value {
    problem(503, code, "Something that the service needs is not available", detail, other)
}

pub(super) fn providers_unavailable() -> Value {
    let detail = "the model provider failed: no answer within 10.0 s";
    unavailable("providers_unavailable", detail, json!({"attempts": attempts()}))
}

pub(super) fn audit_unavailable() -> Value {
    let detail = "the answer could not be noted in the audit, so it is not given; try again shortly";
    unavailable("audit_unavailable", detail, json!({}))
}

pub(super) fn database_unavailable() -> Value {
    unavailable("database_unavailable", "the database cannot be reached; try again shortly", json!({}))
}

pub(super) fn deadline() -> Value {
    let detail = "the limit of 30000 ms was reached while generating; ask for less, or raise limits.timeout_ms, which counts up to \
                  CITED_ASK_TIMEOUT_S";
    problem(
        504,
        "deadline",
        "The answer took too long",
        detail,
        json!({
            "stage": "generating", "limit_ms": 30000, "usage": usage(2, 912, 80), "attempts": attempts(),
        }),
    )
}

fn frames(frames: &[(&str, Value)]) -> String {
    frames.iter().map(|(event, data)| format!("event: {event}\ndata: {data}\n\n")).collect()
}

fn sources_frame() -> (&'static str, Value) {
    ("sources", json!({"sources": [source("correct")]}))
}

/// A draft that is refused, another one that passes, and the answer.
pub(super) fn stream_of_an_answer() -> String {
    let detail = "source 7 does not exist; there is 1 source";
    let error = json!({"kind": "out_of_range", "detail": detail, "marker": 7, "span": [43, 47]});
    frames(&[
        sources_frame(),
        ("token", json!({"text": format!("{SENTENCE} [^7]")})),
        ("retry", json!({"reason": "citation_validation", "errors": [error]})),
        ("token", json!({"text": "Everyone has 28 days"})),
        ("token", json!({"text": " of paid leave a year. [^1]"})),
        ("claim", json!({"span": [0, 42], "markers": [1], "support": 0.98, "citations": [citation()]})),
        ("answer", answered()),
    ])
}

/// A model that falls silent.
pub(super) fn stream_of_an_error() -> String {
    frames(&[sources_frame(), ("token", json!({"text": "Everyone has"})), ("error", deadline())])
}
