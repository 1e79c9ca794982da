//! Progressive indexing: documents are found by words at once, and by meaning as their vectors are made.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    database,
    harness::{Answer, TestApp, body_of, client, send},
    process::{Process, ended_job},
    scripted::{DIMENSION, ModelServer, Reply},
    wait,
};

const BOATS: &str = "Boats land at the harbour.";
const TRAMS: &str = "Trams cross the market square.";

async fn app() -> (ModelServer, TestApp) {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    (server, app)
}

/// Sends documents without waiting for them, and returns the job.
async fn send_progressive(app: &TestApp, documents: &[(&str, &str)]) -> String {
    let documents: Vec<Value> =
        documents.iter().map(|(source, text)| json!({"source": source, "text": text})).collect();
    let body = json!({"collection": "c", "indexing": "progressive", "documents": documents});
    let answer = app.post("/v1/documents", body).await;
    assert_eq!((answer.status, &answer.body["indexing"]), (202, &json!("progressive")), "{answer:?}");
    answer.body["id"].as_str().expect("an id").to_owned()
}

/// Waits until this many documents of the job are found by their words, and returns the job.
async fn searchable(app: &TestApp, job: &str, count: u64) -> Value {
    wait::until_ok("the documents are searchable", async || {
        let body = app.get(&format!("/v1/jobs/{job}")).await.body;
        if body["counts"]["searchable"] == count { Ok(body) } else { Err(body) }
    })
    .await
}

