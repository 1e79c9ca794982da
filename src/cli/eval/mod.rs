//! `cited eval`: measures the quality of retrieval and answers on folders with known answers, and what becomes of attacks.

mod local;
mod progress;

use std::{collections::HashSet, num::NonZeroUsize, path::PathBuf, time::Duration};

use anyhow::{Context as _, anyhow, bail};
use clap::{Args, ValueEnum};
use embedded_postgres::PrivatePostgresError;
use eval::{
    ClaimSet, ClaimsReport, Dataset, Evaluation, EvaluationError, Mode, Oracle, Plan, Report, SetReport,
    attack::{self, AttackReport, Order},
};
use secrecy::ExposeSecret;

use self::{local::LocalService, progress::Progress};
use super::{ingest::client, output, service_call::service_url, wording::counted};
use crate::{
    config::{Config, Origin},
    providers::{
        chat::{CallRole, ChatSettings, ModelName, ModelSettings, ProviderKind, ProviderSettings},
        remote,
    },
    shutdown::Shutdown,
    telemetry,
};

/// Least request timeout, longer than the service takes for what is no ask.
const TIMEOUT: Duration = Duration::from_mins(5);
/// Time in which a service replies to an ask whose own time limit was reached.
const REPLY_DELAY: Duration = Duration::from_mins(1);

/// Arguments of `cited eval`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct Arguments {
    /// Folders in the BEIR layout: corpus.jsonl(.gz), queries.jsonl, qrels.tsv; or with qa.jsonl.
    #[arg(required_unless_present_any = ["claims", "attack"], value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Prefix of the collections: each set gets a collection PREFIX-SET for the duration of the run.
    #[arg(long, value_name = "PREFIX", default_value = "eval")]
    collection_prefix: String,
    /// Keep the collections; a later run with --keep reuses them and indexes nothing again.
    #[arg(long)]
    keep: bool,
    /// Use at most N queries and questions of each set, and N documents that give orders, the same ones every time.
    #[arg(long, value_name = "N")]
    limit: Option<NonZeroUsize>,
    /// Search modes to measure.
    #[arg(long, value_delimiter = ',', value_name = "MODE", default_value = "lexical,dense,fused,reranked")]
    modes: Vec<ModeName>,
    /// Ask the questions of qa.jsonl and measure the answers; ask the follow-up questions of conversations.jsonl alone
    /// and with the conversation before them, and measure what is found.
    #[arg(long)]
    answers: bool,
    /// Also ask the queries of this folder, which the other sets do not answer, and count the abstentions.
    #[arg(long, value_name = "DIR")]
    off_corpus: Option<PathBuf>,
    /// Ask the questions of qa.jsonl with a grading model that knows the documents that answer them, all else built in:
    /// measures everything but the grades.
    #[arg(long, conflicts_with = "server")]
    oracle: bool,
    /// Check the labelled claims of this folder's claims.jsonl, each against its own text, and measure the verdicts.
    #[arg(long, value_name = "DIR")]
    claims: Vec<PathBuf>,
    /// Try attacks at each level of checking, and count those that succeed: 112 documents that give orders to a model, 57
    /// answers of a model that obeys, and 457 texts that look like delimiters of prompts. Ends with 1 if one of the latter
    /// two passes that may not.
    #[arg(long)]
    attack: bool,
    /// Measure the service at this URL instead of starting one. Its key is read from `CITED_API_KEY`.
    #[arg(long, value_name = "URL", value_parser = service_url)]
    server: Option<url::Url>,
    /// Format of the result.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl Arguments {
    /// Whether the questions of the sets are asked.
    const fn asks(&self) -> bool {
        self.answers || self.oracle
    }
}

/// Output format of the result.
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

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Lexical => Self::Lexical,
            ModeName::Dense => Self::Dense,
            ModeName::Fused => Self::Fused,
            ModeName::Reranked => Self::Reranked,
        }
    }
}

