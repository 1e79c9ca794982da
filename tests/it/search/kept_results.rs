//! A search that was made before is made again only when what it searches has changed.

use serde_json::{Value, json};

use crate::{harness::TestApp, scripted::ModelServer};

const QUERY: &str = "When does the vault open?";

/// The texts that a search finds.
async fn found(app: &TestApp, body: Value) -> Vec<String> {
    let answer = app.post("/v1/search", body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let results = answer.body["results"].as_array().cloned().unwrap_or_default();
    results.iter().map(|result| result["text"].as_str().unwrap_or_default().to_owned()).collect()
}

/// How often the query was embedded.
fn embeddings(server: &ModelServer) -> usize {
    server.embedded().iter().filter(|text| *text == QUERY).count()
}

#[tokio::test]
async fn a_search_is_made_again_when_what_it_searches_has_changed() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let search = || json!({"query": QUERY, "collections": ["c"]});
    app.ingest("c", &[("vault.md", "The vault opens at noon.")]).await;
    app.ingest("d", &[("gate.md", "The gate opens at six.")]).await;

    let first = found(&app, search()).await;
    assert_eq!(first, ["The vault opens at noon."]);
    assert_eq!(found(&app, search()).await, first);
    assert_eq!(embeddings(&server), 1, "nothing has changed");

    app.ingest("d", &[("gate.md", "The gate opens at seven.")]).await;
    assert_eq!(found(&app, search()).await, first);
    assert_eq!(embeddings(&server), 1, "another collection has changed");

    found(&app, json!({"query": QUERY, "collections": ["c"], "top_k": 1})).await;
    assert_eq!(embeddings(&server), 2, "another search");

    app.ingest("c", &[("vault.md", "The vault opens at dawn.")]).await;
    assert_eq!(found(&app, search()).await, ["The vault opens at dawn."]);
    assert_eq!(embeddings(&server), 3, "a document was replaced");

    let documents = app.get("/v1/documents?collection=c").await.body["documents"].clone();
    let id = documents[0]["id"].as_str().expect("one document").to_owned();
    let deleted = app.delete(&format!("/v1/documents/{id}")).await;
    assert_eq!(deleted.status, 200, "{deleted:?}");
    assert_eq!(found(&app, search()).await, Vec::<String>::new());
    app.stop().await;
}
