//! Builds the next index from stored documents.

use reqwest::Method;
use serde_json::{Value, json};

use super::{
    GUIDE, NOBODY, activate, active, assert_found, begin, build, chunks, chunks_in, collection, complete, document,
    drop_index, make_fresh, next, shape, small, text,
};
use crate::{
    database,
    harness::{TestApp, send},
    scripted::{ModelServer, Reply, Role},
};

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
    assert_eq!(first["next_index_id"], json!(null), "{first}");
    let embedded = server.embedded().len();

    let job = build(&app, &small()).await;
    assert_eq!((&job["state"], &job["counts"]["documents"]), (&json!("succeeded"), &json!(3)), "{job}");
    assert_eq!(job["counts"]["embedding_calls"], 0, "the other collection has all these vectors already: {job}");
    assert_eq!(job["counts"]["reused_vectors"], job["counts"]["chunks"], "{job}");
    assert_eq!(server.embedded().len(), embedded);

    // The next index exists next to the active one, and nothing else has changed.
    let between = collection(&app).await;
    for member in ["index_id", "splitter", "context", "embedding", "documents", "chunks", "embedded_chunks"] {
        assert_eq!(between[member], first[member], "{member}");
    }
    let other = &next(&app).await;
    for member in ["splitter", "context", "documents", "chunks"] {
        assert_eq!(other[member], fresh[member], "{member} of {other}");
    }
    assert_eq!(other["unembedded_chunks"], 0, "{other}");
    assert!(other["job_id"] == job["id"] && other["created_at"].is_string(), "{other}");
    assert_eq!(document(&app, "guide.md").await, guide);
    assert_eq!(chunks(&app, "guide.md").await, before);
    assert_found(&app, 1).await;

    // Nothing is left to do, neither for another job nor for the same upload.
    for body in [json!({}), small()] {
        let again = build(&app, &body).await;
        assert_eq!((&again["counts"]["unchanged"], &again["counts"]["documents"]), (&json!(3), &json!(0)), "{again}");
    }
    let sent = app.ingest("c", &[("guide.md", GUIDE)]).await;
    assert_eq!(sent["counts"]["unchanged"], 1, "{sent}");

    let after = activate(&app, &text(&other["id"])).await;
    assert_eq!((after.status, &after.body["index_id"]), (200, &other["id"]), "{after:?}");
    assert_eq!((&after.body["splitter"], &after.body["chunks"]), (&fresh["splitter"], &fresh["chunks"]), "{after:?}");
    let kept = &next(&app).await;
    assert_eq!((&kept["id"], &kept["splitter"]), (&first["index_id"], &first["splitter"]), "{kept}");
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
async fn wrong_wishes_are_explained() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    begin(&app, &small()).await.assert_problem(404, "not_found");
    activate(&app, NOBODY).await.assert_problem(404, "not_found");
    drop_index(&app, NOBODY).await.assert_problem(404, "not_found");
    assert_eq!(app.post("/v1/collections", json!({"name": "c"})).await.status, 201);
    let wrong = begin(&app, &json!({"splitter": {"size": 3}})).await;
    wrong.assert_problem(422, "invalid_request");
    assert_eq!(wrong.pointers(), ["/splitter/size"]);
    let nobody = begin(&app, &json!({"context": {}})).await;
    nobody.assert_problem(422, "invalid_request");
    assert_eq!(nobody.pointers(), ["/context"]);
    let unknown = begin(&app, &json!({"embedding_model": "nobody's"})).await;
    unknown.assert_problem(422, "invalid_request");
    assert_eq!(unknown.pointers(), ["/embedding_model"]);
    begin(&app, &json!({"profile": "scripted-embedding"})).await.assert_problem(422, "invalid_request");
    assert_eq!(next(&app).await, json!(null), "nothing was done");

    let first = active(&app).await;
    activate(&app, NOBODY).await.assert_problem(404, "not_found");
    drop_index(&app, NOBODY).await.assert_problem(404, "not_found");
    activate(&app, &first).await.assert_problem(409, "index_active");
    drop_index(&app, &first).await.assert_problem(409, "index_active");

    // The build of an empty collection is done at once. Only one index fits next to the active one.
    let job = build(&app, &small()).await;
    assert_eq!((&job["state"], &job["counts"]["items"]), (&json!("succeeded"), &json!(0)), "{job}");
    begin(&app, &json!({"splitter": {"size": 64}})).await.assert_problem(409, "index_exists");
    let second = text(&next(&app).await["id"]);
    assert_eq!(build(&app, &json!({})).await["state"], "succeeded");
    assert_eq!(next(&app).await["id"], json!(second), "it is the same one");
    assert_eq!(activate(&app, &second).await.status, 200);
    app.ingest("c", &[("guide.md", GUIDE)]).await;
    assert!(chunks(&app, "guide.md").await.len() > 2, "by the new settings");
    complete(&app).await;
    app.stop().await;
}