/// Measures the sets and prints the result. Sets that were measured are printed even if a later one fails.
pub(super) async fn run(config: &Config, arguments: Arguments) -> anyhow::Result<()> {
    let limit = arguments.limit.map(NonZeroUsize::get);
    let sets = read_sets(&arguments)?;
    let claims =
        arguments.claims.iter().map(|folder| eval::read_claims(folder, limit)).collect::<Result<Vec<_>, _>>()?;
    let off_corpus = arguments.off_corpus.as_deref().map(|folder| eval::read_off_corpus(folder, limit)).transpose()?;
    let answers = arguments.asks();
    let orders = match (arguments.attack, limit) {
        (false, _) => Vec::new(),
        (true, None) => attack::orders(),
        (true, Some(limit)) => attack::sample(&attack::orders(), limit),
    };
    let plan = Plan {
        collection_prefix: arguments.collection_prefix,
        keep: arguments.keep,
        modes: arguments.modes.into_iter().map(Mode::from).collect(),
        answers,
        conversations: arguments.answers,
        off_corpus,
    };
    telemetry::start(&log_settings(config), None)?;
    let shutdown = Shutdown::on_signals()?;
    let mut report = Report { version: env!("CARGO_PKG_VERSION"), sets: Vec::new(), claims: Vec::new(), attacks: None };
    let result = if let Some(server) = &arguments.server {
        let run =
            Run { client: eval_client(client(config, Some(server), request_timeout(config))?), plan, orders, shutdown };
        run.measure_all(&sets, &claims, &mut report).await
    } else {
        eprintln!("starting the database and the models");
        let oracle = if arguments.oracle { Some(Oracle::start(&sets).await?) } else { None };
        let config = oracle.as_ref().map_or_else(|| Ok(config.clone()), |oracle| graded_by(oracle, config))?;
        let service = tokio::select! {
            service = LocalService::start(&config, shutdown.hard.clone()) => service.map_err(|error| advise_server(error, &config))?,
            () = shutdown.soft.cancelled() => bail!("stopped by a signal"),
        };
        let key = config.access.operator_keys.first().map(|key| key.expose_secret().to_owned());
        let client = remote::Client::here(service.address(), false, request_timeout(&config))?.with_key(key);
        let run = Run { client: eval_client(client), plan, orders, shutdown };
        let result = run.measure_all(&sets, &claims, &mut report).await;
        result.and(service.stop().await)
    };
    if !report.sets.is_empty() || !report.claims.is_empty() || report.attacks.is_some() {
        output::print(render(&report, arguments.format)?)?;
    }
    result?;
    refuse_breaches(report.attacks.as_ref())
}

/// Fails if something passed that may not, whatever the models are.
fn refuse_breaches(attacks: Option<&AttackReport>) -> anyhow::Result<()> {
    let breaches = attacks.map(|attacks| attacks.breaches.as_slice()).unwrap_or_default();
    if breaches.is_empty() {
        return Ok(());
    }
    bail!(
        "{} passed that may not: {}. Install the newest version, and if it lets them through too, report it as SECURITY.md says",
        counted(breaches.len(), "attack"),
        breaches.join("; ")
    )
}

/// Request timeout, longer than the service takes for any request of an evaluation: that of a slow ask is the
/// service's to tell.
fn request_timeout(config: &Config) -> Duration {
    TIMEOUT.max(config.ask.timeout + REPLY_DELAY)
}

/// The configuration with this grading model and no other model.
fn graded_by(oracle: &Oracle, config: &Config) -> anyhow::Result<Config> {
    let name = ModelName { provider: Oracle::MODEL.to_owned(), model: Oracle::MODEL.to_owned() };
    let base_url = oracle.base_url().parse()?;
    let provider = ProviderSettings { kind: ProviderKind::OpenAi, base_url, api_key: None, timeout: TIMEOUT };
    let mut config = config.clone();
    config.chat = ChatSettings {
        providers: [(name.provider.clone(), provider)].into(),
        models: [(name.clone(), ModelSettings::default())].into(),
        default: Vec::new(),
        roles: [(CallRole::Grade, vec![name])].into(),
    };
    Ok(config)
}

fn eval_client(client: remote::Client) -> eval::Client {
    let (http, base, key) = client.into_parts();
    eval::Client::new(http, base, key)
}

fn render(report: &Report, format: Format) -> anyhow::Result<String> {
    Ok(match format {
        Format::Json => report.json()?,
        Format::Text => report.text(),
        Format::Md => report.markdown(),
    })
}

/// Reads all sets before the service is started.
fn read_sets(arguments: &Arguments) -> anyhow::Result<Vec<Dataset>> {
    let mut names = HashSet::new();
    let mut sets = Vec::with_capacity(arguments.folders.len());
    for folder in &arguments.folders {
        let mut set = eval::read(folder)?;
        if !names.insert(set.name.clone()) {
            bail!("two folders are called {:?}; rename one, a set is known by the name of its folder", set.name);
        }
        if set.queries.is_empty() && !arguments.asks() && arguments.off_corpus.is_none() {
            bail!("{} has questions and no queries; add --answers to measure answers", folder.display());
        }
        if let Some(limit) = arguments.limit {
            set.limit(limit.get());
        }
        if set.empty_documents > 0 {
            eprintln!("{}: {} documents are empty and left out", set.name, set.empty_documents);
        }
        sets.push(set);
    }
    Ok(sets)
}

