//! Service, worker and Postgres killed in turn, over and over, while clients upload, edit and delete. What was accepted
//! is there in the end, once, and nothing else is.
//!
//! A short run is part of the suite; `scripts/kill-run` makes a long one, whose table stands in docs/reliability.md.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use embedded_postgres::{Durability, PrivatePostgres};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use reqwest::{Method, RequestBuilder};
use serde_json::json;
use sqlx::{ConnectOptions, Connection, postgres::PgConnectOptions};
use tokio::{
    sync::oneshot,
    task::JoinHandle,
    time::{Instant, sleep},
};

use crate::{
    database,
    harness::client,
    operations::private_postgres::{folder, settings as postgres_settings},
    process::Process,
    scripted::{DIMENSION, ModelServer},
    wait,
};

/// Clients at once, each with sources of its own.
const CLIENTS: usize = 3;

/// These send documents one by one, without a pause: their requests are accepted, claimed and stored together, or stored
/// before they are accepted where they wait.
const CLIENTS_OF_SINGLES: usize = 5;

/// Longest wait for a request to be answered at last, and for one more document to be settled while jobs are open: a
/// long queue on a busy machine is not a stuck one.
const PATIENCE: Duration = Duration::from_mins(3);

/// Jobs that have not ended.
const STUCK: &str = "SELECT count(*) FROM job WHERE finished_at IS NULL";

/// Documents that are not settled.
const OPEN: &str = "SELECT count(*) FROM job_item WHERE state IN ('queued', 'running')";

/// Chunks of one document that cover the same words.
const DOUBLED: &str = "SELECT count(*) FROM (SELECT FROM chunk GROUP BY document_id, index_id, start_char, end_char HAVING count(*) > 1) doubled";

/// Random numbers that a seed repeats (`SplitMix64`).
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).expect("below a usize")
    }
}

/// Somebody who uploads, edits and deletes, and remembers what is to be there.
struct User {
    name: usize,
    base: String,
    random: Random,
    /// Most documents of an upload; an edit has half as many.
    at_once: usize,
    /// Milliseconds that it waits at most between two requests.
    pause: usize,
    /// The text of each source that was ever sent; none if it was deleted last.
    expected: BTreeMap<String, Option<String>>,
    requests: usize,
    uploaded: usize,
    edited: usize,
    deleted: usize,
}

impl User {
    async fn work(mut self, stop: Arc<AtomicBool>) -> Self {
        while !stop.load(Ordering::SeqCst) {
            self.requests += 1;
            match self.random.below(10) {
                0..=2 => {
                    let first = self.expected.len();
                    let sources =
                        (first..first + self.at_once).map(|number| format!("u{}-{number}.txt", self.name)).collect();
                    self.uploaded += self.send(sources).await;
                }
                3..=7 => {
                    let mut sources: Vec<String> = (0..self.at_once.div_ceil(2)).filter_map(|_| self.any()).collect();
                    sources.sort();
                    sources.dedup();
                    self.edited += self.send(sources).await;
                }
                _ => {
                    let Some(source) = self.any() else { continue };
                    let path = format!("/v1/documents?collection=c&source_prefix={source}");
                    self.insist(|user| client().request(Method::DELETE, format!("{}{path}", user.base))).await;
                    self.expected.insert(source, None);
                    self.deleted += 1;
                }
            }
            let pause = self.random.below(self.pause);
            sleep(Duration::from_millis(pause as u64)).await;
        }
        self
    }

    fn any(&mut self) -> Option<String> {
        let place = self.random.below(self.expected.len().max(1));
        self.expected.keys().nth(place).cloned()
    }

    /// Sends new texts for these sources, until they are accepted.
    async fn send(&mut self, sources: Vec<String>) -> usize {
        if sources.is_empty() {
            return 0;
        }
        let mut documents = Vec::new();
        for source in &sources {
            let topic = self.random.below(1_000);
            // Most have one chunk, some a dozen.
            let sentences = if topic.is_multiple_of(4) { 300 } else { 1 + topic % 5 };
            let sentence =
                |number| format!("{source} in edition {} tells of topic {}. ", self.requests, topic + number);
            let text: String = (0..sentences).map(sentence).collect();
            documents.push(json!({"source": source, "text": text, "media_type": "text/plain"}));
            self.expected.insert(source.clone(), Some(text));
        }
        let indexing = if self.random.below(3) == 0 { "progressive" } else { "complete" };
        let body = json!({"collection": "c", "documents": documents, "indexing": indexing});
        if self.at_once == 1 && self.random.below(2) == 0 {
            // Sent again it finds itself unchanged.
            self.insist(|user| client().post(format!("{}/v1/documents?wait=true", user.base)).json(&body)).await;
            return sources.len();
        }
        // Sent again under the same name it is done once.
        let key = format!("{}-{}", self.name, self.requests);
        self.insist(|user| {
            client().post(format!("{}/v1/documents", user.base)).header("idempotency-key", &key).json(&body)
        })
        .await;
        sources.len()
    }

