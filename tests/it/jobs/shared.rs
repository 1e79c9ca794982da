//! Small uploads of several requests are accepted, claimed, embedded and stored together, and none pays for another.

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;

use crate::{
    database,
    harness::{Answer, TestApp, send},
    scripted::{DIMENSION, ModelServer},
    wait,
};

/// A service with one task that stores, which an upload holds up at the model until [`ModelServer::hold_embeddings`] lets
/// it go.
async fn held_up(server: &ModelServer) -> (TestApp, PgConnectOptions) {
    let options = database::create().await;
    let (url, dimension) = (server.base_url(), DIMENSION.to_string());
    let settings = [
        ("CITED_EMBEDDING_BASE_URL", url.as_str()),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
        ("CITED_EMBEDDING_DIMENSION", &dimension),
        ("CITED_WORKERS", "1"),
    ];
    let app = TestApp::start(options.clone(), &settings).await;
    server.hold_embeddings(Some("held"));
    assert_eq!(app.post("/v1/documents", upload("c", "held.md", "This is held.")).await.status, 202);
    wait::until("the model is asked", async || server.embedding_keys().len() == 1).await;
    (app, options)
}

fn upload(collection: &str, source: &str, text: &str) -> Value {
    json!({"collection": collection, "documents": [{"source": source, "text": text}]})
}

/// Uploads these, all at once; when all of them wait in the queue, lets the worker go. Returns the ended jobs.
async fn together(app: &TestApp, server: &ModelServer, options: &PgConnectOptions, uploads: Vec<Value>) -> Vec<Value> {
    let expected = i64::try_from(uploads.len()).expect("few");
    let accepted = join_all(uploads.into_iter().map(|body| app.post("/v1/documents", body))).await;
    wait::until_count(options, "SELECT count(*) FROM job_item WHERE state = 'queued'", |queued| queued == expected)
        .await;
    server.hold_embeddings(None);
    let ended = async |Answer { status, body, .. }: Answer| {
        assert_eq!(status, 202, "{body}");
        app.ended_job(body["id"].as_str().expect("an id")).await
    };
    join_all(accepted.into_iter().map(ended)).await
}

#[tokio::test]
async fn one_call_of_the_model_serves_all_that_wait_and_a_bad_document_fails_alone() {
    let server = ModelServer::start().await;
    let (app, options) = held_up(&server).await;
    let mut uploads: Vec<Value> = (0..6).map(|n| upload("c", &format!("{n}.md"), &format!("Number {n}."))).collect();
    uploads.push(upload("c", "bad.md", " "));
    uploads.push(upload("d", "6.md", "Elsewhere."));
    let jobs = together(&app, &server, &options, uploads).await;
    for job in &jobs {
        let is_bad = job["items"][0]["source"] == "bad.md";
        assert_eq!(job["state"], if is_bad { "failed" } else { "succeeded" }, "{job}");
        assert_eq!(job["items"][0]["attempts"], 1, "{job}");
        let stored = job["stages"].as_array().expect("stages").iter().find(|stage| stage["stage"] == "store");
        assert_eq!(stored.map(|stage| &stage["documents"]), (!is_bad).then_some(&json!(1)), "{job}");
    }
    assert_eq!(server.embedding_keys().len(), 3, "that which was held, those of one collection, and the other");
    let fences = "SELECT count(DISTINCT fence) FROM job_item WHERE source ~ '^[0-5]|bad'";
    assert_eq!(database::number(&options, fences).await, 1);
    database::assert_consistent(&options).await;
    app.stop().await;
}

#[tokio::test]
async fn a_refusal_of_the_model_is_that_of_one_upload() {
    let server = ModelServer::start().await;
    let (app, options) = held_up(&server).await;
    server.refuse_embedding_once("unwanted");
    let uploads = ["Wanted.", "An unwanted one.", "Wanted as well."];
    let uploads = (0..).zip(uploads).map(|(n, text)| upload("c", &format!("{n}.md"), text)).collect();
    for job in together(&app, &server, &options, uploads).await {
        assert_eq!((&job["state"], &job["items"][0]["attempts"]), (&json!("succeeded"), &json!(1)), "{job}");
    }
    assert_eq!(server.embedding_keys().len(), 5, "once together, and once for each");
    assert_eq!(database::number(&options, "SELECT sum(failures) FROM job_item").await, 0);
    app.stop().await;
}

#[tokio::test]
async fn of_uploads_of_one_source_that_wait_together_the_last_wins() {
    let server = ModelServer::start().await;
    let (app, options) = held_up(&server).await;
    for text in ["First words.", "Second words.", "Third words."] {
        assert_eq!(app.post("/v1/documents", upload("c", "a.md", text)).await.status, 202);
    }
    server.hold_embeddings(None);
    wait::until_count(&options, "SELECT count(*) FROM job WHERE state = 'succeeded'", |ended| ended == 4).await;
    let documents = app.get("/v1/documents?collection=c").await.body["documents"].clone();
    let documents = documents.as_array().expect("documents");
    let id = documents.iter().find(|document| document["source"] == "a.md").and_then(|found| found["id"].as_str());
    let path = format!("/v1/documents/{}/content", id.expect("it is there"));
    assert_eq!(app.get(&path).await.body["text"], "Third words.");
    database::assert_consistent(&options).await;
    app.stop().await;
}

