//! Another embedding model for a collection that is in use.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::{
    database,
    harness::{TestApp, client, send},
    process::{Process, ended_job},
    scripted::{DIMENSION, ModelServer, Reply, poll_until},
};

const FIRST: &str = "scripted-embedding";
const SECOND: &str = "second/embedding";

/// A table of the second model, which another server serves.
fn second_table(server: &ModelServer, window: usize) -> String {
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

async fn reembed(app: &TestApp) -> String {
    let answer = app.post("/v1/collections/c/reembed", json!({"profile": SECOND})).await;
    assert_eq!((answer.status, &answer.body["kind"]), (202, &json!("reembed")), "{answer:?}");
    let id = answer.body["id"].as_str().expect("an id").to_owned();
    assert_eq!(answer.headers["location"], format!("/v1/jobs/{id}"));
    id
}

async fn cut_over(app: &TestApp, model: &str) -> super::harness::Answer {
    app.post("/v1/collections/c/cut-over", json!({"profile": model})).await
}

async fn drop_second(app: &TestApp) -> super::harness::Answer {
    app.delete(&format!("/v1/collections/c/profiles/{}", SECOND.replace('/', "%2F"))).await
}

async fn sources(app: &TestApp, query: &str) -> Vec<String> {
    let answer = app.post("/v1/search", json!({"query": query, "collections": ["c"], "mode": "dense"})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let results = answer.body["results"].as_array().expect("results");
    results.iter().filter_map(|hit| hit["source"].as_str()).map(str::to_owned).collect()
}

/// Vectors of a model.
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
    let job = reembed(&app).await;
    app.post("/v1/collections/c/reembed", json!({"profile": SECOND})).await.assert_problem(409, "reembedding");
    cut_over(&app, SECOND).await.assert_problem(409, "vectors_missing");

    // Meanwhile it is searched as before, and what comes in gets both vectors.
    assert_eq!(sources(&app, "boats").await[0], "a.md");
    assert!(first.embedded().contains(&"boats".to_owned()), "queries go to the first model");
    app.ingest("c", &[("late.md", "Buses stop at the market.")]).await;
    let ended = app.ended_job(&job).await;
    assert_eq!((&ended["state"], &ended["counts"]["documents"]), (&json!("succeeded"), &json!(2)), "{ended}");
    assert_eq!(ended["counts"]["embedding_calls"], 2);
    assert_eq!((vectors(&app, FIRST).await, vectors(&app, SECOND).await), (3, 3));
    // The word that told the length of the vectors, and the query, are no passages.
    let is_passage = |text: &String| text != "dimension" && text != "boats";
    let passages: Vec<String> = first.embedded().into_iter().filter(is_passage).collect();
    assert_eq!(sorted(second.embedded()), sorted(passages), "the same texts, no more");

    let collection = cut_over(&app, SECOND).await;
    assert_eq!((collection.status, &collection.body["embedding"]["model"]), (200, &json!(SECOND)), "{collection:?}");
    assert_eq!(
        collection.body["profiles"],
        json!([{"model": FIRST, "dimension": DIMENSION, "vectors": 3, "job_id": null}])
    );
    assert_eq!(sources(&app, "trains").await[0], "b.txt");
    assert!(second.embedded().contains(&"trains".to_owned()), "queries go to the second model");
    cut_over(&app, SECOND).await.assert_problem(409, "profile_active");

    // The first is kept up to date, so that the way back is open.
    app.ingest("c", &[("a.md", "# Harbour\n\nFerries land here."), ("new.md", "Bicycles are for hire.")]).await;
    assert_eq!((vectors(&app, FIRST).await, vectors(&app, SECOND).await), (4, 4));
    assert_eq!(cut_over(&app, FIRST).await.status, 200);
    assert_eq!(sources(&app, "ferries").await[0], "a.md");
    assert!(first.embedded().contains(&"ferries".to_owned()));
    app.delete(&format!("/v1/collections/c/profiles/{FIRST}")).await.assert_problem(409, "profile_active");
    let dropped = drop_second(&app).await;
    assert_eq!((dropped.status, &dropped.body), (200, &json!({"vectors": 4})), "{dropped:?}");
    assert_eq!((vectors(&app, FIRST).await, vectors(&app, SECOND).await), (4, 0));
    drop_second(&app).await.assert_problem(404, "not_found");
    cut_over(&app, SECOND).await.assert_problem(404, "not_found");
    app.stop().await;
}

#[tokio::test]
async fn wrong_wishes_are_explained_and_an_empty_collection_moves_at_once() {
    let (_first, _second, app) = app(512).await;
    app.post("/v1/collections/c/reembed", json!({"profile": SECOND})).await.assert_problem(404, "not_found");
    assert_eq!(app.post("/v1/collections", json!({"name": "c"})).await.status, 201);
    let unknown = app.post("/v1/collections/c/reembed", json!({"profile": "nobody's"})).await;
    unknown.assert_problem(422, "invalid_request");
    assert_eq!(unknown.pointers(), ["/profile"]);
    app.post("/v1/collections/c/reembed", json!({"profile": FIRST})).await.assert_problem(409, "profile_active");
    let job = reembed(&app).await;
    assert_eq!(app.ended_job(&job).await["state"], "succeeded");
    assert_eq!(cut_over(&app, SECOND).await.status, 200);
    app.stop().await;
}

#[tokio::test]
async fn ingest_goes_on_without_the_model_beside_the_active_one() {
    let (_first, second, app) = app(512).await;
    app.ingest("c", &[("a.md", "Boats land here.")]).await;
    app.ended_job(&reembed(&app).await).await;
    second.embedding_reply(Reply::Status(401, "the key has run out".to_owned()));
    app.ingest("c", &[("b.md", "Trains leave from platform two.")]).await;
    let refused = cut_over(&app, SECOND).await;
    refused.assert_problem(409, "vectors_missing");
    assert!(refused.body["detail"].as_str().is_some_and(|detail| detail.starts_with("1 chunk has")), "{refused:?}");
    let filled = app.ended_job(&reembed(&app).await).await;
    assert_eq!((&filled["counts"]["documents"], &filled["counts"]["unchanged"]), (&json!(1), &json!(1)), "{filled}");
    assert_eq!(cut_over(&app, SECOND).await.status, 200);
    app.stop().await;
}

#[tokio::test]
async fn a_document_that_the_model_cannot_take_fails_alone_and_keeps_the_collection_where_it_is() {
    let (_first, _second, app) = app(64).await;
    let long = "The ferry to the island leaves every morning at half past seven. ".repeat(20);
    app.ingest("c", &[("long.md", &long), ("short.md", "Boats land here.")]).await;
    let job = app.ended_job(&reembed(&app).await).await;
    assert_eq!(
        (&job["state"], &job["failures"]),
        (&json!("partial"), &json!([{"cause": "window_exceeded", "documents": 1}]))
    );
    cut_over(&app, SECOND).await.assert_problem(409, "vectors_missing");
    assert_eq!(sources(&app, "ferry").await[0], "long.md");
    app.stop().await;
}

#[tokio::test]
async fn dropping_a_model_stops_the_job_that_fills_it() {
    let (_first, second, app) = app(512).await;
    app.ingest("c", &[("a.md", "Boats land here."), ("b.md", "Trains leave.")]).await;
    second.hold_embeddings(Some("leave"));
    let job = reembed(&app).await;
    poll_until(Duration::from_secs(20), || !second.embedding_keys().is_empty()).await;
    assert_eq!(drop_second(&app).await.status, 200);
    assert_eq!(app.ended_job(&job).await["state"], "cancelled");
    second.hold_embeddings(None);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(vectors(&app, SECOND).await, 0, "nothing came late");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_in_the_middle_it_goes_on_where_it_was() {
    let (first, second) = (ModelServer::start().await, ModelServer::start().await);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("cited.toml");
    std::fs::write(&file, second_table(&second, 512)).expect("written");
    let database = database::create().await;
    let (url, base, file) = (database::url(&database), first.base_url(), file.display().to_string());
    let settings = [
        ("DATABASE_URL", url.as_str()),
        ("CITED_CONFIG", &file),
        ("CITED_DATABASE_CONNECTIONS", "6"),
        ("CITED_WORKERS", "1"),
        ("CITED_EMBEDDING_BASE_URL", &base),
        ("CITED_EMBEDDING_MODEL", FIRST),
    ];
    let mut service = Process::serve(&settings).await;
    let documents: Vec<Value> = (0..600)
        .map(|number| json!({"source": format!("d{number}.txt"), "text": format!("Document {number} of the move.")}))
        .collect();
    let body = json!({"collection": "c", "documents": documents});
    let request = |method: Method, path: &str| client().request(method, format!("{}{path}", service.base));
    let stored = send(request(Method::POST, "/v1/documents?wait=true").json(&body)).await;
    assert_eq!(stored.body["counts"]["documents"], 600, "{stored:?}");
    second.delay_embeddings(Duration::from_millis(400));
    let wish = json!({"profile": SECOND});
    let begun = send(request(Method::POST, "/v1/collections/c/reembed").json(&wish)).await;
    let id = begun.body["id"].as_str().expect("an id").to_owned();
    // The first claim has landed, the second is under way.
    let landed = "SELECT count(*) FROM job_item JOIN job USING (tenant_id, job_id) WHERE kind = 'reembed' AND job_item.state = 'succeeded'";
    while database::number(&database, landed).await == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    service.kill().await;
    let before = database::number(&database, landed).await;
    assert!(before < 600, "it was killed in the middle");
    second.delay_embeddings(Duration::ZERO);
    service = Process::serve(&settings).await;
    let request = |method: Method, path: &str| client().request(method, format!("{}{path}", service.base));
    let ended = ended_job(&service.base, &id, Duration::from_mins(2)).await;
    assert_eq!((&ended["state"], &ended["counts"]["documents"]), (&json!("succeeded"), &json!(600)), "{ended}");
    let again = second.embedded().len();
    assert!(again < 900, "what had landed was not done again: {again} texts");
    assert_eq!(send(request(Method::POST, "/v1/collections/c/cut-over").json(&wish)).await.status, 200);
    let (_, ended_well) = service.stop().await;
    assert!(ended_well);
    database::assert_consistent(&database).await;
}
