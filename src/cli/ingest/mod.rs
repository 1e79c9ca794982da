//! `cited ingest`: sends files, folders and URLs to a running service and follows each of them until it is settled.

mod gather;
mod hidden;
mod pace;
mod parts;
mod progress;
mod report;
mod run;
mod sync;

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use clap::Args;
use reqwest::header::HeaderValue;
use secrecy::ExposeSecret;
use serde_json::{Map, Value};

use self::{
    gather::Selection,
    progress::Progress,
    run::{Order, Run},
    sync::{Folder, Plan},
};
use super::{output, service_call::service_url, wording::counted};
use crate::{config::Config, domain::job::Indexing, providers::remote, service::context::Context};

/// Request timeout: long enough for an upload over a slow line.
const TIMEOUT: Duration = Duration::from_mins(5);

/// Arguments of `cited ingest`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Files, folders, patterns such as 'docs/**/*.md', and URLs. The source of a file is its path as given here; the
    /// source of a file in a folder is the folder's name and the file's path in it.
    #[arg(required = true, value_name = "FILE|DIR|PATTERN|URL")]
    targets: Vec<String>,
    /// Collection to put the documents in; created if it does not exist.
    #[arg(short, long, default_value = "default")]
    collection: String,
    /// Exclude files that match, in the syntax of a .gitignore line: '*.log', 'drafts/'. May be given several times.
    #[arg(short, long, value_name = "PATTERN")]
    exclude: Vec<String>,
    /// Include hidden files too, and files that .gitignore and .ignore files exclude.
    #[arg(long)]
    all: bool,
    /// Your own data about all the documents, a JSON object.
    #[arg(long, value_name = "JSON", value_parser = object)]
    metadata: Option<Map<String, Value>>,
    /// When the documents can be found; if not given, as configured for the collection. complete: by words and by
    /// meaning at once; progressive: by words as soon as they are split, and by meaning as their vectors are made.
    #[arg(long, value_name = "complete|progressive", value_parser = indexing)]
    indexing: Option<Indexing>,
    #[command(flatten)]
    step: StepArguments,
    /// URL of the service; if not given, `CITED_SERVER`, or the service on this machine. Its key is read from
    /// `CITED_API_KEY`.
    #[arg(long, value_name = "URL", value_parser = service_url)]
    server: Option<url::Url>,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

/// Whether a folder is kept in step.
#[derive(Debug, Args)]
struct StepArguments {
    /// Keep the documents of one folder in step with its files: send what is new or changed, and delete what is gone or
    /// no longer chosen. Files and documents are compared by source and content.
    #[arg(long)]
    sync: bool,
    /// With --sync: print what would be done, and do nothing. Fails where --sync alone would refuse.
    #[arg(long, requires = "sync")]
    dry_run: bool,
    /// With --sync: delete documents even if that is more than half of those of the folder.
    #[arg(long, requires = "sync")]
    delete_most: bool,
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("not a JSON object: {error}"))
}

fn indexing(text: &str) -> Result<Indexing, String> {
    Indexing::from_name(text).ok_or_else(|| "must be complete or progressive".to_owned())
}

/// Sends all documents, follows their jobs and prints the report. Fails unless all of them are stored.
pub(super) async fn run(config: &Config, arguments: Arguments) -> anyhow::Result<()> {
    let started = Instant::now();
    let client = client(config, arguments.server.as_ref(), TIMEOUT)?;
    let selection = Selection { exclude: &arguments.exclude, all: arguments.all };
    let mut found = selection.gather(&arguments.targets)?;
    if found.is_empty() && !arguments.step.sync {
        bail!(
            "there is nothing to ingest: {} passed over, of no format that is read, or links; hidden and ignored ones are \
             taken with --all",
            counted(found.passed_over(), "file")
        );
    }
    let metadata = arguments.metadata.clone().map(Value::Object);
    let mut plan = None;
    if arguments.step.sync {
        let folder = Folder::of(&arguments.targets, &arguments.collection, metadata.as_ref())?;
        let max_file_bytes = u64::try_from(config.http.max_body_bytes).unwrap_or(u64::MAX);
        let compared = Plan::of(&client, &folder, &mut found, max_file_bytes).await?;
        let is_safe = compared.check(found.unreadable(), arguments.step.delete_most);
        if arguments.step.dry_run {
            output::print(&compared)?;
            return is_safe;
        }
        is_safe?;
        plan = Some(compared);
    }
    let progress = Progress::new(found.targets.len());
    let ids = Context::system().ids;
    let metadata = metadata.unwrap_or_else(|| Value::Object(Map::new()));
    let order = Order { collection: arguments.collection, indexing: arguments.indexing, metadata };
    let mut run = Run::new(client.clone(), ids, order, config.http.max_body_bytes, progress);
    let mut result = run.ingest(found).await;
    let mut report = run.report();
    if let Some(plan) = plan {
        report.unchanged += plan.unchanged;
        report.searchable += plan.unchanged;
        if result.is_ok() {
            result = plan.delete_gone(&client).await.map(|deleted| report.deleted = Some(deleted));
        }
    }
    report.seconds = started.elapsed().as_secs_f64();
    if arguments.json {
        output::print_json(&report)?;
    } else {
        output::print(&report)?;
    }
    result.context("not everything was done; run the command again, what is stored is not done twice")?;
    match report.failed.len() {
        0 => Ok(()),
        failed => bail!("{failed} of {} failed", counted(report.documents(), "document")),
    }
}

/// A client of the chosen service, with its key. Keys from this machine's configuration are not sent to other services.
pub(super) fn client(config: &Config, server: Option<&url::Url>, timeout: Duration) -> anyhow::Result<remote::Client> {
    let elsewhere = server.or(config.remote.server.as_ref());
    let key = config
        .remote
        .key
        .as_ref()
        .or_else(|| elsewhere.is_none().then(|| config.access.operator_keys.first()).flatten());
    let key = key.map(|key| sendable(key.expose_secret())).transpose()?;
    let client = match elsewhere {
        Some(url) => remote::Client::at(url, timeout),
        None => remote::Client::here(config.listen, config.server.tls.is_some(), timeout),
    };
    Ok(client?.with_key(key))
}

/// A key as a header carries it. Files that were edited on Windows leave a carriage return at its end.
fn sendable(key: &str) -> anyhow::Result<String> {
    let key = key.trim_end();
    if HeaderValue::from_str(key).is_err() {
        bail!("CITED_API_KEY has characters that no header can carry, such as a line break or an umlaut; set it anew");
    }
    Ok(key.to_owned())
}
