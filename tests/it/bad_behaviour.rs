//! A provider that does everything badly: for each fault the problem, the frames and the audit row.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::{
    dialect::Dialect,
    harness::TestApp,
    scripted::{ModelServer, Piece, Reply, Role},
};

const QUESTION: &str = "How many days of paid annual leave does everyone have?";
const ANSWER: &str = "Everyone has 28 days of paid annual leave a year [^1].";

/// How an ask is to end: `answered` or the code of a problem, and the kind of the provider's failure.
type End = (&'static str, Option<&'static str>);
type Fault = (&'static str, fn(bool) -> Reply, End);

fn body(is_stream: bool, bytes: Vec<Piece>) -> Reply {
    Reply::Pieces(if is_stream { "text/event-stream" } else { "application/json" }, bytes)
}

fn bytes(text: &str) -> Piece {
    Piece::Bytes(text.as_bytes().to_vec())
}

/// The beginning of a good reply.
fn half(is_stream: bool) -> Vec<Piece> {
    if is_stream {
        let begun = Dialect::OpenAi.begin().concat() + &Dialect::OpenAi.piece("Everyone has 28");
        vec![bytes(&begun)]
    } else {
        vec![bytes("{\"choices\": [{\"message\": {\"content\": \"Everyone has 28")]
    }
}

/// A good reply with this instead of its delta or message.
fn odd(is_stream: bool, member: &Value) -> Reply {
    let choice = if is_stream {
        format!(
            "data: {}\n\ndata: [DONE]\n\n",
            json!({"choices": [{"index": 0, "delta": member, "finish_reason": "stop"}]})
        )
    } else {
        json!({"choices": [{"index": 0, "message": member, "finish_reason": "stop"}]}).to_string()
    };
    body(is_stream, vec![bytes(&choice)])
}

const UNAVAILABLE: &str = "providers_unavailable";

const FAULTS: [Fault; 17] = [
    ("500", |_| Reply::Status(500, "oops".to_owned()), (UNAVAILABLE, Some("server_error"))),
    ("429 for now", |_| Reply::Status(429, "slow down".to_owned()), (UNAVAILABLE, Some("rate_limited"))),
    ("reset at once", |is_stream| body(is_stream, vec![Piece::Break]), (UNAVAILABLE, Some("interrupted"))),
    (
        "reset mid-body",
        |is_stream| body(is_stream, half(is_stream).into_iter().chain([Piece::Break]).collect()),
        (UNAVAILABLE, Some("interrupted")),
    ),
    (
        "one byte a second",
        |is_stream| {
            let trickle =
                ANSWER.bytes().flat_map(|byte| [Piece::Wait(Duration::from_secs(1)), Piece::Bytes(vec![byte])]);
            body(is_stream, half(is_stream).into_iter().chain(trickle).collect())
        },
        ("deadline", Some("timeout")),
    ),
    ("never", |_| Reply::Slow(Duration::from_secs(30), ANSWER.to_owned()), ("deadline", Some("timeout"))),
    (
        "HTML",
        |is_stream| {
            body(is_stream, vec![bytes(if is_stream { "data: <html>busy</html>\n\n" } else { "<html>busy</html>" })])
        },
        (UNAVAILABLE, Some("invalid_reply")),
    ),
    (
        "no UTF-8",
        |is_stream| {
            body(
                is_stream,
                vec![bytes(if is_stream { "data: " } else { "" }), Piece::Bytes(vec![0xff, 0xfe, b'\n', b'\n'])],
            )
        },
        (UNAVAILABLE, Some("invalid_reply")),
    ),
    (
        "no choice",
        |is_stream| {
            let empty = json!({"choices": []});
            body(
                is_stream,
                vec![bytes(&if is_stream { format!("data: {empty}\n\ndata: [DONE]\n\n") } else { empty.to_string() })],
            )
        },
        (UNAVAILABLE, Some("invalid_reply")),
    ),
    (
        "tool calls instead of text",
        |is_stream| {
            odd(
                is_stream,
                &json!({"content": null, "tool_calls": [{"index": 0, "id": "t", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}),
            )
        },
        (UNAVAILABLE, Some("invalid_reply")),
    ),
    (
        "401",
        |_| Reply::Status(401, json!({"error": {"message": "no"}}).to_string()),
        (UNAVAILABLE, Some("unauthorized")),
    ),
    (
        "an invented source, twice",
        |_| Reply::Text("Everyone has 28 days of leave [^4].".to_owned()),
        ("citation_validation", None),
    ),
    ("ten thousand markers", |_| Reply::Text(format!("{ANSWER}{}", "[^1]".repeat(10_000))), ("answered", None)),
    (
        // What was wrong with it does not fit into a second prompt.
        "ten thousand invented markers",
        |_| Reply::Text((1..=10_000).map(|number| format!("[^{number}]")).collect()),
        ("budget_exceeded", None),
    ),
    (
        "a marker in many pieces",
        |is_stream| {
            if !is_stream {
                return Reply::Text(ANSWER.to_owned());
            }
            let dialect = Dialect::OpenAi;
            let pieces: String = ANSWER.chars().map(|sign| dialect.piece(&sign.to_string())).collect();
            body(true, vec![bytes(&(dialect.begin().concat() + &pieces + &dialect.end(false, true).concat()))])
        },
        ("answered", None),
    ),
    ("cut at the token limit", |_| Reply::Cut(ANSWER.to_owned()), ("answered", None)),
    // The last, because a provider without quota is left alone for a while.
    (
        "429 for good",
        |_| Reply::Status(429, json!({"error": {"code": "insufficient_quota", "message": "pay"}}).to_string()),
        (UNAVAILABLE, Some("quota_exhausted")),
    ),
];

/// The last of the frames, which must be the only end.
fn end_of(events: &str) -> Value {
    let ends: Vec<&str> = events
        .split("\n\n")
        .filter(|block| block.starts_with("event: answer") || block.starts_with("event: error"))
        .collect();
    assert_eq!(ends.len(), 1, "exactly one end: {events}");
    assert!(events.trim_end().ends_with(ends[0].trim_end()), "and it is the last: {events}");
    serde_json::from_str(ends[0].split_once("data: ").expect("data").1).expect("JSON")
}

#[tokio::test]
async fn every_fault_ends_as_it_should_at_once_and_as_a_stream() {
    for is_stream in [false, true] {
        let server = ModelServer::start().await;
        server.say(Role::Grade, "1: correct");
        server.say(Role::Answer, ANSWER);
        let app = TestApp::with_models(&server).await;
        app.ingest("handbook", &[("leave.md", "Everyone has 28 days of paid annual leave a year.")]).await;
        for (name, reply, (end, kind)) in FAULTS {
            let mut request =
                json!({"question": QUESTION, "collections": ["handbook"], "limits": {"timeout_ms": 2_500}});
            // A success in between, so that no fault is held against the next one.
            server.say(Role::Answer, ANSWER);
            server.drop_reply(Role::Answer);
            assert_eq!(app.ask(request.clone()).await.status, 200, "before {name}");
            server.reply(Role::Answer, reply(is_stream));
            server.drop_reply(Role::Answer);
            request["stream"] = json!(is_stream);
            let sent = app.request(Method::POST, "/v1/ask").json(&request).send().await.expect("an answer");
            let text = sent.text().await.expect("a body");
            let body: Value = if is_stream { end_of(&text) } else { serde_json::from_str(&text).expect("JSON") };
            let found = body["code"].as_str().or(body["outcome"].as_str());
            assert_eq!(found, Some(end), "{name}, stream {is_stream}: {body}");
            if let Some(kind) = kind {
                assert_eq!(body["attempts"][0]["kind"], kind, "{name}, stream {is_stream}: {body}");
            }
            let row = app.get("/v1/audit?limit=1").await.body["asks"][0].clone();
            let expected = if end == "citation_validation" { "rejected" } else { end };
            assert_eq!((&row["outcome"], &row["stream"]), (&json!(expected), &json!(is_stream)), "{name}: {row}");
            if let Some(kind) = kind {
                let calls = row["calls"].as_array().expect("calls");
                let attempts = calls.iter().flat_map(|call| call["failed_attempts"].as_array().expect("attempts"));
                assert!(attempts.into_iter().any(|attempt| attempt["kind"] == kind), "{name}: {row}");
            }
        }
        app.stop().await;
    }
}
