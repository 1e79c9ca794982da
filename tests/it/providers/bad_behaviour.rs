//! A provider that does everything badly: for each fault the problem, the frames and the audit row.

use reqwest::Method;
use serde_json::{Value, json};

use super::faults::{ANSWER, CUT, FAULTS, Fault, MANY_MARKERS, NO_WORD, TOLD, UNAVAILABLE, VOID, body};
use crate::{
    dialect::Dialect,
    harness::{TestApp, body_of},
    scripted::{ModelServer, Piece, Reply, Role},
};

const QUESTION: &str = "How many days of paid annual leave does everyone have?";
/// A service whose only model speaks this dialect.
async fn app(dialect: Dialect) -> (ModelServer, TestApp) {
    let server = ModelServer::start().await;
    server.say(Role::Grade, "1: correct");
    server.say(Role::Answer, ANSWER);
    let kind = match dialect {
        Dialect::OpenAi => "openai",
        Dialect::Anthropic => "anthropic",
    };
    let file = format!("models = [\"p:m\"]\n[providers.p]\nkind = \"{kind}\"\nbase_url = \"{}\"\n", server.base_url());
    let app = TestApp::with_file(&server, &[], &file).await;
    app.ingest("handbook", &[("leave.md", "Everyone has 28 days of paid annual leave a year.")]).await;
    (server, app)
}

/// Time for what never comes, and for what only takes its time on a busy machine.
const HURRY_MS: u32 = 2_500;
const PATIENCE_MS: u32 = 25_000;

fn request(is_stream: bool, timeout_ms: u32) -> Value {
    let limits = json!({"timeout_ms": timeout_ms});
    json!({"question": QUESTION, "collections": ["handbook"], "limits": limits, "stream": is_stream})
}

/// The names of the frames: words and claims are a `draft`, once for all that follow each other.
fn frames(events: &str) -> Vec<&str> {
    let names = events.lines().filter_map(|line| line.strip_prefix("event: "));
    let mut names: Vec<&str> =
        names.map(|name| if matches!(name, "token" | "claim") { "draft" } else { name }).collect();
    names.dedup();
    // The model's time is up with that of the ask: whether its words are taken back first is left to chance.
    if events.contains("\"code\":\"deadline\"") {
        names.retain(|name| *name != "retry");
    }
    names
}

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

/// The outcome of a reply.
struct Outcome {
    /// Of the response.
    status: u16,
    /// The end of the ask.
    end: Value,
    /// All that was sent: of a stream its frames.
    text: String,
    /// The row in the audit.
    row: Value,
}

async fn outcome(server: &ModelServer, app: &TestApp, reply: Reply, is_stream: bool, timeout_ms: u32) -> Outcome {
    // A success in between, so that no fault is held against the next one.
    server.say(Role::Answer, ANSWER);
    server.drop_reply(Role::Answer);
    assert_eq!(app.ask(request(false, PATIENCE_MS)).await.status, 200);
    server.reply(Role::Answer, reply);
    server.drop_reply(Role::Answer);
    let sent =
        app.request(Method::POST, "/v1/ask").json(&request(is_stream, timeout_ms)).send().await.expect("an answer");
    let status = sent.status().as_u16();
    let text = body_of(sent).await;
    let end: Value = if is_stream { end_of(&text) } else { serde_json::from_str(&text).expect("JSON") };
    let row = app.get("/v1/audit?limit=1").await.body["asks"][0].clone();
    Outcome { status, end, text, row }
}

/// For an end: its HTTP status, and how the audit calls it, its reason and the number of drafts.
fn expected(end: &str) -> (u16, &str, Value, u8) {
    match end {
        "answered" => (200, end, Value::Null, 1),
        "deadline" => (504, end, json!("generating"), 0),
        "budget_exceeded" => (413, end, json!("prompt_tokens"), 1),
        "citation_validation" => (422, "rejected", Value::Null, 2),
        UNAVAILABLE => (503, end, Value::Null, 0),
        other => panic!("{other} is no end"),
    }
}

/// Kind of each failed attempt, and whether it was made.
fn attempts(list: &Value) -> Vec<(&str, bool)> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(|attempt| (attempt["kind"].as_str().expect("a kind"), attempt["tried"] == true)).collect()
}

