//! Everything killed that can be killed, in the middle of a job: nothing is lost, nothing doubled.

use std::{fs, path::Path, time::Duration};

use embedded_postgres::PrivatePostgres;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;

use crate::{
    database,
    harness::{client, json_of},
    jobs::chaos::Random,
    operations::private_postgres::{folder, settings as postgres_settings},
    process::{Process, command, embedded, ended_job, output_of},
    scripted::ModelServer,
    wait,
};

/// Documents of the job that is interrupted.
const DOCUMENTS: usize = 200;
/// Longest wait for a job to end after the last kill.
const JOB: Duration = Duration::from_mins(3);
/// How long each embedding request takes that is not held. Kills come within this of a claim and a little more, so that
/// they strike while documents are embedded, while they are stored, and just after.
const EMBEDDING: Duration = Duration::from_millis(250);
/// A word of every document: requests with it can be held, so that a kill is sure to find documents in hand.
const WORD: &str = "topic";
/// Of the pauses before kills; another seed gives other ones.
const SEED: u64 = 2_026;

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
    json_of(response).await
}

fn borrowed(settings: &[(String, String)]) -> Vec<(&str, &str)> {
    settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

fn model_settings(server: &ModelServer) -> Vec<(String, String)> {
    vec![
        ("CITED_EMBEDDING_BASE_URL".to_owned(), server.base_url()),
        ("CITED_EMBEDDING_MODEL".to_owned(), "scripted-embedding".to_owned()),
        ("CITED_EMBEDDING_DIMENSION".to_owned(), crate::scripted::DIMENSION.to_string()),
    ]
}

fn embedded_with(server: &ModelServer, folder: &Path) -> Vec<(String, String)> {
    let mut settings = model_settings(server);
    settings.extend(embedded(folder));
    settings
}

/// Stops a service of embedded mode, which leaves no process.
async fn assert_stops(service: Process, folder: &Path) {
    let (_, ended_well) = service.stop().await;
    assert!(ended_well);
    assert_eq!(postgres_of(folder), None, "no process is left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_killed_at_random_points_lose_and_double_nothing() {
    let server = ModelServer::start().await;
    server.delay_embeddings(EMBEDDING);
    server.hold_embeddings(Some(WORD));
    let options = database::create().await;
    let mut settings = model_settings(&server);
    settings.push(("DATABASE_URL".to_owned(), database::url(&options)));
    settings.push(("CITED_DATABASE_CONNECTIONS".to_owned(), "4".to_owned()));
    let settings = borrowed(&settings);
    // The door works on the queue too, and is the first to be killed.
    let door = Process::serve(&settings).await;
    let job = post(&door.base, "/v1/documents", &documents()).await;
    let mut random = Random(SEED);
    let (mut victim, mut fence) = (door, 0);
    for round in 0..4 {
        // The first two are sure to find documents in hand; the others strike wherever the work is then, or after it.
        server.hold_embeddings((round < 2).then_some(WORD));
        if !wait_for_claim(&options, fence).await {
            break;
        }
        pause(&mut random).await;
        victim.kill().await;
        fence = database::number(&options, "SELECT max(fence) FROM job_item").await;
        victim = Process::worker(&settings).await;
    }
    victim.kill().await;
    server.delay_embeddings(Duration::ZERO);
    let door = Process::serve(&settings).await;
    let finished = ended_job(&door.base, job["id"].as_str().expect("id"), JOB).await;
    assert_whole(&finished);
    assert_sources(&door.base).await;
    let (_, ended_well) = door.stop().await;
    assert!(ended_well);
    database::assert_consistent(&options).await;
    let again = database::number(&options, "SELECT count(*) FROM job_item WHERE attempts > 1").await;
    assert!(again > 0, "nothing had to be taken up again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_service_killed_in_a_job_goes_on_where_it_was() {
    let server = ModelServer::start().await;
    server.delay_embeddings(EMBEDDING);
    let folder = folder();
    let settings = embedded_with(&server, folder.path());
    let settings = borrowed(&settings);
    let mut service = Process::serve(&settings).await;
    server.hold_embeddings(Some(WORD));
    let mut requests = server.embedding_keys().len();
    let job = post(&service.base, "/v1/documents", &documents()).await;
    let id = job["id"].as_str().expect("id").to_owned();
    let mut random = Random(SEED);
    for round in 0..3 {
        wait_until_embedding(&server, requests).await;
        server.hold_embeddings((round < 2).then_some(WORD));
        pause(&mut random).await;
        service.kill().await;
        requests = server.embedding_keys().len();
        service = Process::serve(&settings).await;
    }
    server.delay_embeddings(Duration::ZERO);
    assert_whole(&ended_job(&service.base, &id, JOB).await);
    assert_sources(&service.base).await;
    assert_stops(service, folder.path()).await;
    let again = assert_consistent(folder.path()).await;
    assert!(again > 0, "the kills came too late: nothing had to be taken up again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_service_and_then_its_postgres_killed_come_back_with_everything() {
    let server = ModelServer::start().await;
    server.delay_embeddings(EMBEDDING);
    let folder = folder();
    let settings = embedded_with(&server, folder.path());
    let settings = borrowed(&settings);
    let service = Process::serve(&settings).await;
    post(
        &service.base,
        "/v1/documents?wait=true",
        &json!({"collection": "before", "documents": [
        {"source": "kept.txt", "text": "What was there before the kills."}]}),
    )
    .await;
    server.hold_embeddings(Some(WORD));
    let requests = server.embedding_keys().len();
    let job = post(&service.base, "/v1/documents", &documents()).await;
    wait_until_embedding(&server, requests).await;
    let postmaster = postgres_of(folder.path()).expect("Postgres runs");
    service.kill().await;
    // Whether or not it has noticed that it is alone.
    let _ = kill(postmaster, Signal::SIGKILL);
    let in_hand = server.embedding_keys().len();
    server.hold_embeddings(None);
    let service = Process::serve(&settings).await;
    assert_whole(&ended_job(&service.base, job["id"].as_str().expect("id"), JOB).await);
    assert_sources(&service.base).await;
    let kept =
        post(&service.base, "/v1/search", &json!({"query": "before the kills", "collections": ["before"]})).await;
    assert_eq!(kept["results"][0]["source"], "kept.txt", "{kept}");
    assert_stops(service, folder.path()).await;
    // The claim may not have reached the disk, so that attempts tell nothing.
    assert!(server.embedding_keys().len() > in_hand, "the kills came too late: nothing had to be taken up again");
    assert_consistent(folder.path()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_killed_in_a_job_comes_back_with_everything() {
    let server = ModelServer::start().await;
    server.delay_embeddings(EMBEDDING);
    let folder = folder();
    let settings = embedded_with(&server, folder.path());
    let settings = borrowed(&settings);
    let service = Process::serve(&settings).await;
    let requests = server.embedding_keys().len();
    let job = post(&service.base, "/v1/documents", &documents()).await;
    wait_until_embedding(&server, requests).await;
    let mut former = None;
    for _ in 0..2 {
        let postmaster = wait_for_postgres(folder.path(), former).await;
        kill(postmaster, Signal::SIGKILL).expect("the postmaster of this test");
        former = Some(postmaster);
    }
    assert_whole(&ended_job(&service.base, job["id"].as_str().expect("id"), JOB).await);
    assert_sources(&service.base).await;
    let answer = post(&service.base, "/v1/search", &json!({"query": "topic 3", "collections": ["c"]})).await;
    assert_eq!(answer["results"].as_array().map(Vec::len), Some(10));
    assert_stops(service, folder.path()).await;
    assert_consistent(folder.path()).await;
}

/// Waits until items are held under a later token than this one; false if nothing is left to claim.
async fn wait_for_claim(options: &PgConnectOptions, fence: i64) -> bool {
    let deadline = tokio::time::Instant::now() + Duration::from_mins(1);
    loop {
        let latest = "SELECT COALESCE(max(fence), 0) FROM job_item WHERE state = 'running'";
        if database::number(options, latest).await > fence {
            return true;
        }
        if database::number(options, "SELECT count(*) FROM job_item WHERE state IN ('queued', 'running')").await == 0 {
            return false;
        }
        assert!(tokio::time::Instant::now() < deadline, "nobody takes up what is left");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until there were more requests for embeddings than before.
async fn wait_until_embedding(server: &ModelServer, before: usize) {
    wait::until("an embedding is requested", async || server.embedding_keys().len() > before).await;
}

async fn pause(random: &mut Random) {
    let most = usize::try_from(EMBEDDING.as_millis()).expect("short") * 3 / 2;
    tokio::time::sleep(Duration::from_millis(random.below(most) as u64)).await;
}

fn assert_whole(job: &Value) {
    let counts = &job["counts"];
    assert_eq!((&job["state"], &counts["documents"]), (&json!("succeeded"), &json!(DOCUMENTS)), "{counts}");
}

/// Asserts over the data of a stopped service that nothing contradicts itself; returns the items that were claimed again.
async fn assert_consistent(folder: &Path) -> i64 {
    let postgres = PrivatePostgres::start(&postgres_settings(folder)).await.expect("Postgres starts");
    let options = postgres.connect_options();
    database::assert_consistent(&options).await;
    let again = database::number(&options, "SELECT count(*) FROM job_item WHERE attempts > 1").await;
    postgres.stop().await.expect("stops");
    again
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_service_on_the_same_data_is_told_so() {
    let folder = folder();
    let settings = embedded(folder.path());
    let settings = borrowed(&settings);
    let service = Process::serve(&settings).await;
    let second = output_of(&mut command(&["serve"], &settings)).await;
    assert!(!second.status.success());
    let message = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(message.contains("in use"), "{message}");
    let worker = output_of(&mut command(&["worker"], &settings)).await;
    assert!(String::from_utf8_lossy(&worker.stderr).contains("DATABASE_URL"));
    assert_stops(service, folder.path()).await;
}

/// Each source once, in its first version.
async fn assert_sources(base: &str) {
    let client = client();
    let mut sources = std::collections::BTreeSet::new();
    let mut path = format!("{base}/v1/documents?collection=c&limit=200");
    loop {
        let page: Value = json_of(client.get(&path).send().await.expect("a page")).await;
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

/// Waits until a postmaster runs that is not the former one.
async fn wait_for_postgres(folder: &Path, former: Option<Pid>) -> Pid {
    let running = async || postgres_of(folder).filter(|pid| Some(*pid) != former).ok_or("none runs");
    wait::until_ok("Postgres comes back", running).await
}
