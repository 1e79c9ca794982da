//! The memory of the service while large documents are sent at once.
//!
//! Each request brings a few documents of nearly the largest size, all are sent at the same moment, and the workers read,
//! split, embed and store the first ones while the others are received.

use std::{
    net::SocketAddr,
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use bytes::Bytes;
use hyper::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    SEED,
    arguments::{number, release_build},
    client::Client,
    corpus::Writing,
    ingest::{COLLECTION, wait_for},
    model_server::ModelServer,
    progress,
    report::machine,
    service::{Service, Setup, open_to_postgres},
};

/// Arguments of the command.
pub const USAGE: &str = "\
Sends large documents at once and watches the memory of the service; ends with an error if it takes too much. Usage:

  cargo run --release -p cited-bench -- uploads [OPTIONS]

  --requests N        requests that are sent at once (4)
  --documents N       documents of each (2)
  --megabytes N       size of a document, in 10^6 bytes (31)
  --taken             ends two minutes after all were taken, whether they are stored or not
  --headings          the documents are Markdown with a heading for every ten paragraphs
  --most-mb N         most resident memory that is accepted, in 2^20 bytes (400)
  --binary PATH       the service (target/release/cited)
  --folder DIR        where the database is made and removed again (the folder for temporary files)";

const POLL: Duration = Duration::from_millis(500);
/// Pause before a request is sent again that was not taken.
const REST: Duration = Duration::from_secs(1);
/// Time for which the memory is watched when all were taken and are not waited for.
const WATCHED: Duration = Duration::from_mins(2);
/// Time after which a service that rests has given back what it took.
const GIVEN_BACK: Duration = Duration::from_mins(1);
/// Fewest bytes of a paragraph.
const PARAGRAPH_BYTES: usize = 400;

/// The documents to send.
#[derive(Debug)]
pub struct UploadsArguments {
    requests: usize,
    documents: usize,
    document_bytes: usize,
    ends_when_taken: bool,
    has_headings: bool,
    most_mb: f64,
    binary: PathBuf,
    folder: PathBuf,
}

impl UploadsArguments {
    /// Reads what follows `uploads`.
    pub fn read(mut given: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut arguments = Self {
            requests: 4,
            documents: 2,
            document_bytes: 31_000_000,
            ends_when_taken: false,
            has_headings: false,
            most_mb: 400.0,
            binary: release_build(),
            folder: std::env::temp_dir(),
        };
        while let Some(name) = given.next() {
            let mut value = || given.next().with_context(|| format!("{name} needs a value\n\n{USAGE}"));
            match name.as_str() {
                "--requests" => arguments.requests = number::<usize>(&value()?)?.max(1),
                "--documents" => arguments.documents = number::<usize>(&value()?)?.max(1),
                "--megabytes" => arguments.document_bytes = number::<usize>(&value()?)? * 1_000_000,
                "--taken" => arguments.ends_when_taken = true,
                "--headings" => arguments.has_headings = true,
                "--most-mb" => arguments.most_mb = number(&value()?)?,
                "--binary" => arguments.binary = value()?.into(),
                "--folder" => arguments.folder = value()?.into(),
                _ => bail!("{USAGE}"),
            }
        }
        Ok(arguments)
    }
}

