//! The embed phase of progressive documents: many chunks, a model that is gone, contexts.

use serde_json::{Value, json};

use crate::{
    database,
    harness::TestApp,
    scripted::{ModelServer, Reply, Role},
    wait,
};

/// More than are embedded and stored together (256).
const CHUNKS: usize = 300;
const SENTENCE: &str = "It is from the timetable of the Zanzibar line.";
const PARAGRAPHS: [&str; 2] = [
    "Ferries to the island leave the northern pier at seven every morning.",
    "Lost property is kept for three weeks in the harbour office on shore.",
];

/// A collection whose chunks are the paragraphs, with further settings.
async fn collection(app: &TestApp, settings: Value) {
    let mut body = json!({"name": "c", "splitter": {"kind": "recursive", "size": 20, "overlap": 0}});
    body.as_object_mut().expect("an object").extend(settings.as_object().expect("an object").clone());
    let made = app.post("/v1/collections", body).await;
    assert_eq!(made.status, 201, "{made:?}");
}

/// Sends one document without waiting for it; the path of its job.
async fn send(app: &TestApp, text: &str) -> String {
    let document = json!({"source": "a.txt", "text": text, "media_type": "text/plain"});
    let body = json!({"collection": "c", "indexing": "progressive", "documents": [document]});
    let answer = app.post("/v1/documents", body).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    format!("/v1/jobs/{}", answer.body["id"].as_str().expect("an id"))
}

/// The job once its document is found by its words.
async fn searchable(app: &TestApp, job: &str) -> Value {
    wait::until_ok("the document is searchable", async || {
        let body = app.get(job).await.body;
        if body["counts"]["searchable"] == 1 { Ok(body) } else { Err(body) }
    })
    .await
}

async fn ended(app: &TestApp, job: &str) -> Value {
    app.ended_job(job.trim_start_matches("/v1/jobs/")).await
}

async fn found(app: &TestApp, query: &str) -> Vec<Value> {
    let body = json!({"query": query, "collections": ["c"], "mode": "lexical"});
    let answer = app.post("/v1/search", body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body["results"].as_array().expect("results").clone()
}

#[tokio::test]
async fn vectors_of_a_long_document_are_kept_as_they_are_made() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    collection(&app, json!({})).await;
    let lines = (0..CHUNKS).map(|number| match number {
        280 => "The lighthouse keeper of the outer rock counts every boat.".to_owned(),
        _ => format!("Boat {number} of the coastal line leaves the pier at seven in the morning."),
    });
    let text = lines.collect::<Vec<_>>().join("\n\n");
    server.hold_embeddings(Some("lighthouse"));
    let job = send(&app, &text).await;
    searchable(&app, &job).await;
    // The second round waits for the model; the first is stored, and counts.
    wait::until_count(&app.database, "SELECT count(*) FROM chunk_embedding", |vectors| vectors >= 256).await;
    let collection = app.get("/v1/collections/c").await.body;
    assert_eq!((&collection["chunks"], &collection["embedded_chunks"]), (&json!(CHUNKS), &json!(256)), "{collection}");
    assert_eq!(app.get(&job).await.body["items"][0]["state"], "searchable");
    // Stopped here and sent again, only the rest is asked for.
    assert_eq!(app.post(&format!("{job}/cancel"), json!({})).await.status, 200);
    assert_eq!(ended(&app, &job).await["counts"]["searchable"], 1);
    server.hold_embeddings(None);
    let again = send(&app, &text).await;
    let end = ended(&app, &again).await;
    assert_eq!((&end["state"], &end["counts"]["complete"]), (&json!("succeeded"), &json!(1)), "{end}");
    assert_eq!(end["counts"]["embedding_calls"], CHUNKS - 256, "{end}");
    let collection = app.get("/v1/collections/c").await.body;
    assert_eq!(collection["embedded_chunks"], CHUNKS, "{collection}");
    app.stop().await;
}