async fn search(app: &TestApp, query: &str, mode: &str) -> Answer {
    let body = json!({"query": query, "collections": ["c"], "mode": mode, "include": ["trace"]});
    let answer = app.post("/v1/search", body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer
}

async fn sources(app: &TestApp, query: &str, mode: &str) -> Vec<String> {
    let answer = search(app, query, mode).await;
    let results = answer.body["results"].as_array().expect("results");
    results.iter().filter_map(|hit| hit["source"].as_str()).map(str::to_owned).collect()
}

/// Returns the part of a query's response that reports how much of the collection has vectors.
async fn coverage(app: &TestApp, query: &str) -> Value {
    search(app, query, "hybrid").await.body["trace"]["dense"]["coverage"].clone()
}

async fn vectors(app: &TestApp) -> i64 {
    database::number(&app.database, "SELECT count(*) FROM chunk_embedding").await
}

#[tokio::test]
async fn documents_are_found_by_their_words_before_their_vectors_are_made() {
    let (server, app) = app().await;
    server.hold_embeddings(Some("Boats"));
    let job = send_progressive(&app, &[("a.md", BOATS), ("b.md", "Boats need paint.")]).await;
    let running = searchable(&app, &job, 2).await;
    assert_eq!((&running["state"], &running["counts"]["complete"]), (&json!("running"), &json!(0)), "{running}");
    assert_eq!(running["items"][0]["state"], "searchable", "{running}");
    let waiting = app.get(&format!("/v1/jobs/{job}?items_state=searchable")).await;
    assert_eq!(waiting.body["items"].as_array().map(Vec::len), Some(2), "{waiting:?}");
    let document = running["items"][0]["document_id"].as_str().expect("it is stored");
    let document = app.get(&format!("/v1/documents/{document}")).await.body;
    assert_eq!((&document["chunks"], &document["embedded_chunks"]), (&json!(1), &json!(0)), "{document}");

    assert_eq!(sources(&app, "harbour", "lexical").await, ["a.md"]);
    assert_eq!(sources(&app, "harbour", "hybrid").await, ["a.md"], "the model is not needed for that");
    assert_eq!(sources(&app, "harbour", "dense").await, [""; 0]);
    assert_eq!(coverage(&app, "harbour").await, json!({"chunks": 2, "embedded": 0, "fraction": 0.0}));

    server.hold_embeddings(None);
    let ended = app.ended_job(&job).await;
    assert_eq!((&ended["state"], &ended["items"][1]["state"]), (&json!("succeeded"), &json!("succeeded")), "{ended}");
    let counts = &ended["counts"];
    assert_eq!((&counts["searchable"], &counts["complete"], &counts["documents"]), (&json!(2), &json!(2), &json!(2)));
    assert_eq!((&counts["chunks"], &counts["embedding_calls"]), (&json!(2), &json!(2)), "{counts}");
    assert_eq!(coverage(&app, "harbour").await, json!({"chunks": 2, "embedded": 2, "fraction": 1.0}));
    assert_eq!(sources(&app, "harbour", "dense").await[0], "a.md");
    let events = app.request(Method::GET, &format!("/v1/jobs/{job}/events")).send().await.expect("an answer");
    let events = body_of(events).await;
    assert!(events.contains("\"searchable\":2"), "{events}");
    app.stop().await;
}

#[tokio::test]
async fn vectors_count_as_they_arrive_and_a_query_says_how_many_there_are() {
    let (server, app) = app().await;
    app.ingest("c", &[("a.md", BOATS)]).await;
    server.hold_embeddings(Some("Trams"));
    let job = send_progressive(&app, &[("b.md", TRAMS)]).await;
    searchable(&app, &job, 1).await;
    assert_eq!(coverage(&app, "harbour").await, json!({"chunks": 2, "embedded": 1, "fraction": 0.5}));
    let collection = app.get("/v1/collections/c").await.body;
    assert_eq!((&collection["chunks"], &collection["embedded_chunks"]), (&json!(2), &json!(1)), "{collection}");
    assert_eq!(sources(&app, "harbour", "dense").await, ["a.md"]);
    assert_eq!(sources(&app, "market square", "hybrid").await[0], "b.md");
    // An upload with complete indexing is not delayed by documents that still lack vectors.
    app.ingest("c", &[("c.md", "Buses stop at the mill.")]).await;
    assert_eq!(coverage(&app, "harbour").await["embedded"], 2);
    server.hold_embeddings(None);
    app.ended_job(&job).await;
    assert_eq!(coverage(&app, "harbour").await["fraction"], 1.0);
    assert_eq!(sources(&app, "market square", "dense").await[0], "b.md");
    app.stop().await;
}

#[tokio::test]
async fn what_was_embedded_before_is_complete_at_once() {
    let (server, app) = app().await;
    app.ingest("c", &[("a.md", &format!("# Harbour\n\n{BOATS}"))]).await;
    server.hold_embeddings(Some(""));
    let text = format!("# Harbour\n\n{BOATS}");
    let body = json!({"collection": "c", "indexing": "progressive", "documents": [
        {"source": "copy.md", "text": text, "media_type": "text/markdown"},
        {"source": "a.md", "text": text, "media_type": "text/markdown"},
    ]});
    let answer = app.post("/v1/documents?wait=true", body).await;
    assert_eq!((answer.status, &answer.body["state"]), (200, &json!("succeeded")), "{answer:?}");
    let counts = &answer.body["counts"];
    assert_eq!((&counts["documents"], &counts["unchanged"]), (&json!(1), &json!(1)), "{counts}");
    assert_eq!((&counts["embedding_calls"], &counts["reused_vectors"]), (&json!(0), &json!(1)), "{counts}");
    app.stop().await;
}

#[tokio::test]
async fn a_model_that_refuses_leaves_the_document_searchable_and_a_retry_makes_its_vectors_only() {
    let (server, app) = app().await;
    server.embedding_reply(Reply::Status(401, "the key has run out".to_owned()));
    let job = send_progressive(&app, &[("a.md", BOATS)]).await;
    let ended = app.ended_job(&job).await;
    let counts = &ended["counts"];
    assert_eq!((&ended["state"], &counts["failed"], &counts["searchable"]), (&json!("partial"), &json!(1), &json!(1)));
    let item = &ended["items"][0];
    assert_eq!((&item["state"], &item["stage"]), (&json!("failed"), &json!("embed")), "{item}");
    assert!(item["message"].as_str().is_some_and(|text| text.contains("found by its words only; retry")), "{item}");
    assert_eq!(sources(&app, "harbour", "hybrid").await, ["a.md"]);

    let retried = app.post(&format!("/v1/jobs/{job}/retry"), json!({})).await;
    assert_eq!(retried.status, 202, "{retried:?}");
    let ended = app.ended_job(&job).await;
    assert_eq!((&ended["state"], &ended["counts"]["chunks"]), (&json!("succeeded"), &json!(1)), "{ended}");
    assert_eq!(ended["stages"].as_array().unwrap().iter().find(|one| one["stage"] == "split").unwrap()["documents"], 1);
    assert_eq!(sources(&app, "harbour", "dense").await, ["a.md"]);
    app.stop().await;
}

#[tokio::test]
async fn sending_a_document_again_makes_the_vectors_that_it_lacks() {
    let (server, app) = app().await;
    server.embedding_reply(Reply::Status(401, "the key has run out".to_owned()));
    app.ended_job(&send_progressive(&app, &[("a.md", BOATS)]).await).await;
    assert_eq!(vectors(&app).await, 0);
    let body = json!({"collection": "c", "documents": [{"source": "a.md", "text": BOATS}]});
    let again = app.post("/v1/documents?wait=true", body).await;
    assert_eq!((again.status, &again.body["counts"]["unchanged"]), (200, &json!(1)), "{again:?}");
    assert_eq!((vectors(&app).await, &again.body["counts"]["embedding_calls"]), (1, &json!(1)), "{again:?}");
    let documents = app.get("/v1/documents?collection=c").await.body;
    assert_eq!(documents["documents"][0]["version"], 1);
    app.stop().await;
}

#[tokio::test]
async fn a_model_that_is_busy_is_asked_again() {
    let (server, app) = app().await;
    server.embedding_reply(Reply::Status(503, "busy".to_owned()));
    let job = send_progressive(&app, &[("a.md", BOATS)]).await;
    let ended = app.ended_job(&job).await;
    assert_eq!((&ended["state"], &ended["items"][0]["attempts"]), (&json!("succeeded"), &json!(3)), "{ended}");
    app.stop().await;
}

#[tokio::test]
async fn a_document_that_goes_before_its_vectors_leaves_none_behind() {
    let (server, app) = app().await;
    server.hold_embeddings(Some("Boats"));
    let deleted = send_progressive(&app, &[("a.md", BOATS)]).await;
    let running = searchable(&app, &deleted, 1).await;
    wait::until("an embedding is requested", async || server.embedding_keys().len() > 1).await;
    let document = running["items"][0]["document_id"].as_str().expect("it is stored");
    let receipt = app.delete(&format!("/v1/documents/{document}")).await;
    assert_eq!((&receipt.body["chunks"], &receipt.body["queue_items"]), (&json!(1), &json!(1)), "{receipt:?}");
    let ended = app.ended_job(&deleted).await;
    assert_eq!((&ended["state"], &ended["counts"]["searchable"]), (&json!("cancelled"), &json!(0)), "{ended}");
    server.hold_embeddings(None);
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(vectors(&app).await, 0, "nothing came late");
    assert_eq!(coverage(&app, "harbour").await, json!({"chunks": 0, "embedded": 0, "fraction": 1.0}));
    app.stop().await;
}

#[tokio::test]
async fn a_document_that_is_replaced_before_its_vectors_gets_those_of_its_new_version_only() {
    let (server, app) = app().await;
    server.hold_embeddings(Some("Boats"));
    let replaced = send_progressive(&app, &[("a.md", BOATS)]).await;
    searchable(&app, &replaced, 1).await;
    app.ingest("c", &[("a.md", TRAMS)]).await;
    assert_eq!(sources(&app, "market square", "dense").await, ["a.md"]);
    server.hold_embeddings(None);
    let ended = app.ended_job(&replaced).await;
    assert_eq!((&ended["state"], &ended["counts"]["documents"]), (&json!("succeeded"), &json!(1)), "{ended}");
    assert_eq!(vectors(&app).await, 1);
    assert_eq!(coverage(&app, "market").await["fraction"], 1.0);
    app.stop().await;
}

#[tokio::test]
async fn a_job_that_is_cancelled_before_its_vectors_keeps_what_is_found_by_its_words() {
    let (server, app) = app().await;
    server.hold_embeddings(Some("Boats"));
    let job = send_progressive(&app, &[("a.md", BOATS)]).await;
    searchable(&app, &job, 1).await;
    assert_eq!(app.post(&format!("/v1/jobs/{job}/cancel"), json!({})).await.status, 200);
    let ended = app.ended_job(&job).await;
    assert_eq!((&ended["state"], &ended["counts"]["searchable"]), (&json!("cancelled"), &json!(1)), "{ended}");
    assert!(ended["items"][0]["message"].as_str().is_some_and(|text| text.contains("found by its words only")));
    server.hold_embeddings(None);
    assert_eq!(sources(&app, "harbour", "lexical").await, ["a.md"]);
    app.stop().await;
}

#[tokio::test]
async fn vectors_keep_no_document_back_and_no_document_keeps_vectors_back() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[("CITED_WORKERS", "1")]).await;
    server.hold_embeddings(Some("Boats"));
    let slow: Vec<(String, String)> =
        (0..300).map(|number| (format!("{number}.md"), format!("Boats of pier {number}."))).collect();
    let slow: Vec<(&str, &str)> = slow.iter().map(|(source, text)| (source.as_str(), text.as_str())).collect();
    let first = send_progressive(&app, &slow).await;
    searchable(&app, &first, 300).await;
    let second = send_progressive(&app, &[("late.md", "Trams and Boats meet.")]).await;
    searchable(&app, &second, 1).await;
    app.ingest("c", &[("complete.md", TRAMS)]).await;
    // The reverse: vectors are made while the only worker for documents waits for a model.
    server.hold_embeddings(Some("Buses"));
    let body = json!({"collection": "c", "documents": [{"source": "held.md", "text": "Buses."}]});
    let held = app.post("/v1/documents", body).await.body["id"].as_str().expect("an id").to_owned();
    let ended = app.ended_job(&first).await;
    assert_eq!((&ended["state"], &ended["counts"]["complete"]), (&json!("succeeded"), &json!(300)), "{ended}");
    app.ended_job(&second).await;
    assert_eq!(app.get(&format!("/v1/jobs/{held}")).await.body["finished_at"], Value::Null);
    server.hold_embeddings(None);
    app.ended_job(&held).await;
    app.stop().await;
}

