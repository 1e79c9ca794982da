//! Requests that are repeated, and requests that are too much.

use std::time::Duration;

use reqwest::{Method, RequestBuilder, multipart};
use serde_json::{Value, json};

use crate::{
    database,
    harness::{Answer, TestApp, send},
    scripted::ModelServer,
};

fn body(text: &str) -> Value {
    json!({"collection": "c", "documents": [{"source": "a.md", "text": text}]})
}

fn named(app: &TestApp, key: &str, body: &Value) -> RequestBuilder {
    app.request(Method::POST, "/v1/documents?wait=true").header("Idempotency-Key", key).json(body)
}

fn is_replay(answer: &Answer) -> bool {
    answer.headers.get("idempotency-replayed").is_some_and(|value| value == "true")
}

#[tokio::test]
async fn a_repeated_request_gets_the_first_answer_and_does_nothing() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let first = send(named(&app, "\"order-1\"", &body("First words."))).await;
    assert_eq!((first.status, is_replay(&first)), (200, false), "{first:?}");
    app.ingest("c", &[("a.md", "Second words.")]).await;
    // With and without the quotes of the draft it is the same key.
    let again = send(named(&app, "order-1", &body("First words."))).await;
    assert_eq!((again.status, is_replay(&again), &again.body), (200, true, &first.body));
    assert_eq!(again.headers["location"], first.headers["location"]);
    assert_eq!(database::number(&app.database, "SELECT count(*) FROM job").await, 2);
    send(named(&app, "order-1", &body("Other words."))).await.assert_problem(409, "idempotency_key_reused");
    assert_eq!(database::number(&app.database, "SELECT count(*) FROM job").await, 2);
    // A day later the name is free, and maintenance need not have come by.
    database::execute(&app.database, "UPDATE idempotency_key SET created_at = created_at - interval '25 hours'").await;
    let later = send(named(&app, "order-1", &body("Other words."))).await;
    assert_eq!((later.status, is_replay(&later)), (200, false), "{later:?}");
    for key in ["", " ", "\"\"", "naïve", &"x".repeat(256)] {
        let answer = send(named(&app, key, &body("x"))).await;
        answer.assert_problem(422, "invalid_request");
        assert_eq!(answer.pointers(), ["Idempotency-Key"], "{key:?}");
    }
    app.stop().await;
}

#[tokio::test]
async fn neither_a_repetition_nor_a_refused_request_makes_a_collection() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let first = send(named(&app, "order-1", &body("First words."))).await;
    assert_eq!(app.delete("/v1/collections/c").await.status, 200);
    let again = send(named(&app, "order-1", &body("First words."))).await;
    assert_eq!((again.status, is_replay(&again), &again.body), (200, true, &first.body));
    app.get("/v1/collections/c").await.assert_problem(404, "not_found");
    // This service sends no webhooks.
    let refused = app.post("/v1/documents?webhook_url=https://example.org/hook", body("Words.")).await;
    refused.assert_problem(422, "invalid_request");
    app.get("/v1/collections/c").await.assert_problem(404, "not_found");
    app.stop().await;
}

#[tokio::test]
async fn a_refused_request_does_not_use_up_its_name() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    send(named(&app, "k", &json!({"documents": []}))).await.assert_problem(422, "invalid_request");
    assert_eq!(send(named(&app, "k", &body("Words."))).await.status, 200);
    app.stop().await;
}

#[tokio::test]
async fn of_many_at_once_one_is_accepted_and_all_hear_of_it() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let sends = (0..6).map(|_| send(named(&app, "same", &body("Some words."))));
    let answers = futures::future::join_all(sends).await;
    let jobs: std::collections::BTreeSet<&str> =
        answers.iter().map(|answer| answer.body["id"].as_str().expect("a job")).collect();
    assert_eq!(jobs.len(), 1, "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| !is_replay(answer)).count(), 1);
    assert_eq!(database::number(&app.database, "SELECT count(*) FROM job").await, 1);
    app.stop().await;
}

#[tokio::test]
async fn an_answer_that_was_never_given_is_given_to_the_repetition() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let first = send(named(&app, "k", &body("Words."))).await;
    // As if the service had died between accepting and answering.
    database::execute(&app.database, "UPDATE idempotency_key SET status = NULL, body = NULL").await;
    let again = send(named(&app, "k", &body("Words."))).await;
    assert_eq!((again.status, &again.body["id"]), (200, &first.body["id"]), "{again:?}");
    app.stop().await;
}

#[tokio::test]
async fn a_form_is_the_same_whatever_its_boundary() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let form = |text: &str| {
        let part = multipart::Part::text(text.to_owned()).file_name("a.txt");
        multipart::Form::new().text("collection", "files").part("file", part)
    };
    let post = |text: &str| {
        app.request(Method::POST, "/v1/documents?wait=true").header("Idempotency-Key", "form").multipart(form(text))
    };
    let first = send(post("Some words.")).await;
    let again = send(post("Some words.")).await;
    assert_eq!((first.status, is_replay(&again), &again.body), (200, true, &first.body));
    send(post("Other words.")).await.assert_problem(409, "idempotency_key_reused");
    app.stop().await;
}

#[tokio::test]
async fn a_full_queue_accepts_nothing_and_says_when_to_come_back() {
    let server = ModelServer::start().await;
    server.delay_embeddings(Duration::from_secs(3));
    let limits = [("CITED_QUEUE_MAX_DOCUMENTS", "3"), ("CITED_QUEUE_MAX_BYTES", "1000")];
    let app = TestApp::with_models_and(&server, &limits).await;
    let documents = |count: usize, bytes: usize| {
        let documents: Vec<Value> =
            (0..count).map(|number| json!({"source": format!("{number}"), "text": "x".repeat(bytes)})).collect();
        json!({"documents": documents})
    };
    let first = app.post("/v1/documents", documents(2, 10)).await;
    assert_eq!(first.status, 202, "{first:?}");
    let full = app.post("/v1/documents", documents(2, 10)).await;
    full.assert_problem(429, "queue_full");
    assert_eq!(
        (&full.body["limit"], &full.body["value"], &full.body["waiting"], &full.body["asked"]),
        (&json!("queue_items"), &json!(3), &json!(2), &json!(2)),
        "{full:?}"
    );
    let wait: u64 = full.headers["retry-after"].to_str().expect("text").parse().expect("seconds");
    assert!(wait > 0);
    let full = app.post("/v1/documents", documents(1, 990)).await;
    full.assert_problem(429, "queue_full");
    assert_eq!(full.body["limit"], "queue_bytes");
    let never = app.post("/v1/documents", documents(4, 10)).await;
    never.assert_problem(413, "exceeds_queue");
    assert!(never.headers.get("retry-after").is_none());
    assert_eq!(database::number(&app.database, "SELECT count(*) FROM job_item").await, 2);
    // Once that is done there is room again.
    server.delay_embeddings(Duration::ZERO);
    let id = first.body["id"].as_str().expect("id");
    app.ended_job(id).await;
    assert_eq!(app.post("/v1/documents?wait=true", documents(3, 10)).await.status, 200);
    app.stop().await;
}
