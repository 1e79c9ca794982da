//! Uploads, deletes and other changes while a collection has two chunkings.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::{
    database,
    harness::TestApp,
    scripted::{DIMENSION, ModelServer, poll_until},
};
use super::{
    GUIDE, LIMIT, TRAMS, active, assert_found, begin, beside, chunks, chunks_in, collection, complete, cut_over,
    delete, document, drop_chunking, make_fresh, resplit, shape, small, text,
};

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
