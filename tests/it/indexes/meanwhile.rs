//! Uploads, deletes and other changes while a collection has two indexes.

use serde_json::{Value, json};

use super::{
    GUIDE, TRAMS, activate, active, assert_found, begin, build, chunks, chunks_in, collection, complete, delete,
    document, drop_index, make_fresh, next, shape, small, text,
};
use crate::{
    database,
    harness::TestApp,
    scripted::{DIMENSION, ModelServer, Role},
    wait,
};

#[tokio::test]
async fn uploads_and_deletes_beside_the_job_win() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("c", &[("a.md", GUIDE), ("b.md", "Buses stop at the market."), ("d.md", "Bicycles are for hire.")])
        .await;
    let calls = server.embedding_keys().len();
    server.hold_embeddings(Some("northern"));
    let begun = begin(&app, &small()).await.body["job"].clone();
    begin(&app, &small()).await.assert_problem(409, "index_building");
    wait::until("an embedding is requested", async || server.embedding_keys().len() > calls).await;
    let other = next(&app).await;
    assert_eq!((&other["documents"], &other["job_id"]), (&json!(0), &begun["id"]), "{other}");
    let refused = activate(&app, &text(&other["id"])).await;
    refused.assert_problem(409, "index_incomplete");
    assert!(text(&refused.body["detail"]).starts_with("3 documents"), "{refused:?}");

    // The job holds the documents in the version that it claimed.
    assert_eq!(delete(&app, "b.md").await["queue_items"], 1);
    let changed = GUIDE.replace("northern", "southern");
    app.ingest("c", &[("a.md", &changed)]).await;
    server.hold_embeddings(None);
    let job = app.ended_job(&text(&begun["id"])).await;
    assert!(["succeeded", "cancelled"].contains(&job["state"].as_str().expect("a state")), "{job}");
    complete(&app).await;
    let collection = activate(&app, &text(&other["id"])).await;
    assert_eq!((collection.status, &collection.body["documents"]), (200, &json!(2)), "{collection:?}");
    make_fresh(&app).await;
    app.ingest("fresh", &[("a.md", &changed)]).await;
    assert_eq!(shape(&chunks(&app, "a.md").await), shape(&chunks_in(&app, "fresh", "a.md").await));
    assert!(document(&app, "b.md").await.is_null(), "what was deleted does not come back");
    app.stop().await;
}

#[tokio::test]
async fn what_is_stored_meanwhile_goes_into_both_indexes() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    // Its vectors for the settings of a new collection exist: an upload of it needs no model, but the other split does.
    app.ingest("other", &[("late.md", TRAMS)]).await;
    app.ingest("c", &[("a.md", GUIDE), ("b.md", "Buses stop at the market.")]).await;
    assert_eq!(build(&app, &small()).await["state"], "succeeded");
    let first = active(&app).await;
    let second = text(&next(&app).await["id"]);
    server.hold_embeddings(Some("bridge"));
    let stored = app.ingest("c", &[("late.md", TRAMS), ("gone.md", TRAMS)]).await;
    assert_eq!((&stored["counts"]["documents"], &stored["counts"]["embedding_calls"]), (&json!(2), &json!(0)));
    let jobs = "SELECT count(*) FROM job WHERE kind = 'index'";
    assert_eq!(database::number(&app.database, jobs).await, 2, "one was queued with what was stored");
    let (stored, waiting) = (collection(&app).await, next(&app).await);
    assert_eq!((&stored["documents"], &waiting["documents"]), (&json!(4), &json!(2)), "{waiting}");
    let refused = activate(&app, &second).await;
    refused.assert_problem(409, "index_incomplete");
    assert!(text(&refused.body["detail"]).starts_with("2 documents"), "{refused:?}");
    assert_eq!(delete(&app, "gone.md").await["queue_items"], 1, "it need not be split any more");
    server.hold_embeddings(None);
    complete(&app).await;

    let changed = GUIDE.replace("northern", "southern");
    app.ingest("c", &[("a.md", &changed)]).await;
    complete(&app).await;
    let by_first = document(&app, "a.md").await["chunks"].as_u64().expect("a number");
    assert_eq!(activate(&app, &second).await.status, 200);
    make_fresh(&app).await;
    app.ingest("fresh", &[("a.md", &changed), ("b.md", "Buses stop at the market."), ("late.md", TRAMS)]).await;
    for (source, version) in [("a.md", 3), ("b.md", 2), ("late.md", 2)] {
        assert_eq!(document(&app, source).await["version"], version, "{source}");
        assert_eq!(shape(&chunks(&app, source).await), shape(&chunks_in(&app, "fresh", source).await), "{source}");
    }
    assert!(document(&app, "gone.md").await.is_null());

    // The previous index is updated with them, and a delete removes a document from both.
    app.ingest("c", &[("new.md", "Ferries cross the bay.")]).await;
    complete(&app).await;
    let kept = next(&app).await;
    assert_eq!((&kept["id"], &kept["documents"]), (&json!(first), &json!(4)), "{kept}");
    let by_second = document(&app, "a.md").await["chunks"].as_u64().expect("a number");
    for (source, parts) in [("a.md", by_first + by_second), ("b.md", 2)] {
        let receipt = delete(&app, source).await;
        assert_eq!((&receipt["chunks"], &receipt["vectors"]), (&json!(parts), &json!(parts)), "{source}: {receipt}");
        assert_eq!(receipt["queue_items"], 0, "{source}: {receipt}");
    }
    let (left, kept) = (collection(&app).await, next(&app).await);
    assert_eq!((&left["documents"], &kept["documents"]), (&json!(2), &json!(2)), "{left} {kept}");
    assert_eq!(activate(&app, &first).await.status, 200);
    app.stop().await;
}