/// Checks the traces of single faults in the answer, besides its end.
fn check_answer(name: &str, Outcome { end, row, .. }: &Outcome) {
    let citations = end["citations"].as_array().map_or(0, Vec::len);
    let warnings = if name == CUT { json!(["length_cut"]) } else { json!([]) };
    match name {
        MANY_MARKERS => assert_eq!(citations, 10_001),
        _ => assert_eq!(citations, 1, "{name}: {end}"),
    }
    assert_eq!(row["citations"].as_array().map(Vec::len), Some(citations), "{name}");
    assert_eq!(row["validation"]["warnings"], warnings, "{name}: {row}");
    let told = end["validation"]["warnings"].as_array().expect("warnings");
    let told: Vec<&Value> = told.iter().map(|warning| &warning["kind"]).collect();
    assert_eq!(json!(told), warnings, "{name}: {end}");
}

async fn every_fault_ends_as_it_should(dialect: Dialect) {
    for is_stream in [false, true] {
        let (server, app) = app(dialect).await;
        for Fault { name, reply, end: (end, kind), frames: expected_frames } in &FAULTS {
            let case = format!("{name}, {dialect:?}, stream {is_stream}");
            let timeout_ms = if *end == "deadline" { HURRY_MS } else { PATIENCE_MS };
            let outcome = outcome(&server, &app, reply(dialect, is_stream), is_stream, timeout_ms).await;
            let Outcome { status, end: body, text, row } = &outcome;
            let (expected_status, audited, reason, drafts) = expected(end);
            let found = body["code"].as_str().or(body["outcome"].as_str());
            assert_eq!(found, Some(*end), "{case}: {body}");
            assert_eq!(*status, if is_stream { 200 } else { expected_status }, "{case}: {body}");
            if *end == "answered" {
                check_answer(name, &outcome);
            } else {
                assert_eq!(body["status"], expected_status, "{case}: {body}");
            }
            if is_stream {
                assert_eq!(frames(text), *expected_frames, "{case}: {text}");
            }
            assert_eq!((&row["outcome"], &row["stream"]), (&json!(audited), &json!(is_stream)), "{case}: {row}");
            assert_eq!((&row["reason"], &row["validation"]["attempts"]), (&reason, &json!(drafts)), "{case}: {row}");
            let failed: Vec<(&str, bool)> = kind.iter().map(|kind| (*kind, true)).collect();
            assert_eq!(attempts(&body["attempts"]), failed, "{case}: {body}");
            let calls = row["calls"].as_array().expect("calls");
            let audited: Vec<_> = calls.iter().flat_map(|call| attempts(&call["failed_attempts"])).collect();
            assert_eq!(audited, failed, "{case}: {row}");
        }
        app.stop().await;
    }
}

#[tokio::test]
async fn every_fault_of_an_openai_server_ends_as_it_should() {
    every_fault_ends_as_it_should(Dialect::OpenAi).await;
}

#[tokio::test]
async fn every_fault_of_an_anthropic_server_ends_as_it_should() {
    every_fault_ends_as_it_should(Dialect::Anthropic).await;
}

/// Bytes between two places where a stream is cut: about thirty places, in every part of an event.
const CUT_STEP: usize = 127;

#[tokio::test]
async fn a_stream_cut_anywhere_is_the_whole_answer_or_an_error() {
    for dialect in [Dialect::OpenAi, Dialect::Anthropic] {
        let (server, app) = app(dialect).await;
        let whole = dialect.stream(ANSWER, false, true);
        let (mut answered, mut failed) = (0, 0);
        for cut in (0..whole.len()).step_by(CUT_STEP).chain([whole.len() - 1]) {
            let begun = vec![Piece::Bytes(whole.as_bytes()[..cut].to_vec())];
            let Outcome { end, text, row, .. } = outcome(&server, &app, body(true, begun), true, PATIENCE_MS).await;
            if end["outcome"] == "answered" {
                answered += 1;
                assert_eq!(end["answer"], ANSWER, "cut at {cut}");
                assert_eq!((frames(&text).as_slice(), &row["outcome"]), (TOLD, &json!("answered")), "cut at {cut}");
            } else {
                failed += 1;
                let kind = &end["attempts"][0]["kind"];
                assert_eq!((&end["code"], kind), (&json!(UNAVAILABLE), &json!("interrupted")), "cut at {cut}: {end}");
                let expected = if text.contains("event: token") { VOID } else { NO_WORD };
                assert_eq!((frames(&text).as_slice(), &row["outcome"]), (expected, &json!(UNAVAILABLE)), "at {cut}");
            }
        }
        assert!(answered > 0 && failed > answered, "{answered} answered, {failed} failed");
        app.stop().await;
    }
}
