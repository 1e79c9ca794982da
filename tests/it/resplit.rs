//! Other settings for the chunks of a collection that is in use.

use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{ConnectOptions, Connection, Executor};

use super::{
    database,
    harness::{Answer, TestApp, client, send},
    process::{Process, ended_job},
    scripted::{DIMENSION, ModelServer, Reply, Role, poll_until},
};

const GUIDE: &str = "# Harbour\n\n## Boats\n\nBoats land at the northern pier every morning at seven.\n\nThey leave again at \
    noon, save on Sundays, when they stay until the evening.\n\n## Trains\n\nTrains leave from platform two every hour.\n\n\
    The last one goes at ten in the evening and stops at all stations.\n";
/// One chunk by the settings of a new collection, several by [`small`].
const TRAMS: &str = "# Trams\n\nTrams cross the market square every ten minutes until late at night.\n\n\
    They stop at the mill, at the old bridge and at the gate of the park.\n";
/// No chunking has this name.
const NOBODY: &str = "019ee0a1-6f0b-7d52-9a40-5f1b8f0f6a11";
const LIMIT: Duration = Duration::from_mins(1);

/// Begins a job, and waits for its end.
async fn resplit(app: &TestApp, body: &Value) -> Value {
    let answer = begin(app, body).await;
    assert_eq!((answer.status, &answer.body["kind"]), (202, &json!("resplit")), "{answer:?}");
    let id = text(&answer.body["id"]);
    assert_eq!(answer.headers["location"], format!("/v1/jobs/{id}"));
    app.ended_job(&id).await
}

async fn begin(app: &TestApp, body: &Value) -> Answer {
    app.post("/v1/collections/c/resplit", body.clone()).await
}

async fn cut_over(app: &TestApp, chunking: &str) -> Answer {
    app.post("/v1/collections/c/cut-over", json!({"chunking": chunking})).await
}

async fn drop_chunking(app: &TestApp, chunking: &str) -> Answer {
    app.delete(&format!("/v1/collections/c/chunkings/{chunking}")).await
}

async fn collection(app: &TestApp) -> Value {
    app.get("/v1/collections/c").await.body
}

/// The active chunking.
async fn active(app: &TestApp) -> String {
    text(&collection(app).await["chunking_id"])
}

/// The chunking beside the active one; null without one.
async fn beside(app: &TestApp) -> Value {
    collection(app).await["chunkings"][0].clone()
}

