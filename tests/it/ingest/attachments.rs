//! Attachments of mail become documents of their own, which live and die with their message.

use std::{fmt::Write, path::Path};

use reqwest::{Method, multipart};
use serde_json::{Value, json};

use crate::{
    database::assert_consistent,
    harness::{TestApp, send},
    scripted::ModelServer,
    wait,
};

const RULES: (&str, &str) = ("rules.md", "# Carrying over\n\nUp to five unused days may be carried over.\n");
const STAFF: (&str, &str) = ("staff.csv", "name,days\nAnn,28\n");
const DAMAGED: (&str, &str) = ("plan.pdf", "%PDF-1.7\n");

/// A message with these files attached.
fn message(words: &str, files: &[(&str, &str)]) -> String {
    let mut message = format!(
        "From: mira@example.org\r\nMessage-ID: <1@example.org>\r\nDate: Tue, 24 Nov 2026 10:00:00 +0100\r\nSubject: Leave\r\n\
         Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n{words}\r\n"
    );
    for (name, content) in files {
        let is_message = Path::new(name).extension().is_some_and(|extension| extension == "eml");
        let kind = if is_message { "message/rfc822" } else { "application/octet-stream" };
        write!(
            message,
            "--b\r\nContent-Type: {kind}\r\nContent-Disposition: attachment; filename=\"{name}\"\r\n\r\n{content}\r\n"
        )
        .expect("in memory");
    }
    message + "--b--\r\n"
}

/// Sends the message as `inbox/leave.eml`; the job.
async fn submit(app: &TestApp, words: &str, files: &[(&str, &str)]) -> String {
    let part = multipart::Part::bytes(message(words, files).into_bytes()).file_name("inbox/leave.eml");
    let form = multipart::Form::new().text("collection", "c").text("metadata", json!({"team": "people"}).to_string());
    let answer = send(app.request(Method::POST, "/v1/documents").multipart(form.part("file", part))).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    answer.body["id"].as_str().expect("an id").to_owned()
}

/// Sends the message; the finished job.
async fn ingest(app: &TestApp, words: &str, files: &[(&str, &str)]) -> Value {
    let job = submit(app, words, files).await;
    app.ended_job(&job).await
}