    /// Repeats a request until it succeeds.
    async fn insist(&self, request: impl Fn(&Self) -> RequestBuilder) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let last = match request(self).timeout(Duration::from_secs(20)).send().await {
                Ok(response) if response.status().is_success() => return,
                Ok(response) => format!("{} {}", response.status(), response.text().await.unwrap_or_default()),
                Err(error) => error.to_string(),
            };
            assert!(Instant::now() < deadline, "no success: {last}");
            sleep(Duration::from_millis(50)).await;
        }
    }
}

/// A Postgres that is started again whatever happens to it, until the value is asked to end.
struct Database {
    folder: PathBuf,
    options: PgConnectOptions,
    stop: oneshot::Sender<()>,
    keeper: JoinHandle<()>,
}

impl Database {
    async fn start(folder: &Path) -> Self {
        let mut settings = postgres_settings(folder);
        settings.durability = Durability::Full;
        let mut postgres = PrivatePostgres::start(&settings).await.expect("Postgres starts");
        let options = postgres.connect_options();
        let (stop, mut stopped) = oneshot::channel();
        let keeper = tokio::spawn(async move {
            loop {
                tokio::select! {
                    // It takes five deaths in a minute for a crash loop, which is what this is.
                    _ = postgres.failed() => {}
                    _ = &mut stopped => break,
                }
                postgres = PrivatePostgres::start(&settings).await.expect("Postgres starts again");
            }
            postgres.stop().await.expect("a clean stop");
        });
        Self { folder: folder.to_owned(), options, stop, keeper }
    }

    /// Kills the postmaster, if there is one at this moment.
    fn kill(&self) -> bool {
        let file = fs::read_to_string(self.folder.join("data/cluster/postmaster.pid")).unwrap_or_default();
        let pid = file.lines().next().and_then(|line| line.trim().parse().ok());
        pid.is_some_and(|pid| kill(Pid::from_raw(pid), Signal::SIGKILL).is_ok())
    }

    async fn wait_until_it_answers(&self) {
        wait::until("Postgres comes back", async || self.options.connect().await.is_ok()).await;
    }

    async fn stop(self) {
        self.stop.send(()).expect("it is kept");
        self.keeper.await.expect("no panic");
    }
}

/// The results of a run, as a table in Markdown.
struct Table(String);

impl Table {
    fn row(&mut self, what: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.0, "| {what} | {value} |");
    }
}

async fn run(kills: usize, seed: u64) {
    let mut random = Random(seed);
    let server = ModelServer::start().await;
    server.delay_embeddings(Duration::from_millis(20));
    let folder = folder();
    let postgres = Database::start(folder.path()).await;
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
    let settings = [
        ("CITED_EMBEDDING_BASE_URL", server.base_url()),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding".to_owned()),
        ("CITED_EMBEDDING_DIMENSION", DIMENSION.to_string()),
        ("CITED_DATABASE_CONNECTIONS", "6".to_owned()),
        ("CITED_LISTEN", format!("127.0.0.1:{port}")),
        ("DATABASE_URL", database::url(&postgres.options)),
    ];
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut service = Process::serve(&settings).await;
    let mut worker = Process::worker(&settings).await;
    let stop = Arc::new(AtomicBool::new(false));
    let users: Vec<JoinHandle<User>> = (0..CLIENTS + CLIENTS_OF_SINGLES)
        .map(|name| {
            let random = Random(seed ^ (name as u64 + 1));
            let (at_once, pause) = if name < CLIENTS { (8, 40) } else { (1, 4) };
            let user = User {
                name,
                base: service.base.clone(),
                random,
                at_once,
                pause,
                expected: BTreeMap::new(),
                requests: 0,
                uploaded: 0,
                edited: 0,
                deleted: 0,
            };
            tokio::spawn(user.work(Arc::clone(&stop)))
        })
        .collect();

    let started = Instant::now();
    let mut killed = [0; 3];
    while killed.iter().sum::<usize>() < kills {
        sleep(Duration::from_millis(50 + random.below(800) as u64)).await;
        let victim = killed.iter().sum::<usize>() % 3;
        match victim {
            0 => {
                service.kill().await;
                postgres.wait_until_it_answers().await;
                service = Process::serve(&settings).await;
            }
            1 => {
                worker.kill().await;
                worker = Process::worker(&settings).await;
            }
            _ if postgres.kill() => {}
            _ => continue,
        }
        killed[victim] += 1;
        assert!(users.iter().all(|user| !user.is_finished()), "a client gave up; see above");
    }
    let seconds = started.elapsed().as_secs();
    stop.store(true, Ordering::SeqCst);
    let mut done = Vec::new();
    for user in users {
        done.push(user.await.expect("every request succeeded in the end"));
    }
    postgres.wait_until_it_answers().await;
    let options = &postgres.options;
    let waiting = database::number(options, STUCK).await;
    let drained = wait_while_it_moves(options).await;

    let kills = format!("{}, {}, {}", killed[0], killed[1], killed[2]);
    let facts: [(&str, String); 5] = [
        ("seed", seed.to_string()),
        ("kills (SIGKILL) of the service, a worker, Postgres", kills),
        ("seconds", seconds.to_string()),
        ("jobs open after the last kill", waiting.to_string()),
        ("seconds until the last of them ended", drained.as_secs().to_string()),
    ];
    let broken = tell(options, &facts, &done).await;
    assert!(broken.is_empty(), "seed {seed}: {broken:?}");
    for process in [worker, service] {
        let (_, ended_well) = process.stop().await;
        assert!(ended_well);
    }
    postgres.stop().await;
}

