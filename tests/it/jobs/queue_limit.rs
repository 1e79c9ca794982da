//! The limit of a tenant's waiting documents holds exactly, also for concurrent requests.

use serde_json::{Value, json};

use crate::{
    database,
    harness::TestApp,
    scripted::{ModelServer, Reply},
};

const WAITING: &str = "SELECT count(*) FROM job_item WHERE state IN ('queued', 'running')";
/// Slows each insertion of documents down.
const SLOWLY: &str =
    "CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.3); RETURN NULL; END';
    CREATE TRIGGER slowly AFTER INSERT ON job_item FOR EACH STATEMENT EXECUTE FUNCTION slowly()";

fn documents(name: &str, count: usize) -> Value {
    let documents: Vec<Value> = (0..count)
        .map(|number| json!({"source": format!("{name}{number}.txt"), "text": format!("Words of {name}{number}.")}))
        .collect();
    json!({"collection": "c", "documents": documents})
}

async fn with_limit(server: &ModelServer, documents: &str) -> TestApp {
    TestApp::start_with_embeddings(server, &[("CITED_QUEUE_MAX_DOCUMENTS", documents)]).await
}

/// A job of which no document could be embedded.
async fn failed(app: &TestApp, server: &ModelServer, count: usize) -> String {
    for _ in 0..=count {
        server.embedding_reply(Reply::Status(400, "{}".to_owned()));
    }
    let job = app.post("/v1/documents?wait=true", documents("failed", count)).await.body;
    assert_eq!((&job["state"], &job["counts"]["failed"]), (&json!("failed"), &json!(count)), "{job}");
    job["id"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn requests_at_the_same_moment_do_not_pass_it_together() {
    let server = ModelServer::start().await;
    server.hold_embeddings(Some("Words"));
    let app = with_limit(&server, "10").await;
    app.post("/v1/collections", json!({"name": "c"})).await;
    database::execute(&app.database, SLOWLY).await;
    let names: Vec<String> = (0..8).map(|number| format!("r{number}-")).collect();
    let requests = names.iter().map(|name| app.post("/v1/documents", documents(name, 3)));
    let answers = futures::future::join_all(requests).await;
    let accepted: Vec<_> = answers.iter().filter(|answer| answer.status == 202).collect();
    assert_eq!(accepted.len(), 3, "{answers:?}");
    for refused in answers.iter().filter(|answer| answer.status != 202) {
        refused.assert_problem(429, "queue_full");
        assert!(refused.body["waiting"].as_u64().is_some_and(|waiting| waiting <= 9), "{refused:?}");
    }
    assert_eq!(database::number(&app.database, WAITING).await, 9);
    // The rest of the limit can be filled to the last document.
    assert_eq!(app.post("/v1/documents", documents("last", 1)).await.status, 202);
    app.post("/v1/documents", documents("more", 1)).await.assert_problem(429, "queue_full");
    server.hold_embeddings(None);
    for answer in accepted {
        assert_eq!(app.ended_job(answer.body["id"].as_str().expect("an id")).await["state"], "succeeded");
    }
    app.stop().await;
}

#[tokio::test]
async fn a_retry_needs_room_as_well() {
    let server = ModelServer::start().await;
    let app = with_limit(&server, "3").await;
    let job = failed(&app, &server, 2).await;
    server.hold_embeddings(Some("waiting"));
    let waiting = app.post("/v1/documents", documents("waiting", 2)).await.body;
    let refused = app.post(&format!("/v1/jobs/{job}/retry"), json!({})).await;
    refused.assert_problem(429, "queue_full");
    assert_eq!((&refused.body["waiting"], &refused.body["asked"]), (&json!(2), &json!(2)), "{refused:?}");
    assert!(refused.headers.contains_key("retry-after"));
    let unchanged = app.get(&format!("/v1/jobs/{job}")).await.body;
    assert_eq!((&unchanged["state"], &unchanged["counts"]["failed"]), (&json!("failed"), &json!(2)), "{unchanged}");
    server.hold_embeddings(None);
    app.ended_job(waiting["id"].as_str().expect("an id")).await;
    assert_eq!(app.post(&format!("/v1/jobs/{job}/retry"), json!({})).await.status, 202);
    assert_eq!(app.ended_job(&job).await["state"], "succeeded");
    app.stop().await;
}

#[tokio::test]
async fn what_never_fits_is_tried_again_when_nothing_else_waits() {
    let server = ModelServer::start().await;
    let app = with_limit(&server, "9").await;
    let job = failed(&app, &server, 5).await;
    let database = app.database.clone();
    app.stop().await;
    let url = server.base_url();
    let settings = [
        ("CITED_EMBEDDING_BASE_URL", url.as_str()),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
        ("CITED_QUEUE_MAX_DOCUMENTS", "3"),
    ];
    let app = TestApp::start(database, &settings).await;
    server.hold_embeddings(Some("waiting"));
    let waiting = app.post("/v1/documents", documents("waiting", 1)).await.body;
    app.post(&format!("/v1/jobs/{job}/retry"), json!({})).await.assert_problem(429, "queue_full");
    server.hold_embeddings(None);
    app.ended_job(waiting["id"].as_str().expect("an id")).await;
    assert_eq!(app.post(&format!("/v1/jobs/{job}/retry"), json!({})).await.status, 202);
    assert_eq!(app.ended_job(&job).await["counts"]["documents"], 5);
    app.stop().await;
}
