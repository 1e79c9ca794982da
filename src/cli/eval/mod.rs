//! `cited eval`: the quality of retrieval and answers, measured on folders with known answers.

mod folder;
mod progress;
mod report;
mod table;

use std::{collections::HashSet, num::NonZeroUsize, path::PathBuf, time::Duration};

use anyhow::{Context as _, anyhow, bail};
use clap::{Args, ValueEnum};
use tokio_util::sync::CancellationToken;

use self::{
    progress::Teller,
    report::{ModeReport, OffCorpusReport, Report, SetReport},
};
use super::ingest::client;
use crate::{
    app::Core,
    config::{Config, Origin},
    domain::{
        evaluation::{
            answers::AnswerFigures,
            dataset::{Dataset, SetQuery},
            sample::keep_sample,
        },
        grouping::Grouping,
        identity::TenantId,
    },
    service::{
        context::Context,
        evaluation::{EvaluationError, EvaluationService, Loaded},
        ingest::Worker,
        retrieval::{Fusion, Mode, Stages},
    },
    shutdown::Shutdown,
    telemetry,
};

/// Longer than a running service takes for anything that is asked of it.
const REMOTE_TIMEOUT: Duration = Duration::from_mins(5);

/// What to measure.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Folders in the BEIR layout: corpus.jsonl(.gz), queries.jsonl, qrels.tsv; or with qa.jsonl.
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Each set gets a collection of its own for the time of the run, PREFIX-SET.
    #[arg(long, value_name = "PREFIX", default_value = "eval")]
    collection_prefix: String,
    /// Keep the collections; a later run with --keep finds them and indexes nothing again.
    #[arg(long)]
    keep: bool,
    /// At most so many queries and questions of each set, the same ones every time.
    #[arg(long, value_name = "N")]
    limit: Option<NonZeroUsize>,
    /// Which ways to search.
    #[arg(long, value_delimiter = ',', value_name = "MODE", default_value = "lexical,dense,fused,reranked")]
    modes: Vec<ModeName>,
    /// Ask the questions of qa.jsonl and measure the answers.
    #[arg(long)]
    answers: bool,
    /// Ask the queries of this folder too, which the other sets do not answer, and count the abstentions.
    #[arg(long, value_name = "DIR")]
    off_corpus: Option<PathBuf>,
    /// Measure the service that runs there, over its API, instead of one of this process. Its key is in `CITED_API_KEY`.
    #[arg(long, value_name = "URL")]
    server: Option<url::Url>,
    /// How to print the result.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// How the result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Aligned columns.
    Text,
    /// Markdown tables.
    Md,
    /// JSON.
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModeName {
    Lexical,
    Dense,
    #[value(alias = "hybrid")]
    Fused,
    Reranked,
}

impl ModeName {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Lexical => "lexical",
            Self::Dense => "dense",
            Self::Fused => "fused",
            Self::Reranked => "reranked",
        }
    }

    /// Every chunk is ranked for itself: a set may judge two documents that say the same.
    const fn stages(self) -> Stages {
        let (mode, rerank) = match self {
            Self::Lexical => (Mode::Lexical, false),
            Self::Dense => (Mode::Dense, false),
            Self::Fused => (Mode::Hybrid, false),
            Self::Reranked => (Mode::Hybrid, true),
        };
        Stages { mode, fusion: Fusion::Weighted, rerank, grouping: Grouping::NONE }
    }
}

/// Measures and prints. The sets that were measured are printed even if a later one fails.
pub(super) async fn run(config: &Config, arguments: Arguments) -> anyhow::Result<()> {
    let sets = read_sets(&arguments)?;
    let off_corpus = read_off_corpus(&arguments)?;
    telemetry::start(&log_settings(config))?;
    let shutdown = Shutdown::on_signals()?;
    let (service, core) = if let Some(server) = &arguments.server {
        (EvaluationService::remote(client(config, Some(server), REMOTE_TIMEOUT)?), None)
    } else {
        eprintln!("starting the database and the models");
        let core = Core::build(config, Context::system()).await?;
        (service_of(&core), Some(core))
    };
    let worker = core.as_ref().map(|core| core.worker.clone());
    let run = Run { service, worker, arguments: &arguments, off_corpus, shutdown };
    let mut report = Report { version: env!("CARGO_PKG_VERSION"), sets: Vec::new() };
    let result = run.measure_all(&sets, &mut report).await;
    let closed = match core {
        Some(core) => core.close().await,
        None => Ok(()),
    };
    if !report.sets.is_empty() {
        print!("{}", report.render(arguments.format)?);
    }
    result.and(closed)
}

