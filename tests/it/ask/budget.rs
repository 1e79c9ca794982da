//! Limits of an ask: each by name, and a tenant's day exactly, also for concurrent asks.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{Connection, Executor, PgConnection};

use crate::{
    database,
    harness::{TestApp, body_of, send},
    scripted::{ModelServer, Reply, Role},
    wait,
};

const QUESTION: &str = "How many days of paid annual leave does everyone have?";
const ANSWER: &str = "Everyone has 28 days of paid annual leave a year [^1].";
/// A reply of 20 tokens costs 2 cents, one of 1,024 tokens $1.024. Grading is left to the built-in grader.
const PRICES: &str = "[roles]\ngrade = \"built-in\"\n\
    [prices.\"openai:scripted-chat\"]\nprompt_usd_per_million = 0\ncompletion_usd_per_million = 1000\n";

fn ask(limits: Value) -> Value {
    let mut body = json!({"question": QUESTION, "collections": ["handbook"]});
    body["limits"] = limits;
    body
}

async fn app(server: &ModelServer, settings: &[(&str, &str)]) -> TestApp {
    let url = server.base_url();
    let mut all = vec![("CITED_CHAT_BASE_URL", url.as_str()), ("CITED_CHAT_MODEL", "scripted-chat")];
    all.extend_from_slice(settings);
    let app = TestApp::with_file(server, &all, PRICES).await;
    app.ingest("handbook", &[("leave.md", "Everyone has 28 days of paid annual leave a year.")]).await;
    app
}

/// Billionths of a dollar that today has cost.
async fn spent_today(app: &TestApp) -> i64 {
    database::number(&app.database, "SELECT COALESCE(sum(cost_nano_usd), 0)::bigint FROM usage_daily").await
}

#[tokio::test]
async fn each_limit_is_named_with_its_value_and_what_was_asked() {
    let server = ModelServer::start().await;
    server.say(Role::Answer, "Everyone has 28 days [^7].");
    let app = app(&server, &[("CITED_ASK_LLM_CALLS", "5"), ("CITED_ASK_COMPLETION_TOKENS", "200")]).await;
    let cases = [
        (json!({"max_prompt_tokens": 20}), "prompt_tokens", 20),
        (json!({"max_source_bytes": 10}), "source_bytes", 10),
        (json!({"max_llm_calls": 1}), "llm_calls", 1),
    ];
    for (limits, name, value) in cases {
        let answer = app.ask(ask(limits)).await;
        answer.assert_problem(413, "budget_exceeded");
        assert_eq!((&answer.body["limit"], &answer.body["value"]), (&json!(name), &json!(value)), "{answer:?}");
        assert!(answer.body["asked"].as_u64() > Some(value), "{answer:?}");
        let rows = app.get("/v1/audit?limit=1").await.body["asks"].clone();
        assert_eq!((&rows[0]["outcome"], &rows[0]["reason"]), (&json!("budget_exceeded"), &json!(name)));
    }
    assert_eq!(server.calls(Role::Answer).len(), 1, "the draft before the second call, which was one too many");
    let most = |call: &Value| call["max_tokens"].as_u64().or(call["max_completion_tokens"].as_u64());
    assert_eq!(most(&server.calls(Role::Answer)[0].body), Some(200), "what the deployment allows");
    server.say(Role::Answer, ANSWER);
    server.drop_reply(Role::Answer);
    assert_eq!(app.ask(ask(json!({"max_completion_tokens": 77, "max_llm_calls": 900}))).await.status, 200);
    assert_eq!(most(&server.calls(Role::Answer)[1].body), Some(77), "less on request");
    assert_eq!(app.ask(ask(json!({"max_completion_tokens": 9_000}))).await.status, 200);
    assert_eq!(most(&server.calls(Role::Answer)[2].body), Some(200), "and never more");
    app.ask(ask(json!({"max_completion_tokens": 0}))).await.assert_problem(422, "invalid_request");
    app.stop().await;
}

#[tokio::test]
async fn a_day_costs_what_it_may_and_no_more() {
    let server = ModelServer::start().await;
    server.say(Role::Answer, ANSWER);
    let app = app(&server, &[("CITED_DAILY_COST_USD", "1.1")]).await;
    for asks in 1..=4 {
        let answer = app.ask(ask(json!({}))).await;
        assert_eq!((answer.status, &answer.body["usage"]["cost_usd"]), (200, &json!(0.02)), "{answer:?}");
        assert_eq!(spent_today(&app).await, asks * 20_000_000, "settled as it cost, before the answer leaves");
    }
    let refused = app.ask(ask(json!({}))).await;
    refused.assert_problem(413, "budget_exceeded");
    assert_eq!(
        (&refused.body["limit"], &refused.body["value"]),
        (&json!("daily_cost_usd"), &json!(1.1)),
        "{refused:?}"
    );
    assert_eq!(refused.body["asked"], json!(1.104), "four answers, and the most that a fifth may cost");
    assert_eq!(server.calls(Role::Answer).len(), 4, "nobody is asked beyond the limit");
    let kept = app.get("/v1/audit?outcome=budget_exceeded").await;
    assert_eq!(kept.body["asks"][0]["usage"]["llm_calls"], 0, "no call was made: {kept:?}");
    // A shorter reply still fits.
    assert_eq!(app.ask(ask(json!({"max_completion_tokens": 500}))).await.status, 200);
    database::execute(&app.database, "UPDATE usage_daily SET day = day - 1").await;
    assert_eq!(app.ask(ask(json!({}))).await.status, 200, "another day");
    let streamed = json!({"question": QUESTION, "collections": ["handbook"], "stream": true});
    let stream = app.request(Method::POST, "/v1/ask").json(&streamed).send().await.expect("a stream");
    assert!(body_of(stream).await.contains("event: answer"));
    let today = "SELECT cost_nano_usd FROM usage_daily WHERE day = (now() AT TIME ZONE 'UTC')::date";
    assert_eq!(database::number(&app.database, today).await, 40_000_000);
    app.stop().await;
}

