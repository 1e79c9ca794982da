//! The model server down, slow, broken; the client gone.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::{Connection, Executor, PgConnection};

use crate::{
    database,
    harness::TestApp,
    scripted::{ModelServer, Reply, Role},
    wait,
};

const QUESTION: &str = "How many days of paid annual leave does everyone have?";

fn ask() -> Value {
    json!({"question": QUESTION, "collections": ["handbook"]})
}

async fn app(settings: &[(&str, &str)]) -> (ModelServer, TestApp) {
    let server = ModelServer::start().await;
    server.say(Role::Grade, "1: correct");
    let app = TestApp::with_models_and(&server, settings).await;
    app.ingest("handbook", &[("leave.md", "Everyone has 28 days of paid annual leave a year.")]).await;
    (server, app)
}

#[tokio::test]
async fn every_broken_reply_is_a_typed_503() {
    let (server, app) = app(&[]).await;
    let cases = [
        (Reply::Status(500, "oops".to_owned()), "server_error"),
        (Reply::Status(429, "slow down".to_owned()), "rate_limited"),
        (Reply::Status(401, json!({"error": {"message": "bad key"}}).to_string()), "unauthorized"),
        (Reply::Status(400, json!({"error": {"message": "bad model"}}).to_string()), "rejected"),
        (Reply::Body("<html>garbage".to_owned()), "invalid_reply"),
        (Reply::Body(json!({"choices": []}).to_string()), "invalid_reply"),
        (Reply::Body(json!({"choices": [{"message": {"content": null}}]}).to_string()), "invalid_reply"),
        (Reply::Body(json!({"unexpected": true}).to_string()), "invalid_reply"),
        // The last, because a provider without quota is left alone for a while.
        (
            Reply::Status(429, json!({"error": {"code": "insufficient_quota", "message": "pay"}}).to_string()),
            "quota_exhausted",
        ),
    ];
    for (reply, kind) in cases {
        server.reply(Role::Answer, reply.clone());
        server.reply(Role::Answer, Reply::Text("unused".to_owned()));
        let answer = app.ask(ask()).await;
        answer.assert_problem(503, "providers_unavailable");
        assert_eq!(answer.body["attempts"][0]["kind"], kind, "{reply:?}: {answer:?}");
        assert!(answer.headers.contains_key("retry-after"));
        assert!(!answer.body.to_string().contains("secret-model-key"));
        server.drop_reply(Role::Answer);
    }
    app.stop().await;
}

#[tokio::test]
async fn a_server_that_is_down_is_a_503() {
    let (server, app) = app(&[]).await;
    drop(server);
    tokio::task::yield_now().await;
    let answer = app.ask(ask()).await;
    answer.assert_problem(503, "providers_unavailable");
    app.stop().await;
}

#[tokio::test]
async fn a_deadline_names_the_stage() {
    let (server, app) = app(&[]).await;
    server.reply(Role::Answer, Reply::Slow(Duration::from_secs(20), "late".to_owned()));
    let mut request = ask();
    request["limits"] = json!({"timeout_ms": 1500});
    let answer = app.ask(request).await;
    answer.assert_problem(504, "deadline");
    assert_eq!((&answer.body["stage"], &answer.body["limit_ms"]), (&json!("generating"), &json!(1500)));
    assert!(answer.body["usage"]["llm_calls"].as_u64() >= Some(1));
    assert_eq!(server.once_abandoned().await, 1, "the model call is cancelled");
    app.stop().await;
}

/// Statements of the service that wait for a lock.
async fn statements_that_wait(app: &TestApp) -> i64 {
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                   AND application_name = 'cited' AND wait_event_type = 'Lock'";
    database::number(&app.database, waiting).await
}

async fn poll_statements(app: &TestApp, when: &str, holds: impl Fn(i64) -> bool) {
    wait::until(when, async || holds(statements_that_wait(app).await)).await;
}

#[tokio::test]
async fn what_nobody_waits_for_any_more_ends_in_the_database() {
    let (server, app) = app(&[]).await;
    server.say(Role::Answer, "Everyone has 28 days of paid annual leave a year [^1].");
    let mut other = PgConnection::connect_with(&app.database).await.expect("a connection");
    other.execute("BEGIN; LOCK TABLE chunk IN ACCESS EXCLUSIVE MODE").await.expect("a lock");
    let mut request = ask();
    request["limits"] = json!({"timeout_ms": 1000});
    let late = app.ask(request).await;
    late.assert_problem(504, "deadline");
    assert_eq!(late.body["stage"], "retrieving", "{late:?}");
    poll_statements(&app, "after the deadline", |waiting| waiting == 0).await;

    for (path, body) in [("/v1/ask", ask()), ("/v1/search", json!({"query": "leave", "collections": ["handbook"]}))] {
        let request = app.request(reqwest::Method::POST, path).json(&body);
        let impatient = tokio::spawn(async move { request.send().await });
        poll_statements(&app, "the client is there", |waiting| waiting > 0).await;
        impatient.abort();
        poll_statements(&app, "the client has left", |waiting| waiting == 0).await;
    }
    other.close().await.expect("a close");
    assert_eq!(app.ask(ask()).await.status, 200, "the pool has connections as before");
    app.stop().await;
}

#[tokio::test]
async fn a_slow_model_is_a_provider_timeout() {
    let (server, app) = app(&[("CITED_CHAT_TIMEOUT_S", "1")]).await;
    server.reply(Role::Answer, Reply::Slow(Duration::from_secs(20), "late".to_owned()));
    let answer = app.ask(ask()).await;
    answer.assert_problem(503, "providers_unavailable");
    assert_eq!(answer.body["attempts"][0]["kind"], "timeout", "{answer:?}");
    app.stop().await;
}

#[tokio::test]
async fn a_client_that_leaves_cancels_the_model_call() {
    let (server, app) = app(&[]).await;
    server.reply(Role::Answer, Reply::Slow(Duration::from_secs(20), "late".to_owned()));
    let request = app.request(reqwest::Method::POST, "/v1/ask").json(&ask());
    let impatient = tokio::spawn(async move { request.send().await });
    server.wait_for_call(Role::Answer).await;
    impatient.abort();
    assert_eq!(server.once_abandoned().await, 1);
    app.stop().await;
}

#[tokio::test]
async fn a_prompt_over_the_budget_is_refused_by_name() {
    let (server, app) = app(&[]).await;
    server.say(Role::Answer, "Never [^1].");
    // Each of these characters is a token of its own.
    let question = format!("{QUESTION} {}", "日".repeat(8_100));
    let answer = app.ask(json!({"question": question, "collections": ["handbook"]})).await;
    answer.assert_problem(413, "budget_exceeded");
    assert_eq!((&answer.body["limit"], &answer.body["value"]), (&json!("prompt_tokens"), &json!(8192)), "{answer:?}");
    assert!(answer.body["asked"].as_u64() > Some(8192));
    assert!(server.calls(Role::Answer).is_empty());
    app.stop().await;
}
