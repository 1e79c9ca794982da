//! Changes the embedding model of a collection in use.

use std::time::Duration;

use serde_json::{Value, json};

use super::{activate, active, begin, build, chunks, collection, complete, document, drop_index, indexes, next, text};
use crate::{
    database,
    harness::TestApp,
    scripted::{DIMENSION, ModelServer, Reply},
    wait,
};

pub(super) const FIRST: &str = "scripted-embedding";
pub(super) const SECOND: &str = "second/embedding";

/// Returns a config table for the second model, which another server serves.
pub(super) fn second_table(server: &ModelServer, window: usize) -> String {
    format!(
        "[embeddings.second]\nbase_url = {:?}\nmodel = {SECOND:?}\ndimension = {DIMENSION}\nwindow = {window}\n",
        server.base_url()
    )
}

async fn app(window: usize) -> (ModelServer, ModelServer, TestApp) {
    let (first, second) = (ModelServer::start().await, ModelServer::start().await);
    let app = TestApp::with_file(&first, &[], &second_table(&second, window)).await;
    (first, second, app)
}

fn with_second() -> Value {
    json!({"embedding_model": SECOND})
}

async fn sources(app: &TestApp, query: &str) -> Vec<String> {
    let answer = app.post("/v1/search", json!({"query": query, "collections": ["c"], "mode": "dense"})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let results = answer.body["results"].as_array().expect("results");
    results.iter().filter_map(|hit| hit["source"].as_str()).map(str::to_owned).collect()
}

/// Returns the number of vectors of a model.
async fn vectors(app: &TestApp, model: &str) -> i64 {
    let sql = format!(
        "SELECT count(*) FROM chunk_embedding JOIN embedding_profile USING (profile_id) WHERE model = '{model}'"
    );
    database::number(&app.database, &sql).await
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

#[tokio::test]
async fn a_collection_in_use_moves_to_another_model_and_back() {
    let (first, second, app) = app(512).await;
    app.ingest("c", &[("a.md", "# Harbour\n\nBoats land here."), ("b.txt", "Trains leave from platform two.")]).await;
    second.delay_embeddings(Duration::from_secs(2));
    let begun = begin(&app, &with_second()).await;
    assert_eq!(begun.status, 202, "{begun:?}");
    let (job, by_second) = (text(&begun.body["job"]["id"]), text(&begun.body["index"]["id"]));
    begin(&app, &with_second()).await.assert_problem(409, "index_building");
    activate(&app, &by_second).await.assert_problem(409, "index_incomplete");

    // Meanwhile searches use the active index as before, and uploads go into both.
    let by_first = active(&app).await;
    assert_eq!(sources(&app, "boats").await[0], "a.md");
    assert!(first.embedded().contains(&"boats".to_owned()), "queries go to the first model");
    app.ingest("c", &[("late.md", "Buses stop at the market.")]).await;
    let ended = app.ended_job(&job).await;
    assert_eq!((&ended["state"], &ended["counts"]["documents"]), (&json!("succeeded"), &json!(2)), "{ended}");
    assert_eq!(ended["counts"]["embedding_calls"], 2);
    complete(&app).await;
    assert_eq!((vectors(&app, FIRST).await, vectors(&app, SECOND).await), (3, 3));
    // Not passages: the word embedded to find the vector length, and the query.
    let is_passage = |text: &String| text != "dimension" && text != "boats";
    let passages: Vec<String> = first.embedded().into_iter().filter(is_passage).collect();
    assert_eq!(sorted(second.embedded()), sorted(passages), "the same texts, no more");

    let moved = activate(&app, &by_second).await;
    assert_eq!((moved.status, &moved.body["embedding"]["model"]), (200, &json!(SECOND)), "{moved:?}");
    let listed = indexes(&app).await;
    let kept = json!({"model": FIRST, "dimension": DIMENSION});
    assert_eq!((&listed[1]["id"], &listed[1]["embedding"]), (&json!(by_first), &kept), "{listed:?}");
    assert_eq!((&listed[1]["documents"], &listed[1]["job_id"]), (&json!(3), &json!(null)), "{listed:?}");
    assert_eq!(sources(&app, "trains").await[0], "b.txt");
    assert!(second.embedded().contains(&"trains".to_owned()), "queries go to the second model");
    activate(&app, &by_second).await.assert_problem(409, "index_active");

    // The first index is kept up to date, so that it can be activated again.
    app.ingest("c", &[("a.md", "# Harbour\n\nFerries land here."), ("new.md", "Bicycles are for hire.")]).await;
    complete(&app).await;
    assert_eq!((vectors(&app, FIRST).await, vectors(&app, SECOND).await), (4, 4));
    assert_eq!(activate(&app, &by_first).await.status, 200);
    assert_eq!(sources(&app, "ferries").await[0], "a.md");
    assert!(first.embedded().contains(&"ferries".to_owned()));
    drop_index(&app, &by_first).await.assert_problem(409, "index_active");
    let dropped = drop_index(&app, &by_second).await;
    let receipt = json!({"documents": 4, "chunks": 4, "vectors": 4});
    assert_eq!((dropped.status, &dropped.body), (200, &receipt), "{dropped:?}");
    assert_eq!((vectors(&app, FIRST).await, vectors(&app, SECOND).await), (4, 0));
    drop_index(&app, &by_second).await.assert_problem(404, "not_found");
    activate(&app, &by_second).await.assert_problem(404, "not_found");
    app.stop().await;
}

#[tokio::test]
async fn an_empty_collection_moves_at_once() {
    let (_first, _second, app) = app(512).await;
    begin(&app, &with_second()).await.assert_problem(404, "not_found");
    assert_eq!(app.post("/v1/collections", json!({"name": "c"})).await.status, 201);
    assert_eq!(build(&app, &with_second()).await["state"], "succeeded");
    let moved = activate(&app, &text(&next(&app).await["id"])).await;
    assert_eq!((moved.status, &moved.body["embedding"]["model"]), (200, &json!(SECOND)), "{moved:?}");
    app.ingest("c", &[("a.md", "Boats land here.")]).await;
    assert_eq!(vectors(&app, SECOND).await, 1);
    app.stop().await;
}

#[tokio::test]
async fn ingest_goes_on_without_the_model_of_the_next_index() {
    let (_first, second, app) = app(512).await;
    app.ingest("c", &[("a.md", "Boats land here.")]).await;
    assert_eq!(build(&app, &with_second()).await["state"], "succeeded");
    second.embedding_reply(Reply::Status(401, "the key has run out".to_owned()));
    app.ingest("c", &[("b.md", "Trains leave from platform two.")]).await;
    let failed = "SELECT count(*) FROM job WHERE kind = 'index' AND state = 'failed'";
    wait::until_count(&app.database, failed, |jobs| jobs > 0).await;
    let by_second = text(&next(&app).await["id"]);
    let refused = activate(&app, &by_second).await;
    refused.assert_problem(409, "index_incomplete");
    assert!(refused.body["detail"].as_str().is_some_and(|detail| detail.starts_with("1 document is")), "{refused:?}");
    let filled = build(&app, &json!({})).await;
    assert_eq!((&filled["counts"]["documents"], &filled["counts"]["unchanged"]), (&json!(1), &json!(1)), "{filled}");
    assert_eq!(activate(&app, &by_second).await.status, 200);
    app.stop().await;
}

#[tokio::test]
async fn documents_are_split_for_the_window_of_the_next_model() {
    let (_first, second, app) = app(64).await;
    let line = |number: i32| format!("Ferry {number} to the island leaves every morning at half past seven. ");
    let long: String = (0..20).map(line).collect();
    app.ingest("c", &[("long.md", &long), ("short.md", "Boats land here.")]).await;
    let whole = chunks(&app, "long.md").await.len();
    let job = build(&app, &with_second()).await;
    assert_eq!((&job["state"], &job["counts"]["documents"]), (&json!("succeeded"), &json!(2)), "{job}");
    assert_eq!(activate(&app, &text(&next(&app).await["id"])).await.status, 200);
    let split = chunks(&app, "long.md").await;
    assert!(split.len() > whole, "{} of {whole}", split.len());
    assert!(split.iter().all(|chunk| chunk["tokens"].as_u64().is_some_and(|tokens| tokens <= 64)), "{split:?}");
    assert_eq!(second.embedded().len(), split.len() + 1, "each chunk once");
    assert_eq!(sources(&app, "ferry").await[0], "long.md");
    app.stop().await;
}

#[tokio::test]
async fn dropping_an_index_stops_the_job_that_embeds_it() {
    let (_first, second, app) = app(512).await;
    app.ingest("c", &[("a.md", "Boats land here."), ("b.md", "Trains leave.")]).await;
    second.hold_embeddings(Some("leave"));
    let begun = begin(&app, &with_second()).await.body;
    wait::until("an embedding is requested", async || !second.embedding_keys().is_empty()).await;
    assert_eq!(drop_index(&app, &text(&begun["index"]["id"])).await.status, 200);
    assert_eq!(app.ended_job(&text(&begun["job"]["id"])).await["state"], "cancelled");
    second.hold_embeddings(None);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(vectors(&app, SECOND).await, 0, "nothing came late");
    app.stop().await;
}

#[tokio::test]
async fn a_build_that_was_cancelled_or_failed_is_retried_and_done_with_what_is_left() {
    let (_first, second, app) = app(512).await;
    app.ingest("c", &[("a.md", "Boats land here."), ("b.md", "Trains leave.")]).await;
    second.hold_embeddings(Some("leave"));
    let begun = begin(&app, &with_second()).await.body;
    let (index, job) = (text(&begun["index"]["id"]), text(&begun["job"]["id"]));
    wait::until("an embedding is requested", async || !second.embedding_keys().is_empty()).await;
    assert_eq!(app.post(&format!("/v1/jobs/{job}/cancel"), json!({})).await.status, 200);
    assert_eq!(app.ended_job(&job).await["state"], "cancelled");
    second.hold_embeddings(None);
    activate(&app, &index).await.assert_problem(409, "index_incomplete");
    // By then the request that was held has been answered, too.
    tokio::time::sleep(Duration::from_secs(1)).await;

    second.embedding_reply(Reply::Status(401, "the key has run out".to_owned()));
    second.embedding_reply(Reply::Status(401, "the key has run out".to_owned()));
    second.embedding_reply(Reply::Status(401, "the key has run out".to_owned()));
    let failed = build(&app, &json!({})).await;
    assert_eq!((&failed["state"], &failed["counts"]["failed"]), (&json!("failed"), &json!(2)), "{failed}");
    let retried = app.post(&format!("/v1/jobs/{}/retry", text(&failed["id"])), json!({})).await;
    assert_eq!(retried.status, 202, "{retried:?}");
    assert_eq!(app.ended_job(&text(&failed["id"])).await["state"], "succeeded");
    assert_eq!(activate(&app, &index).await.status, 200);
    assert_eq!((collection(&app).await["documents"].clone(), vectors(&app, SECOND).await), (json!(2), 2));
    app.stop().await;
}

#[tokio::test]
async fn a_process_without_the_model_says_so_and_changes_nothing() {
    let (first, second) = (ModelServer::start().await, ModelServer::start().await);
    let app = TestApp::with_file(&first, &[], &second_table(&second, 512)).await;
    app.ingest("c", &[("a.md", "Boats land here.")]).await;
    assert_eq!(build(&app, &with_second()).await["state"], "succeeded");
    let (by_second, database) = (text(&next(&app).await["id"]), app.database.clone());
    app.stop().await;

    let url = first.base_url();
    let settings = [("CITED_EMBEDDING_BASE_URL", url.as_str()), ("CITED_EMBEDDING_MODEL", FIRST)];
    let app = TestApp::start(database, &settings).await;
    let refused = activate(&app, &by_second).await;
    refused.assert_problem(409, "embedding_profile_mismatch");
    let job = build(&app, &json!({})).await;
    assert_eq!(job["failures"], json!([{"cause": "embedding_model_missing", "documents": 1}]), "{job}");
    // The active index works as before, and the gaps of the next one are reported.
    app.ingest("c", &[("b.md", "Trains leave.")]).await;
    assert_eq!(sources(&app, "trains").await[0], "b.md");
    assert_eq!(document(&app, "b.md").await["version"], 1);
    assert_eq!(next(&app).await["documents"], 1);
    app.stop().await;
}
