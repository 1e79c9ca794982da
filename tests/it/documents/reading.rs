//! Stored documents and collections: list, page, get, delete.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use crate::{
    database,
    harness::{Answer, TestApp, send},
    scripted::ModelServer,
};

#[tokio::test]
async fn lists_are_paged_without_gaps() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let texts: Vec<(String, String)> =
        (0..7).map(|number| (format!("d{number}.md"), format!("Text number {number}."))).collect();
    let documents: Vec<(&str, &str)> = texts.iter().map(|(source, text)| (source.as_str(), text.as_str())).collect();
    app.ingest("notes", &documents).await;
    let mut seen = Vec::new();
    let mut path = "/v1/documents?collection=notes&limit=3".to_owned();
    loop {
        let page = app.get(&path).await.body;
        seen.extend(
            page["documents"]
                .as_array()
                .expect("documents")
                .iter()
                .map(|document| document["source"].as_str().expect("source").to_owned()),
        );
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/v1/documents?collection=notes&limit=3&cursor={cursor}");
    }
    seen.sort();
    assert_eq!(seen, texts.iter().map(|(source, _)| source.clone()).collect::<Vec<_>>());
    app.get("/v1/documents?limit=0").await.assert_problem(422, "invalid_request");
    app.get("/v1/documents?limit=many").await.assert_problem(422, "invalid_request");
    app.get("/v1/documents?collection=nowhere").await.assert_problem(404, "not_found");
    app.stop().await;
}

#[tokio::test]
async fn a_delete_leaves_nothing_and_says_what_went() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let job = app.ingest("notes", &[("a.md", "Words about walruses."), ("b.md", "Words about giraffes.")]).await;
    let id = job["items"][0]["document_id"].as_str().expect("id");
    let receipt = app.delete(&format!("/v1/documents/{id}")).await;
    assert_eq!(
        (receipt.status, receipt.body),
        (
            200,
            json!({"documents": 1, "chunks": 1, "vectors": 1, "terms": 2, "answers": 0, "queue_items": 0, "failed_items": 0})
        )
    );
    app.get(&format!("/v1/documents/{id}")).await.assert_problem(404, "not_found");
    app.delete(&format!("/v1/documents/{id}")).await.assert_problem(404, "not_found");
    for mode in ["lexical", "dense", "hybrid"] {
        let found =
            app.post("/v1/search", json!({"query": "walruses", "collections": ["notes"], "mode": mode})).await.body;
        assert!(!found.to_string().contains("walruses"), "{mode}: {found}");
    }
    database::assert_consistent(&app.database).await;
    let receipt = app.delete("/v1/collections/notes").await;
    assert_eq!(
        (receipt.status, receipt.body),
        (
            200,
            json!({"documents": 1, "chunks": 1, "vectors": 1, "terms": 3, "answers": 0, "queue_items": 0, "failed_items": 0})
        )
    );
    app.get("/v1/collections/notes").await.assert_problem(404, "not_found");
    for table in ["index_statistic", "term_statistic", "document", "chunk", "chunk_embedding"] {
        assert_eq!(database::number(&app.database, &format!("SELECT count(*) FROM {table}")).await, 0, "{table}");
    }
    app.stop().await;
}

#[tokio::test]
async fn collections_have_a_life() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let made = app.post("/v1/collections", json!({"name": "a b/c"})).await;
    assert_eq!((made.status, &made.body["documents"]), (201, &json!(0)));
    assert_eq!(made.body["embedding"], json!({"model": "scripted-embedding", "dimension": crate::scripted::DIMENSION}));
    app.post("/v1/collections", json!({"name": "a b/c"})).await.assert_problem(409, "collection_exists");
    app.post("/v1/collections", json!({"name": " "})).await.assert_problem(422, "invalid_request");
    app.ingest("other", &[("a.md", "Text.")]).await;
    let listed = app.get("/v1/collections").await.body;
    let names: Vec<&str> =
        listed["collections"].as_array().expect("list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["a b/c", "other"]);
    let got = app.get("/v1/collections/a%20b%2Fc").await;
    assert_eq!((got.status, &got.body["name"]), (200, &json!("a b/c")));
    assert_eq!(app.get("/v1/collections/other").await.body["chunks"], 1);
    app.stop().await;
}

/// Replaces a document; the job need not have ended.
async fn replace(app: &TestApp, id: &str, query: &str, body: serde_json::Value) -> Answer {
    let answer = send(app.request(Method::PUT, &format!("/v1/documents/{id}{query}")).json(&body)).await;
    assert!(matches!(answer.status, 200 | 202), "{answer:?}");
    answer
}

#[tokio::test]
async fn a_replacement_keeps_what_an_edit_before_it_changed() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let document = json!({"source": "a.md", "text": "First words.", "title": "First", "metadata": {"edit": 1}});
    let job = app.post("/v1/documents?wait=true", json!({"collection": "c", "documents": [document]})).await.body;
    let id = job["items"][0]["document_id"].as_str().expect("id").to_owned();
    // Accepted one after the other, while nothing of them is stored.
    server.delay_embeddings(Duration::from_secs(1));
    let first = replace(&app, &id, "", json!({"text": "Second words.", "metadata": {"edit": 2}})).await;
    let second = replace(&app, &id, "", json!({"text": "Third words.", "title": "Third"})).await;
    let last = replace(&app, &id, "", json!({"text": "Fourth words."})).await;
    server.delay_embeddings(Duration::ZERO);
    for job in [first, second, last] {
        app.ended_job(job.body["id"].as_str().expect("id")).await;
    }
    let stored = app.get(&format!("/v1/documents/{id}")).await.body;
    assert_eq!((&stored["title"], &stored["metadata"]), (&json!("Third"), &json!({"edit": 2})), "{stored}");
    assert_eq!(app.get(&format!("/v1/documents/{id}/content")).await.body["text"], "Fourth words.");
    app.stop().await;
}

#[tokio::test]
async fn of_replacements_at_once_none_undoes_another() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let job = app.ingest("c", &[("a.md", "First words.")]).await;
    let id = job["items"][0]["document_id"].as_str().expect("id").to_owned();
    for round in 0..5 {
        let (title, metadata) = (json!(format!("Title {round}")), json!({"round": round}));
        let text = format!("Words of round {round}.");
        futures::join!(
            replace(&app, &id, "?wait=true", json!({"text": text, "title": title})),
            replace(&app, &id, "?wait=true", json!({"text": text, "metadata": metadata})),
        );
        let stored = app.get(&format!("/v1/documents/{id}")).await.body;
        assert_eq!((&stored["title"], &stored["metadata"]), (&title, &metadata), "{stored}");
    }
    app.stop().await;
}
