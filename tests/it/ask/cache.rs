//! Answers given again: when, to whom, and never after what they were written from has changed.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{Connection, Executor, PgConnection};

use crate::{
    database,
    harness::{Answer, TestApp, body_of, send},
    scripted::{ModelServer, Reply, Role},
    wait,
};

const QUESTION: &str = "How many days of paid annual leave does everyone have?";
const ANSWER: &str = "Everyone has 28 days of paid annual leave a year [^1].";
const DOCUMENTS: [(&str, &str); 2] = [
    ("leave.md", "# Leave\n\nEveryone has 28 days of paid annual leave a year."),
    ("laptops.md", "# Laptops\n\nReport a lost laptop to the security desk."),
];

fn ask() -> Value {
    json!({"question": QUESTION, "collections": ["handbook"], "cache": {"ttl_s": 60}})
}

fn with(member: &str, value: Value) -> Value {
    let mut body = ask();
    body[member] = value;
    body
}

async fn app(settings: &[(&str, &str)]) -> (ModelServer, TestApp) {
    let server = ModelServer::start().await;
    server.say(Role::Grade, "1: correct\n2: incorrect");
    server.say(Role::Answer, ANSWER);
    let app = TestApp::with_models_and(&server, settings).await;
    app.ingest("handbook", &DOCUMENTS).await;
    (server, app)
}

async fn second(server: &ModelServer, first: &TestApp) -> TestApp {
    let url = server.base_url();
    let settings = [
        ("CITED_EMBEDDING_BASE_URL", url.as_str()),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
        ("CITED_CHAT_BASE_URL", url.as_str()),
        ("CITED_CHAT_MODEL", "scripted-chat"),
        ("CITED_CHAT_API_KEY", "secret-model-key"),
    ];
    TestApp::start(first.database.clone(), &settings).await
}

async fn cached(app: &TestApp) -> i64 {
    database::number(&app.database, "SELECT count(*) FROM answer_cache WHERE answer IS NOT NULL").await
}

fn assert_answered(answer: &Answer, is_hit: bool) {
    assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!("answered")), "{answer:?}");
    assert_eq!(answer.body["cache_hit"], json!(is_hit), "{answer:?}");
}

#[tokio::test]
async fn the_same_question_is_answered_again_without_a_model() {
    let (server, app) = app(&[]).await;
    let first = app.ask(ask()).await;
    assert_answered(&first, false);
    let calls = server.calls(Role::Answer).len() + server.calls(Role::Grade).len();
    let again = app.ask(ask()).await;
    assert_answered(&again, true);
    assert_eq!(server.calls(Role::Answer).len() + server.calls(Role::Grade).len(), calls, "nobody is asked");
    for member in ["answer", "citations", "sources", "evidence", "validation", "model", "provider"] {
        assert_eq!(again.body[member], first.body[member], "{member}");
    }
    assert_eq!((&again.body["usage"]["llm_calls"], &again.body["usage"]["prompt_tokens"]), (&json!(0), &json!(0)));
    assert_ne!(again.body["id"], first.body["id"]);
    let row = app.get(&format!("/v1/audit/{}", again.body["id"].as_str().expect("id"))).await.body;
    assert_eq!((&row["outcome"], &row["cache_hit"], &row["calls"]), (&json!("answered"), &json!(true), &json!([])));
    assert_eq!(row["sources"], json!([first.body["sources"][0]["urn"]]));

    let body =
        app.request(Method::POST, "/v1/ask").json(&with("stream", json!("validated"))).send().await.expect("a stream");
    let events = body_of(body).await;
    assert!(events.contains("event: sources") && events.contains("event: claim"), "{events}");
    assert!(events.contains("\"cache_hit\":true"), "{events}");

    let others = [
        with("question", json!("How many days of paid annual leave does everyone have")),
        with("seed", json!(5)),
        with("temperature", json!(0.5)),
        with("validation", json!("supported")),
        with("top_k", json!(7)),
        with("filter", json!({"source_prefix": "leave"})),
        with("cache", json!({"ttl_s": 0})),
        with("cache", json!(null)),
    ];
    for other in others {
        let answer = app.ask(other.clone()).await;
        assert_eq!(answer.body["cache_hit"], false, "{other}");
    }
    app.ask(with("cache", json!({"ttl_s": 2_592_001}))).await.assert_problem(422, "invalid_request");
    app.stop().await;
}