#[tokio::test]
async fn every_way_in_takes_it_and_a_collection_can_have_it_for_its_own() {
    let (server, app) = app().await;
    let made = app.post("/v1/collections", json!({"name": "c", "indexing": "progressive"})).await;
    assert_eq!((made.status, &made.body["indexing"]), (201, &json!("progressive")), "{made:?}");
    server.hold_embeddings(Some("Boats"));
    let job_of = |answer: &Answer| answer.body["id"].as_str().expect("an id").to_owned();
    let body = json!({"collection": "c", "documents": [{"source": "json.md", "text": "Boats by JSON."}]});
    let by_default = app.post("/v1/documents", body).await;
    assert_eq!(by_default.body["indexing"], "progressive", "{by_default:?}");
    let form = reqwest::multipart::Form::new()
        .text("collection", "d")
        .text("indexing", "progressive")
        .part("file", reqwest::multipart::Part::bytes(b"Boats by form.".to_vec()).file_name("form.txt"));
    let by_form = send(app.request(Method::POST, "/v1/documents").multipart(form)).await;
    assert_eq!(by_form.body["indexing"], "progressive", "{by_form:?}");
    let stream = app
        .request(Method::POST, "/v1/documents/bulk?collection=e&indexing=progressive")
        .header("content-type", "application/x-ndjson")
        .body("{\"source\": \"line.md\", \"text\": \"Boats by line.\"}\n");
    let by_stream = send(stream).await;
    assert_eq!(by_stream.body["indexing"], "progressive", "{by_stream:?}");
    let mut jobs = vec![job_of(&by_default), job_of(&by_form), job_of(&by_stream)];
    for job in &jobs {
        searchable(&app, job, 1).await;
    }
    let stored = app.get("/v1/documents?collection=e").await.body;
    let path = format!("/v1/documents/{}", stored["documents"][0]["id"].as_str().expect("an id"));
    let body = json!({"text": "Boats by replacement.", "indexing": "progressive"});
    let by_replacement = send(app.request(Method::PUT, &path).json(&body)).await;
    assert_eq!(by_replacement.body["indexing"], "progressive", "{by_replacement:?}");
    jobs.push(job_of(&by_replacement));
    server.hold_embeddings(None);
    for job in &jobs {
        assert_eq!(app.ended_job(job).await["state"], "succeeded");
    }
    // A request can override the setting, and nothing else has changed.
    let body = json!({"collection": "c", "indexing": "complete", "documents": [{"source": "x.md", "text": TRAMS}]});
    let complete = app.post("/v1/documents?wait=true", body).await;
    assert_eq!((complete.status, &complete.body["indexing"]), (200, &json!("complete")), "{complete:?}");
    let body = json!({"indexing": "later", "documents": [{"source": "x.md", "text": TRAMS}]});
    app.post("/v1/documents", body).await.assert_problem(422, "invalid_request");
    let form = reqwest::multipart::Form::new()
        .text("indexing", "later")
        .part("file", reqwest::multipart::Part::bytes(b"Boats.".to_vec()).file_name("form.txt"));
    let refused = send(app.request(Method::POST, "/v1/documents").multipart(form)).await;
    refused.assert_problem(422, "invalid_request");
    assert_eq!(refused.pointers(), ["/indexing"]);
    app.stop().await;
}

