//! Measures ingest and ask of a release build, with models that cost nothing and with those built in.

mod arguments;
mod asks;
mod bulk;
mod busy;
mod client;
mod cluster;
mod comparison;
mod corpus;
mod graph;
mod ingest;
mod locks;
mod model_server;
mod naive;
mod posts;
mod process;
mod random;
mod ratios;
mod raw_copy;
mod raw_insert;
mod raw_search;
mod report;
mod service;
mod single;
mod size;
mod slow_models;
mod storms;
mod throughput;
mod tls;
mod uploads;
mod vectors;

use std::{path::Path, sync::Arc, time::Duration};

use arguments::Arguments;
use asks::{Course, Questions, Way};
use bulk::BulkArguments;
use cluster::ClusterArguments;
use comparison::Kept;
use corpus::Corpus;
use locks::LocksArguments;
use model_server::ModelServer;
use raw_search::RawSearch;
use report::{AskTarget, Report};
use serde_json::json;
use service::{Service, Setup, open_to_postgres};
use single::SingleArguments;
use size::SizeArguments;
use storms::StormsArguments;
use throughput::ThroughputArguments;
use uploads::UploadsArguments;

const SEED: u64 = 20_000;
/// Questions of the answers that are given again. To ask them is the warm-up as well: connections open, statements get
/// prepared, pages are read.
const WARM_UP: usize = 400;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut given = std::env::args().skip(1);
    if std::env::args().any(|argument| matches!(argument.as_str(), "--help" | "-h")) {
        println!("{}", usage(std::env::args().nth(1).as_deref()));
        return Ok(());
    }
    match std::env::args().nth(1).as_deref() {
        Some("size") => return size::run(&SizeArguments::read(given.skip(1))?).await,
        Some("ingest") => return throughput::run(&ThroughputArguments::read(given.skip(1))?).await,
        Some("single") => return single::run(&SingleArguments::read(given.skip(1))?).await,
        Some("locks") => return locks::run(&LocksArguments::read(given.skip(1))?).await,
        Some("storms") => return storms::run(&StormsArguments::read(given.skip(1))?).await,
        Some("uploads") => return uploads::run(&UploadsArguments::read(given.skip(1))?).await,
        Some("cluster") => return cluster::run(&ClusterArguments::read(given.skip(1))?).await,
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
    open_to_postgres(folder.path())?;
    let mut report = Report::default();
    main_profile(&arguments, folder.path(), &mut report).await?;
    if arguments.slow_models {
        slow_models::run(&arguments, folder.path(), &mut report).await?;
    }
    if arguments.built_in_paragraphs > 0 {
        built_in_profile(&arguments, folder.path(), &mut report).await?;
    }
    if arguments.singles > 0 {
        let setup = Setup {
            binary: arguments.binary.clone(),
            data_dir: folder.path().join("single"),
            models: Some(ModelServer::start(0).await?.base_url()),
        };
        report.singles(single::measure(&setup, arguments.singles).await?);
    }
    report.print(&ratios::last()?);
    if arguments.keep_run {
        report.ratios.keep()?;
    }
    Ok(())
}