#[tokio::test]
async fn there_is_one_change_at_a_time() {
    let (server, second) = (ModelServer::start().await, ModelServer::start().await);
    let table = format!(
        "[embeddings.second]\nbase_url = {:?}\nmodel = \"second\"\ndimension = {DIMENSION}\n",
        second.base_url()
    );
    let app = TestApp::with_file(&server, &[], &table).await;
    app.ingest("c", &[("guide.md", GUIDE)]).await;
    let (model, first) = (json!({"embedding_model": "second"}), active(&app).await);
    assert_eq!(build(&app, &model).await["state"], "succeeded");
    begin(&app, &small()).await.assert_problem(409, "index_exists");
    let second_index = text(&next(&app).await["id"]);
    assert_eq!(build(&app, &model).await["state"], "succeeded", "the same is no other change");
    assert_eq!(next(&app).await["id"], json!(second_index));
    assert_eq!(drop_index(&app, &second_index).await.status, 200);

    assert_eq!(build(&app, &small()).await["state"], "succeeded");
    begin(&app, &model).await.assert_problem(409, "index_exists");
    assert_eq!(activate(&app, &text(&next(&app).await["id"])).await.status, 200);
    begin(&app, &model).await.assert_problem(409, "index_exists");
    assert_eq!(drop_index(&app, &first).await.status, 200);
    assert_eq!(build(&app, &model).await["state"], "succeeded");
    let moved = activate(&app, &text(&next(&app).await["id"])).await;
    assert_eq!((moved.status, &moved.body["embedding"]["model"]), (200, &json!("second")), "{moved:?}");
    assert_eq!(moved.body["splitter"]["size"], 20, "what was left out stayed as it was: {moved:?}");
    assert_found(&app, 3).await;
    app.stop().await;
}

#[tokio::test]
async fn splitter_context_and_model_change_together() {
    let (server, second) = (ModelServer::start().await, ModelServer::start().await);
    server.say(Role::Context, "It is from the guide of Zanzibar.");
    let table = format!(
        "[embeddings.second]\nbase_url = {:?}\nmodel = \"second\"\ndimension = {DIMENSION}\n",
        second.base_url()
    );
    let url = server.base_url();
    let chat = [("CITED_CHAT_BASE_URL", url.as_str()), ("CITED_CHAT_MODEL", "scripted-chat")];
    let app = TestApp::with_file(&server, &chat, &table).await;
    app.ingest("c", &[("guide.md", GUIDE)]).await;
    let wanted =
        json!({"splitter": small()["splitter"], "context": {"on_failure": "abort"}, "embedding_model": "second"});
    let job = build(&app, &wanted).await;
    assert_eq!(job["state"], "succeeded", "{job}");
    let built = next(&app).await;
    assert_eq!((&built["embedding"]["model"], &built["unembedded_chunks"]), (&json!("second"), &json!(0)), "{built}");
    assert_eq!(activate(&app, &text(&built["id"])).await.status, 200);
    let split = chunks(&app, "guide.md").await;
    assert!(split.len() > 2, "{split:?}");
    assert!(split.iter().all(|chunk| chunk["context"] == "It is from the guide of Zanzibar."), "{split:?}");
    assert_eq!(second.embedded().iter().filter(|text| text.contains("Zanzibar")).count(), split.len());
    assert_found(&app, 2).await;
    app.stop().await;
}

#[tokio::test]
async fn dropping_an_index_stops_the_jobs_that_build_it() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("other", &[("late.md", TRAMS)]).await;
    app.ingest("c", &[("a.md", GUIDE), ("b.md", "Buses stop at the market.")]).await;
    let calls = server.embedding_keys().len();
    server.hold_embeddings(Some("northern"));
    let job = text(&begin(&app, &small()).await.body["job"]["id"]);
    wait::until("an embedding is requested", async || server.embedding_keys().len() > calls).await;
    let second = text(&next(&app).await["id"]);
    let dropped = drop_index(&app, &second).await;
    assert_eq!(
        (dropped.status, &dropped.body),
        (200, &json!({"documents": 0, "chunks": 0, "vectors": 0})),
        "{dropped:?}"
    );
    assert_eq!(app.ended_job(&job).await["state"], "cancelled");
    assert_eq!(next(&app).await, json!(null));
    activate(&app, &second).await.assert_problem(404, "not_found");
    server.hold_embeddings(None);

    // A drop also stops the jobs that follow uploads.
    assert_eq!(build(&app, &small()).await["state"], "succeeded");
    let third = next(&app).await;
    assert!(third["id"] != json!(second) && third["documents"] == 2, "{third}");
    server.hold_embeddings(Some("bridge"));
    app.ingest("c", &[("late.md", TRAMS)]).await;
    let dropped = drop_index(&app, &text(&third["id"])).await;
    assert_eq!((dropped.status, &dropped.body["chunks"]), (200, &third["chunks"]), "{dropped:?}");
    let open = "SELECT count(*) FROM job WHERE finished_at IS NULL";
    wait::until_count(&app.database, open, |jobs| jobs == 0).await;
    let stopped = "SELECT count(*) FROM job WHERE kind = 'index' AND state = 'cancelled'";
    assert_eq!(database::number(&app.database, stopped).await, 2);
    server.hold_embeddings(None);
    let parts = |collection: &Value| collection["chunks"].as_i64().expect("a number");
    let listed = parts(&collection(&app).await) + parts(&app.get("/v1/collections/other").await.body);
    // A shutdown waits for running work.
    let database = app.database.clone();
    app.stop().await;
    assert_eq!(database::number(&database, "SELECT count(*) FROM chunk").await, listed, "nothing came late");
}
