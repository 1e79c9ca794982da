//! A small document that a client waits for is stored before it is accepted, together with its finished job and with the
//! documents of others; what that is not for, or what goes wrong, takes the way through the queue.

use std::collections::HashMap;

use futures::future::join_all;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, postgres::PgConnectOptions};

use crate::{
    database,
    harness::{Answer, TestApp, send},
    process::Process,
    scripted::{DIMENSION, ModelServer, Reply},
    wait,
};

const UPLOAD: &str = "/v1/documents?wait=true";
/// Items that a worker has claimed.
const CLAIMED: &str = "SELECT count(*) FROM job_item WHERE fence IS NOT NULL";
/// Items in the queue.
const OPEN: &str = "SELECT count(*) FROM job_item WHERE state IN ('queued', 'running')";

async fn with_collection(server: &ModelServer) -> (TestApp, PgConnectOptions) {
    let app = TestApp::with_embeddings(server).await;
    assert_eq!(app.post("/v1/collections", json!({"name": "c"})).await.status, 201);
    let options = app.database.clone();
    (app, options)
}

fn upload(source: &str, text: &str) -> Value {
    json!({"collection": "c", "documents": [{"source": source, "text": text, "metadata": {"team": "people"}}]})
}

fn finished(answer: Answer, state: &str) -> Value {
    assert_eq!((answer.status, &answer.body["items"][0]["state"]), (200, &json!(state)), "{answer:?}");
    assert_eq!(answer.body["state"], if state == "failed" { "failed" } else { "succeeded" }, "{answer:?}");
    answer.body
}

#[tokio::test]
async fn the_answer_is_the_job_as_it_is_kept() {
    let server = ModelServer::start().await;
    let (app, options) = with_collection(&server).await;
    let stored = finished(app.post(UPLOAD, upload("a.md", "Everybody has thirty days.")).await, "succeeded");
    let unchanged = finished(app.post(UPLOAD, upload("a.md", "Everybody has thirty days.")).await, "unchanged");
    let replaced = finished(app.post(UPLOAD, upload("a.md", "Everybody has twenty days.")).await, "succeeded");
    let reused = finished(app.post(UPLOAD, upload("b.md", "Everybody has twenty days.")).await, "succeeded");
    assert_eq!(
        (&reused["counts"]["embedding_calls"], &reused["counts"]["reused_vectors"]),
        (&json!(0), &json!(1)),
        "{reused}"
    );
    for stage in ["load", "extract", "split", "embed", "store"] {
        assert!(
            stored["stages"].as_array().expect("stages").iter().any(|done| done["stage"] == stage),
            "{stage}: {stored}"
        );
    }
    for job in [&stored, &unchanged, &replaced] {
        let kept = app.get(&format!("/v1/jobs/{}", job["id"].as_str().expect("an id"))).await.body;
        assert_eq!(&kept, job);
        assert_eq!(job["items"][0]["document_id"], stored["items"][0]["document_id"], "one document: {job}");
    }
    assert_eq!((&stored["counts"]["chunks"], &stored["counts"]["embedding_calls"]), (&json!(1), &json!(1)), "{stored}");
    assert_eq!(unchanged["counts"]["unchanged"], 1, "{unchanged}");
    assert_eq!(database::number(&options, CLAIMED).await, 0, "no worker had to do anything");
    let found = app.post("/v1/search", json!({"query": "thirty days", "collections": ["c"]})).await.body;
    assert!(
        found["results"].as_array().expect("results").iter().all(|hit| hit["text"] != "Everybody has thirty days.")
    );
    let events = "SELECT count(*) FROM security_event WHERE action = 'create_documents'";
    assert_eq!(database::number(&options, events).await, 4);
    database::assert_consistent(&options).await;
    app.stop().await;
}

#[tokio::test]
async fn documents_that_arrive_meanwhile_share_a_call_of_the_model_and_a_transaction() {
    let server = ModelServer::start().await;
    let (app, options) = with_collection(&server).await;
    server.hold_embeddings(Some("held"));
    let first = app.post(UPLOAD, upload("held.md", "This is held."));
    let rest = async {
        wait::until("the model is asked", async || server.embedding_keys().len() == 1).await;
        let bodies: Vec<Value> = (0..6).map(|n| upload(&format!("{n}.md"), &format!("Number {n}."))).collect();
        let rest = join_all(bodies.into_iter().map(|body| app.post(UPLOAD, body)));
        let let_go = async {
            // The others have arrived by then, or come in rounds of their own: they are stored in any case.
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
            server.hold_embeddings(None);
        };
        tokio::join!(rest, let_go).0
    };
    let (first, rest) = tokio::join!(first, rest);
    finished(first, "succeeded");
    for answer in rest {
        finished(answer, "succeeded");
    }
    assert!(server.embedding_keys().len() < 7, "{}", server.embedding_keys().len());
    assert_eq!(database::number(&options, CLAIMED).await, 0);
    database::assert_consistent(&options).await;
    app.stop().await;
}