#[tokio::test]
async fn vectors_that_are_awaited_keep_no_other_index_back() {
    let (first, second) = (ModelServer::start().await, ModelServer::start().await);
    let table = format!(
        "[embeddings.second]\nbase_url = {:?}\nmodel = \"second\"\ndimension = {DIMENSION}\nwindow = 512\n",
        second.base_url()
    );
    let app = TestApp::with_file(&first, &[], &table).await;
    app.ingest("c", &[("a.md", BOATS)]).await;
    let index = |path: &str| format!("/v1/collections/c/indexes{path}");
    let begun = app.post(&index(""), json!({"embedding_model": "second"})).await.body;
    app.ended_job(begun["job"]["id"].as_str().expect("an id")).await;
    let (second_index, first_index) = (begun["index"]["id"].as_str().expect("an id"), active(&app).await);
    first.hold_embeddings(Some("Trams"));
    let job = send_progressive(&app, &[("b.md", TRAMS)]).await;
    searchable(&app, &job, 1).await;
    let activate = async |id: &str| app.post(&index(&format!("/{id}/activate")), json!({})).await;
    wait::until("the next index is complete", async || activate(second_index).await.status == 200).await;
    assert_eq!(sources(&app, "market square", "dense").await[0], "b.md");
    assert_eq!(coverage(&app, "market").await["fraction"], 1.0);
    // The previous index lacks them, and reports that, until a build makes them.
    activate(&first_index).await.assert_problem(409, "index_incomplete");
    first.hold_embeddings(None);
    assert_eq!(app.ended_job(&job).await["state"], "succeeded");
    let filled = app.post(&index(""), json!({})).await.body;
    let filled = app.ended_job(filled["job"]["id"].as_str().expect("an id")).await;
    assert_eq!((&filled["counts"]["documents"], &filled["counts"]["unchanged"]), (&json!(1), &json!(1)), "{filled}");
    assert_eq!(activate(&first_index).await.status, 200);
    assert_eq!(vectors(&app).await, 4);
    app.stop().await;
}

