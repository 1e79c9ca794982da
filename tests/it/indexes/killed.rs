//! Kills services while an index is built, activated, reverted and dropped.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use reqwest::Method;
use serde_json::{Value, json};
use tokio::{sync::watch, time::sleep};

use super::{
    LIMIT,
    models::{FIRST, SECOND, second_table},
    small, text,
};
use crate::{
    database,
    harness::{client, send},
    jobs::chaos::Random,
    process::{Process, ended_job},
    scripted::ModelServer,
    wait,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_build_goes_on_where_it_was() {
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
    let service = Process::serve(&settings).await;
    // The last documents, which the first claims do not include, contain a distinct word.
    let words = |number: usize| {
        let place = if number < 300 { "pier" } else { "lighthouse" };
        format!("Document {number} of the {place}.\n\n{}", "The ferry leaves at seven every day. ".repeat(6))
    };
    let documents: Vec<Value> =
        (0..400).map(|number| json!({"source": format!("d{number}.txt"), "text": words(number)})).collect();
    let body = json!({"collection": "c", "documents": documents});
    let request = |method: Method, path: &str| client().request(method, format!("{}{path}", service.base));
    let stored = send(request(Method::POST, "/v1/documents?wait=true").json(&body)).await;
    assert_eq!(stored.body["counts"]["documents"], 400, "{stored:?}");
    server.hold_embeddings(Some("lighthouse"));
    let begun = send(request(Method::POST, "/v1/collections/c/indexes").json(&small())).await;
    let id = begun.body["job"]["id"].as_str().expect("an id").to_owned();
    // The committed items are from the first claims. The claim that is running then has items of the job's rest, which
    // cannot be committed.
    let items = |condition: &str| {
        format!(
            "SELECT count(*) FROM job_item JOIN job USING (tenant_id, job_id)
             WHERE kind = 'index' AND job_item.{condition}"
        )
    };
    let (landed, running) = (items("state = 'succeeded'"), items("state = 'running'"));
    let both =
        async || database::number(&database, &landed).await > 0 && database::number(&database, &running).await > 0;
    wait::until("one claim has landed and another is running", both).await;
    service.kill().await;
    let before = database::number(&database, &landed).await;
    assert!(before < 400, "it was killed in the middle");
    // Each document is either in the next index or not, and is unchanged in both cases.
    for (law, sql) in database::LAWS.iter().filter(|(law, _)| !law.contains("job") && !law.contains("item")) {
        assert_eq!(database::number(&database, sql).await, 0, "{law}");
    }
    assert_eq!(database::number(&database, "SELECT count(*) FROM document WHERE version = 1").await, 400);
    server.hold_embeddings(None);
    let service = Process::serve(&settings).await;
    let ended = ended_job(&service.base, &id, Duration::from_mins(2)).await;
    assert_eq!((&ended["state"], &ended["counts"]["documents"]), (&json!("succeeded"), &json!(400)), "{ended}");
    let once = database::number(&database, &items("attempts = 1")).await;
    assert!(once >= before, "what had landed was not done again: {once} of {before}");

    let request = |method: Method, path: &str| client().request(method, format!("{}{path}", service.base));
    let listed = send(request(Method::GET, "/v1/collections/c/indexes")).await.body;
    let other = &listed["indexes"][1];
    assert_eq!(other["documents"], 400, "{listed}");
    let path = format!("/v1/collections/c/indexes/{}/activate", text(&other["id"]));
    let moved = send(request(Method::POST, &path)).await;
    assert_eq!((moved.status, &moved.body["chunks"]), (200, &other["chunks"]), "{moved:?}");
    let versions = "SELECT count(*) FROM document WHERE version = 2";
    assert_eq!(database::number(&database, versions).await, 400, "none was replaced twice");
    let (_, ended_well) = service.stop().await;
    assert!(ended_well);
    database::assert_consistent(&database).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_move_to_another_model_goes_on_where_it_was() {
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
    let wanted = json!({"embedding_model": SECOND});
    let begun = send(request(Method::POST, "/v1/collections/c/indexes").json(&wanted)).await;
    let (job, index) = (text(&begun.body["job"]["id"]), text(&begun.body["index"]["id"]));
    // The first claim is committed, the second is running.
    let landed = "SELECT count(*) FROM job_item JOIN job USING (tenant_id, job_id) WHERE kind = 'index' AND job_item.state = 'succeeded'";
    wait::until_count(&database, landed, |items| items > 0).await;
    sleep(Duration::from_millis(200)).await;
    service.kill().await;
    let before = database::number(&database, landed).await;
    assert!(before < 600, "it was killed in the middle");
    second.delay_embeddings(Duration::ZERO);
    service = Process::serve(&settings).await;
    let request = |method: Method, path: &str| client().request(method, format!("{}{path}", service.base));
    let ended = ended_job(&service.base, &job, Duration::from_mins(2)).await;
    assert_eq!((&ended["state"], &ended["counts"]["documents"]), (&json!("succeeded"), &json!(600)), "{ended}");
    let again = second.embedded().len();
    assert!(again < 900, "what had landed was not done again: {again} texts");
    let path = format!("/v1/collections/c/indexes/{index}/activate");
    assert_eq!(send(request(Method::POST, &path)).await.status, 200);
    let (_, ended_well) = service.stop().await;
    assert!(ended_well);
    database::assert_consistent(&database).await;
}

/// Documents of the collection whose indexes change.
const DOCUMENTS: usize = 60;

/// Changes the indexes of the collection while the service is killed and restarted.
struct Operator {
    /// Current base URL of the service.
    base: watch::Receiver<String>,
    stop: Arc<AtomicBool>,
    /// Number of activations that were answered.
    activations: Arc<AtomicUsize>,
}

impl Operator {
    /// Builds an index, activates it, goes back every other time, drops the index that is left over, and starts again.
    async fn work(self) {
        for round in 0.. {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            let size = 20 + round % 3 * 20;
            let wanted = json!({"splitter": {"kind": "recursive", "size": size, "overlap": 0}});
            self.ask(Method::POST, "", &wanted).await;
            self.activate_next().await;
            if round % 2 == 0 {
                self.activate_next().await;
            }
            // An upload that is stored in both indexes.
            let document =
                json!({"source": format!("late{}.txt", round % 5), "text": format!("Late {round}. {}", words(round))});
            self.request(Method::POST, "/v1/documents", &json!({"collection": "c", "documents": [document]})).await;
            if let Some(next) = self.next().await {
                self.ask(Method::DELETE, &format!("/{next}"), &json!({})).await;
            }
        }
    }

    /// Retries to activate the next index until it is complete.
    async fn activate_next(&self) {
        while !self.stop.load(Ordering::Relaxed) {
            let Some(next) = self.next().await else { return };
            match self.ask(Method::POST, &format!("/{next}/activate"), &json!({})).await {
                Some(200) => {
                    self.activations.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                // The index is not complete: its job may have failed, or the job that follows an upload is still
                // running.
                Some(409) => {
                    self.ask(Method::POST, "", &json!({})).await;
                }
                _ => {}
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    async fn next(&self) -> Option<String> {
        let body = self.request(Method::GET, "/v1/collections/c", &json!({})).await?.1;
        body["next_index_id"].as_str().map(str::to_owned)
    }

    async fn ask(&self, method: Method, path: &str, body: &Value) -> Option<u16> {
        Some(self.request(method, &format!("/v1/collections/c/indexes{path}"), body).await?.0)
    }

    /// Sends a request and returns the response; `None` while the service is down.
    async fn request(&self, method: Method, path: &str, body: &Value) -> Option<(u16, Value)> {
        let url = format!("{}{path}", *self.base.borrow());
        let answer = client().request(method, url).json(body).send().await.ok();
        let Some(answer) = answer else {
            sleep(Duration::from_millis(50)).await;
            return None;
        };
        let status = answer.status().as_u16();
        assert_ne!(status, 500, "{path}: {:?}", answer.text().await);
        Some((status, answer.json().await.ok()?))
    }
}

fn words(number: usize) -> String {
    format!(
        "Ferry {number} leaves the northern pier at seven.\n\nIt is back before noon, save on Sundays in the summer."
    )
}

async fn run(kills: usize, seed: u64) {
    let server = ModelServer::start().await;
    server.delay_embeddings(Duration::from_millis(30));
    let database = database::create().await;
    let (url, model) = (database::url(&database), server.base_url());
    let settings = [
        ("DATABASE_URL", url.as_str()),
        ("CITED_DATABASE_CONNECTIONS", "6"),
        ("CITED_EMBEDDING_BASE_URL", &model),
        ("CITED_EMBEDDING_MODEL", FIRST),
    ];
    let mut service = Process::serve(&settings).await;
    let documents: Vec<Value> =
        (0..DOCUMENTS).map(|number| json!({"source": format!("d{number}.txt"), "text": words(number)})).collect();
    let body = json!({"collection": "c", "documents": documents});
    let stored = send(client().post(format!("{}/v1/documents?wait=true", service.base)).json(&body)).await;
    assert_eq!(stored.body["counts"]["documents"], DOCUMENTS, "{stored:?}");

    let (place, base) = watch::channel(service.base.clone());
    let (stop, activations) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let operator = Operator { base, stop: Arc::clone(&stop), activations: Arc::clone(&activations) };
    let operator = tokio::spawn(operator.work());
    let mut random = Random(seed);
    for _ in 0..kills {
        sleep(Duration::from_millis(u64::try_from(100 + random.below(1_500)).expect("small"))).await;
        service.kill().await;
        // All running work was committed as a whole or not at all.
        for (law, sql) in database::LAWS.iter().filter(|(law, _)| !law.contains("job") && !law.contains("item")) {
            assert_eq!(database::number(&database, sql).await, 0, "{law}");
        }
        service = Process::serve(&settings).await;
        place.send(service.base.clone()).expect("somebody listens");
    }
    stop.store(true, Ordering::Relaxed);
    operator.await.expect("no answer was a defect");
    wait::until_count(&database, "SELECT count(*) FROM job WHERE finished_at IS NULL", |jobs| jobs == 0).await;
    assert_is_whole(&service.base, &database).await;
    let (_, ended_well) = service.stop().await;
    assert!(ended_well);
    database::assert_consistent(&database).await;
    println!("{kills} kills, {} activations", activations.load(Ordering::Relaxed));
}

/// Asserts that each document exists once, in the active index, with all its chunks and vectors, and that the rest of
/// the next index can be built.
async fn assert_is_whole(base: &str, database: &sqlx::postgres::PgConnectOptions) {
    let kept = "SELECT count(DISTINCT source) FROM document WHERE source LIKE 'd%' AND unembedded_chunks = 0";
    assert_eq!(usize::try_from(database::number(database, kept).await), Ok(DOCUMENTS));
    let url = format!("{base}/v1/collections/c/indexes");
    let begun = send(client().post(&url).json(&json!({}))).await;
    assert_eq!(begun.status, 202, "{begun:?}");
    let ended = ended_job(base, &text(&begun.body["job"]["id"]), LIMIT).await;
    assert_eq!(ended["state"], "succeeded", "{ended}");
    let activated = send(client().post(format!("{url}/{}/activate", text(&begun.body["index"]["id"])))).await;
    assert_eq!(activated.status, 200, "{activated:?}");
    let query = json!({"query": "northern pier", "collections": ["c"], "top_k": 5});
    let found = send(client().post(format!("{base}/v1/search")).json(&query)).await;
    assert_eq!((found.status, found.body["results"].as_array().map(Vec::len)), (200, Some(5)), "{found:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_under_way_at_a_kill_lands_whole_or_not_at_all() {
    run(6, 1).await;
}

/// Runs `CITED_KILLS` kills, 200 by default, with the seed in `CITED_KILL_SEED`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes ten minutes; scripts/kill-run runs it"]
async fn a_long_run_of_kills() {
    let number = |name: &str| std::env::var_os(name).and_then(|text| text.to_str()?.parse::<u64>().ok());
    let kills = usize::try_from(number("CITED_KILLS").unwrap_or(200)).expect("few");
    run(kills, number("CITED_KILL_SEED").unwrap_or(2_026)).await;
}