#[tokio::test]
async fn a_change_of_what_was_found_misses() {
    let (server, app) = app(&[]).await;
    assert_answered(&app.ask(ask()).await, false);
    app.ingest("handbook", &[("leave.md", "# Leave\n\nEveryone has 30 days of paid annual leave a year.")]).await;
    server.say(Role::Answer, "Everyone has 30 days of paid annual leave a year [^1].");
    server.drop_reply(Role::Answer);
    let changed = app.ask(ask()).await;
    assert_answered(&changed, false);
    assert!(changed.body["answer"].as_str().is_some_and(|answer| answer.contains("30")));
    assert_answered(&app.ask(ask()).await, true);
    app.ingest("handbook", &[("more.md", "# Annual leave\n\nEveryone has paid annual leave, and many days of it.")])
        .await;
    assert_answered(&app.ask(ask()).await, false);
    app.stop().await;
}

#[tokio::test]
async fn deletes_take_cached_answers_along_and_count_them() {
    let (_server, app) = app(&[]).await;
    let first = app.ask(ask()).await;
    assert_answered(&first, false);
    assert_answered(&app.ask(with("seed", json!(5))).await, false);
    assert_eq!(cached(&app).await, 2);
    let id = first.body["sources"][0]["document_id"].as_str().expect("id").to_owned();
    let receipt = app.delete(&format!("/v1/documents/{id}")).await;
    assert_eq!((receipt.status, &receipt.body["answers"]), (200, &json!(2)), "{receipt:?}");
    assert_eq!(cached(&app).await, 0);
    app.ingest("handbook", &DOCUMENTS).await;
    assert_answered(&app.ask(ask()).await, false);
    let receipt = app.delete("/v1/collections/handbook").await;
    assert_eq!((receipt.status, &receipt.body["answers"]), (200, &json!(1)), "{receipt:?}");
    let left = "SELECT (SELECT count(*) FROM answer_cache) + (SELECT count(*) FROM answer_source)";
    assert_eq!(database::number(&app.database, left).await, 0);
    app.stop().await;
}

#[tokio::test]
async fn an_answer_is_good_for_its_time_and_the_oldest_make_way() {
    let (_server, app) = app(&[("CITED_CACHE_MAX_ANSWERS", "2"), ("CITED_CACHE_TTL_S", "60")]).await;
    let seeded = |seed: u64| json!({"question": QUESTION, "collections": ["handbook"], "seed": seed});
    for seed in 1..=3 {
        assert_answered(&app.ask(seeded(seed)).await, false);
    }
    assert_eq!(cached(&app).await, 2, "the deployment's default and its bound");
    assert_answered(&app.ask(seeded(3)).await, true);
    assert_answered(&app.ask(seeded(2)).await, true);
    database::execute(&app.database, "UPDATE answer_cache SET expires_at = now() - interval '1 second'").await;
    assert_answered(&app.ask(seeded(3)).await, false);
    assert_answered(&app.ask(seeded(3)).await, true);
    app.stop().await;
}

#[tokio::test]
async fn sixty_four_at_once_over_two_services_cost_one_generation() {
    let (server, first) = app(&[]).await;
    server.reply(Role::Answer, Reply::Slow(Duration::from_millis(500), ANSWER.to_owned()));
    server.drop_reply(Role::Answer);
    let second = second(&server, &first).await;
    let asks = (0..64).map(|number| if number % 2 == 0 { first.ask(ask()) } else { second.ask(ask()) });
    let answers = futures::future::join_all(asks.map(Box::pin)).await;
    for answer in &answers {
        assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!("answered")), "{answer:?}");
        assert_eq!(answer.body["answer"], answers[0].body["answer"]);
    }
    assert_eq!(server.calls(Role::Answer).len(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.body["cache_hit"] == false).count(), 1);
    let rows = database::number(&first.database, "SELECT count(*) FROM ask_audit WHERE is_cache_hit").await;
    assert_eq!(rows, 63, "hits are audited");
    second.stop().await;
    first.stop().await;
}