#[tokio::test]
async fn who_cancels_cancels_nothing_of_others() {
    let server = ModelServer::start().await;
    let (app, options) = held_up(&server).await;
    // The next claim is held as well, by one of its documents.
    let cancelled = app.post("/v1/documents", upload("c", "a.md", "This one goes.")).await.body;
    let kept = app.post("/v1/documents", upload("c", "b.md", "This is kept.")).await.body;
    server.hold_embeddings(Some("kept"));
    wait::until_count(&options, "SELECT count(*) FROM job_item WHERE state = 'running'", |running| running == 2).await;
    wait::until("the model is asked", async || server.embedding_keys().len() == 2).await;
    let id = |job: &Value| job["id"].as_str().expect("an id").to_owned();
    let answer = app.post(&format!("/v1/jobs/{}/cancel", id(&cancelled)), json!({})).await;
    assert!(answer.status < 300, "{answer:?}");
    server.hold_embeddings(None);
    assert_eq!(app.ended_job(&id(&kept)).await["state"], "succeeded");
    assert_eq!(app.ended_job(&id(&cancelled)).await["state"], "cancelled");
    assert_eq!(database::number(&options, "SELECT count(*) FROM document WHERE source = 'a.md'").await, 0);
    database::assert_consistent(&options).await;
    app.stop().await;
}

#[tokio::test]
async fn a_request_that_arrives_many_times_at_once_is_accepted_once() {
    let server = ModelServer::start().await;
    let (app, options) = held_up(&server).await;
    server.hold_embeddings(None);
    let send_one = |body: Value| {
        let request = app.request(Method::POST, "/v1/documents?wait=true").header("idempotency-key", "the-same");
        send(request.json(&body))
    };
    let answers = join_all((0..8).map(|_| send_one(upload("c", "a.md", "Once.")))).await;
    let other = app.post("/v1/documents?wait=true", upload("c", "b.md", "Beside it.")).await;
    assert_eq!(other.status, 200, "{other:?}");
    for answer in &answers {
        assert_eq!((answer.status, &answer.body["id"]), (200, &answers[0].body["id"]), "{answer:?}");
    }
    assert_eq!(database::number(&options, "SELECT count(*) FROM job").await, 3);
    app.stop().await;
}

#[tokio::test]
async fn no_claim_has_documents_of_two_tenants() {
    const OPERATOR: &str = "a-key-of-the-operator-0123456789";
    let (server, options) = (ModelServer::start().await, database::create().await);
    let (url, dimension) = (server.base_url(), DIMENSION.to_string());
    let settings = [
        ("CITED_EMBEDDING_BASE_URL", url.as_str()),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
        ("CITED_EMBEDDING_DIMENSION", &dimension),
        ("CITED_WORKERS", "1"),
        ("CITED_API_KEYS", OPERATOR),
        ("CITED_KEY_PEPPER", "a-pepper-of-the-tests-0123456789-0123456789"),
    ];
    let app = TestApp::start(options.clone(), &settings).await;
    let [one, two] = super::fairness::two_tenants(&app).await;
    server.hold_embeddings(Some("held"));
    let post = async |key: &str, source: &str, text: &str| {
        let request = app.request(Method::POST, "/v1/documents").bearer_auth(key).json(&upload("c", source, text));
        assert_eq!(send(request).await.status, 202);
    };
    post(&one, "held.md", "This is held.").await;
    wait::until("the model is asked", async || server.embedding_keys().len() == 1).await;
    for n in 0..4 {
        post(&one, &format!("{n}.md"), &format!("One {n}.")).await;
        post(&two, &format!("{n}.md"), &format!("Two {n}.")).await;
    }
    server.hold_embeddings(None);
    wait::until_count(&options, "SELECT count(*) FROM job WHERE state = 'succeeded'", |ended| ended == 9).await;
    let mixed =
        "SELECT count(*) FROM (SELECT fence FROM job_item GROUP BY fence HAVING count(DISTINCT tenant_id) > 1) m";
    assert_eq!(database::number(&options, mixed).await, 0);
    assert_eq!(server.embedding_keys().len(), 3, "one call for each tenant");
    let strangers = "SELECT count(*) FROM document d WHERE d.text LIKE 'One%' AND d.tenant_id IN \
                     (SELECT tenant_id FROM document WHERE text LIKE 'Two%')";
    assert_eq!(database::number(&options, strangers).await, 0);
    app.stop().await;
}