fn service_of(core: &Core) -> EvaluationService {
    let services = core.services.clone();
    EvaluationService::here(TenantId::DEFAULT, services.collections, services.ingest, services.search, services.ask)
}

/// Reads all sets before anything is started.
fn read_sets(arguments: &Arguments) -> anyhow::Result<Vec<Dataset>> {
    let mut names = HashSet::new();
    let mut sets = Vec::with_capacity(arguments.folders.len());
    for folder in &arguments.folders {
        let mut set = folder::read(folder)?;
        if !names.insert(set.name.clone()) {
            bail!("two folders are called {:?}; rename one, a set is known by the name of its folder", set.name);
        }
        if set.queries.is_empty() && !arguments.answers && arguments.off_corpus.is_none() {
            bail!("{} has questions and no queries; add --answers to measure answers", folder.display());
        }
        if let Some(limit) = arguments.limit {
            keep_sample(&mut set.queries, limit.get(), |query| &query.id);
            keep_sample(&mut set.questions, limit.get(), |question| &question.id);
        }
        if set.empty_documents > 0 {
            eprintln!("{}: {} documents are empty and left out", set.name, set.empty_documents);
        }
        sets.push(set);
    }
    Ok(sets)
}

fn read_off_corpus(arguments: &Arguments) -> anyhow::Result<Option<OffCorpus>> {
    let Some(folder) = &arguments.off_corpus else { return Ok(None) };
    let mut queries = folder::read_queries(folder)?;
    if let Some(limit) = arguments.limit {
        keep_sample(&mut queries, limit.get(), |query| &query.id);
    }
    let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned();
    Ok(Some(OffCorpus { name, queries }))
}

/// Progress is told here; of the log, warnings are enough unless somebody asks for more.
fn log_settings(config: &Config) -> telemetry::Settings {
    let is_default =
        |name: &str| config.effective().iter().any(|value| value.name == name && value.origin == Origin::Default);
    let filter = if is_default("CITED_LOG") { "warn".to_owned() } else { config.log.filter.clone() };
    telemetry::Settings { filter, ..config.log.clone() }
}

/// Questions that the sets do not answer.
struct OffCorpus {
    name: String,
    queries: Vec<SetQuery>,
}

/// One run over all sets.
struct Run<'a> {
    service: EvaluationService,
    /// Works on the queue, unless a running service does.
    worker: Option<Worker>,
    arguments: &'a Arguments,
    off_corpus: Option<OffCorpus>,
    shutdown: Shutdown,
}