#[tokio::test]
async fn sixty_four_at_once_over_two_services_keep_the_day_together() {
    let server = ModelServer::start().await;
    server.reply(Role::Answer, Reply::Slow(Duration::from_millis(300), ANSWER.to_owned()));
    let first = app(&server, &[("CITED_DAILY_COST_USD", "10.3")]).await;
    let url = server.base_url();
    let settings = [
        ("CITED_EMBEDDING_BASE_URL", url.as_str()),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
        ("CITED_CHAT_BASE_URL", url.as_str()),
        ("CITED_CHAT_MODEL", "scripted-chat"),
        ("CITED_DAILY_COST_USD", "10.3"),
    ];
    let second = TestApp::start_with_file(first.database.clone(), &settings, PRICES).await;
    let asks = (0..64).map(|number| {
        let app = if number % 2 == 0 { &first } else { &second };
        app.ask(ask(json!({})))
    });
    let answers = futures::future::join_all(asks).await;
    let answered = answers.iter().filter(|answer| answer.status == 200).count();
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        refused.assert_problem(413, "budget_exceeded");
        assert_eq!(refused.body["limit"], "daily_cost_usd");
    }
    assert!((10..64).contains(&answered), "{answered} at $1.024 each within $10.3 at once");
    assert_eq!(server.calls(Role::Answer).len(), answered);
    assert_eq!(spent_today(&first).await, i64::try_from(answered).expect("few") * 20_000_000);
    second.stop().await;
    first.stop().await;
}

#[tokio::test]
async fn what_a_client_that_left_may_have_cost_stands() {
    let server = ModelServer::start().await;
    server.reply(Role::Answer, Reply::Slow(Duration::from_secs(20), ANSWER.to_owned()));
    let app = app(&server, &[("CITED_DAILY_COST_USD", "5")]).await;
    let request = app.request(Method::POST, "/v1/ask").json(&ask(json!({})));
    let impatient = tokio::spawn(async move { request.send().await });
    server.wait_for_call(Role::Answer).await;
    assert_eq!(spent_today(&app).await, 1_024_000_000, "reserved before the call");
    impatient.abort();
    assert_eq!(server.once_abandoned().await, 1);
    let audited = async || app.get("/v1/audit?outcome=client_gone").await.body["asks"] != json!([]);
    wait::until("the ask is in the audit", audited).await;
    assert_eq!(spent_today(&app).await, 1_024_000_000, "the provider may bill all of it");
    // A provider that fails at once bills nothing.
    server.reply(Role::Answer, Reply::Status(500, "oops".to_owned()));
    server.drop_reply(Role::Answer);
    app.ask(ask(json!({}))).await.assert_problem(503, "providers_unavailable");
    assert_eq!(spent_today(&app).await, 1_024_000_000);
    app.stop().await;
}

/// A transaction that lets nobody else read or write what the days have cost.
async fn lock_days(app: &TestApp) -> PgConnection {
    let mut other = PgConnection::connect_with(&app.database).await.expect("a connection");
    other.execute("BEGIN; LOCK TABLE usage_daily IN ACCESS EXCLUSIVE MODE").await.expect("a lock");
    other
}

#[tokio::test]
async fn what_cannot_be_booked_at_once_is_booked_later() {
    let server = ModelServer::start().await;
    server.reply(Role::Answer, Reply::Slow(Duration::from_millis(1_500), ANSWER.to_owned()));
    let app = app(&server, &[("CITED_DAILY_COST_USD", "5")]).await;
    let asking = tokio::spawn(send(app.request(Method::POST, "/v1/ask").json(&ask(json!({})))));
    server.wait_for_call(Role::Answer).await;
    let other = lock_days(&app).await;
    let answer = tokio::time::timeout(Duration::from_secs(15), asking).await.expect("it ends").expect("no panic");
    assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!("answered")), "{answer:?}");
    other.close().await.expect("a close");
    wait::until_count(&app.database, "SELECT count(*) FROM usage_daily WHERE cost_nano_usd = 20000000", |count| {
        count == 1
    })
    .await;
    app.stop().await;
}

#[tokio::test]
async fn what_is_reserved_too_late_is_given_back() {
    let server = ModelServer::start().await;
    server.say(Role::Answer, ANSWER);
    let app = app(&server, &[("CITED_DAILY_COST_USD", "5")]).await;
    let other = lock_days(&app).await;
    let asked = app.ask(ask(json!({"timeout_ms": 1_000})));
    let late = tokio::time::timeout(Duration::from_secs(15), asked).await.expect("it ends");
    late.assert_problem(504, "deadline");
    assert_eq!(late.body["usage"]["llm_calls"], 0, "no call was made: {late:?}");
    assert!(server.calls(Role::Answer).is_empty());
    other.close().await.expect("a close");
    // The reservation comes through now.
    wait::until_count(
        &app.database,
        "SELECT count(*) FROM usage_daily WHERE calls = 1 AND cost_nano_usd = 0",
        |count| count == 1,
    )
    .await;
    app.stop().await;
}
