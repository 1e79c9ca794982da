//! Everything killed that can be killed, in the middle of a job: nothing is lost, nothing doubled.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, time::Duration};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    database,
    harness::client,
    process::{Process, command, embedded, ended_job},
    scripted::ModelServer,
};

/// Documents of the job that is interrupted.
const DOCUMENTS: usize = 200;
/// Longest wait for a job to end after the last kill.
const JOB: Duration = Duration::from_mins(3);

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("open to the unprivileged user");
    folder
}

fn documents() -> Value {
    let documents: Vec<Value> = (0..DOCUMENTS)
        .map(|number| json!({"source": format!("d{number}.txt"), "text": format!("Document {number} tells of topic {} and of nothing else.", number % 7)}))
        .collect();
    json!({"collection": "c", "documents": documents})
}

async fn post(base: &str, path: &str, body: &Value) -> Value {
    let client = client();
    let response = client.post(format!("{base}{path}")).json(body).send().await.expect("an answer");
    assert!(response.status().is_success(), "{response:?}");
    response.json().await.expect("JSON")
}

fn borrowed(settings: &[(String, String)]) -> Vec<(&str, &str)> {
    settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

fn model_settings(server: &ModelServer) -> Vec<(String, String)> {
    vec![
        ("CITED_EMBEDDING_BASE_URL".to_owned(), server.base_url()),
        ("CITED_EMBEDDING_MODEL".to_owned(), "scripted-embedding".to_owned()),
        ("CITED_EMBEDDING_DIMENSION".to_owned(), super::scripted::DIMENSION.to_string()),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_killed_at_random_points_lose_and_double_nothing() {
    let server = ModelServer::start().await;
    server.delay_embeddings(Duration::from_millis(30));
    let options = database::create().await;
    let mut settings = model_settings(&server);
    settings.push(("DATABASE_URL".to_owned(), database::url(&options)));
    settings.push(("CITED_DATABASE_CONNECTIONS".to_owned(), "4".to_owned()));
    let settings = borrowed(&settings);
    // The door keeps its own workers; they take part, and stay.
    let door = Process::serve(&settings).await;
    let job = post(&door.base, "/v1/documents", &documents()).await;
    for pause_ms in [150, 40, 320, 90] {
        let worker = Process::worker(&settings);
        tokio::time::sleep(Duration::from_millis(pause_ms)).await;
        worker.kill().await;
    }
    let finished = ended_job(&door.base, job["id"].as_str().expect("id"), JOB).await;
    assert_eq!(
        (&finished["state"], &finished["counts"]["documents"]),
        (&json!("succeeded"), &json!(DOCUMENTS)),
        "{}",
        finished["counts"]
    );
    let (_, ended_well) = door.stop().await;
    assert!(ended_well);
    database::assert_consistent(&options).await;
    assert_eq!(
        database::number(&options, "SELECT count(DISTINCT source) FROM document").await,
        i64::try_from(DOCUMENTS).expect("few")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_service_killed_in_a_job_goes_on_where_it_was() {
    let server = ModelServer::start().await;
    server.delay_embeddings(Duration::from_millis(50));
    let folder = folder();
    let mut settings = model_settings(&server);
    settings.extend(embedded(folder.path()));
    let settings = borrowed(&settings);
    let service = Process::serve(&settings).await;
    let job = post(&service.base, "/v1/documents", &documents()).await;
    let id = job["id"].as_str().expect("id").to_owned();
    let mut service = service;
    for pause_ms in [120, 260] {
        tokio::time::sleep(Duration::from_millis(pause_ms)).await;
        service.kill().await;
        service = Process::serve(&settings).await;
    }
    let finished = ended_job(&service.base, &id, JOB).await;
    assert_eq!(
        (&finished["state"], &finished["counts"]["documents"]),
        (&json!("succeeded"), &json!(DOCUMENTS)),
        "{}",
        finished["counts"]
    );
    assert_sources(&service.base).await;
    let (_, ended_well) = service.stop().await;
    assert!(ended_well);
    assert_eq!(postgres_of(folder.path()), None, "no process is left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_killed_in_a_job_comes_back_with_everything() {
    let server = ModelServer::start().await;
    server.delay_embeddings(Duration::from_millis(50));
    let folder = folder();
    let mut settings = model_settings(&server);
    settings.extend(embedded(folder.path()));
    let settings = borrowed(&settings);
    let service = Process::serve(&settings).await;
    let job = post(&service.base, "/v1/documents", &documents()).await;
    for pause_ms in [100, 400] {
        tokio::time::sleep(Duration::from_millis(pause_ms)).await;
        let postmaster = wait_for_postgres(folder.path()).await;
        kill(postmaster, Signal::SIGKILL).expect("the postmaster of this test");
    }
    let finished = ended_job(&service.base, job["id"].as_str().expect("id"), JOB).await;
    assert_eq!(
        (&finished["state"], &finished["counts"]["documents"]),
        (&json!("succeeded"), &json!(DOCUMENTS)),
        "{}",
        finished["counts"]
    );
    assert_sources(&service.base).await;
    let answer = post(&service.base, "/v1/search", &json!({"query": "topic 3", "collections": ["c"]})).await;
    assert_eq!(answer["results"].as_array().map(Vec::len), Some(10));
    let (_, ended_well) = service.stop().await;
    assert!(ended_well);
    assert_eq!(postgres_of(folder.path()), None, "no process is left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_service_on_the_same_data_is_told_so() {
    let folder = folder();
    let settings = embedded(folder.path());
    let settings = borrowed(&settings);
    let service = Process::serve(&settings).await;
    let second = command(&["serve"], &settings).output().await.expect("runs");
    assert!(!second.status.success());
    let message = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(message.contains("in use"), "{message}");
    let worker = command(&["worker"], &settings).output().await.expect("runs");
    assert!(String::from_utf8_lossy(&worker.stderr).contains("DATABASE_URL"));
    let (_, ended_well) = service.stop().await;
    assert!(ended_well);
    assert_eq!(postgres_of(folder.path()), None, "no process is left");
}

/// Each source once, in its first version.
async fn assert_sources(base: &str) {
    let client = client();
    let mut sources = std::collections::BTreeSet::new();
    let mut path = format!("{base}/v1/documents?collection=c&limit=200");
    loop {
        let page: Value = client.get(&path).send().await.expect("a page").json().await.expect("JSON");
        for document in page["documents"].as_array().expect("documents") {
            assert_eq!(document["version"], 1, "{document}");
            assert!(sources.insert(document["source"].as_str().expect("source").to_owned()), "{document}");
        }
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("{base}/v1/documents?collection=c&limit=200&cursor={cursor}");
    }
    assert_eq!(sources.len(), DOCUMENTS);
}

/// The postmaster of a data directory, if it runs.
fn postgres_of(folder: &Path) -> Option<Pid> {
    let file = fs::read_to_string(folder.join("data/cluster/postmaster.pid")).ok()?;
    let pid = Pid::from_raw(file.lines().next()?.trim().parse().ok()?);
    kill(pid, None).is_ok().then_some(pid)
}

async fn wait_for_postgres(folder: &Path) -> Pid {
    let deadline = tokio::time::Instant::now() + Duration::from_mins(1);
    loop {
        if let Some(pid) = postgres_of(folder) {
            return pid;
        }
        assert!(tokio::time::Instant::now() < deadline, "Postgres does not come back");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