impl Run<'_> {
    async fn measure_all(&self, sets: &[Dataset], report: &mut Report) -> anyhow::Result<()> {
        for set in sets {
            let measured = self.measure_in_collection(set).await.with_context(|| format!("set {:?}", set.name))?;
            report.sets.push(measured);
        }
        Ok(())
    }

    /// Measures a set in a collection of its own, which is gone afterwards, whatever happens.
    async fn measure_in_collection(&self, set: &Dataset) -> anyhow::Result<SetReport> {
        let collection = format!("{}-{}", self.arguments.collection_prefix, set.name);
        self.service.open(&collection, self.arguments.keep).await.map_err(advise)?;
        let result = match self.load(set, &collection).await {
            Ok(loaded) => {
                // A large future; on the heap it does not swell all that wait for it.
                self.unless_stopped(Box::pin(self.measure(set, &collection, loaded))).await
            }
            Err(error) => Err(error),
        };
        if !self.arguments.keep {
            self.service
                .discard(&collection)
                .await
                .with_context(|| format!("collection {collection:?} is left behind"))?;
        }
        result
    }

    /// Indexes a set. The worker has ended when this returns: what it does after the last document, such
    /// as weighing the collection again, is part of what is measured.
    async fn load(&self, set: &Dataset, collection: &str) -> anyhow::Result<Loaded> {
        let observe = Teller::new(&set.name).of("documents indexed");
        let load = self.unless_stopped(self.service.load(collection, &set.documents, &observe));
        let Some(worker) = &self.worker else { return load.await };
        let stop = CancellationToken::new();
        let work = tokio::spawn(worker.clone().run(stop.clone()));
        let loaded = load.await;
        stop.cancel();
        tokio::select! {
            ended = work => ended.context("the worker died")?,
            () = self.shutdown.hard.cancelled() => {}
        }
        loaded
    }

    async fn unless_stopped<T>(&self, work: impl Future<Output = Result<T, EvaluationError>>) -> anyhow::Result<T> {
        tokio::select! {
            result = work => result.map_err(advise),
            () = self.shutdown.soft.cancelled() => Err(anyhow!("stopped by a signal")),
        }
    }

    async fn measure(&self, set: &Dataset, collection: &str, loaded: Loaded) -> Result<SetReport, EvaluationError> {
        let teller = Teller::new(&set.name);
        teller.loaded(&loaded);
        let mut report = SetReport {
            name: set.name.clone(),
            documents: loaded.documents,
            chunks: loaded.chunks,
            ingest_s: loaded.duration.as_secs_f64(),
            ..SetReport::default()
        };
        for mode in &self.arguments.modes {
            let observe = teller.of(mode.as_str());
            let figures = self.service.measure_retrieval(collection, &set.queries, mode.stages(), &observe).await?;
            if let Some(figures) = figures {
                teller.measured(mode.as_str(), &figures);
                report.retrieval.push(ModeReport { mode: mode.as_str(), figures });
            }
        }
        let mut asked = Vec::new();
        if self.arguments.answers && !set.questions.is_empty() {
            let observe = teller.of("questions asked");
            asked = self.service.measure_answers(collection, &set.questions, &observe).await?;
            report.answers = Some(AnswerFigures::of(&asked));
        }
        if let Some(OffCorpus { name, queries }) = &self.off_corpus
            && *name != set.name
        {
            let observe = teller.of("questions of another set asked");
            let figures = self.service.measure_off_corpus(collection, queries, &asked, &observe).await?;
            report.off_corpus = Some(OffCorpusReport { from: name.clone(), figures });
        }
        Ok(report)
    }
}

/// Adds what to do about it.
fn advise(error: EvaluationError) -> anyhow::Error {
    let advice = match &error {
        EvaluationError::CollectionExists(_) => {
            "it may be somebody's, or left from a run that was killed: delete it, choose another --collection-prefix, \
             or measure it as it is with --keep"
        }
        EvaluationError::ForeignDocuments { .. } => {
            "it was kept from another version of the set, or is somebody's: delete it, or choose another --collection-prefix"
        }
        EvaluationError::NotIndexed { .. } => "correct or remove them in the corpus",
        EvaluationError::Service(_) | EvaluationError::Ask { .. } | EvaluationError::Remote { .. } => {
            return error.into();
        }
    };
    anyhow!("{error}; {advice}")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct CommandLine {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn modes_are_a_list() {
        let read = |words: &[&str]| CommandLine::try_parse_from(words).map(|line| line.arguments);
        let arguments = read(&["eval", "a", "b"]).expect("valid");
        assert_eq!(arguments.modes, [ModeName::Lexical, ModeName::Dense, ModeName::Fused, ModeName::Reranked]);
        assert_eq!((arguments.folders.len(), arguments.collection_prefix.as_str()), (2, "eval"));
        assert_eq!(
            read(&["eval", "a", "--modes", "dense,lexical"]).expect("valid").modes,
            [ModeName::Dense, ModeName::Lexical]
        );
        for wrong in [&["eval"][..], &["eval", "a", "--modes", "sparse"], &["eval", "a", "--limit", "0"]] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }
}