/// Returns the id of the active index.
async fn active(app: &TestApp) -> String {
    app.get("/v1/collections/c").await.body["index_id"].as_str().expect("an id").to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_between_the_phases_it_goes_on_with_the_vectors() {
    const DOCUMENTS: usize = 700;
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
    let mut service = Process::serve(&settings).await;
    server.delay_embeddings(Duration::from_millis(300));
    let documents: Vec<Value> = (0..DOCUMENTS)
        .map(|number| json!({"source": format!("d{number}.txt"), "text": format!("Document {number} of the move.")}))
        .collect();
    let body = json!({"collection": "c", "indexing": "progressive", "documents": documents});
    let request = |method: Method, base: &str, path: &str| client().request(method, format!("{base}{path}"));
    let begun = send(request(Method::POST, &service.base, "/v1/documents").json(&body)).await;
    let id = begun.body["id"].as_str().expect("an id");
    let landed = "SELECT count(*) FROM job_item WHERE state = 'succeeded'";
    wait::until_count(&database, landed, |items| items > 0).await;
    service.kill().await;
    let before = database::number(&database, "SELECT count(*) FROM chunk_embedding").await;
    assert!(before > 0 && before < 700, "it was killed in the middle: {before}");
    server.delay_embeddings(Duration::ZERO);
    service = Process::serve(&settings).await;
    let ended = ended_job(&service.base, id, Duration::from_mins(2)).await;
    assert_eq!((&ended["state"], &ended["counts"]["complete"]), (&json!("succeeded"), &json!(DOCUMENTS)), "{ended}");
    let asked = server.embedded().len();
    assert!(asked <= DOCUMENTS + 2 * 256 + 1, "what had landed was not done again: {asked} texts");
    let (_, ended_well) = service.stop().await;
    assert!(ended_well);
    database::assert_consistent(&database).await;
}