#[tokio::test]
async fn the_same_settings_may_be_built_again() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("c", &[("guide.md", GUIDE)]).await;
    let (before, first) = (chunks(&app, "guide.md").await, collection(&app).await);
    let job = build(&app, &json!({})).await;
    assert_eq!((&job["counts"]["documents"], &job["counts"]["embedding_calls"]), (&json!(1), &json!(0)), "{job}");
    for (kind, ids) in [("index", vec![job["id"].clone()])] {
        let listed = app.get(&format!("/v1/jobs?kind={kind}")).await.body;
        let listed: Vec<Value> = listed["jobs"].as_array().expect("jobs").iter().map(|job| job["id"].clone()).collect();
        assert_eq!(listed, ids, "{kind}");
    }
    app.get("/v1/jobs?kind=split").await.assert_problem(422, "invalid_request");
    let other = next(&app).await;
    assert_eq!((&other["splitter"], &other["chunks"]), (&first["splitter"], &first["chunks"]), "{other}");
    assert_ne!(other["id"], first["index_id"]);
    assert_eq!(activate(&app, &text(&other["id"])).await.status, 200);
    assert_eq!(document(&app, "guide.md").await["version"], 2);
    assert_eq!(shape(&chunks(&app, "guide.md").await), shape(&before));
    assert_found(&app, 2).await;
    app.stop().await;
}

#[tokio::test]
async fn a_document_that_cannot_be_read_again_is_named_and_keeps_an_activation_back() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("c", &[("later.md", GUIDE), ("new.md", &GUIDE.replace("Boats", "Ships"))]).await;
    let version = async |version| set_layout_version(&app, "later.md", version).await;
    version("9").await;
    let before = chunks(&app, "later.md").await;
    let job = build(&app, &small()).await;
    assert_eq!((&job["state"], &job["counts"]["documents"]), (&json!("partial"), &json!(1)), "{job}");
    assert_eq!(job["failures"], json!([{"cause": "payload_version", "documents": 1}]));
    let listed = app.get(&format!("/v1/jobs/{}?items_state=failed", text(&job["id"]))).await.body;
    assert_eq!(listed["items"][0]["source"], "later.md", "{listed}");
    assert!(text(&listed["items"][0]["message"]).contains("retry the job with the release"), "{listed}");

    let other = next(&app).await;
    assert_eq!(other["documents"], 1, "{other}");
    let refused = activate(&app, &text(&other["id"])).await;
    refused.assert_problem(409, "index_incomplete");
    let detail = text(&refused.body["detail"]);
    assert!(detail.starts_with("1 document is") && detail.contains("/indexes"), "{detail}");
    assert_eq!(chunks(&app, "later.md").await, before, "it stays as it is");

    version("1").await;
    let retried = app.post(&format!("/v1/jobs/{}/retry", text(&job["id"])), json!({})).await;
    assert_eq!(retried.status, 202, "{retried:?}");
    complete(&app).await;
    assert_eq!(activate(&app, &text(&other["id"])).await.status, 200);
    assert!(chunks(&app, "later.md").await.len() > before.len(), "it is split by the new settings");
    app.stop().await;
}

/// Changes a document as if a release with another version of the layout had stored it.
async fn set_layout_version(app: &TestApp, source: &str, version: &str) {
    let change =
        format!("UPDATE document SET layout = jsonb_set(layout, '{{v}}', '\"{version}\"') WHERE source = '{source}'");
    database::execute(&app.database, &change).await;
}

#[tokio::test]
async fn contexts_are_switched_on_and_off_by_activations() {
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
    let on = build(&app, &json!({"context": {"on_failure": "keep_original"}})).await;
    assert_eq!((&on["state"], &on["contexts"]["without"]), (&json!("succeeded"), &json!(1)), "{on}");
    // A second build fills only the gap.
    let filled = build(&app, &json!({})).await;
    assert_eq!((&filled["contexts"]["calls"], &filled["contexts"]["without"]), (&json!(1), &json!(0)), "{filled}");
    let between = collection(&app).await;
    assert_eq!(between["context"], json!(null), "{between}");
    let other = next(&app).await;
    assert_eq!(other["context"], json!({"on_failure": "keep_original"}), "{other}");
    assert_eq!((found().await, chunks(&app, "guide.md").await), (0, plain.clone()), "not before the activation");

    let with = text(&other["id"]);
    let moved = activate(&app, &with).await;
    assert_eq!((moved.status, &moved.body["context"]), (200, &json!({"on_failure": "keep_original"})), "{moved:?}");
    let said = "It is from the guide of Zanzibar.";
    assert!(chunks(&app, "guide.md").await.iter().all(|chunk| chunk["context"] == said));
    assert!(found().await > 0);

    let back = activate(&app, &without).await;
    assert_eq!((back.status, &back.body["context"]), (200, &json!(null)), "{back:?}");
    assert_eq!((found().await, chunks(&app, "guide.md").await), (0, plain));

    // A document edited meanwhile gets its sentences when they are switched on again.
    app.ingest("c", &[("guide.md", &GUIDE.replace("northern", "southern"))]).await;
    complete(&app).await;
    assert_eq!(activate(&app, &with).await.status, 200);
    let edited = chunks(&app, "guide.md").await;
    assert!(edited.iter().all(|chunk| chunk["context"] == said), "{edited:?}");
    assert!(edited.iter().any(|chunk| text(&chunk["text"]).contains("southern")), "{edited:?}");
    app.stop().await;
}
