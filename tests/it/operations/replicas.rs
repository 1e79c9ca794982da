//! Retrieval from streaming replicas: an ask finds all that was stored before it, whatever the replicas do.

use std::path::Path;

use serde_json::{Value, json};

use super::{
    own_servers::{Server, program, run},
    private_postgres::{folder, settings},
};
use crate::{database, harness::TestApp, scripted::ModelServer, wait};

/// A server that streams from another one.
async fn replica_of(primary: &Server, folder: &Path, name: &str) -> Server {
    let mut server = Server::at(&primary.bin, folder, name);
    let mut copy = program(&primary.bin, "pg_basebackup");
    copy.args(["--write-recovery-conf", "--no-sync", "--checkpoint=fast", "--username=postgres", "--host"]);
    copy.arg(&primary.place).arg("--pgdata").arg(server.place.join("data"));
    run(copy).await;
    server.start().await;
    server
}

/// Searches that it served so far: scans of the table of collections, which begin each.
async fn reads(server: &Server) -> i64 {
    let sql = "SELECT (seq_scan + COALESCE(idx_scan, 0)) FROM pg_stat_user_tables WHERE relname = 'collection'";
    database::number(&server.options("cited"), sql).await
}

async fn store(app: &TestApp, number: usize) {
    let text = format!("Boat {number} is moored at pier {number}.");
    let body = json!({"collection": "c", "documents": [{"source": format!("b{number}"), "text": text}]});
    let job = app.post("/v1/documents?wait=true", body).await;
    assert_eq!((job.status, &job.body["counts"]["failed"]), (200, &json!(0)), "{job:?}");
}

/// Stores a document, and asks for it at once by another process.
async fn store_and_find(here: &TestApp, there: &TestApp, number: usize) {
    store(here, number).await;
    let query = json!({"query": format!("pier {number}"), "collections": ["c"], "mode": "lexical", "top_k": 3});
    let found = there.post("/v1/search", query).await;
    assert_eq!(found.status, 200, "{number}: {found:?}");
    let sources: Vec<&Value> =
        found.body["results"].as_array().expect("results").iter().map(|hit| &hit["source"]).collect();
    assert!(sources.contains(&&json!(format!("b{number}"))), "{number}: {found:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ask_finds_what_was_stored_before_whatever_replicas_do() {
    let folder = folder();
    let bin = embedded_postgres::find_binaries(&settings(folder.path())).expect("a Postgres").directory;
    let mut primary = Server::at(&bin, folder.path(), "primary");
    primary.make().await;
    primary.says("CREATE DATABASE cited").await;
    let mut one = replica_of(&primary, folder.path(), "one").await;
    let two = replica_of(&primary, folder.path(), "two").await;
    let url = |server: &Server| database::url(&server.options("cited"));
    let models = ModelServer::start().await;
    let (write, read, embedding) = (url(&primary), format!("{}, {}", url(&one), url(&two)), models.base_url());
    let settings = [
        ("DATABASE_URL", write.as_str()),
        ("DATABASE_READ_URL", read.as_str()),
        ("CITED_EMBEDDING_BASE_URL", embedding.as_str()),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
    ];
    // Row level security would not bind the user of the URL, who is a superuser: the service logs in as its roles.
    let here = TestApp::start(primary.options("cited"), &settings).await;
    let there = TestApp::start(primary.options("cited"), &settings).await;
    for number in 0..10 {
        store_and_find(&here, &there, number).await;
    }
    wait::until("a replica was read", async || reads(&one).await + reads(&two).await > 0).await;

    // Both stand still: what they lack is read from the primary.
    for replica in [&one, &two] {
        replica.says("SELECT pg_wal_replay_pause()").await;
    }
    for number in 10..13 {
        store_and_find(&here, &there, number).await;
    }
    two.says("SELECT pg_wal_replay_resume()").await;
    let before = reads(&two).await;
    // It is read again once it has caught up.
    wait::until("the replica that goes on is read", async || {
        let query = json!({"query": "pier", "collections": ["c"], "mode": "lexical"});
        assert_eq!(there.post("/v1/search", query).await.status, 200);
        reads(&two).await > before
    })
    .await;
    store_and_find(&here, &there, 13).await;

    // One is gone, the other is promoted and then is no copy any more.
    one.kill().await;
    store_and_find(&here, &there, 14).await;
    two.says("SELECT pg_promote()").await;
    for number in 15..18 {
        store_and_find(&here, &there, number).await;
    }
    // The one that was gone comes back.
    one.start().await;
    let before = reads(&one).await;
    wait::until("the replica that is back is read", async || {
        let query = json!({"query": "pier", "collections": ["c"], "mode": "lexical"});
        assert_eq!(there.post("/v1/search", query).await.status, 200);
        reads(&one).await > before
    })
    .await;
    store_and_find(&here, &there, 18).await;
    here.stop().await;
    there.stop().await;
}