/// Waits until the chunking beside the active one has all documents as they are.
async fn complete(app: &TestApp) {
    let deadline = tokio::time::Instant::now() + LIMIT;
    loop {
        let collection = collection(app).await;
        if collection["chunkings"][0]["documents"] == collection["documents"] {
            return;
        }
        assert!(tokio::time::Instant::now() < deadline, "documents are missing: {collection}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
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

/// A new collection whose documents are split by the small settings from the start.
async fn make_fresh(app: &TestApp) {
    let made = app.post("/v1/collections", json!({"name": "fresh", "splitter": small()["splitter"]})).await;
    assert_eq!(made.status, 201, "{made:?}");
}

/// What a fresh upload with the same settings makes of a document: text, range, page, headings.
fn shape(chunks: &[Value]) -> Vec<Value> {
    chunks.iter().map(|c| json!([c["text"], c["start"], c["end"], c["page"], c["heading"], c["splitter"]])).collect()
}

/// What is found of the guide are passages of this version, as they are listed.
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

/// What is told of the first chunk of a version.
async fn citation(app: &TestApp, document: &Value, version: u32) -> Value {
    let urn = format!("cited:c/{}@{version}#0", text(&document["id"]));
    let answer = app.get(&format!("/v1/citations/{}", utf8_percent_encode(&urn, NON_ALPHANUMERIC))).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

#[tokio::test]
async fn stored_documents_are_split_as_if_they_came_anew() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let pdf = std::fs::read("tests/corpus/files/leave.pdf").expect("a file");
    let html = std::fs::read("tests/corpus/files/leave.html").expect("a file");
    make_fresh(&app).await;
    for collection in ["c", "fresh"] {
        app.ingest(collection, &[("guide.md", GUIDE)]).await;
        let form = [("leave.pdf", &pdf), ("leave.html", &html)]
            .into_iter()
            .fold(reqwest::multipart::Form::new().text("collection", collection), |form, (name, bytes)| {
                form.part("file", reqwest::multipart::Part::bytes(bytes.clone()).file_name(name))
            });
        let sent = send(app.request(Method::POST, "/v1/documents?wait=true").multipart(form)).await;
        assert_eq!((sent.status, &sent.body["state"]), (200, &json!("succeeded")), "{sent:?}");
    }
    let (first, fresh) = (collection(&app).await, app.get("/v1/collections/fresh").await.body);
    let (guide, before) = (document(&app, "guide.md").await, chunks(&app, "guide.md").await);
    assert_eq!(first["chunkings"], json!([]), "{first}");
    let embedded = server.embedded().len();

    let job = resplit(&app, &small()).await;
    assert_eq!((&job["state"], &job["counts"]["documents"]), (&json!("succeeded"), &json!(3)), "{job}");
    assert_eq!(job["counts"]["embedding_calls"], 0, "the other collection has all these vectors already: {job}");
    assert_eq!(job["counts"]["reused_vectors"], job["counts"]["chunks"], "{job}");
    assert_eq!(server.embedded().len(), embedded);

    // It stands beside what there was, and nothing else has changed.
    let between = collection(&app).await;
    for member in ["chunking_id", "splitter", "context", "documents", "chunks", "embedded_chunks"] {
        assert_eq!(between[member], first[member], "{member}");
    }
    let other = &between["chunkings"][0];
    for member in ["splitter", "context", "documents", "chunks"] {
        assert_eq!(other[member], fresh[member], "{member} of {other}");
    }
    assert_eq!(between["chunkings"].as_array().map(Vec::len), Some(1), "{between}");
    assert!(other["job_id"] == job["id"] && other["created_at"].is_string(), "{other}");
    assert_eq!(document(&app, "guide.md").await, guide);
    assert_eq!(chunks(&app, "guide.md").await, before);
    assert_found(&app, 1).await;

    // Nothing is left to do, neither for another job nor for the same upload.
    for body in [json!({}), small()] {
        let again = resplit(&app, &body).await;
        assert_eq!((&again["counts"]["unchanged"], &again["counts"]["documents"]), (&json!(3), &json!(0)), "{again}");
    }
    let sent = app.ingest("c", &[("guide.md", GUIDE)]).await;
    assert_eq!(sent["counts"]["unchanged"], 1, "{sent}");

    let after = cut_over(&app, &text(&other["id"])).await;
    assert_eq!((after.status, &after.body["chunking_id"]), (200, &other["id"]), "{after:?}");
    assert_eq!((&after.body["splitter"], &after.body["chunks"]), (&fresh["splitter"], &fresh["chunks"]), "{after:?}");
    let kept = &after.body["chunkings"][0];
    assert_eq!((&kept["id"], &kept["splitter"]), (&first["chunking_id"], &first["splitter"]), "{kept}");
    assert_eq!((&kept["documents"], &kept["chunks"]), (&first["documents"], &first["chunks"]), "{kept}");
    for source in ["guide.md", "leave.pdf", "leave.html"] {
        assert_eq!(shape(&chunks(&app, source).await), shape(&chunks_in(&app, "fresh", source).await), "{source}");
    }
    assert!(chunks(&app, "guide.md").await.len() > before.len());
    assert_found(&app, 2).await;
    let sent = app.ingest("c", &[("guide.md", GUIDE)]).await;
    assert_eq!(sent["counts"]["unchanged"], 1, "the same upload is still known: {sent}");
    app.stop().await;
}

#[tokio::test]
async fn a_cut_over_is_undone_by_another_until_the_chunking_before_is_dropped() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("c", &[("guide.md", GUIDE)]).await;
    let (guide, before, first) = (document(&app, "guide.md").await, chunks(&app, "guide.md").await, active(&app).await);
    assert_eq!(resplit(&app, &small()).await["state"], "succeeded");
    let second = text(&beside(&app).await["id"]);
    assert_eq!(cut_over(&app, &second).await.status, 200);
    let split = chunks(&app, "guide.md").await;

    // It is a new version of the same document; what was cited is still told.
    let now = document(&app, "guide.md").await;
    assert_eq!((&now["id"], &now["version"], &now["chunks"]), (&guide["id"], &json!(2), &json!(split.len())), "{now}");
    let cited = citation(&app, &guide, 1).await;
    assert_eq!((&cited["status"], &cited["passage"]["text"]), (&json!("superseded"), &before[0]["text"]), "{cited}");
    assert_eq!(citation(&app, &guide, 2).await["status"], "current");

    // The chunking before is complete as it stands: back, and the documents are as they were.
    let back = cut_over(&app, &first).await;
    assert_eq!((back.status, &back.body["chunking_id"]), (200, &json!(first)), "{back:?}");
    assert_eq!(document(&app, "guide.md").await["version"], 3);
    assert_eq!(shape(&chunks(&app, "guide.md").await), shape(&before));
    assert_found(&app, 3).await;
    for (version, passage) in [(1, &before[0]), (2, &split[0])] {
        let cited = citation(&app, &guide, version).await;
        assert_eq!((&cited["status"], &cited["passage"]["text"]), (&json!("superseded"), &passage["text"]), "{cited}");
    }

    cut_over(&app, &first).await.assert_problem(409, "chunking_active");
    drop_chunking(&app, &first).await.assert_problem(409, "chunking_active");
    let dropped = drop_chunking(&app, &second).await;
    let parts = split.len();
    let expected = json!({"documents": 1, "chunks": parts, "vectors": parts});
    assert_eq!((dropped.status, &dropped.body), (200, &expected), "{dropped:?}");
    let stored = database::number(&app.database, "SELECT count(*) FROM chunk").await;
    assert_eq!(usize::try_from(stored), Ok(before.len()));
    drop_chunking(&app, &second).await.assert_problem(404, "not_found");
    cut_over(&app, &second).await.assert_problem(404, "not_found");
    let left = collection(&app).await;
    assert_eq!((&left["chunking_id"], &left["chunkings"]), (&json!(first), &json!([])), "{left}");
    assert_eq!(document(&app, "guide.md").await["version"], 3);
    assert_found(&app, 3).await;
    app.stop().await;
}

#[tokio::test]
async fn wrong_wishes_are_explained() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    begin(&app, &small()).await.assert_problem(404, "not_found");
    cut_over(&app, NOBODY).await.assert_problem(404, "not_found");
    drop_chunking(&app, NOBODY).await.assert_problem(404, "not_found");
    assert_eq!(app.post("/v1/collections", json!({"name": "c"})).await.status, 201);
    let wrong = begin(&app, &json!({"splitter": {"size": 3}})).await;
    wrong.assert_problem(422, "invalid_request");
    assert_eq!(wrong.pointers(), ["/splitter/size"]);
    let nobody = begin(&app, &json!({"context": {}})).await;
    nobody.assert_problem(422, "invalid_request");
    assert_eq!(nobody.pointers(), ["/context"]);
    assert_eq!(collection(&app).await["chunkings"], json!([]), "nothing was done");

    let first = active(&app).await;
    for (wish, pointer) in
        [(json!({"profile": "scripted-embedding", "chunking": NOBODY}), "/chunking"), (json!({}), "/profile")]
    {
        let refused = app.post("/v1/collections/c/cut-over", wish).await;
        refused.assert_problem(422, "invalid_request");
        assert_eq!(refused.pointers(), [pointer]);
    }
    cut_over(&app, NOBODY).await.assert_problem(404, "not_found");
    drop_chunking(&app, NOBODY).await.assert_problem(404, "not_found");
    cut_over(&app, &first).await.assert_problem(409, "chunking_active");
    drop_chunking(&app, &first).await.assert_problem(409, "chunking_active");

    // An empty collection has nothing to wait for. There is room for one chunking beside the active one.
    let job = resplit(&app, &small()).await;
    assert_eq!((&job["state"], &job["counts"]["items"]), (&json!("succeeded"), &json!(0)), "{job}");
    begin(&app, &json!({"splitter": {"size": 64}})).await.assert_problem(409, "companion_exists");
    let second = text(&beside(&app).await["id"]);
    assert_eq!(resplit(&app, &json!({})).await["state"], "succeeded");
    assert_eq!(beside(&app).await["id"], json!(second), "it is the same one");
    assert_eq!(cut_over(&app, &second).await.status, 200);
    app.ingest("c", &[("guide.md", GUIDE)]).await;
    assert!(chunks(&app, "guide.md").await.len() > 2, "by the new settings");
    complete(&app).await;
    app.stop().await;
}

#[tokio::test]
async fn the_same_settings_may_be_split_by_again() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("c", &[("guide.md", GUIDE)]).await;
    let (before, first) = (chunks(&app, "guide.md").await, collection(&app).await);
    let job = resplit(&app, &json!({})).await;
    assert_eq!((&job["counts"]["documents"], &job["counts"]["embedding_calls"]), (&json!(1), &json!(0)), "{job}");
    for (kind, ids) in [("resplit", vec![job["id"].clone()]), ("reembed", vec![])] {
        let listed = app.get(&format!("/v1/jobs?kind={kind}")).await.body;
        let listed: Vec<Value> = listed["jobs"].as_array().expect("jobs").iter().map(|job| job["id"].clone()).collect();
        assert_eq!(listed, ids, "{kind}");
    }
    app.get("/v1/jobs?kind=split").await.assert_problem(422, "invalid_request");
    let other = beside(&app).await;
    assert_eq!((&other["splitter"], &other["chunks"]), (&first["splitter"], &first["chunks"]), "{other}");
    assert_ne!(other["id"], first["chunking_id"]);
    assert_eq!(cut_over(&app, &text(&other["id"])).await.status, 200);
    assert_eq!(document(&app, "guide.md").await["version"], 2);
    assert_eq!(shape(&chunks(&app, "guide.md").await), shape(&before));
    assert_found(&app, 2).await;
    app.stop().await;
}

