//! Whether the memory of the service stays where it is while a long stream goes in.
//!
//! The same few documents are sent again and again, in one request: each line is received, queued, claimed and compared
//! like any other, and only the first round is split, embedded and stored. So the length of the stream is what is
//! measured, and not the speed of the embedder. With a model server that embeds at once every document can be a new one.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use bytes::Bytes;
use serde_json::json;

use crate::{
    SEED,
    arguments::{number, release_build},
    client,
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
Streams NDJSON into the service and watches its memory; ends with an error if it takes too much. Usage:

  cargo run --release -p cited-bench -- bulk [OPTIONS]

  --megabytes N       length of the stream, in 10^6 bytes (1100)
  --documents N       different documents; after the first round they are unchanged repeats (16)
  --document-kb N     size of a document, in 10^3 bytes (256)
  --model-server      embed by a model server that answers at once, and not by the built-in model
  --most-mb N         most resident memory that is accepted, in 2^20 bytes (300)
  --binary PATH       the service (target/release/cited)
  --folder DIR        where the database is made and removed again (the folder for temporary files)";

const POLL: Duration = Duration::from_millis(500);

/// The documents to send.
#[derive(Debug)]
pub struct BulkArguments {
    bytes: usize,
    documents: usize,
    document_bytes: usize,
    has_model_server: bool,
    most_mb: f64,
    binary: PathBuf,
    folder: PathBuf,
}

impl BulkArguments {
    /// Reads what follows `bulk`.
    pub fn read(mut given: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut arguments = Self {
            bytes: 1_100_000_000,
            documents: 16,
            document_bytes: 256_000,
            has_model_server: false,
            most_mb: 300.0,
            binary: release_build(),
            folder: std::env::temp_dir(),
        };
        while let Some(name) = given.next() {
            let mut value = || given.next().with_context(|| format!("{name} needs a value\n\n{USAGE}"));
            match name.as_str() {
                "--megabytes" => arguments.bytes = number::<usize>(&value()?)? * 1_000_000,
                "--documents" => arguments.documents = number::<usize>(&value()?)?.max(1),
                "--document-kb" => arguments.document_bytes = number::<usize>(&value()?)? * 1_000,
                "--model-server" => arguments.has_model_server = true,
                "--most-mb" => arguments.most_mb = number(&value()?)?,
                "--binary" => arguments.binary = value()?.into(),
                "--folder" => arguments.folder = value()?.into(),
                _ => bail!("{USAGE}"),
            }
        }
        Ok(arguments)
    }
}

/// Sends the stream, prints the memory, and fails if there was too much of it.
pub async fn run(arguments: &BulkArguments) -> anyhow::Result<()> {
    let folder = tempfile::Builder::new().prefix("cited-bulk-").tempdir_in(&arguments.folder)?;
    open_to_postgres(folder.path())?;
    let models = if arguments.has_model_server { Some(ModelServer::start(0).await?) } else { None };
    let setup = Setup {
        binary: arguments.binary.clone(),
        data_dir: folder.path().join("bulk"),
        models: models.as_ref().map(ModelServer::base_url),
    };
    let stream = Stream::new(arguments);
    let service = Service::start(&setup).await?;
    let (at_start, _) = service.memory_mb()?;
    let started = Instant::now();
    progress("bulk: sending");
    let path = format!("/v1/documents/bulk?collection={COLLECTION}");
    let job = client::stream(service.address, &path, stream.lines()).await?;
    let sent = started.elapsed();
    progress("bulk: waiting for the job");
    let job = job["id"].as_str().context("a job has an identity")?;
    let report = wait_for(&mut Client::connect(service.address).await?, job, POLL, |_| ()).await?;
    let ended = started.elapsed();
    let (now, most) = service.memory_mb()?;
    service.stop().await?;

    let counts = &report["counts"];
    println!("{}\n", machine());
    let embedder = if arguments.has_model_server { "a model server that answers at once" } else { "built-in embedder" };
    println!("| one bulk request, {embedder} | value |\n|---|---|");
    println!("| length | {} bytes in {} lines |", stream.bytes, stream.count);
    println!("| stored documents, chunks of them | {}, {} |", counts["documents"], counts["chunks"]);
    println!("| unchanged repeats of them | {} |", counts["unchanged"]);
    println!(
        "| time until all was sent, until the job had ended | {:.0} s, {:.0} s |",
        sent.as_secs_f64(),
        ended.as_secs_f64()
    );
    println!(
        "| resident memory of the service without Postgres, at the start, at the end | {at_start:.0} MB, {now:.0} MB |"
    );
    println!("| the same at most | {most:.0} MB (under {:.0} MB) |", arguments.most_mb);
    if most >= arguments.most_mb {
        bail!("the service took {most:.0} MB; {:.0} MB are allowed", arguments.most_mb);
    }
    Ok(())
}

/// The same documents over and over.
struct Stream {
    documents: Vec<Bytes>,
    /// Lines that are sent.
    count: usize,
    /// Bytes that are sent.
    bytes: usize,
}

impl Stream {
    fn new(arguments: &BulkArguments) -> Self {
        // A paragraph has at least 400 bytes.
        let paragraphs = arguments.documents * (arguments.document_bytes / 400 + 1);
        let mut written = Writing::new(paragraphs, SEED);
        let documents: Vec<Bytes> =
            (0..arguments.documents).map(|number| document(number, arguments.document_bytes, &mut written)).collect();
        let (mut count, mut bytes) = (0, 0);
        for line in documents.iter().cycle() {
            if bytes >= arguments.bytes {
                break;
            }
            count += 1;
            bytes += line.len();
        }
        Self { documents, count, bytes }
    }

    fn lines(&self) -> impl Iterator<Item = Bytes> + Send + 'static {
        self.documents.clone().into_iter().cycle().take(self.count)
    }
}

/// A line with a document of at least so many bytes.
fn document(number: usize, bytes: usize, paragraphs: &mut Writing) -> Bytes {
    let mut text = String::new();
    for written in paragraphs {
        text.push_str(&written.paragraph.text);
        text.push_str("\n\n");
        if text.len() >= bytes {
            break;
        }
    }
    let source = format!("document-{number:03}.txt");
    let mut line = json!({"source": source, "text": text, "media_type": "text/plain"}).to_string();
    line.push('\n');
    line.into()
}