/// The usage of a command.
fn usage(command: Option<&str>) -> &'static str {
    match command {
        Some("size") => size::USAGE,
        Some("ingest") => throughput::USAGE,
        Some("single") => single::USAGE,
        Some("bulk") => bulk::USAGE,
        Some("cluster") => cluster::USAGE,
        Some("uploads") => uploads::USAGE,
        Some("locks") => locks::USAGE,
        Some("storms") => storms::USAGE,
        _ => arguments::USAGE,
    }
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
        let ingested = ingest::run(&service, ingest::COLLECTION, &corpus.paragraphs).await?;
        progress("raw COPY of the same rows");
        let copied = raw_copy::run(&setup.binary, &setup.data_dir).await?;
        report.ingest(&ingested, Some(&copied));
        report.memory("after ingest", service.memory_mb()?);
    }
    service.stop().await?;

    let (first, rest) = corpus.questions.split_at(WARM_UP.min(corpus.questions.len()));
    let questions = Arc::new(Questions::once(rest));
    let service = Service::start(&setup).await?;
    asks::once(&service, &questions, &plain()).await?;
    report.note("start to first answer", milliseconds(service.age()));
    report
        .note("chunks that hold a question's words, sum over the words, mean", format!("{:.0}", corpus.mean_postings));
    graph::wait(&service, arguments.paragraphs).await?;
    let kept = Kept::fill(&service, first).await?;
    let way = Way::Ask(arguments.members.clone());
    for clients in &arguments.clients {
        let course = Course { service: &service, models: Some(&models), questions: &questions, way: &way };
        side_by_side(course, &kept, *clients, arguments.run, report).await?;
    }
    report.memory("after asks", service.memory_mb()?);
    let raw = RawSearch::connect(&setup.data_dir, &corpus.questions).await?;
    for clients in [1, 32] {
        progress(&format!("raw vector search, {clients} clients"));
        report.searches(&raw.run(&service, clients, arguments.run).await?);
    }
    service.stop().await
}

/// The same with nothing outside: embedder, grader and answerer built in.
async fn built_in_profile(arguments: &Arguments, folder: &Path, report: &mut Report) -> anyhow::Result<()> {
    progress("built-in models: ingest");
    let corpus = Corpus::generate(arguments.built_in_paragraphs, SEED);
    let setup = Setup { binary: arguments.binary.clone(), data_dir: folder.join("built-in"), models: None };
    let service = Service::start(&setup).await?;
    let ingested = ingest::run(&service, ingest::COLLECTION, &corpus.paragraphs).await?;
    report.note(
        format!("built in: ingest of {} documents, embedding included", ingested.documents),
        format!("{:.0} documents/s", ingested.per_second()),
    );
    service.stop().await?;
    let questions = Arc::new(Questions::once(&corpus.questions));
    let service = Service::start(&setup).await?;
    asks::once(&service, &questions, &plain()).await?;
    report.note("built in: start to first answer", milliseconds(service.age()));
    for clients in [1, 8] {
        progress(&format!("built-in models: ask, {clients} clients"));
        let course = Course { service: &service, models: None, questions: &questions, way: &plain() };
        let asked = asks::run(course, clients, arguments.run).await?;
        report.asks("built in: ask", &asked, None);
    }
    report.memory("built in", service.memory_mb()?);
    service.stop().await
}

/// Asks, the naive loop and kept answers, one after the other from so many clients.
async fn side_by_side(
    course: Course<'_>,
    kept: &Kept,
    clients: usize,
    time: Duration,
    report: &mut Report,
) -> anyhow::Result<()> {
    let Some(models) = course.models else { return Ok(()) };
    progress(&format!("ask, {clients} clients"));
    let asked = asks::run(course, clients, time).await?;
    let target = match clients {
        1 => Some(AskTarget::MedianMs(6.0)),
        32 => Some(AskTarget::PerSecond(400.0)),
        _ => None,
    };
    report.asks("ask", &asked, target);
    report.keep(asked.clone());
    report.comparison.add("`/v1/ask`", asked);
    progress(&format!("naive loop, {clients} clients"));
    let naive = asks::run(Course { way: &comparison::naive(models), ..course }, clients, time).await?;
    report.comparison.add("naive loop", naive);
    progress(&format!("kept answers, {clients} clients"));
    report.comparison.add("`/v1/ask`, from the cache", kept.run(course.service, models, clients, time).await?);
    Ok(())
}

/// An ask as it is without further members.
fn plain() -> Way {
    Way::Ask(json!({}))
}

fn milliseconds(duration: Duration) -> String {
    format!("{:.0} ms", duration.as_secs_f64() * 1_000.0)
}

fn progress(text: &str) {
    eprintln!("bench: {text}");
}