#[tokio::test]
async fn documents_of_before_are_named_and_keep_a_cut_over_back_until_they_are_sent_again() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("c", &[("old.md", GUIDE), ("new.md", &GUIDE.replace("Boats", "Ships"))]).await;
    database::execute(&app.database, "UPDATE document SET layout = NULL WHERE source = 'old.md'").await;
    let before = chunks(&app, "old.md").await;
    let job = resplit(&app, &small()).await;
    assert_eq!((&job["state"], &job["counts"]["documents"]), (&json!("partial"), &json!(1)), "{job}");
    assert_eq!(job["failures"], json!([{"cause": "layout_missing", "documents": 1}]));
    let listed = app.get(&format!("/v1/jobs/{}?items_state=failed", text(&job["id"]))).await.body;
    assert_eq!(listed["items"][0]["source"], "old.md", "{listed}");
    assert!(text(&listed["items"][0]["message"]).contains("send it again"), "{listed}");

    let other = beside(&app).await;
    assert_eq!(other["documents"], 1, "{other}");
    let refused = cut_over(&app, &text(&other["id"])).await;
    refused.assert_problem(409, "chunks_missing");
    let detail = text(&refused.body["detail"]);
    assert!(detail.starts_with("1 document is") && detail.contains("/resplit"), "{detail}");
    assert_eq!(chunks(&app, "old.md").await, before, "it stays as it is");

    // The same bytes will do.
    app.ingest("c", &[("old.md", GUIDE)]).await;
    complete(&app).await;
    assert_eq!(cut_over(&app, &text(&other["id"])).await.status, 200);
    assert!(chunks(&app, "old.md").await.len() > before.len(), "it is split by the new settings");
    app.stop().await;
}

