//! The effect of a delete on failed uploads and on the state of their jobs.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{ConnectOptions, Connection, Executor};

use crate::{
    database,
    harness::{TestApp, send},
    scripted::{ModelServer, Reply},
    wait,
};

/// Has the database refuse a document, once it has a lock.
const REFUSE: &str = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_advisory_xact_lock(1);
        RAISE check_violation;
    END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON document FOR EACH ROW WHEN (NEW.source = 'refused.md') EXECUTE FUNCTION refuse()";
/// Uploaded bytes that wait for a worker or a retry.
const KEPT: &str = "SELECT count(*) FROM job_item WHERE content IS NOT NULL OR payload IS NOT NULL";

fn text(source: &str, text: &str) -> Value {
    json!({"source": source, "text": text})
}

/// Uploads documents of which none can be embedded; the job.
async fn fail(app: &TestApp, server: &ModelServer, documents: &[Value]) -> String {
    // Together, and then one by one.
    let calls = if documents.len() == 1 { 1 } else { documents.len() + 1 };
    for _ in 0..calls {
        server.embedding_reply(Reply::Status(400, "{}".to_owned()));
    }
    let job = app.post("/v1/documents", json!({"collection": "c", "documents": documents})).await.body;
    let job = app.ended_job(job["id"].as_str().expect("an id")).await;
    assert_eq!((&job["state"], &job["counts"]["failed"]), (&json!("failed"), &json!(documents.len())), "{job}");
    job["id"].as_str().expect("an id").to_owned()
}

async fn stored(app: &TestApp) -> Vec<String> {
    let listed = app.get("/v1/documents?collection=c").await.body;
    let documents = listed["documents"].as_array().map(Vec::as_slice).unwrap_or_default();
    documents.iter().map(|one| one["source"].as_str().expect("a source").to_owned()).collect()
}

#[tokio::test]
async fn a_deleted_document_takes_its_failed_uploads_along() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let job = app.ingest("c", &[("a.md", "First words.")]).await;
    let failed = fail(&app, &server, &[text("a.md", "Second words.")]).await;
    let receipt = app.delete(&format!("/v1/documents/{}", job["items"][0]["document_id"].as_str().expect("id"))).await;
    assert_eq!(
        (&receipt.body["documents"], &receipt.body["queue_items"], &receipt.body["failed_items"]),
        (&json!(1), &json!(0), &json!(1)),
        "{receipt:?}"
    );
    assert_eq!(database::number(&app.database, KEPT).await, 0);
    app.post(&format!("/v1/jobs/{failed}/retry"), json!({})).await.assert_problem(409, "nothing_to_retry");
    // The job still shows what happened to the upload.
    let job = app.get(&format!("/v1/jobs/{failed}")).await.body;
    assert_eq!((&job["state"], &job["items"][0]["cause"]), (&json!("failed"), &json!("rejected")), "{job}");
    assert_eq!(stored(&app).await, Vec::<String>::new());
    app.stop().await;
}

#[tokio::test]
async fn a_retry_redoes_only_what_no_delete_took() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let failed = fail(&app, &server, &[text("hr/a.md", "Leave."), text("it/a.md", "Laptops.")]).await;
    let delete = async |prefix: &str| {
        let path = format!("/v1/documents?collection=c&source_prefix={prefix}");
        send(app.request(Method::DELETE, &path)).await.body["failed_items"].clone()
    };
    assert_eq!((delete("hr/").await, delete("hr/").await), (json!(1), json!(0)), "each is taken once");
    assert_eq!(database::number(&app.database, KEPT).await, 1);
    let retried = app.post(&format!("/v1/jobs/{failed}/retry"), json!({})).await;
    assert_eq!((retried.status, &retried.body["counts"]["failed"]), (202, &json!(1)), "{retried:?}");
    let job = app.ended_job(&failed).await;
    assert_eq!(
        (&job["state"], &job["counts"]["documents"], &job["counts"]["failed"]),
        (&json!("partial"), &json!(1), &json!(1)),
        "{job}"
    );
    assert_eq!(stored(&app).await, ["it/a.md"]);
    app.stop().await;
}

#[tokio::test]
async fn a_deleted_collection_takes_its_failed_uploads_along() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let failed = fail(&app, &server, &[text("a.md", "Leave."), text("b.md", "Laptops.")]).await;
    let receipt = app.delete("/v1/collections/c").await.body;
    assert_eq!((&receipt["documents"], &receipt["failed_items"]), (&json!(0), &json!(2)), "{receipt}");
    assert_eq!(database::number(&app.database, KEPT).await, 0);
    app.ingest("c", &[("c.md", "Another collection of that name.")]).await;
    app.post(&format!("/v1/jobs/{failed}/retry"), json!({})).await.assert_problem(409, "nothing_to_retry");
    assert_eq!(stored(&app).await, ["c.md"]);
    app.stop().await;
}

