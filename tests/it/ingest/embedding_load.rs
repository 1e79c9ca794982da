//! How many requests an embedding server has at once: what its latency costs depends on that.

use serde_json::{Value, json};

use crate::{harness::TestApp, scripted::ModelServer};

/// Requests that are to be under way at once.
const AT_ONCE: usize = 8;
/// Documents of two claims.
const DOCUMENTS: usize = 256;
/// Chunks of a long document: less than eight full requests have.
const CHUNKS: usize = 500;

/// Sends documents and waits for the end of their job; no request of theirs is answered before so many are there.
async fn ingest(app: &TestApp, server: &ModelServer, collection: &str, indexing: &str, documents: Vec<Value>) -> Value {
    // A server that is asked by fewer at once gives up waiting for the others, and counts that.
    server.answer_embeddings_together(AT_ONCE);
    let body = json!({"collection": collection, "indexing": indexing, "documents": documents});
    let begun = app.post("/v1/documents", body).await;
    assert_eq!(begun.status, 202, "{begun:?}");
    let ended = app.ended_job(begun.body["id"].as_str().expect("an id")).await;
    assert_eq!(ended["state"], "succeeded", "{ended}");
    assert_eq!(
        server.lonely_embeddings(),
        0,
        "{indexing}: requests were answered that had no seven others beside them"
    );
    ended
}

#[tokio::test]
async fn eight_requests_are_under_way_for_many_small_documents() {
    let server = ModelServer::start().await;
    // One task stores documents: several that claim at the same moment may divide them into other parts than full claims.
    let app = TestApp::start_with_embeddings(&server, &[("CITED_WORKERS", "1")]).await;
    for indexing in ["complete", "progressive"] {
        let document =
            |number| json!({"source": format!("{number}.txt"), "text": format!("Pier {number} is {indexing}.")});
        let documents = (0..DOCUMENTS).map(document).collect();
        let ended = ingest(&app, &server, indexing, indexing, documents).await;
        assert_eq!((&ended["counts"]["chunks"], &ended["counts"]["embedding_calls"]), (&json!(256), &json!(256)));
    }
    app.stop().await;
}

#[tokio::test]
async fn eight_requests_are_under_way_for_one_long_document() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    for indexing in ["complete", "progressive"] {
        let splitter = json!({"kind": "recursive", "size": 20, "overlap": 0});
        let made = app.post("/v1/collections", json!({"name": indexing, "splitter": splitter})).await;
        assert_eq!(made.status, 201, "{made:?}");
        let paragraph =
            |number| format!("Boat {number} of the {indexing} line leaves the pier at seven in the morning.");
        let text = (0..CHUNKS).map(paragraph).collect::<Vec<_>>().join("\n\n");
        let document = json!({"source": "long.txt", "text": text, "media_type": "text/plain"});
        let ended = ingest(&app, &server, indexing, indexing, vec![document]).await;
        assert_eq!(ended["counts"]["chunks"], CHUNKS, "{ended}");
    }
    app.stop().await;
}