#[tokio::test]
async fn uploads_and_deletes_beside_the_job_win() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("c", &[("a.md", GUIDE), ("b.md", "Buses stop at the market."), ("d.md", "Bicycles are for hire.")])
        .await;
    let calls = server.embedding_keys().len();
    server.hold_embeddings(Some("northern"));
    let begun = begin(&app, &small()).await.body;
    begin(&app, &small()).await.assert_problem(409, "resplitting");
    poll_until(LIMIT, || server.embedding_keys().len() > calls).await;
    let other = beside(&app).await;
    assert_eq!((&other["documents"], &other["job_id"]), (&json!(0), &begun["id"]), "{other}");
    let refused = cut_over(&app, &text(&other["id"])).await;
    refused.assert_problem(409, "chunks_missing");
    assert!(text(&refused.body["detail"]).starts_with("3 documents"), "{refused:?}");

    // The job holds what these were when it took them up.
    assert_eq!(delete(&app, "b.md").await["queue_items"], 1);
    let changed = GUIDE.replace("northern", "southern");
    app.ingest("c", &[("a.md", &changed)]).await;
    server.hold_embeddings(None);
    let job = app.ended_job(&text(&begun["id"])).await;
    assert!(["succeeded", "cancelled"].contains(&job["state"].as_str().expect("a state")), "{job}");
    complete(&app).await;
    let collection = cut_over(&app, &text(&other["id"])).await;
    assert_eq!((collection.status, &collection.body["documents"]), (200, &json!(2)), "{collection:?}");
    make_fresh(&app).await;
    app.ingest("fresh", &[("a.md", &changed)]).await;
    assert_eq!(shape(&chunks(&app, "a.md").await), shape(&chunks_in(&app, "fresh", "a.md").await));
    assert!(document(&app, "b.md").await.is_null(), "what was deleted does not come back");
    app.stop().await;
}