#[tokio::test]
async fn who_waits_for_one_that_fails_or_leaves_goes_on() {
    let (server, app) = app(&[]).await;
    server.reply(Role::Answer, Reply::Slow(Duration::from_secs(20), "late".to_owned()));
    server.drop_reply(Role::Answer);
    let request = app.request(Method::POST, "/v1/ask").json(&ask());
    let leader = tokio::spawn(async move { request.send().await });
    server.wait_for_call(Role::Answer).await;
    server.say(Role::Answer, ANSWER);
    server.drop_reply(Role::Answer);
    let second = second(&server, &app).await;
    let here = app.ask(ask());
    let there = second.ask(ask());
    let leaves = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(server.calls(Role::Answer).len(), 1, "the others wait");
        leader.abort();
    };
    let (here, there, ()) = tokio::join!(here, there, leaves);
    for answer in [&here, &there] {
        assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!("answered")), "{answer:?}");
    }
    second.stop().await;
    app.stop().await;
}

#[tokio::test]
async fn who_only_waited_gives_up_nobody_elses_claim() {
    let (server, app) = app(&[]).await;
    server.reply(Role::Answer, Reply::Slow(Duration::from_secs(20), "late".to_owned()));
    server.drop_reply(Role::Answer);
    let request = app.request(Method::POST, "/v1/ask").json(&ask());
    let leader = tokio::spawn(async move { request.send().await });
    server.wait_for_call(Role::Answer).await;
    let second = second(&server, &app).await;
    second.ask(with("limits", json!({"timeout_ms": 700}))).await.assert_problem(504, "deadline");
    let claims = "SELECT count(*) FROM answer_cache WHERE answer IS NULL";
    assert_eq!(database::number(&app.database, claims).await, 1, "the one who writes still has it");
    leader.abort();
    wait::until_count(&app.database, claims, |claims| claims == 0).await;
    second.stop().await;
    app.stop().await;
}

/// A transaction that lets nobody else read or write cached answers.
async fn lock_answers(app: &TestApp) -> PgConnection {
    let mut other = PgConnection::connect_with(&app.database).await.expect("a connection");
    other.execute("BEGIN; LOCK TABLE answer_cache IN ACCESS EXCLUSIVE MODE").await.expect("a lock");
    other
}

#[tokio::test]
async fn no_ask_waits_for_ever_for_the_cache() {
    let (server, app) = app(&[]).await;
    server.reply(Role::Answer, Reply::Slow(Duration::from_millis(1_500), ANSWER.to_owned()));
    server.drop_reply(Role::Answer);
    let in_time = Duration::from_secs(15);
    // It can be neither looked up nor released.
    let other = lock_answers(&app).await;
    let late = tokio::time::timeout(in_time, app.ask(with("limits", json!({"timeout_ms": 1_000})))).await;
    late.expect("it ends").assert_problem(504, "deadline");
    other.close().await.expect("a close");
    // It cannot be kept, until later.
    let asking = tokio::spawn(send(app.request(Method::POST, "/v1/ask").json(&ask())));
    server.wait_for_call(Role::Answer).await;
    let other = lock_answers(&app).await;
    let answer = tokio::time::timeout(in_time, asking).await.expect("it ends").expect("no panic");
    assert_answered(&answer, false);
    other.close().await.expect("a close");
    wait::until("the answer is kept", async || cached(&app).await > 0).await;
    assert_answered(&app.ask(ask()).await, true);
    app.stop().await;
}