#[tokio::test]
async fn a_model_that_is_gone_leaves_its_documents_searchable_until_it_is_back() {
    let server = ModelServer::start().await;
    let url = server.base_url();
    let with_model = |model: &'static str| {
        [("CITED_EMBEDDING_BASE_URL".to_owned(), url.clone()), ("CITED_EMBEDDING_MODEL".to_owned(), model.to_owned())]
    };
    let database = database::create().await;
    let start = async |model: &'static str| {
        let settings = with_model(model);
        let settings: Vec<(&str, &str)> =
            settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        TestApp::start(database.clone(), &settings).await
    };
    let app = start("first").await;
    // The model is busy once, and the operator takes another one meanwhile.
    server.embedding_reply(Reply::Later(503, "5"));
    let job = send(&app, PARAGRAPHS[0]).await;
    searchable(&app, &job).await;
    server.wait_for_scripted_embedding().await;
    app.stop().await;

    let app = start("second").await;
    let end = ended(&app, &job).await;
    assert_eq!((&end["state"], &end["counts"]["searchable"]), (&json!("partial"), &json!(1)), "{end}");
    let item = &end["items"][0];
    assert_eq!((&item["stage"], &item["cause"]), (&json!("embed"), &json!("embedding_model_missing")), "{item}");
    let message = item["message"].as_str().expect("a message");
    assert!(message.contains("found by its words only") && message.contains("retry"), "{message}");
    app.stop().await;

    let app = start("first").await;
    assert_eq!(found(&app, "ferries").await.len(), 1);
    let retried = app.post(&format!("{job}/retry"), json!({})).await;
    assert_eq!(retried.status, 202, "{retried:?}");
    let end = ended(&app, &job).await;
    assert_eq!((&end["state"], &end["counts"]["complete"]), (&json!("succeeded"), &json!(1)), "{end}");
    app.stop().await;
}

#[tokio::test]
async fn contexts_are_found_by_their_words_and_embedded_in_the_embed_phase() {
    let server = ModelServer::start().await;
    server.say(Role::Context, SENTENCE);
    let app = TestApp::with_models(&server).await;
    collection(&app, json!({"indexing": "progressive", "context": {"on_failure": "abort"}})).await;
    server.hold_embeddings(Some("Zanzibar"));
    let job = send(&app, &PARAGRAPHS.join("\n\n")).await;
    let running = searchable(&app, &job).await;
    assert_eq!((&running["contexts"]["written"], &running["counts"]["complete"]), (&json!(2), &json!(0)), "{running}");
    // No vector is there yet, and what is found by the sentence does not say it.
    assert_eq!(database::number(&app.database, "SELECT count(*) FROM chunk_embedding").await, 0);
    let hits = found(&app, "Zanzibar").await;
    let texts: Vec<&str> = hits.iter().map(|hit| hit["text"].as_str().expect("a text")).collect();
    assert_eq!(texts, [PARAGRAPHS.join("\n\n")], "neighbours are one result");
    server.hold_embeddings(None);
    let end = ended(&app, &job).await;
    assert_eq!((&end["state"], &end["counts"]["complete"]), (&json!("succeeded"), &json!(1)), "{end}");
    let mut embedded = server.embedded();
    embedded.retain(|text| PARAGRAPHS.iter().any(|paragraph| text.contains(paragraph)));
    embedded.sort_unstable();
    let expected: Vec<String> = PARAGRAPHS.iter().map(|paragraph| format!("{SENTENCE}\n{paragraph}")).collect();
    assert_eq!(embedded, expected, "each once, with its sentence");
    assert_eq!(server.calls(Role::Context).len(), 2, "the embed phase asks for no sentence");
    // Sent again nothing is left to do.
    let again = send(&app, &PARAGRAPHS.join("\n\n")).await;
    assert_eq!(ended(&app, &again).await["counts"]["unchanged"], 1);

    // A document whose sentences cannot be had fails before it is searchable, where the collection wants it so.
    server.drop_reply(Role::Context);
    server.reply(Role::Context, Reply::Status(401, "{}".to_owned()));
    let refused = send(&app, "Dogs stay on the open deck and wear a muzzle in rough weather.").await;
    let end = ended(&app, &refused).await;
    assert_eq!((&end["state"], &end["counts"]["searchable"]), (&json!("failed"), &json!(0)), "{end}");
    assert_eq!(end["items"][0]["stage"], "chunk", "{end}");
    assert_eq!(found(&app, "Zanzibar").await.len(), 1, "what was stored stays");
    app.stop().await;
}
