//! Storms: clients that want a service to go down, with what must be served meanwhile, and how soon; and what they learn from
//! how long it takes to be told of nothing.

mod connections;
mod probing;
mod requests;
mod webhooks;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};
use hyper::Method;
use serde_json::{Value, json};

use crate::{
    arguments::{number, release_build},
    client::Client,
    corpus::{Corpus, Paragraph},
    ingest::send_all,
    model_server::ModelServer,
    progress,
    report::machine,
    service::{KEYS, OPERATOR, Service, Setup, open_to_postgres},
    single::UPLOAD,
};

/// Usage of the command.
pub const USAGE: &str = "\
Runs each storm against a service, with what must be served meanwhile. Ends with an error if that takes longer than it may.
Usage:

  cargo run --release -p cited-bench -- storms [OPTIONS]

  --binary PATH      the service (target/release/cited)
  --sockets N        silent connections (10000); both processes need as many file descriptors and some more
  --only NAME        one of them: silent, leaving, trickling, hanging, webhooks, guessing, asking,
                     probing
  --probes TEXT      of the probes only those whose name has this: an operation, or \"hidden by a list\"";

const SEED: u64 = 48;
/// Beside those of keys.
const SETTINGS: [(&str, &str); 4] = [
    ("CITED_FETCH_ALLOW", "127.0.0.1/32:*"),
    ("CITED_WEBHOOK_ALLOW", "127.0.0.1/32:*"),
    ("CITED_WEBHOOK_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
    // No server that hangs is given up during the storm.
    ("CITED_OUTBOUND_TIMEOUT_S", "120"),
];
const DOCUMENTS: usize = 2_000;
/// Paragraphs of a document that is too large to be stored before it is accepted.
const QUEUED_PARAGRAPHS: usize = 50;
const POLL: Duration = Duration::from_millis(20);

/// The storms to run.
#[derive(Clone, Debug)]
pub struct StormsArguments {
    binary: PathBuf,
    sockets: usize,
    only: Option<String>,
    probes: String,
}

impl StormsArguments {
    /// Reads what follows `storms`.
    pub fn read(mut given: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut arguments = Self { binary: release_build(), sockets: 10_000, only: None, probes: String::new() };
        while let Some(name) = given.next() {
            match (name.as_str(), given.next()) {
                ("--binary", Some(value)) => arguments.binary = value.into(),
                ("--sockets", Some(value)) => arguments.sockets = number(&value)?,
                ("--only", Some(value)) => arguments.only = Some(value),
                ("--probes", Some(value)) => arguments.probes = value,
                _ => bail!("{USAGE}"),
            }
        }
        Ok(arguments)
    }
}

/// How a storm went.
struct Weathered {
    storm: String,
    /// The requests that had to be served meanwhile, or the state that had to hold afterwards.
    meanwhile: &'static str,
    /// How long that took at the worst, and how long it may take.
    worst: Duration,
    most: Duration,
    /// Other observations.
    seen: String,
}

/// The service, a key of each of two tenants, and what they have stored.
struct Target {
    address: SocketAddr,
    data_dir: PathBuf,
    attacker: String,
    other: String,
    /// Their ids.
    tenants: [String; 2],
    corpus: Corpus,
}

/// Runs the storms and prints the table.
pub async fn run(arguments: &StormsArguments) -> anyhow::Result<()> {
    let folder = tempfile::Builder::new().prefix("cited-storms-").tempdir()?;
    open_to_postgres(folder.path())?;
    let models = ModelServer::start(0).await?;
    let setup = Setup {
        binary: arguments.binary.clone(),
        data_dir: folder.path().join("storms"),
        models: Some(models.base_url()),
    };
    let service = Service::start_with_settings(&setup, &[&KEYS[..], &SETTINGS].concat()).await?;
    let target = Target::fill(service.address, &setup.data_dir).await?;
    let is_wanted = |name: &str| arguments.only.as_deref().is_none_or(|only| only == name);
    let mut weathered = Vec::new();
    for name in ["silent", "leaving", "trickling", "hanging", "webhooks", "guessing", "asking"] {
        if !is_wanted(name) {
            continue;
        }
        progress(&format!("storms: {name}"));
        weathered.push(match name {
            "silent" => connections::silent(&target, arguments.sockets).await?,
            "leaving" => connections::leaving(&target).await?,
            "trickling" => connections::trickling(&target).await?,
            "hanging" => requests::hanging(&target).await?,
            "webhooks" => webhooks::deaf(&target).await?,
            "guessing" => requests::guessing(&target).await?,
            _ => requests::asking(&target).await?,
        });
    }
    let probed = if is_wanted("probing") { Some(probing::measure(&target, &arguments.probes).await?) } else { None };
    let (now, most) = service.memory_mb()?;
    service.stop().await?;
    println!("{}\n", machine());
    if !weathered.is_empty() {
        println!("{}", table(&weathered));
    }
    if let Some(probed) = &probed {
        println!("{}", probing::table(probed));
    }
    println!("Resident memory without Postgres: {now:.0} MB, {most:.0} MB at most.");
    ensure!(!weathered.is_empty() || probed.is_some(), "{USAGE}");
    let late: Vec<&str> = weathered.iter().filter(|one| one.worst > one.most).map(|one| one.storm.as_str()).collect();
    ensure!(late.is_empty(), "it took longer than it may: {}", late.join(", "));
    let told = probed.as_ref().map(probing::told).unwrap_or_default();
    ensure!(told.is_empty(), "what is hidden answers at another time than what is not there: {}", told.join(", "));
    Ok(())
}

impl Target {
    /// Makes two tenants with a key each, and stores the same documents for both.
    async fn fill(address: SocketAddr, data_dir: &Path) -> anyhow::Result<Self> {
        let corpus = Corpus::generate(DOCUMENTS + 1_000, SEED);
        let (mut keys, mut tenants) = (Vec::new(), Vec::new());
        for name in ["attacker", "other"] {
            // On a full machine the service closes this connection while documents are stored.
            let mut operator = Client::connect(address).await?.with_key(OPERATOR);
            let tenant = operator.json(Method::POST, "/v1/tenants", Some(&json!({"name": name}))).await?;
            let tenant = tenant["id"].as_str().context("a tenant has an id")?;
            let path = format!("/v1/tenants/{tenant}/keys");
            let wanted = json!({"name": name, "scopes": ["ask", "ingest", "read"]});
            let key = operator.json(Method::POST, &path, Some(&wanted)).await?;
            let secret = key["secret"].as_str().context("a key has a secret")?;
            let mut client = Client::connect(address).await?.with_key(secret);
            for documents in corpus.paragraphs.get(..DOCUMENTS).unwrap_or_default().chunks(1_000) {
                send_all(&mut client, "c", documents, POLL).await?;
            }
            keys.push(secret.to_owned());
            tenants.push(tenant.to_owned());
        }
        let tenants = <[String; 2]>::try_from(tenants).map_err(|_| anyhow::anyhow!("there are two"))?;
        let [attacker, other] = <[String; 2]>::try_from(keys).map_err(|_| anyhow::anyhow!("there are two"))?;
        Ok(Self { address, data_dir: data_dir.to_owned(), attacker, other, tenants, corpus })
    }

    /// The longest of several probes of life, each over a connection of its own.
    async fn worst_probe(&self, count: usize, pause: Duration) -> anyhow::Result<Duration> {
        let mut worst = Duration::ZERO;
        for _ in 0..count {
            let started = Instant::now();
            let (status, _) = Client::connect(self.address).await?.send(Method::GET, "/livez", None).await?;
            ensure!(status.is_success(), "/livez answered {status}");
            worst = worst.max(started.elapsed());
            tokio::time::sleep(pause).await;
        }
        Ok(worst)
    }

    /// How long the other tenant waits for a document of its own to be stored.
    async fn upload(&self, number: usize) -> anyhow::Result<Duration> {
        let documents: Vec<&Paragraph> = self.corpus.paragraphs.get(DOCUMENTS + number).into_iter().collect();
        self.upload_of(json!(documents)).await
    }

    /// The same for a document that goes through the queue.
    async fn upload_by_queue(&self, number: usize) -> anyhow::Result<Duration> {
        let texts =
            self.corpus.paragraphs.iter().cycle().skip(DOCUMENTS + number).map(|paragraph| paragraph.text.as_str());
        let text = texts.take(QUEUED_PARAGRAPHS).collect::<Vec<_>>().join("\n\n");
        self.upload_of(json!([{"source": format!("queued-{number}"), "text": text}])).await
    }

    async fn upload_of(&self, documents: Value) -> anyhow::Result<Duration> {
        let started = Instant::now();
        let mut client = Client::connect(self.address).await?.with_key(&self.other);
        let body = json!({"collection": "c", "documents": documents});
        let job = client.json(Method::POST, UPLOAD, Some(&body)).await?;
        ensure!(job["state"] == "succeeded", "an upload did not succeed: {job}");
        Ok(started.elapsed())
    }

    /// How long the other tenant waits for an answer.
    async fn ask(&self, number: usize) -> anyhow::Result<Duration> {
        let question: &str = self.corpus.questions.get(number).map(String::as_str).unwrap_or_default();
        let started = Instant::now();
        let mut client = Client::connect(self.address).await?.with_key(&self.other);
        client.json(Method::POST, "/v1/ask", Some(&ask(question))).await?;
        Ok(started.elapsed())
    }
}

fn ask(question: &str) -> Value {
    ask_in("c", question)
}

fn ask_in(collection: &str, question: &str) -> Value {
    json!({"question": question, "collections": [collection], "cache": {"ttl_s": 0}})
}

fn table(weathered: &[Weathered]) -> String {
    let mut table = "| storm | meanwhile | at the worst | allowed | seen |\n|---|---|---|---|---|\n".to_owned();
    for Weathered { storm, meanwhile, worst, most, seen } in weathered {
        let verdict = if worst > most { "**missed**" } else { "met" };
        let [worst, most] = [worst, most].map(Duration::as_secs_f64);
        table =
            [table, format!("| {storm} | {meanwhile} | {worst:.2} s | {most:.0} s: {verdict} | {seen} |\n")].concat();
    }
    table
}