#[tokio::test]
async fn a_delete_does_not_make_a_job_cancelled() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    for (bad, state) in [(None, "succeeded"), (Some(text("bad.bin", "a\u{0}b")), "partial")] {
        server.hold_embeddings(Some("Held"));
        let mut documents =
            vec![text("keep.md", &format!("Held words of the {state}.")), text("drop/a.md", "Held too.")];
        documents.extend(bad);
        let job = app.post("/v1/documents", json!({"collection": "c", "documents": documents})).await.body;
        let path = "/v1/documents?collection=c&source_prefix=drop/";
        let receipt = send(app.request(Method::DELETE, path)).await.body;
        assert_eq!(receipt["queue_items"], 1, "{receipt}");
        server.hold_embeddings(None);
        let job = app.ended_job(job["id"].as_str().expect("an id")).await;
        assert_eq!((&job["state"], &job["counts"]["cancelled"]), (&json!(state), &json!(1)), "{job}");
    }
    app.stop().await;
}

#[tokio::test]
async fn a_delete_goes_on_when_its_request_may_not() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[("CITED_REQUEST_TIMEOUT_S", "1")]).await;
    assert_eq!(app.post("/v1/collections", json!({"name": "c"})).await.status, 201);
    let mut holder = app.database.connect().await.expect("a connection");
    holder.execute("BEGIN; SELECT FROM collection FOR UPDATE").await.expect("a lock");
    let late = app.delete("/v1/collections/c").await;
    late.assert_problem(504, "deadline");
    holder.execute("COMMIT").await.expect("let go");
    holder.close().await.expect("a close");
    wait::until("the collection is gone", async || app.get("/v1/collections/c").await.status == 404).await;
    app.stop().await;
}

#[tokio::test]
async fn a_cancelled_job_stays_so_when_its_failures_were_tried_again() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    server.delay_embeddings(Duration::from_millis(300));
    let mut documents = vec![text("bad.bin", "a\u{0}b")];
    documents.extend((0..400).map(|number| text(&format!("{number}.md"), &format!("Topic {number}."))));
    let job = app.post("/v1/documents", json!({"collection": "c", "documents": documents})).await.body;
    let id = job["id"].as_str().expect("an id");
    let failed = async || app.get(&format!("/v1/jobs/{id}?items_limit=1")).await.body["counts"]["failed"] != 0;
    wait::until("a document has failed", failed).await;
    assert_eq!(app.post(&format!("/v1/jobs/{id}/cancel"), json!({})).await.body["state"], "cancelled");
    assert_eq!(app.post(&format!("/v1/jobs/{id}/retry"), json!({})).await.status, 202);
    let job = app.ended_job(id).await;
    assert_eq!((&job["state"], &job["counts"]["failed"]), (&json!("cancelled"), &json!(1)), "{job}");
    app.stop().await;
}

#[tokio::test]
async fn a_delete_and_a_refused_document_leave_nothing_of_their_claim_behind() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let mut documents = vec![text("gone.md", "Leave."), text("kept.md", "Laptops.")];
    let body = json!({"collection": "c", "documents": documents});
    assert_eq!(app.post("/v1/documents?wait=true", body).await.body["state"], "succeeded");
    database::execute(&app.database, REFUSE).await;
    let mut holder = app.database.connect().await.expect("connect");
    holder.execute("SELECT pg_advisory_lock(1)").await.expect("locked");
    let waiting = async |condition: &str| {
        let waiters = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND {condition}"
        );
        wait::until_count(&app.database, &waiters, |waiting| waiting > 0).await;
    };
    // The whole claim is on its way into the database when the delete comes, which waits for it to be refused.
    documents.extend([text("new.md", "Boats."), text("refused.md", "Trams.")]);
    let job = app.post("/v1/documents", json!({"collection": "c", "documents": documents})).await.body;
    waiting("wait_event = 'advisory'").await;
    let delete = app.request(Method::DELETE, "/v1/documents?collection=c&source_prefix=gone");
    let deleted = tokio::spawn(send(delete));
    waiting("wait_event <> 'advisory'").await;
    holder.execute("SELECT pg_advisory_unlock(1)").await.expect("let go");
    assert_eq!(deleted.await.expect("no panic").status, 200);
    let job = app.ended_job(job["id"].as_str().expect("an id")).await;
    let items = job["items"].as_array().expect("items").iter();
    let ends: Vec<Value> = items.map(|item| json!([item["state"], item["attempts"]])).collect();
    assert_eq!(ends[1..], [json!(["unchanged", 1]), json!(["succeeded", 1]), json!(["failed", 1])], "{job}");
    assert_eq!(database::number(&app.database, "SELECT count(*) FROM job_item WHERE lost <> '{}'").await, 0);
    holder.close().await.expect("close");
    app.stop().await;
}