/// Waits until no job is open, or nothing is settled any more; how long that took.
async fn wait_while_it_moves(options: &PgConnectOptions) -> Duration {
    let started = Instant::now();
    let (mut left, mut moved) = (i64::MAX, Instant::now());
    while database::number(options, STUCK).await > 0 && moved.elapsed() < PATIENCE {
        let open = database::number(options, OPEN).await;
        if open < left {
            (left, moved) = (open, Instant::now());
        }
        sleep(Duration::from_millis(200)).await;
    }
    started.elapsed()
}

/// Prints what a run showed; what of it must not be.
async fn tell(options: &PgConnectOptions, facts: &[(&str, String)], done: &[User]) -> Vec<String> {
    let mut table = Table("| | |\n|---|---:|\n".to_owned());
    for (what, value) in facts {
        table.row(what, value);
    }
    let sum = |count: fn(&User) -> usize| done.iter().map(count).sum::<usize>();
    table.row("requests accepted", sum(|user| user.requests));
    table.row("documents uploaded", sum(|user| user.uploaded));
    table.row("documents edited", sum(|user| user.edited));
    table.row("documents deleted", sum(|user| user.deleted));
    table.row("jobs", database::number(options, "SELECT count(*) FROM job").await);
    table.row(
        "items taken up more than once",
        database::number(options, "SELECT count(*) FROM job_item WHERE attempts > 1").await,
    );
    table.row("documents in the end", database::number(options, "SELECT count(*) FROM document").await);
    table.row("their chunks", database::number(options, "SELECT count(*) FROM chunk").await);
    table.row("**must be 0**", "");
    let mut broken = Vec::new();
    let mut check = |table: &mut Table, law: &str, count: i64| {
        table.row(law, count);
        if count != 0 {
            broken.push(format!("{law}: {count}"));
        }
    };
    check(&mut table, "jobs that do not end", database::number(options, STUCK).await);
    let failed = "SELECT count(*) FROM job_item WHERE state IN ('failed', 'queued', 'running')";
    check(&mut table, "documents that failed or were never settled", database::number(options, failed).await);
    let (lost, foreign) = differences(options, done).await;
    check(&mut table, "documents lost, or not in their last edition", lost);
    check(&mut table, "documents that should not be there", foreign);
    check(&mut table, "chunks stored twice", database::number(options, DOUBLED).await);
    for (law, sql) in database::LAWS {
        check(&mut table, law, database::number(options, sql).await);
    }
    println!("{}", table.0);
    broken
}

/// Documents that are not as they were sent last, and documents that nobody expects.
async fn differences(options: &PgConnectOptions, users: &[User]) -> (i64, i64) {
    let mut connection = options.connect().await.expect("the database answers");
    let rows: Vec<(String, String)> =
        sqlx::query_as("SELECT source, text FROM document").fetch_all(&mut connection).await.expect("documents");
    connection.close().await.expect("close");
    let stored: BTreeMap<&str, &str> = rows.iter().map(|(source, text)| (source.as_str(), text.trim_end())).collect();
    let expected: BTreeMap<&str, &str> = users
        .iter()
        .flat_map(|user| &user.expected)
        .filter_map(|(source, text)| Some((source.as_str(), text.as_deref()?.trim_end())))
        .collect();
    let lost = expected.iter().filter(|(source, text)| stored.get(*source) != Some(text)).count();
    let foreign = stored.keys().filter(|source| !expected.contains_key(*source)).count();
    (i64::try_from(lost).expect("few"), i64::try_from(foreign).expect("few"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_killed_what_was_accepted_is_there() {
    run(9, 1).await;
}

/// As many kills as `CITED_KILLS` says, 210 by default, with the seed in `CITED_KILL_SEED`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a quarter of an hour; scripts/kill-run runs it"]
async fn a_long_run_of_kills() {
    let number = |name: &str| std::env::var_os(name).and_then(|text| text.to_str()?.parse::<u64>().ok());
    let kills = usize::try_from(number("CITED_KILLS").unwrap_or(210)).expect("few");
    run(kills, number("CITED_KILL_SEED").unwrap_or(2_026)).await;
}
