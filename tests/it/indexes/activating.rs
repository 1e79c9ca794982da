//! Activates the next index of a collection, and goes back to the previous one.

use serde_json::json;
use sqlx::{ConnectOptions, Connection, Executor};

use super::{
    GUIDE, activate, active, assert_found, build, chunks, chunks_in, citation, complete, document, drop_index, indexes,
    make_fresh, next, shape, small, text,
};
use crate::{database, harness::TestApp, scripted::ModelServer, wait};

#[tokio::test]
async fn an_activation_is_undone_by_another_until_the_index_before_is_dropped() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("c", &[("guide.md", GUIDE)]).await;
    let (guide, before, first) = (document(&app, "guide.md").await, chunks(&app, "guide.md").await, active(&app).await);
    assert_eq!(build(&app, &small()).await["state"], "succeeded");
    let second = text(&next(&app).await["id"]);
    assert_eq!(activate(&app, &second).await.status, 200);
    let split = chunks(&app, "guide.md").await;

    // Each document has a new version; citations of the old one still resolve.
    let now = document(&app, "guide.md").await;
    assert_eq!((&now["id"], &now["version"], &now["chunks"]), (&guide["id"], &json!(2), &json!(split.len())), "{now}");
    let cited = citation(&app, &guide, 1).await;
    assert_eq!((&cited["status"], &cited["passage"]["text"]), (&json!("superseded"), &before[0]["text"]), "{cited}");
    assert_eq!(citation(&app, &guide, 2).await["status"], "current");

    // The previous index is still complete: after going back the documents are as they were.
    let back = activate(&app, &first).await;
    assert_eq!((back.status, &back.body["index_id"]), (200, &json!(first)), "{back:?}");
    assert_eq!(document(&app, "guide.md").await["version"], 3);
    assert_eq!(shape(&chunks(&app, "guide.md").await), shape(&before));
    assert_found(&app, 3).await;
    for (version, passage) in [(1, &before[0]), (2, &split[0])] {
        let cited = citation(&app, &guide, version).await;
        assert_eq!((&cited["status"], &cited["passage"]["text"]), (&json!("superseded"), &passage["text"]), "{cited}");
    }

    activate(&app, &first).await.assert_problem(409, "index_active");
    drop_index(&app, &first).await.assert_problem(409, "index_active");
    let dropped = drop_index(&app, &second).await;
    let parts = split.len();
    let expected = json!({"documents": 1, "chunks": parts, "vectors": parts});
    assert_eq!((dropped.status, &dropped.body), (200, &expected), "{dropped:?}");
    let stored = database::number(&app.database, "SELECT count(*) FROM chunk").await;
    assert_eq!(usize::try_from(stored), Ok(before.len()));
    drop_index(&app, &second).await.assert_problem(404, "not_found");
    activate(&app, &second).await.assert_problem(404, "not_found");
    let left = indexes(&app).await;
    assert_eq!((left.len(), &left[0]["id"]), (1, &json!(first)), "{left:?}");
    assert_eq!(document(&app, "guide.md").await["version"], 3);
    assert_found(&app, 3).await;
    app.stop().await;
}

#[tokio::test]
async fn what_is_under_way_at_an_activation_goes_into_the_index_that_is_active_then() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    assert_eq!(app.post("/v1/collections", json!({"name": "c"})).await.status, 201);
    let first = active(&app).await;
    assert_eq!(build(&app, &small()).await["counts"]["items"], 0, "nothing is stored yet");
    let calls = server.embedding_keys().len();
    server.hold_embeddings(Some("northern"));
    let documents = json!([{"source": "guide.md", "text": GUIDE, "media_type": "text/markdown"}]);
    let sent = app.post("/v1/documents", json!({"collection": "c", "documents": documents})).await.body;
    wait::until("an embedding is requested", async || server.embedding_keys().len() > calls).await;
    assert_eq!(activate(&app, &text(&next(&app).await["id"])).await.status, 200);
    server.hold_embeddings(None);
    let job = app.ended_job(&text(&sent["id"])).await;
    assert_eq!(job["state"], "succeeded", "{job}");
    make_fresh(&app).await;
    app.ingest("fresh", &[("guide.md", GUIDE)]).await;
    let split = chunks(&app, "guide.md").await;
    assert_eq!(shape(&split), shape(&chunks_in(&app, "fresh", "guide.md").await));
    // The previous index gets it too.
    complete(&app).await;
    assert_eq!(activate(&app, &first).await.status, 200);
    assert!(chunks(&app, "guide.md").await.len() < split.len());
    app.stop().await;
}

/// A commit that waits for an activation's transaction sees the result of that activation, not the state before it.
#[tokio::test]
async fn an_upload_that_waits_for_an_activation_goes_into_the_index_that_is_active_after_it() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    assert_eq!(app.post("/v1/collections", json!({"name": "c"})).await.status, 201);
    build(&app, &small()).await;
    let small_chunks = text(&next(&app).await["id"]);
    let calls = server.embedding_keys().len();
    server.hold_embeddings(Some("northern"));
    let documents = json!([{"source": "guide.md", "text": GUIDE, "media_type": "text/markdown"}]);
    let sent = app.post("/v1/documents", json!({"collection": "c", "documents": documents})).await.body;
    wait::until("an embedding is requested", async || server.embedding_keys().len() > calls).await;
    // Holds both up, so that the activation requests the lock first.
    let mut holder = app.database.connect().await.expect("connect");
    holder.execute("BEGIN; SELECT FROM collection FOR UPDATE").await.expect("locked");
    let waiting = async |so_many: i64| {
        let waiters =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        wait::until_count(&app.database, waiters, |waiting| waiting >= so_many).await;
    };
    let (done, ()) = tokio::join!(activate(&app, &small_chunks), async {
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
