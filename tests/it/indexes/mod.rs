//! Indexes of a collection in use: builds of the next one with other settings, activations and drops.

mod activating;
mod building;
mod killed;
mod meanwhile;
mod models;

use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::{
    harness::{Answer, TestApp},
    wait,
};

const GUIDE: &str = "# Harbour\n\n## Boats\n\nBoats land at the northern pier every morning at seven.\n\nThey leave again at \
    noon, save on Sundays, when they stay until the evening.\n\n## Trains\n\nTrains leave from platform two every hour.\n\n\
    The last one goes at ten in the evening and stops at all stations.\n";
/// A text that is one chunk by the settings of a new collection, and several by [`small`].
const TRAMS: &str = "# Trams\n\nTrams cross the market square every ten minutes until late at night.\n\n\
    They stop at the mill, at the old bridge and at the gate of the park.\n";
/// An id that no index has.
const NOBODY: &str = "019ee0a1-6f0b-7d52-9a40-5f1b8f0f6a11";
const LIMIT: Duration = Duration::from_mins(1);

/// Starts a build of the next index, and waits for the end of its job.
async fn build(app: &TestApp, body: &Value) -> Value {
    let answer = begin(app, body).await;
    assert_eq!((answer.status, &answer.body["job"]["kind"]), (202, &json!("index")), "{answer:?}");
    let id = text(&answer.body["job"]["id"]);
    assert_eq!(answer.headers["location"], format!("/v1/jobs/{id}"));
    assert_eq!((&answer.body["index"]["job_id"], &answer.body["index"]["is_active"]), (&json!(id), &json!(false)));
    app.ended_job(&id).await
}

async fn begin(app: &TestApp, body: &Value) -> Answer {
    app.post("/v1/collections/c/indexes", body.clone()).await
}

async fn activate(app: &TestApp, index: &str) -> Answer {
    app.post(&format!("/v1/collections/c/indexes/{index}/activate"), json!({})).await
}

async fn drop_index(app: &TestApp, index: &str) -> Answer {
    app.delete(&format!("/v1/collections/c/indexes/{index}")).await
}

async fn collection(app: &TestApp) -> Value {
    app.get("/v1/collections/c").await.body
}

/// Returns the indexes of the collection, the active one first.
async fn indexes(app: &TestApp) -> Vec<Value> {
    let answer = app.get("/v1/collections/c/indexes").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let listed = answer.body["indexes"].as_array().expect("indexes").clone();
    let collection = collection(app).await;
    assert_eq!(listed[0]["is_active"], true, "{listed:?}");
    assert_eq!(listed[0]["id"], collection["index_id"]);
    assert_eq!(listed.get(1).map_or(&Value::Null, |next| &next["id"]), &collection["next_index_id"]);
    listed
}

/// Returns the id of the active index.
async fn active(app: &TestApp) -> String {
    text(&collection(app).await["index_id"])
}

/// Returns the index next to the active one; null without one.
async fn next(app: &TestApp) -> Value {
    indexes(app).await.get(1).cloned().unwrap_or_default()
}

/// Waits until the next index has all documents in their current version.
async fn complete(app: &TestApp) {
    wait::until_ok("the next index has all documents", async || {
        let (next, collection) = (next(app).await, collection(app).await);
        if next["documents"] == collection["documents"] { Ok(()) } else { Err((next, collection)) }
    })
    .await;
}

fn small() -> Value {
    json!({"splitter": {"kind": "recursive", "size": 20, "overlap": 0}})
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

async fn document_in(app: &TestApp, collection: &str, source: &str) -> Value {
    let listed = app.get(&format!("/v1/documents?collection={collection}&source_prefix={source}")).await.body;
    listed["documents"][0].clone()
}

async fn document(app: &TestApp, source: &str) -> Value {
    document_in(app, "c", source).await
}

async fn chunks_in(app: &TestApp, collection: &str, source: &str) -> Vec<Value> {
    let id = text(&document_in(app, collection, source).await["id"]);
    app.get(&format!("/v1/documents/{id}/chunks")).await.body["chunks"].as_array().expect("chunks").clone()
}

async fn chunks(app: &TestApp, source: &str) -> Vec<Value> {
    chunks_in(app, "c", source).await
}

async fn delete(app: &TestApp, source: &str) -> Value {
    let id = text(&document(app, source).await["id"]);
    let receipt = app.delete(&format!("/v1/documents/{id}")).await;
    assert_eq!((receipt.status, &receipt.body["documents"]), (200, &json!(1)), "{receipt:?}");
    receipt.body
}

/// Creates a collection whose documents are split by the small settings from the start.
async fn make_fresh(app: &TestApp) {
    let made = app.post("/v1/collections", json!({"name": "fresh", "splitter": small()["splitter"]})).await;
    assert_eq!(made.status, 201, "{made:?}");
}

/// Returns the parts of chunks that a fresh upload with the same settings must reproduce: text, range, page, headings.
fn shape(chunks: &[Value]) -> Vec<Value> {
    chunks.iter().map(|c| json!([c["text"], c["start"], c["end"], c["page"], c["heading"], c["splitter"]])).collect()
}

/// Asserts that all passages found in the guide belong to this version and equal its listed chunks.
async fn assert_found(app: &TestApp, version: u32) {
    let listed = chunks(app, "guide.md").await;
    for mode in ["lexical", "dense"] {
        let body = json!({
            "query": "Which boats land at the northern pier?", "collections": ["c"], "mode": mode,
            "filter": {"source_prefix": "guide.md"},
            "stages": {"merge_neighbours": false, "collapse_duplicates": false},
        });
        let answer = app.post("/v1/search", body).await;
        let hits = answer.body["results"].as_array().expect("results");
        assert!(!hits.is_empty(), "{mode}: {answer:?}");
        for hit in hits {
            let (document, ordinal) = hit["urn"].as_str().and_then(|urn| urn.rsplit_once('#')).expect("a URN");
            assert!(document.ends_with(&format!("@{version}")), "{mode}: {hit}");
            assert_eq!(hit["text"], listed[ordinal.parse::<usize>().expect("one chunk")]["text"], "{mode}: {hit}");
        }
    }
}

/// Returns the citation of the first chunk of a version.
async fn citation(app: &TestApp, document: &Value, version: u32) -> Value {
    let urn = format!("cited:c/{}@{version}#0", text(&document["id"]));
    let answer = app.get(&format!("/v1/citations/{}", utf8_percent_encode(&urn, NON_ALPHANUMERIC))).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}