/// Sends the documents, prints the memory, and fails if there was too much of it.
pub async fn run(arguments: &UploadsArguments) -> anyhow::Result<()> {
    let folder = tempfile::Builder::new().prefix("cited-uploads-").tempdir_in(&arguments.folder)?;
    open_to_postgres(folder.path())?;
    let models = ModelServer::start(0).await?;
    let setup = Setup {
        binary: arguments.binary.clone(),
        data_dir: folder.path().join("uploads"),
        models: Some(models.base_url()),
    };
    let texts = texts(arguments);
    let service = Service::start(&setup).await?;
    let (at_start, _) = service.memory_mb()?;
    let started = Instant::now();
    progress("uploads: sending");
    let mut sending = JoinSet::new();
    for request in 0..arguments.requests {
        sending.spawn(upload(service.address, body(request, &texts)));
    }
    let jobs: Vec<String> = sending.join_all().await.into_iter().collect::<anyhow::Result<_>>()?;
    let taken = started.elapsed();
    let (_, most_taking) = service.memory_mb()?;
    let chunks = if arguments.ends_when_taken {
        progress("uploads: watching what is stored");
        tokio::time::sleep(WATCHED).await;
        None
    } else {
        progress("uploads: waiting for the jobs");
        Some(chunks_of(&service, &jobs).await?)
    };
    let ended = started.elapsed();
    let (of_service, of_database) = service.cpu_seconds()?;
    let (now, most) = service.memory_mb()?;
    if chunks.is_some() {
        tokio::time::sleep(GIVEN_BACK).await;
    }
    let (later, _) = service.memory_mb()?;
    service.stop().await?;

    let UploadsArguments { requests, documents, document_bytes, has_headings, most_mb, .. } = arguments;
    println!("{}\n", machine());
    println!(
        "| {requests} requests of {documents} documents of {document_bytes} bytes{} | value |\n|---|---|",
        if *has_headings { ", Markdown with headings" } else { "" }
    );
    println!("| all taken after | {:.0} s |", taken.as_secs_f64());
    let end = if chunks.is_some() { "all stored" } else { "ended" };
    println!("| {end} after | {:.0} s |", ended.as_secs_f64());
    if let Some(chunks) = chunks {
        println!("| chunks | {chunks} |");
    }
    println!("| CPU seconds of service and database | {of_service:.1} + {of_database:.1} |");
    println!("| resident memory without Postgres: at the start, at the end | {at_start:.0} MB, {now:.0} MB |");
    if chunks.is_some() {
        println!("| a minute later | {later:.0} MB |");
    }
    println!("| at most until all were taken | {most_taking:.0} MB |");
    println!("| at most | {most:.0} MB (under {most_mb:.0} MB) |");
    if most >= *most_mb {
        bail!("the service took {most:.0} MB; {most_mb:.0} MB are allowed");
    }
    Ok(())
}

/// Waits until all jobs have ended; returns the number of their chunks.
async fn chunks_of(service: &Service, jobs: &[String]) -> anyhow::Result<u64> {
    let mut client = Client::connect(service.address).await?;
    let mut chunks = 0;
    for job in jobs {
        let report = wait_for(&mut client, job, POLL, |_| ()).await?;
        chunks += report["counts"]["chunks"].as_u64().unwrap_or(0);
    }
    Ok(chunks)
}

/// Sends a request until it is taken; returns its job.
async fn upload(address: SocketAddr, body: Bytes) -> anyhow::Result<String> {
    loop {
        let sent = Client::connect(address).await?.send(Method::POST, "/v1/documents", Some(body.clone())).await;
        match sent {
            Ok((StatusCode::ACCEPTED, reply)) => {
                let job: Value = serde_json::from_slice(&reply)?;
                return Ok(job["id"].as_str().context("a job has an identity")?.to_owned());
            }
            Ok((StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS, _)) | Err(_) => {
                tokio::time::sleep(REST).await;
            }
            Ok((status, reply)) => bail!("an upload was answered {status}: {}", String::from_utf8_lossy(&reply)),
        }
    }
}

/// The texts of the documents of a request.
fn texts(arguments: &UploadsArguments) -> Vec<String> {
    let paragraphs = arguments.documents * (arguments.document_bytes / PARAGRAPH_BYTES + 1);
    let mut written = Writing::new(paragraphs, SEED);
    (0..arguments.documents).map(|_| text(arguments, &mut written)).collect()
}

fn text(arguments: &UploadsArguments, paragraphs: &mut Writing) -> String {
    let mut text = String::with_capacity(arguments.document_bytes);
    for (number, written) in paragraphs.enumerate() {
        let paragraph = written.paragraph.text;
        if text.len() + paragraph.len() + 40 > arguments.document_bytes {
            break;
        }
        if arguments.has_headings && number % 10 == 0 {
            text.extend(["## Part ", &number.to_string(), "\n\n"]);
        }
        text.push_str(&paragraph);
        text.push_str("\n\n");
    }
    text
}

/// A request with documents that no other has.
fn body(request: usize, texts: &[String]) -> Bytes {
    let documents: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(number, text)| {
            // The same words in other pieces: nothing is embedded already.
            let text = format!("Document {number} of request {request}. {}", text.get(request * 97..).unwrap_or(text));
            json!({"source": format!("upload-{request}-{number}.md"), "text": text})
        })
        .collect();
    json!({"collection": COLLECTION, "documents": documents}).to_string().into()
}