#[tokio::test]
async fn a_model_that_takes_long_leaves_documents_to_the_queue() {
    let server = ModelServer::start().await;
    let (app, options) = with_collection(&server).await;
    server.hold_embeddings(Some("held"));
    let answer = app.post(UPLOAD, upload("held.md", "This is held."));
    let let_go = async {
        wait::until_count(&options, OPEN, |open| open == 1).await;
        server.hold_embeddings(None);
    };
    let (answer, ()) = tokio::join!(answer, let_go);
    finished(answer, "succeeded");
    assert_eq!(database::number(&options, CLAIMED).await, 1);
    database::assert_consistent(&options).await;
    app.stop().await;
}

#[tokio::test]
async fn a_collection_that_somebody_changes_leaves_documents_to_the_queue() {
    let server = ModelServer::start().await;
    let (app, options) = with_collection(&server).await;
    let mut changing = options.connect().await.expect("a connection");
    changing.execute("BEGIN").await.expect("begun");
    changing.execute("SELECT FROM collection FOR UPDATE").await.expect("locked");
    let answer = app.post(UPLOAD, upload("a.md", "Some words."));
    let let_go = async {
        wait::until_count(&options, OPEN, |open| open == 1).await;
        changing.execute("ROLLBACK").await.expect("let go");
    };
    let (answer, ()) = tokio::join!(answer, let_go);
    finished(answer, "succeeded");
    changing.close().await.expect("closed");
    database::assert_consistent(&options).await;
    app.stop().await;
}

#[tokio::test]
async fn a_document_that_fails_ends_with_its_cause() {
    let server = ModelServer::start().await;
    let (app, options) = with_collection(&server).await;
    let empty = finished(app.post(UPLOAD, upload("empty.md", " ")).await, "failed");
    assert_eq!(empty["items"][0]["cause"], "empty", "{empty}");
    for _ in 0..2 {
        server.embedding_reply(Reply::Status(400, "{}".to_owned()));
    }
    finished(app.post(UPLOAD, upload("refused.md", "Nobody wants this.")).await, "failed");
    assert_eq!(database::number(&options, "SELECT count(*) FROM document").await, 0);
    database::assert_consistent(&options).await;
    app.stop().await;
}

#[tokio::test]
async fn of_one_source_that_is_sent_twice_at_once_both_are_stored_one_after_the_other() {
    let server = ModelServer::start().await;
    let (app, options) = with_collection(&server).await;
    let texts = ["One says this.", "Another says that."];
    for answer in join_all(texts.map(|text| app.post(UPLOAD, upload("a.md", text)))).await {
        finished(answer, "succeeded");
    }
    assert_eq!(database::number(&options, "SELECT version::bigint FROM document").await, 2);
    database::assert_consistent(&options).await;
    app.stop().await;
}

#[tokio::test]
async fn what_is_more_than_a_document_to_be_stored_goes_through_the_queue() {
    let server = ModelServer::start().await;
    let (app, options) = with_collection(&server).await;
    let with = |name: &str, value: Value| {
        let mut body = upload(&format!("{name}.md"), "Some words.");
        body["documents"][0][name] = value;
        body
    };
    finished(app.post(UPLOAD, with("acl", json!({"allow": ["group:people"]}))).await, "succeeded");
    finished(app.post(UPLOAD, with("media_type", json!("text/html"))).await, "succeeded");
    let large = upload("large.md", &"A word and another. ".repeat(1_000));
    finished(app.post(UPLOAD, large).await, "succeeded");
    let mut progressive = upload("progressive.md", "Some words.");
    progressive["indexing"] = json!("progressive");
    finished(app.post(UPLOAD, progressive).await, "succeeded");
    assert_eq!(database::number(&options, CLAIMED).await, 4);
    database::assert_consistent(&options).await;
    app.stop().await;
}

async fn named(app: &TestApp, name: &str, body: &Value) -> Answer {
    send(app.request(Method::POST, UPLOAD).header("idempotency-key", name).json(body)).await
}

#[tokio::test]
async fn a_named_request_is_stored_directly_and_only_once() {
    let server = ModelServer::start().await;
    let (app, options) = with_collection(&server).await;
    let body = upload("a.md", "Everybody has thirty days.");
    let first = named(&app, "one", &body).await;
    assert_eq!(first.headers.get("idempotency-replayed"), None);
    let again = named(&app, "one", &body).await;
    assert_eq!(again.headers["idempotency-replayed"], "true");
    assert_eq!((again.status, &again.text), (first.status, &first.text));
    finished(first, "succeeded");
    let other = named(&app, "one", &upload("b.md", "Everybody has twenty days.")).await;
    other.assert_problem(409, "idempotency_key_reused");
    // At once, some of them in one transaction: those that come second get the job of the first.
    let bodies: Vec<Value> = (0..4).map(|n| upload(&format!("many-{n}.md"), &format!("Number {n}."))).collect();
    let sent = (0..12).map(async |n| (n % 4, named(&app, &format!("many-{}", n % 4), &bodies[n % 4]).await));
    let mut jobs: HashMap<usize, Value> = HashMap::new();
    for (document, answer) in join_all(sent).await {
        let job = finished(answer, "succeeded");
        let known = jobs.entry(document).or_insert_with(|| job["id"].clone());
        assert_eq!(&job["id"], known, "{job}");
    }
    assert_eq!(database::number(&options, "SELECT max(version)::bigint FROM document").await, 1);
    assert_eq!(database::number(&options, "SELECT count(*) FROM job").await, 5);
    database::assert_consistent(&options).await;
    app.stop().await;
}