/// The sources of the stored documents and their versions, in order.
async fn stored(app: &TestApp) -> Vec<(String, u64)> {
    let listed = app.get("/v1/documents?collection=c").await.body;
    let documents = listed["documents"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut stored: Vec<(String, u64)> = documents
        .iter()
        .map(|one| (one["source"].as_str().expect("a source").to_owned(), one["version"].as_u64().expect("a version")))
        .collect();
    stored.sort();
    stored
}

fn at(versions: &[(&str, u64)]) -> Vec<(String, u64)> {
    versions.iter().map(|(source, version)| ((*source).to_owned(), *version)).collect()
}

async fn document(app: &TestApp, source: &str) -> Value {
    let listed = app.get(&format!("/v1/documents?collection=c&source_prefix={source}")).await.body;
    let documents = listed["documents"].as_array().map(Vec::as_slice).unwrap_or_default();
    documents.iter().find(|one| one["source"] == source).unwrap_or_else(|| panic!("no {source}: {listed}")).clone()
}

#[tokio::test]
async fn attachments_are_documents_of_their_own() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let earlier = message("Before.", &[RULES]);
    let earlier = earlier.replace("boundary=b", "boundary=inner").replace("--b", "--inner");
    let files = [RULES, STAFF, DAMAGED, ("logo.bin", "\u{0}\u{1}"), ("Earlier.eml", &earlier)];
    let job = ingest(&app, "See below.", &files).await;
    let items: Vec<Value> = job["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|item| json!([item["source"], item["state"], item["cause"], item["reading"]["unread_attachments"]]))
        .collect();
    let expected = [
        json!(["inbox/leave.eml", "succeeded", null, ["logo.bin (binary)"]]),
        json!(["inbox/leave.eml/rules.md", "succeeded", null, null]),
        json!(["inbox/leave.eml/staff.csv", "succeeded", null, null]),
        json!(["inbox/leave.eml/plan.pdf", "failed", "malformed", null]),
        json!(["inbox/leave.eml/Earlier.eml", "succeeded", null, null]),
        json!(["inbox/leave.eml/Earlier.eml/rules.md", "succeeded", null, null]),
    ];
    assert_eq!(items, expected, "{job}");
    assert_eq!((&job["state"], &job["counts"]["failed"]), (&json!("partial"), &json!(1)), "{job}");
    let rules = document(&app, "inbox/leave.eml/rules.md").await;
    assert_eq!(rules["title"], "Carrying over", "{rules}");
    assert_eq!(rules["provenance"]["attached_to"], "inbox/leave.eml", "{rules}");
    let metadata = json!({"team": "people", "attached_to": "inbox/leave.eml", "file_name": "rules.md"});
    assert_eq!(rules["metadata"], metadata, "{rules}");
    assert_eq!(document(&app, "inbox/leave.eml/staff.csv").await["title"], "staff");
    let inner = document(&app, "inbox/leave.eml/Earlier.eml/rules.md").await;
    assert_eq!(inner["provenance"]["attached_to"], "inbox/leave.eml", "{inner}");

    let again = ingest(&app, "See below.", &files).await;
    assert_eq!((&again["counts"]["unchanged"], &again["items"][1]), (&json!(1), &Value::Null), "{again}");
    assert_eq!(stored(&app).await.len(), 5);
    assert_consistent(&app.database).await;
    app.stop().await;
}

#[tokio::test]
async fn attachments_follow_their_message() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("c", &[("inbox/leave.eml.md", "Not attached to anything.")]).await;
    ingest(&app, "First words.", &[RULES, STAFF]).await;
    let other = ("rules.md", "# Carrying over\n\nUp to seven unused days may be carried over.\n");
    ingest(&app, "Second words.", &[other, ("more.txt", "More words.")]).await;
    let expected = [
        ("inbox/leave.eml", 2),
        ("inbox/leave.eml.md", 1),
        ("inbox/leave.eml/more.txt", 1),
        ("inbox/leave.eml/rules.md", 2),
    ];
    assert_eq!(stored(&app).await, at(&expected));
    assert_consistent(&app.database).await;
    let message = document(&app, "inbox/leave.eml").await;
    let receipt = app.delete(&format!("/v1/documents/{}", message["id"].as_str().expect("an id"))).await.body;
    assert_eq!(receipt["documents"], 3, "{receipt}");
    assert_eq!(stored(&app).await, at(&[("inbox/leave.eml.md", 1)]));
    assert_consistent(&app.database).await;
    app.stop().await;
}

#[tokio::test]
async fn attachments_of_a_former_message_are_not_stored() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    server.hold_embeddings(Some("Ann"));
    let first = submit(&app, "First words.", &[STAFF]).await;
    wait::until("the message is stored", async || !stored(&app).await.is_empty()).await;
    ingest(&app, "Second words.", &[RULES]).await;
    server.hold_embeddings(None);
    let job = app.ended_job(&first).await;
    assert_eq!((&job["state"], &job["items"][1]["state"]), (&json!("succeeded"), &json!("unchanged")), "{job}");
    let kept = at(&[("inbox/leave.eml", 2), ("inbox/leave.eml/rules.md", 1)]);
    assert_eq!(stored(&app).await, kept);

    server.hold_embeddings(Some("Ann"));
    let second = submit(&app, "Third words.", &[STAFF]).await;
    wait::until("the former attachment is gone", async || stored(&app).await.len() == 1).await;
    let message = document(&app, "inbox/leave.eml").await;
    let receipt = app.delete(&format!("/v1/documents/{}", message["id"].as_str().expect("an id"))).await.body;
    assert_eq!((&receipt["documents"], &receipt["queue_items"]), (&json!(1), &json!(1)), "{receipt}");
    server.hold_embeddings(None);
    app.ended_job(&second).await;
    assert_eq!(stored(&app).await, at(&[]));
    assert_consistent(&app.database).await;
    app.stop().await;
}