#[tokio::test]
async fn what_is_stored_beside_a_chunking_is_split_by_both() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    // Its vectors by the settings of a new collection are there: an upload of it needs no model, the other split does.
    app.ingest("other", &[("late.md", TRAMS)]).await;
    app.ingest("c", &[("a.md", GUIDE), ("b.md", "Buses stop at the market.")]).await;
    assert_eq!(resplit(&app, &small()).await["state"], "succeeded");
    let first = active(&app).await;
    let second = text(&beside(&app).await["id"]);
    server.hold_embeddings(Some("bridge"));
    let stored = app.ingest("c", &[("late.md", TRAMS), ("gone.md", TRAMS)]).await;
    assert_eq!((&stored["counts"]["documents"], &stored["counts"]["embedding_calls"]), (&json!(2), &json!(0)));
    let jobs = "SELECT count(*) FROM job WHERE kind = 'resplit'";
    assert_eq!(database::number(&app.database, jobs).await, 2, "one was queued with what was stored");
    let waiting = collection(&app).await;
    assert_eq!((&waiting["documents"], &waiting["chunkings"][0]["documents"]), (&json!(4), &json!(2)), "{waiting}");
    let refused = cut_over(&app, &second).await;
    refused.assert_problem(409, "chunks_missing");
    assert!(text(&refused.body["detail"]).starts_with("2 documents"), "{refused:?}");
    assert_eq!(delete(&app, "gone.md").await["queue_items"], 1, "it need not be split any more");
    server.hold_embeddings(None);
    complete(&app).await;

    let changed = GUIDE.replace("northern", "southern");
    app.ingest("c", &[("a.md", &changed)]).await;
    complete(&app).await;
    let by_first = document(&app, "a.md").await["chunks"].as_u64().expect("a number");
    assert_eq!(cut_over(&app, &second).await.status, 200);
    make_fresh(&app).await;
    app.ingest("fresh", &[("a.md", &changed), ("b.md", "Buses stop at the market."), ("late.md", TRAMS)]).await;
    for (source, version) in [("a.md", 3), ("b.md", 2), ("late.md", 2)] {
        assert_eq!(document(&app, source).await["version"], version, "{source}");
        assert_eq!(shape(&chunks(&app, source).await), shape(&chunks_in(&app, "fresh", source).await), "{source}");
    }
    assert!(document(&app, "gone.md").await.is_null());

    // The chunking before goes on with them, and a delete takes a document out of both.
    app.ingest("c", &[("new.md", "Ferries cross the bay.")]).await;
    complete(&app).await;
    let kept = beside(&app).await;
    assert_eq!((&kept["id"], &kept["documents"]), (&json!(first), &json!(4)), "{kept}");
    let by_second = document(&app, "a.md").await["chunks"].as_u64().expect("a number");
    for (source, parts) in [("a.md", by_first + by_second), ("b.md", 2)] {
        let receipt = delete(&app, source).await;
        assert_eq!((&receipt["chunks"], &receipt["vectors"]), (&json!(parts), &json!(parts)), "{source}: {receipt}");
        assert_eq!(receipt["queue_items"], 0, "{source}: {receipt}");
    }
    let left = collection(&app).await;
    assert_eq!((&left["documents"], &left["chunkings"][0]["documents"]), (&json!(2), &json!(2)), "{left}");
    assert_eq!(cut_over(&app, &first).await.status, 200);
    app.stop().await;
}

#[tokio::test]
async fn what_is_under_way_at_a_cut_over_is_split_by_what_is_active_then() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    assert_eq!(app.post("/v1/collections", json!({"name": "c"})).await.status, 201);
    let first = active(&app).await;
    assert_eq!(resplit(&app, &small()).await["counts"]["items"], 0, "nothing is stored yet");
    let calls = server.embedding_keys().len();
    server.hold_embeddings(Some("northern"));
    let documents = json!([{"source": "guide.md", "text": GUIDE, "media_type": "text/markdown"}]);
    let sent = app.post("/v1/documents", json!({"collection": "c", "documents": documents})).await.body;
    poll_until(LIMIT, || server.embedding_keys().len() > calls).await;
    assert_eq!(cut_over(&app, &text(&beside(&app).await["id"])).await.status, 200);
    server.hold_embeddings(None);
    let job = app.ended_job(&text(&sent["id"])).await;
    assert_eq!(job["state"], "succeeded", "{job}");
    make_fresh(&app).await;
    app.ingest("fresh", &[("guide.md", GUIDE)]).await;
    let split = chunks(&app, "guide.md").await;
    assert_eq!(shape(&split), shape(&chunks_in(&app, "fresh", "guide.md").await));
    // The chunking before gets it too.
    complete(&app).await;
    assert_eq!(cut_over(&app, &first).await.status, 200);
    assert!(chunks(&app, "guide.md").await.len() < split.len());
    app.stop().await;
}