#[tokio::test]
async fn a_named_request_is_in_no_queue() {
    let server = ModelServer::start().await;
    let (app, options) = with_collection(&server).await;
    finished(named(&app, "one", &upload("a.md", "Everybody has thirty days.")).await, "succeeded");
    assert_eq!(database::number(&options, CLAIMED).await, 0, "no worker had to do anything");
    app.stop().await;
}

/// Makes the writing of finished jobs take a moment, in which somebody may be killed.
const SLOWLY: &str =
    "CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.5); RETURN NULL; END';
    CREATE TRIGGER slowly AFTER INSERT ON job_item FOR EACH STATEMENT EXECUTE FUNCTION slowly()";
/// Transactions in that moment.
const WRITING: &str =
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_while_documents_are_written_together_all_are_there_or_none() {
    let server = ModelServer::start().await;
    let options = database::create().await;
    let (url, dimension, database) = (server.base_url(), DIMENSION.to_string(), database::url(&options));
    let settings = [
        ("CITED_EMBEDDING_BASE_URL", url.as_str()),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
        ("CITED_EMBEDDING_DIMENSION", &dimension),
        ("CITED_DATABASE_CONNECTIONS", "6"),
        ("DATABASE_URL", &database),
    ];
    let mut service = Process::serve(&settings).await;
    post(&service.base, "/v1/collections", json!({"name": "c"})).await.expect("a collection");
    database::execute(&options, SLOWLY).await;
    let bodies: Vec<Value> = (0..6).map(|n| upload(&format!("{n}.md"), &format!("Number {n}."))).collect();
    for _ in 0..3 {
        let base = service.base.clone();
        let sent = bodies.clone().into_iter().map(move |body| {
            let base = base.clone();
            tokio::spawn(async move { post_named(&base, body).await })
        });
        let sent: Vec<_> = sent.collect();
        wait::until_count(&options, WRITING, |writing| writing > 0).await;
        service.kill().await;
        for answer in sent {
            // Whoever was told so has its document.
            if let Some(job) = answer.await.expect("no panic") {
                let id = job["items"][0]["document_id"].as_str().expect("a document").to_owned();
                let there = format!("SELECT count(*) FROM document WHERE document_id = '{id}'");
                assert_eq!(database::number(&options, &there).await, 1, "{job}");
            }
        }
        wait::until_count(&options, WRITING, |writing| writing == 0).await;
        let halves = "SELECT count(*) FROM document d FULL JOIN job_item i ON i.document_id = d.document_id
                      WHERE d.document_id IS NULL OR i.document_id IS NULL";
        assert_eq!(
            database::number(&options, halves).await,
            0,
            "documents without their jobs, or jobs without documents"
        );
        database::assert_consistent(&options).await;
        service = Process::serve(&settings).await;
    }
    let answers = join_all(bodies.into_iter().map(|body| post_named(&service.base, body))).await;
    assert!(answers.iter().all(|job| job.as_ref().is_some_and(|job| job["state"] == "succeeded")), "{answers:?}");
    assert_eq!(database::number(&options, "SELECT count(*) FROM document").await, 6);
    // Each of the named ones once, however often it was sent.
    let jobs = "SELECT count(*) FROM job WHERE job_id IN (SELECT job_id FROM idempotency_key)";
    assert_eq!(database::number(&options, jobs).await, 3);
    let twice = "SELECT count(*) FROM (SELECT source FROM job_item WHERE source IN ('0.md', '2.md', '4.md')
                 GROUP BY source HAVING count(*) > 1) AS twice";
    assert_eq!(database::number(&options, twice).await, 0);
    let (_, ended_well) = service.stop().await;
    assert!(ended_well);
    database::assert_consistent(&options).await;
}

/// The same for an upload, which has a name if its document has an even number.
async fn post_named(base: &str, body: Value) -> Option<Value> {
    let source = body["documents"][0]["source"].as_str().expect("a source").to_owned();
    let number: usize = source.trim_end_matches(".md").parse().expect("a number");
    let mut request = crate::harness::client().post(format!("{base}{UPLOAD}")).json(&body);
    if number.is_multiple_of(2) {
        request = request.header("idempotency-key", source);
    }
    answer_to(request).await
}

/// The answer to a request; `None` if there was none, or it tells of an error.
async fn post(base: &str, path: &str, body: Value) -> Option<Value> {
    answer_to(crate::harness::client().post(format!("{base}{path}")).json(&body)).await
}

async fn answer_to(request: RequestBuilder) -> Option<Value> {
    let response = request.send().await.ok()?;
    if response.status().is_success() { response.json().await.ok() } else { None }
}
