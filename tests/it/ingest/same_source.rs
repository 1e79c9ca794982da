//! One source sent more than once: the last wins, also within one claim and however uploads overlap.

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};

use crate::{
    database,
    harness::{TestApp, send},
    scripted::ModelServer,
    wait,
};

const BOATS: &str = "Boats land at the harbour.";
const TRAMS: &str = "Trams cross the square at the harbour.";
const BUSES: &str = "Buses leave the square for the harbour.";

/// Sends documents without waiting for them; the job.
async fn upload(app: &TestApp, documents: &[(&str, &str)]) -> String {
    let documents: Vec<Value> =
        documents.iter().map(|(source, text)| json!({"source": source, "text": text})).collect();
    let answer = app.post("/v1/documents", json!({"collection": "c", "documents": documents})).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    answer.body["id"].as_str().expect("an id").to_owned()
}

/// Sends documents as a stream; the job, once all have arrived.
async fn stream(app: &TestApp, documents: &[(&str, &str)], query: &str) -> String {
    let line = |(source, text): &(&str, &str)| format!("{}\n", json!({"source": source, "text": text}));
    let lines: String = documents.iter().map(line).collect();
    let request = app.request(Method::POST, &format!("/v1/documents/bulk?collection=c{query}"));
    let answer = send(request.header("content-type", "application/x-ndjson").body(lines)).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    answer.body["id"].as_str().expect("an id").to_owned()
}

/// The stored version and text of a source.
async fn stored(app: &TestApp, source: &str) -> (Value, Value) {
    let found = app.get(&format!("/v1/documents?collection=c&source_prefix={source}")).await.body;
    let document = &found["documents"][0];
    let path = format!("/v1/documents/{}/content", document["id"].as_str().expect("an id"));
    (document["version"].clone(), app.get(&path).await.body["text"].clone())
}

#[tokio::test]
async fn a_claim_that_names_a_source_twice_is_not_stored_one_by_one() {
    let server = ModelServer::start().await;
    // The only worker is busy until all lines have arrived, and claims them together then.
    let app = TestApp::start_with_embeddings(&server, &[("CITED_WORKERS", "1")]).await;
    server.hold_embeddings(Some("Boats"));
    upload(&app, &[("busy.md", BOATS)]).await;
    let first: Vec<(String, String)> =
        (0..10).map(|number| (format!("line{number}.md"), format!("Trams of line {number}."))).collect();
    let again = ("line3.md", "The trams of line 3 are painted.");
    let lines: Vec<(&str, &str)> =
        first.iter().map(|(source, text)| (source.as_str(), text.as_str())).chain([again]).collect();
    let job = stream(&app, &lines, "").await;
    server.hold_embeddings(None);
    let ended = app.ended_job(&job).await;
    assert_eq!((&ended["state"], &ended["counts"]["documents"]), (&json!("succeeded"), &json!(11)), "{ended}");
    assert_eq!(stored(&app, again.0).await, (json!(2), json!(again.1)));
    // Documents stored together have one time: nine of the first run, and the last line.
    let times = "SELECT count(DISTINCT updated_at) FROM document WHERE source LIKE 'line%'";
    assert!(database::number(&app.database, times).await <= 2);
    app.stop().await;
}

#[tokio::test]
async fn an_upload_whose_text_was_stored_meanwhile_comes_before_an_older_one_all_the_same() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[("CITED_WORKERS", "3")]).await;
    // Three claims side by side: none has seen what another one stores.
    server.hold_embeddings(Some("harbour"));
    let uploads: [&[(&str, &str)]; 3] = [&[("a.md", BOATS)], &[("a.md", TRAMS)], &[("a.md", BOATS), ("b.md", BUSES)]];
    let mut jobs = Vec::new();
    for documents in uploads {
        let calls = server.embedding_keys().len();
        jobs.push(upload(&app, documents).await);
        wait::until("an embedding is requested", async || server.embedding_keys().len() > calls).await;
    }
    for (job, held, unchanged) in [(0, Some("square"), 0), (2, Some("Trams"), 1), (1, None, 1)] {
        server.hold_embeddings(held);
        let ended = app.ended_job(&jobs[job]).await;
        let found = (&ended["state"], &ended["counts"]["unchanged"]);
        assert_eq!(found, (&json!("succeeded"), &json!(unchanged)), "{ended}");
    }
    assert_eq!(stored(&app, "a.md").await, (json!(1), json!(BOATS)));
    app.stop().await;
}

#[tokio::test]
async fn a_source_that_one_progressive_stream_names_twice_gets_its_vectors() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[("CITED_WORKERS", "1")]).await;
    // The worker that embeds is busy until both lines are stored, and then claims them together.
    server.hold_embeddings(Some("Boats"));
    let calls = server.embedding_keys().len();
    stream(&app, &[("busy.md", BOATS)], "&indexing=progressive").await;
    wait::until("an embedding is requested", async || server.embedding_keys().len() > calls).await;
    let job = stream(&app, &[("a.md", TRAMS), ("a.md", BUSES)], "&indexing=progressive").await;
    let awaiting =
        format!("SELECT count(*) FROM job_item WHERE job_id = '{job}' AND phase = 'embed' AND state = 'queued'");
    wait::until_count(&app.database, &awaiting, |items| items == 2).await;
    server.hold_embeddings(None);
    let ended = app.ended_job(&job).await;
    assert_eq!((&ended["state"], &ended["counts"]["complete"]), (&json!("succeeded"), &json!(2)), "{ended}");
    assert_eq!(stored(&app, "a.md").await, (json!(2), json!(BUSES)));
    let bare = "SELECT sum(unembedded_chunks)::bigint FROM document WHERE source = 'a.md'";
    assert_eq!(database::number(&app.database, bare).await, 0);
    assert!(server.embedded().iter().any(|text| text.contains(BUSES)), "{:?}", server.embedded());
    app.stop().await;
}

#[tokio::test]
async fn a_document_that_is_deleted_at_the_moment_when_it_is_written_is_not_processed_again_and_again() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[("CITED_WORKERS", "1")]).await;
    app.ingest("c", &[("replaced.md", BOATS), ("same.md", BUSES)]).await;
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    for (source, text, unchanged) in [("replaced.md", TRAMS, 0), ("same.md", BUSES, 1)] {
        let mut deleting = app.database.connect().await.expect("a connection");
        deleting.execute("BEGIN").await.expect("begun");
        let deletion = sqlx::query("DELETE FROM document WHERE source = $1").bind(source);
        deletion.execute(&mut deleting).await.expect("deleted");
        let job = upload(&app, &[(source, text)]).await;
        wait::until_count(&app.database, waits, |waiting| waiting > 0).await;
        let calls = server.embedding_keys().len();
        // A document that is gone by now is a new one; one that was found as it is has been there.
        deleting.execute("COMMIT").await.expect("committed");
        deleting.close().await.expect("closed");
        let ended = app.ended_job(&job).await;
        let found = (&ended["state"], &ended["counts"]["unchanged"]);
        assert_eq!(found, (&json!("succeeded"), &json!(unchanged)), "{ended}");
        let rows = format!("SELECT count(*) FROM document WHERE source = '{source}' AND version = 1");
        assert_eq!(database::number(&app.database, &rows).await, 1 - unchanged);
        assert_eq!(server.embedding_keys().len(), calls, "it was processed once");
    }
    // Nobody has counted the rows that were deleted.
    app.end().await;
}