/// A commit that waits while a cut-over is in its transaction sees what that leaves, and not what was there before.
#[tokio::test]
async fn an_upload_that_waits_for_a_cut_over_is_split_by_what_is_active_after_it() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    assert_eq!(app.post("/v1/collections", json!({"name": "c"})).await.status, 201);
    resplit(&app, &small()).await;
    let small_chunks = text(&beside(&app).await["id"]);
    let calls = server.embedding_keys().len();
    server.hold_embeddings(Some("northern"));
    let documents = json!([{"source": "guide.md", "text": GUIDE, "media_type": "text/markdown"}]);
    let sent = app.post("/v1/documents", json!({"collection": "c", "documents": documents})).await.body;
    poll_until(LIMIT, || server.embedding_keys().len() > calls).await;
    // Holds both up, so that the cut-over is at the lock first.
    let mut holder = app.database.connect().await.expect("connect");
    holder.execute("BEGIN; SELECT FROM collection FOR UPDATE").await.expect("locked");
    let waiting = async |so_many: i64| {
        let waiters =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while database::number(&app.database, waiters).await < so_many {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let (done, ()) = tokio::join!(cut_over(&app, &small_chunks), async {
        waiting(1).await;
        server.hold_embeddings(None);
        waiting(2).await;
        holder.execute("COMMIT").await.expect("let go");
    });
    assert_eq!(done.status, 200, "{done:?}");
    let job = app.ended_job(&text(&sent["id"])).await;
    assert_eq!(job["state"], "succeeded", "{job}");
    make_fresh(&app).await;
    app.ingest("fresh", &[("guide.md", GUIDE)]).await;
    assert_eq!(shape(&chunks(&app, "guide.md").await), shape(&chunks_in(&app, "fresh", "guide.md").await));
    complete(&app).await;
    database::assert_consistent(&app.database).await;
    holder.close().await.expect("close");
    app.stop().await;
}

#[tokio::test]
async fn another_model_and_other_settings_are_tried_one_after_the_other() {
    let (server, second) = (ModelServer::start().await, ModelServer::start().await);
    let table = format!(
        "[embeddings.second]\nbase_url = {:?}\nmodel = \"second\"\ndimension = {DIMENSION}\n",
        second.base_url()
    );
    let app = TestApp::with_file(&server, &[], &table).await;
    app.ingest("c", &[("guide.md", GUIDE)]).await;
    let reembed = async || app.post("/v1/collections/c/reembed", json!({"profile": "second"})).await;
    let begun = reembed().await;
    assert_eq!(begun.status, 202, "{begun:?}");
    app.ended_job(&text(&begun.body["id"])).await;
    begin(&app, &small()).await.assert_problem(409, "companion_exists");
    assert_eq!(collection(&app).await["chunkings"], json!([]));
    assert_eq!(app.delete("/v1/collections/c/profiles/second").await.status, 200);

    let first = active(&app).await;
    assert_eq!(resplit(&app, &small()).await["state"], "succeeded");
    reembed().await.assert_problem(409, "companion_exists");
    assert_eq!(cut_over(&app, &text(&beside(&app).await["id"])).await.status, 200);
    reembed().await.assert_problem(409, "companion_exists");
    assert_eq!(drop_chunking(&app, &first).await.status, 200);
    let begun = reembed().await;
    assert_eq!(begun.status, 202, "{begun:?}");
    assert_eq!(app.ended_job(&text(&begun.body["id"])).await["state"], "succeeded");
    let moved = app.post("/v1/collections/c/cut-over", json!({"profile": "second"})).await;
    assert_eq!((moved.status, &moved.body["embedding"]["model"]), (200, &json!("second")), "{moved:?}");
    assert_found(&app, 2).await;
    app.stop().await;
}

#[tokio::test]
async fn dropping_a_chunking_stops_the_jobs_that_fill_it() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("other", &[("late.md", TRAMS)]).await;
    app.ingest("c", &[("a.md", GUIDE), ("b.md", "Buses stop at the market.")]).await;
    let calls = server.embedding_keys().len();
    server.hold_embeddings(Some("northern"));
    let job = text(&begin(&app, &small()).await.body["id"]);
    poll_until(LIMIT, || server.embedding_keys().len() > calls).await;
    let second = text(&beside(&app).await["id"]);
    let dropped = drop_chunking(&app, &second).await;
    assert_eq!(
        (dropped.status, &dropped.body),
        (200, &json!({"documents": 0, "chunks": 0, "vectors": 0})),
        "{dropped:?}"
    );
    assert_eq!(app.ended_job(&job).await["state"], "cancelled");
    assert_eq!(collection(&app).await["chunkings"], json!([]));
    cut_over(&app, &second).await.assert_problem(404, "not_found");
    server.hold_embeddings(None);

    // So do those that follow uploads.
    assert_eq!(resplit(&app, &small()).await["state"], "succeeded");
    let third = beside(&app).await;
    assert!(third["id"] != json!(second) && third["documents"] == 2, "{third}");
    server.hold_embeddings(Some("bridge"));
    app.ingest("c", &[("late.md", TRAMS)]).await;
    let dropped = drop_chunking(&app, &text(&third["id"])).await;
    assert_eq!((dropped.status, &dropped.body["chunks"]), (200, &third["chunks"]), "{dropped:?}");
    let deadline = tokio::time::Instant::now() + LIMIT;
    let open = "SELECT count(*) FROM job WHERE finished_at IS NULL";
    while database::number(&app.database, open).await > 0 {
        assert!(tokio::time::Instant::now() < deadline, "a job does not end");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let stopped = "SELECT count(*) FROM job WHERE kind = 'resplit' AND state = 'cancelled'";
    assert_eq!(database::number(&app.database, stopped).await, 2);
    server.hold_embeddings(None);
    let parts = |collection: &Value| collection["chunks"].as_i64().expect("a number");
    let listed = parts(&collection(&app).await) + parts(&app.get("/v1/collections/other").await.body);
    // Whoever stops waits for what is under way.
    let database = app.database.clone();
    app.stop().await;
    assert_eq!(database::number(&database, "SELECT count(*) FROM chunk").await, listed, "nothing came late");
}

#[tokio::test]
async fn contexts_are_switched_on_and_off_by_cut_overs() {
    let server = ModelServer::start().await;
    server.say(Role::Context, "It is from the guide of Zanzibar.");
    server.reply(Role::Context, Reply::Status(400, "too odd".to_owned()));
    server.say(Role::Context, "It is from the guide of Zanzibar.");
    let url = server.base_url();
    let chat =
        [("CITED_CHAT_BASE_URL", url.as_str()), ("CITED_CHAT_MODEL", "scripted-chat"), ("CITED_CONTEXT_CALLS", "1")];
    let app = TestApp::start_with_embeddings(&server, &chat).await;
    assert_eq!(app.post("/v1/collections", json!({"name": "c", "splitter": small()["splitter"]})).await.status, 201);
    app.ingest("c", &[("guide.md", GUIDE)]).await;
    let (plain, without) = (chunks(&app, "guide.md").await, active(&app).await);
    let found = async || {
        let body = json!({"query": "Zanzibar", "collections": ["c"], "mode": "lexical"});
        app.post("/v1/search", body).await.body["results"].as_array().expect("results").len()
    };
    let on = resplit(&app, &json!({"context": {"on_failure": "keep_original"}})).await;
    assert_eq!((&on["state"], &on["contexts"]["without"]), (&json!("succeeded"), &json!(1)), "{on}");
    // Once more, and only the gap is filled.
    let filled = resplit(&app, &json!({})).await;
    assert_eq!((&filled["contexts"]["calls"], &filled["contexts"]["without"]), (&json!(1), &json!(0)), "{filled}");
    let between = collection(&app).await;
    assert_eq!(between["context"], json!(null), "{between}");
    assert_eq!(between["chunkings"][0]["context"], json!({"on_failure": "keep_original"}), "{between}");
    assert_eq!((found().await, chunks(&app, "guide.md").await), (0, plain.clone()), "not before the cut-over");

    let with = text(&between["chunkings"][0]["id"]);
    let moved = cut_over(&app, &with).await;
    assert_eq!((moved.status, &moved.body["context"]), (200, &json!({"on_failure": "keep_original"})), "{moved:?}");
    let said = "It is from the guide of Zanzibar.";
    assert!(chunks(&app, "guide.md").await.iter().all(|chunk| chunk["context"] == said));
    assert!(found().await > 0);

    let back = cut_over(&app, &without).await;
    assert_eq!((back.status, &back.body["context"]), (200, &json!(null)), "{back:?}");
    assert_eq!((found().await, chunks(&app, "guide.md").await), (0, plain));

    // An edit meanwhile has its sentences when they are switched on again.
    app.ingest("c", &[("guide.md", &GUIDE.replace("northern", "southern"))]).await;
    complete(&app).await;
    assert_eq!(cut_over(&app, &with).await.status, 200);
    let edited = chunks(&app, "guide.md").await;
    assert!(edited.iter().all(|chunk| chunk["context"] == said), "{edited:?}");
    assert!(edited.iter().any(|chunk| text(&chunk["text"]).contains("southern")), "{edited:?}");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_in_the_middle_it_goes_on_where_it_was() {
    let server = ModelServer::start().await;
    let database = database::create().await;
    let (url, base) = (database::url(&database), server.base_url());
    let settings = [
        ("DATABASE_URL", url.as_str()),
        ("CITED_DATABASE_CONNECTIONS", "6"),
        ("CITED_WORKERS", "1"),
        ("CITED_EMBEDDING_BASE_URL", &base),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
    ];
    let service = Process::serve(&settings).await;
    // The last ones, which the first claims do not hold, have a word of their own.
    let words = |number: usize| {
        let place = if number < 300 { "pier" } else { "lighthouse" };
        format!("Document {number} of the {place}.\n\n{}", "The ferry leaves at seven every day. ".repeat(6))
    };
    let documents: Vec<Value> =
        (0..400).map(|number| json!({"source": format!("d{number}.txt"), "text": words(number)})).collect();
    let body = json!({"collection": "c", "documents": documents});
    let request = |method: Method, path: &str| client().request(method, format!("{}{path}", service.base));
    let stored = send(request(Method::POST, "/v1/documents?wait=true").json(&body)).await;
    assert_eq!(stored.body["counts"]["documents"], 400, "{stored:?}");
    server.hold_embeddings(Some("lighthouse"));
    let begun = send(request(Method::POST, "/v1/collections/c/resplit").json(&small())).await;
    let id = begun.body["id"].as_str().expect("an id").to_owned();
    // What has landed is of the first claims. The one that is under way then is of the job's rest, which cannot land.
    let items = |condition: &str| {
        format!(
            "SELECT count(*) FROM job_item JOIN job USING (tenant_id, job_id)
             WHERE kind = 'resplit' AND job_item.{condition}"
        )
    };
    let (landed, running) = (items("state = 'succeeded'"), items("state = 'running'"));
    let deadline = tokio::time::Instant::now() + LIMIT;
    while database::number(&database, &landed).await == 0 || database::number(&database, &running).await == 0 {
        assert!(tokio::time::Instant::now() < deadline, "nothing lands");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    service.kill().await;
    let before = database::number(&database, &landed).await;
    assert!(before < 400, "it was killed in the middle");
    // Each document is split by the other settings or not, and as it was in any case.
    for (law, sql) in database::LAWS.iter().filter(|(law, _)| !law.contains("job") && !law.contains("item")) {
        assert_eq!(database::number(&database, sql).await, 0, "{law}");
    }
    assert_eq!(database::number(&database, "SELECT count(*) FROM document WHERE version = 1").await, 400);
    server.hold_embeddings(None);
    let service = Process::serve(&settings).await;
    let ended = ended_job(&service.base, &id, Duration::from_mins(2)).await;
    assert_eq!((&ended["state"], &ended["counts"]["documents"]), (&json!("succeeded"), &json!(400)), "{ended}");
    let once = database::number(&database, &items("attempts = 1")).await;
    assert!(once >= before, "what had landed was not done again: {once} of {before}");

    let request = |method: Method, path: &str| client().request(method, format!("{}{path}", service.base));
    let collection = send(request(Method::GET, "/v1/collections/c")).await.body;
    let other = &collection["chunkings"][0];
    assert_eq!(other["documents"], 400, "{collection}");
    let wish = json!({"chunking": other["id"]});
    let moved = send(request(Method::POST, "/v1/collections/c/cut-over").json(&wish)).await;
    assert_eq!((moved.status, &moved.body["chunks"]), (200, &other["chunks"]), "{moved:?}");
    let versions = "SELECT count(*) FROM document WHERE version = 2";
    assert_eq!(database::number(&database, versions).await, 400, "none was replaced twice");
    let (_, ended_well) = service.stop().await;
    assert!(ended_well);
    database::assert_consistent(&database).await;
}
