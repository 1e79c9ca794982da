//! Several processes on one queue: they share the work, and one that was stopped for too long has lost its own.

use std::{collections::BTreeMap, time::Duration};

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;

use crate::{
    database,
    harness::{client, json_of},
    process::Process,
    scripted::{DIMENSION, ModelServer},
    wait,
};

fn settings(server: &ModelServer, options: &PgConnectOptions, key: &str) -> Vec<(String, String)> {
    [
        ("CITED_EMBEDDING_BASE_URL", server.base_url()),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding".to_owned()),
        ("CITED_EMBEDDING_DIMENSION", DIMENSION.to_string()),
        // Tells the processes apart.
        ("CITED_EMBEDDING_API_KEY", key.to_owned()),
        ("CITED_WORKERS", "1".to_owned()),
        ("CITED_DATABASE_CONNECTIONS", "4".to_owned()),
        ("DATABASE_URL", database::url(options)),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

fn borrowed(settings: &[(String, String)]) -> Vec<(&str, &str)> {
    settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

async fn post(door: &Process, name: &str, count: usize) -> String {
    let documents: Vec<Value> = (0..count)
        .map(
            |number| json!({"source": format!("{name}-{number}.txt"), "text": format!("Document {number} of {name}.")}),
        )
        .collect();
    let request = client().post(format!("{}/v1/documents", door.base));
    let body = json!({"collection": "c", "documents": documents});
    let job = json_of(request.json(&body).send().await.expect("an answer")).await;
    job["id"].as_str().expect("an id").to_owned()
}

/// Waits by the database: the door may be stopped.
async fn wait_for(options: &PgConnectOptions, condition: &str) {
    let found = format!("SELECT count(*) FROM (SELECT FROM job WHERE {condition}) found");
    wait::until_count(options, &found, |jobs| jobs > 0).await;
}

async fn share(processes: usize) {
    let server = ModelServer::start().await;
    server.delay_embeddings(Duration::from_millis(100));
    let options = database::create().await;
    let keys: Vec<String> = (0..processes).map(|number| format!("process-{number}")).collect();
    let door = Process::serve(&borrowed(&settings(&server, &options, &keys[0]))).await;
    let mut workers = Vec::new();
    for key in &keys[1..] {
        workers.push(Process::worker(&borrowed(&settings(&server, &options, key))).await);
    }
    // One job after the other until all processes are up and have had a part.
    let deadline = tokio::time::Instant::now() + Duration::from_mins(2);
    let mut batches: BTreeMap<String, usize> = BTreeMap::new();
    let mut jobs = 0;
    while batches.len() < processes {
        assert!(tokio::time::Instant::now() < deadline, "not every process took a part: {batches:?}");
        post(&door, &format!("job{jobs}"), 256 * processes).await;
        jobs += 1;
        wait_for(&options, &format!("true HAVING count(*) FILTER (WHERE finished_at IS NOT NULL) = {jobs}")).await;
        batches.clear();
        for key in server.embedding_keys() {
            *batches.entry(key).or_default() += 1;
        }
    }
    let expected = i64::try_from(256 * processes * jobs).expect("few");
    let stored = "SELECT count(*) FROM document WHERE version = 1";
    assert_eq!(database::number(&options, stored).await, expected);
    let attempts = "SELECT count(*) FROM job_item WHERE attempts = 1 AND state = 'succeeded'";
    assert_eq!(database::number(&options, attempts).await, expected, "nobody did another's work");
    for process in workers.into_iter().chain([door]) {
        let (_, ended_well) = process.stop().await;
        assert!(ended_well);
    }
    database::assert_consistent(&options).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_share_a_queue() {
    share(2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_processes_share_a_queue() {
    share(4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_slept_past_its_lease_writes_nothing_any_more() {
    let server = ModelServer::start().await;
    server.hold_embeddings(Some("of late"));
    let options = database::create().await;
    let sleeper = Process::serve(&borrowed(&settings(&server, &options, "sleeper"))).await;
    post(&sleeper, "late", 20).await;
    // It has claimed, and waits for its vectors; the answer comes while it sleeps.
    wait_for(&options, "started_at IS NOT NULL").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    sleeper.signal(Signal::SIGSTOP);
    let fence = "SELECT COALESCE(max(fence), 0) FROM job_item";
    let first = database::number(&options, fence).await;
    assert_eq!(database::number(&options, "SELECT count(*) FROM job_item WHERE state = 'running'").await, 20);

    server.hold_embeddings(None);
    let other = Process::worker(&borrowed(&settings(&server, &options, "other"))).await;
    wait_for(&options, "finished_at IS NOT NULL").await;
    assert!(database::number(&options, fence).await > first, "the other holds a newer claim");
    let moments = "SELECT (EXTRACT(EPOCH FROM max(updated_at)) * 1000000)::bigint FROM document";
    let stored = database::number(&options, moments).await;

    sleeper.signal(Signal::SIGCONT);
    // It is awake when it answers; its late batch has been refused by the time that new work is done.
    let health = client().get(format!("{}/v1/collections/c", sleeper.base)).send().await.expect("awake");
    assert!(health.status().is_success());
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_eq!(database::number(&options, moments).await, stored, "nothing was written late");
    assert_eq!(database::number(&options, "SELECT count(*) FROM document WHERE version = 1").await, 20);
    let settled = "SELECT count(*) FROM job_item WHERE state = 'succeeded' AND attempts = 2";
    assert_eq!(database::number(&options, settled).await, 20);
    // It lived, and says so.
    wait_for(&options, "NOT EXISTS (SELECT FROM job_item WHERE lost <> '{}')").await;
    assert_eq!(database::number(&options, "SELECT count(*) FROM job WHERE finished_at IS NULL").await, 0);
    assert!(server.embedding_keys().contains(&"sleeper".to_owned()), "it had been at work");
    for process in [other, sleeper] {
        let (_, ended_well) = process.stop().await;
        assert!(ended_well);
    }
    database::assert_consistent(&options).await;
}
