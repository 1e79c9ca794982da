//! Measures ingest and ask of a release build, with models that cost nothing and with those built in.

mod arguments;
mod asks;
mod bulk;
mod client;
mod corpus;
mod ingest;
// The service's own analyzer and BM25, so that rows made here are those that it makes. Only this folder: the whole
// library would take minutes to compile.
#[path = "../../src/domain/lexical/mod.rs"]
#[allow(dead_code, reason = "searches need more of it")]
#[allow(unfulfilled_lint_expectations, reason = "a program has no public items to document")]
mod lexical;
mod model_server;
mod process;
mod random;
mod raw_copy;
mod raw_search;
mod report;
mod service;
mod size;
mod slow_models;
mod throughput;
mod vectors;

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::Arc,
};

use arguments::Arguments;
use asks::Questions;
use bulk::BulkArguments;
use corpus::Corpus;
use model_server::ModelServer;
use raw_search::RawSearch;
use report::{AskTarget, Report};
use service::{Service, Setup};
use size::SizeArguments;
use throughput::ThroughputArguments;

const SEED: u64 = 20_000;
const CLIENTS: [usize; 3] = [1, 8, 32];
/// Asks before the measurement: connections open, statements get prepared, pages are read.
const WARM_UP: usize = 200;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut given = std::env::args().skip(1);
    match std::env::args().nth(1).as_deref() {
        Some("size") => return size::run(&SizeArguments::read(given.skip(1))?).await,
        Some("ingest") => return throughput::run(&ThroughputArguments::read(given.skip(1))?).await,
        Some("bulk") => return bulk::run(&BulkArguments::read(given.skip(1))?).await,
        _ => {}
    }
    let arguments = Arguments::read(&mut given)?;
    if let Some(port) = arguments.models_only {
        let models = ModelServer::start(port).await?;
        println!("{}", models.base_url());
        return std::future::pending().await;
    }
    let folder = tempfile::Builder::new().prefix("cited-bench-").tempdir()?;
    // Postgres runs as another user when this is root.
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755))?;
    let mut report = Report::default();
    main_profile(&arguments, folder.path(), &mut report).await?;
    slow_models::run(&arguments, folder.path(), &mut report).await?;
    if arguments.built_in_paragraphs > 0 {
        built_in_profile(&arguments, folder.path(), &mut report).await?;
    }
    report.print();
    Ok(())
}

/// Ingest and ask with a model server that answers at once.
async fn main_profile(arguments: &Arguments, folder: &Path, report: &mut Report) -> anyhow::Result<()> {
    progress("making paragraphs and questions");
    let corpus = Corpus::generate(arguments.paragraphs, SEED);
    let models = ModelServer::start(0).await?;
    let data_dir = arguments.keep.clone().unwrap_or_else(|| folder.join("main"));
    let is_filled = data_dir.join("cluster").exists();
    let setup = Setup { binary: arguments.binary.clone(), data_dir, models: Some(models.base_url()) };
    let service = Service::start(&setup).await?;
    if !is_filled {
        report.note("first start, database made, to ready", milliseconds(service.age()));
        progress("ingest");
        let ingested = ingest::run(&service, &corpus.paragraphs).await?;
        progress("raw COPY of the same rows");
        let copied = raw_copy::run(&setup.binary, &setup.data_dir).await?;
        report.ingest(&ingested, Some(&copied));
        report.memory("after ingest", service.memory_mb()?);
    }
    service.stop().await?;

    let questions = Arc::new(Questions::new(&corpus.questions, "auto"));
    let service = Service::start(&setup).await?;
    asks::once(&service, &questions).await?;
    report.note("start to first answer", milliseconds(service.age()));
    report
        .note("chunks that hold a question's words, sum over the words, mean", format!("{:.0}", corpus.mean_postings));
    ask_all(&service, &questions, "ask", arguments, report).await?;
    report.calls(&models.calls, questions.taken());
    report.memory("after asks", service.memory_mb()?);
    let raw = RawSearch::connect(&setup.data_dir, &corpus.questions).await?;
    for clients in [1, 32] {
        progress(&format!("raw vector search, {clients} clients"));
        report.searches(&raw.run(clients, arguments.run).await?);
    }
    service.stop().await
}

/// The same with nothing outside: embedder, grader and answerer built in.
async fn built_in_profile(arguments: &Arguments, folder: &Path, report: &mut Report) -> anyhow::Result<()> {
    progress("built-in models: ingest");
    let corpus = Corpus::generate(arguments.built_in_paragraphs, SEED);
    let setup = Setup { binary: arguments.binary.clone(), data_dir: folder.join("built-in"), models: None };
    let service = Service::start(&setup).await?;
    let ingested = ingest::run(&service, &corpus.paragraphs).await?;
    report.note(
        format!("built in: ingest of {} documents, embedding included", ingested.documents),
        format!("{:.0} documents/s", ingested.per_second()),
    );
    service.stop().await?;
    let questions = Arc::new(Questions::new(&corpus.questions, "auto"));
    let service = Service::start(&setup).await?;
    asks::once(&service, &questions).await?;
    report.note("built in: start to first answer", milliseconds(service.age()));
    for clients in [1, 8] {
        progress(&format!("built-in models: ask, {clients} clients"));
        let asked = asks::run(&service, &questions, clients, arguments.run).await?;
        report.asks("built in: ask", &asked, None);
    }
    report.memory("built in", service.memory_mb()?);
    service.stop().await
}

async fn ask_all(
    service: &Service,
    questions: &Arc<Questions>,
    profile: &str,
    arguments: &Arguments,
    report: &mut Report,
) -> anyhow::Result<()> {
    for _ in 0..WARM_UP {
        asks::once(service, questions).await?;
    }
    for clients in CLIENTS {
        progress(&format!("ask, {clients} clients"));
        let asked = asks::run(service, questions, clients, arguments.run).await?;
        let target = match clients {
            1 => Some(AskTarget::MedianMs(6.0)),
            32 => Some(AskTarget::PerSecond(400.0)),
            _ => None,
        };
        report.asks(profile, &asked, target);
    }
    Ok(())
}

fn milliseconds(duration: std::time::Duration) -> String {
    format!("{:.0} ms", duration.as_secs_f64() * 1_000.0)
}

fn progress(text: &str) {
    eprintln!("bench: {text}");
}
