//! One stream of paragraphs into an empty collection.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use bytes::Bytes;

use crate::{
    SEED, client,
    client::Client,
    corpus::{Writing, Written},
    ingest::{COLLECTION, wait_for},
    service::Service,
};

/// How often the job is looked at: what times are exact to.
const POLL: Duration = Duration::from_millis(50);

/// When documents can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexing {
    Complete,
    Progressive,
}

impl Indexing {
    /// As the API calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Progressive => "progressive",
        }
    }
}

/// How it went.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub chunks: usize,
    /// From the first byte sent to the last document that is found by its words.
    pub searchable: Duration,
    /// From the first byte sent to the end of the job.
    pub complete: Duration,
    pub service_cpu_s: f64,
    pub database_cpu_s: f64,
    /// Resident memory of the service without Postgres: at the end, and the most so far.
    pub memory_mb: (f64, f64),
}

/// Sends all paragraphs in one request and waits for the end of its job.
pub async fn run(service: &Service, paragraphs: usize, indexing: Indexing) -> anyhow::Result<Loaded> {
    let lines = Writing::new(paragraphs, SEED).map(|written| line(&written));
    let path = format!("/v1/documents/bulk?collection={COLLECTION}&indexing={}", indexing.name());
    let before = service.cpu_seconds()?;
    let started = Instant::now();
    let job = client::stream(service.address, &path, lines).await?;
    let job = job["id"].as_str().context("a job has an identity")?;
    let mut searchable = None;
    let mut client = Client::connect(service.address).await?;
    let report = wait_for(&mut client, job, POLL, |report| {
        if searchable.is_none() && report["counts"]["searchable"] == paragraphs {
            searchable = Some(started.elapsed());
        }
    })
    .await?;
    let complete = started.elapsed();
    let after = service.cpu_seconds()?;
    let chunks = report["counts"]["chunks"].as_u64().context("a report counts chunks")?;
    Ok(Loaded {
        chunks: usize::try_from(chunks)?,
        searchable: searchable.context("a job that has succeeded has documents that are found")?,
        complete,
        service_cpu_s: after.0 - before.0,
        database_cpu_s: after.1 - before.1,
        memory_mb: service.memory_mb()?,
    })
}

fn line(written: &Written) -> Bytes {
    let mut line = serde_json::to_vec(&written.paragraph).expect("strings are always JSON");
    line.push(b'\n');
    line.into()
}