/// Progress is printed here; from the log, warnings are enough unless the user configures more.
fn log_settings(config: &Config) -> telemetry::Settings {
    let is_default =
        |name: &str| config.effective().iter().any(|value| value.name == name && value.origin == Origin::Default);
    let filter = if is_default("CITED_LOG") { telemetry::LogFilter::warnings() } else { config.log.filter.clone() };
    telemetry::Settings { filter, ..config.log.clone() }
}

/// One run over all sets.
struct Run {
    client: eval::Client,
    plan: Plan,
    /// Orders in documents that are asked about; none where no attack is tried.
    orders: Vec<Order>,
    shutdown: Shutdown,
}

impl Run {
    async fn measure_all(&self, sets: &[Dataset], claims: &[ClaimSet], report: &mut Report) -> anyhow::Result<()> {
        for set in sets {
            let measured = self.measure(set).await.with_context(|| format!("set {:?}", set.name))?;
            report.sets.push(measured);
        }
        for set in claims {
            let measured = self.measure_claims(set).await.with_context(|| format!("set {:?}", set.name))?;
            report.claims.push(measured);
        }
        if !self.orders.is_empty() {
            report.attacks = Some(self.measure_attacks().await?);
        }
        Ok(())
    }

    async fn measure_attacks(&self) -> anyhow::Result<AttackReport> {
        let progress = Progress::new("attacks");
        let observe = |event: eval::Event<'_>| progress.tell(event);
        let collection = format!("{}-attacks", self.plan.collection_prefix);
        tokio::select! {
            result = Box::pin(attack::measure_attacks(&self.client, &collection, &self.orders, &observe)) => result.map_err(advise),
            () = self.shutdown.soft.cancelled() => {
                Err(anyhow!("stopped by a signal; collection {collection:?} is left behind"))
            }
        }
    }

    async fn measure_claims(&self, set: &ClaimSet) -> anyhow::Result<ClaimsReport> {
        let progress = Progress::new(&set.name);
        let observe = |event: eval::Event<'_>| progress.tell(event);
        tokio::select! {
            result = eval::measure_claims(&self.client, set, &observe) => result.map_err(advise),
            () = self.shutdown.soft.cancelled() => Err(anyhow!("stopped by a signal")),
        }
    }

    /// Measures a set in a separate collection, which is deleted afterwards, even after a failure.
    async fn measure(&self, set: &Dataset) -> anyhow::Result<SetReport> {
        let progress = Progress::new(&set.name);
        let observe = |event: eval::Event<'_>| progress.tell(event);
        let evaluation = Evaluation::new(&self.client, &self.plan, set, &observe);
        evaluation.open().await.map_err(advise)?;
        let result = tokio::select! {
            // A large future; on the heap it does not enlarge all the futures that await it.
            result = Box::pin(evaluation.measure()) => result.map_err(advise),
            () = self.shutdown.soft.cancelled() => Err(anyhow!("stopped by a signal")),
        };
        let closed = evaluation.close().await;
        closed.with_context(|| format!("collection {:?} is left behind", evaluation.collection()))?;
        result
    }
}

/// Adds that a service which runs on the same data can be measured.
fn advise_server(error: anyhow::Error, config: &Config) -> anyhow::Error {
    let is_in_use = |cause: &(dyn std::error::Error + 'static)| {
        matches!(cause.downcast_ref(), Some(PrivatePostgresError::InUse { .. }))
    };
    let here = remote::Client::here(config.listen, config.server.tls.is_some(), TIMEOUT);
    match here {
        Ok(here) if error.chain().any(is_in_use) => {
            anyhow!("{error:#}; or measure the service that uses it, with --server {}", here.base())
        }
        _ => error,
    }
}

/// Adds advice on how to resolve the error.
fn advise(error: EvaluationError) -> anyhow::Error {
    let advice = match &error {
        EvaluationError::CollectionExists(_) => {
            "it may be somebody's, or left from a run that was killed: delete it, choose another --collection-prefix, \
             or measure it as it is with --keep"
        }
        EvaluationError::ForeignDocument { .. } | EvaluationError::ForeignDocuments { .. } => {
            "it was kept from another version of the set, or is somebody's: delete it, or choose another --collection-prefix"
        }
        EvaluationError::NotIndexed(_) => "correct or remove them in the corpus",
        EvaluationError::Service { .. } => return error.into(),
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
        assert!(read(&["eval", "--claims", "a"]).expect("valid").folders.is_empty());
        assert!(read(&["eval", "--attack"]).expect("valid").attack);
        assert_eq!(
            read(&["eval", "a", "--modes", "dense,lexical"]).expect("valid").modes,
            [ModeName::Dense, ModeName::Lexical]
        );
        for wrong in
            [&["eval"][..], &["eval", "a", "--modes", "sparse"], &["eval", "a", "--limit", "0"], &["eval", "--claims"]]
        {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }
}
