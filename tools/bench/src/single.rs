//! Single documents: eight clients that send one after the other and wait for each, beside raw `INSERT`s of the same rows.

use std::{path::PathBuf, time::Duration};

use anyhow::bail;
use serde_json::{Value, json};

use crate::{
    arguments::{number, release_build},
    asks::percentile_ms,
    corpus::Corpus,
    ingest::COLLECTION,
    model_server::ModelServer,
    posts::{Door, Posted, per_second},
    progress,
    raw_insert::{self, Inserted},
    report::machine,
    service::{Service, Setup, open_to_postgres},
};

/// Path of an upload that is answered when its document is stored.
pub const UPLOAD: &str = "/v1/documents?wait=true";

const SEED: u64 = 600;
/// Characters of a document, about.
const CHARACTERS: usize = 600;
/// Clients, and connections of the raw inserts.
const CLIENTS: usize = 8;
/// Documents that are sent by one client alone, for its latency.
const ALONE: usize = 200;
/// Documents that are sent before the clock runs.
const WARM_UP: usize = 100;

/// Arguments of the command.
pub const USAGE: &str = "\
Measures single documents, beside raw INSERTs of the same rows. Usage:

  cargo run --release -p cited-bench -- single [OPTIONS]

  --binary PATH      the service (target/release/cited)
  --documents N      documents from eight clients (2000)";

/// The measurement to run.
#[derive(Debug)]
pub struct SingleArguments {
    pub binary: PathBuf,
    pub documents: usize,
}

impl SingleArguments {
    /// Reads the command line.
    pub fn read(mut given: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut arguments = Self { binary: release_build(), documents: 2_000 };
        while let Some(name) = given.next() {
            match (name.as_str(), given.next()) {
                ("--binary", Some(value)) => arguments.binary = value.into(),
                ("--documents", Some(value)) => arguments.documents = number(&value)?,
                _ => bail!("{USAGE}"),
            }
        }
        Ok(arguments)
    }
}

/// How documents were sent.
#[derive(Clone, Debug)]
pub struct Sent {
    pub posted: Posted,
    pub service_cpu_s: f64,
    pub database_cpu_s: f64,
}

/// Both ways, in one run.
pub struct Singles {
    pub together: Sent,
    pub alone: Sent,
    pub inserted: Inserted,
}

/// Measures and prints the table.
pub async fn run(arguments: &SingleArguments) -> anyhow::Result<()> {
    let folder = tempfile::Builder::new().prefix("cited-single-").tempdir()?;
    open_to_postgres(folder.path())?;
    let models = ModelServer::start(0).await?;
    let data_dir = folder.path().join("single");
    let setup = Setup { binary: arguments.binary.clone(), data_dir, models: Some(models.base_url()) };
    let singles = measure(&setup, arguments.documents).await?;
    println!("{}\n\n{}", machine(), singles.table());
    Ok(())
}

/// Measures into an empty database.
pub async fn measure(setup: &Setup, documents: usize) -> anyhow::Result<Singles> {
    let mut warm_up = bodies(WARM_UP + documents + ALONE);
    let mut together = warm_up.split_off(WARM_UP);
    let alone = together.split_off(documents);
    let service = Service::start(setup).await?;
    progress("single documents");
    send(&service, warm_up, CLIENTS).await?;
    let together = send(&service, together, CLIENTS).await?;
    let alone = send(&service, alone, 1).await?;
    progress("raw INSERTs of the same rows");
    let inserted = raw_insert::run(setup, CLIENTS).await?;
    service.stop().await?;
    Ok(Singles { together, alone, inserted })
}

/// A request for each document.
fn bodies(count: usize) -> Vec<Value> {
    let mut paragraphs = Corpus::generate(count, SEED).paragraphs;
    for paragraph in &mut paragraphs {
        paragraph.text = paragraph.text.chars().take(CHARACTERS).collect();
    }
    paragraphs.iter().map(|document| json!({"collection": COLLECTION, "documents": [document]})).collect()
}

async fn send(service: &Service, bodies: Vec<Value>, clients: usize) -> anyhow::Result<Sent> {
    let door = Door { address: service.address, path: UPLOAD, key: None, has_tls: false };
    let before = service.cpu_seconds()?;
    let posted = door.post_each(bodies, clients, is_stored).await?;
    let after = service.cpu_seconds()?;
    Ok(Sent { posted, service_cpu_s: after.0 - before.0, database_cpu_s: after.1 - before.1 })
}

/// Fails unless the job of an upload has stored its document.
pub fn is_stored(job: &Value) -> anyhow::Result<()> {
    if job["state"] != "succeeded" {
        bail!("a document was not stored: {job}");
    }
    Ok(())
}

impl Singles {
    /// Documents per second over raw `INSERT`s.
    pub fn rate_ratio(&self) -> f64 {
        self.together.posted.per_second() / per_second(self.inserted.documents, self.inserted.elapsed)
    }

    /// CPU of service and database over that of the database for raw `INSERT`s.
    pub fn cpu_ratio(&self) -> f64 {
        let Sent { posted, service_cpu_s, database_cpu_s } = &self.together;
        let floor = per_thousand(self.inserted.database_cpu_s, self.inserted.documents);
        per_thousand(service_cpu_s + database_cpu_s, posted.latencies.len()) / floor
    }

    /// All figures as a Markdown table.
    pub fn table(&self) -> String {
        let Self { together, alone, inserted } = self;
        let line = |name: &str, rate: f64, latencies: &[Duration], cpu: String| {
            let [p50, p95] = [0.5, 0.95].map(|share| percentile_ms(latencies, share));
            format!("| {name} | {rate:.0}/s | {p50:.1}, {p95:.1} ms | {cpu} |\n")
        };
        let sent = |name: &str, sent: &Sent| {
            let Posted { latencies, .. } = &sent.posted;
            let [service, database] =
                [sent.service_cpu_s, sent.database_cpu_s].map(|cpu| per_thousand(cpu, latencies.len()));
            line(name, sent.posted.per_second(), latencies, format!("{service:.2} + {database:.2} s"))
        };
        let mut table =
            "| single documents | rate | median, p95 | CPU of service and database for 1,000 |\n|---|---|---|---|\n"
                .to_owned();
        table += &sent("`wait=true`, 8 clients", together);
        table += &sent("`wait=true`, 1 client", alone);
        let cpu = format!("{:.2} s", per_thousand(inserted.database_cpu_s, inserted.documents));
        let rate = per_second(inserted.documents, inserted.elapsed);
        table += &line("raw `INSERT`s, 8 connections", rate, &inserted.latencies, cpu);
        table + &format!("\nOver raw `INSERT`s: rate {:.2}, CPU {:.2}.", self.rate_ratio(), self.cpu_ratio())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate for a table")]
fn per_thousand(seconds: f64, documents: usize) -> f64 {
    seconds * 1_000.0 / documents as f64
}
