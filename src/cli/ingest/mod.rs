//! `cited ingest`: sends files, folders and URLs to a running service and follows each of them until it is settled.

mod gather;
mod hidden;
mod pace;
mod parts;
mod progress;
mod report;
mod run;
mod stop;
mod sync;

use std::{
    ffi::OsString,
    time::{Duration, Instant},
};

use anyhow::bail;
use clap::Args;
use reqwest::header::HeaderValue;
use secrecy::ExposeSecret;
use serde_json::{Map, Value, json};

use self::{
    gather::{Found, Selection},
    progress::Progress,
    report::Report,
    run::{Order, Run},
    stop::Stop,
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
    targets: Vec<OsString>,
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
    metadata: Option<Value>,
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

fn object(text: &str) -> Result<Value, String> {
    let object: Result<Map<String, Value>, _> = serde_json::from_str(text);
    object.map(Value::Object).map_err(|error| format!("not a JSON object: {error}"))
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
        bail!(found.nothing());
    }
    if arguments.step.dry_run {
        return foretell(config, &client, &arguments, &mut found).await;
    }
    let mut report = Report::default();
    let result = carry_out(config, &client, &arguments, found, &mut report).await;
    report.seconds = started.elapsed().as_secs_f64();
    report.error = told(&result);
    if arguments.json {
        output::print_json(&report)?;
    } else if result.is_ok() || report.documents() > 0 {
        output::print(&report)?;
    }
    result
}

/// Prints what keeping a folder in step would do. Fails where it would.
async fn foretell(
    config: &Config,
    client: &remote::Client,
    arguments: &Arguments,
    found: &mut Found,
) -> anyhow::Result<()> {
    let plan = compare(config, client, arguments, found).await?;
    let is_safe = plan.check(found.unreadable(), arguments.step.delete_most);
    let result = is_safe.and_then(|()| plan.foresee(&found.failed));
    if arguments.json {
        output::print_json(&plan.json(&found.failed, told(&result).as_deref()))?;
    } else {
        output::print(&plan)?;
    }
    result
}

/// Compares the folder with its documents; only what must be sent stays in `found`.
async fn compare(
    config: &Config,
    client: &remote::Client,
    arguments: &Arguments,
    found: &mut Found,
) -> anyhow::Result<Plan> {
    let folder = Folder::of(&arguments.targets, &arguments.collection, arguments.metadata.as_ref())?;
    let max_file_bytes = u64::try_from(config.http.max_body_bytes).unwrap_or(u64::MAX);
    Plan::of(client, &folder, found, max_file_bytes).await
}

/// Sends all documents and deletes those whose file is gone, if the folder is kept in step.
async fn carry_out(
    config: &Config,
    client: &remote::Client,
    arguments: &Arguments,
    mut found: Found,
    report: &mut Report,
) -> anyhow::Result<()> {
    let mut plan = None;
    if arguments.step.sync {
        let compared = compare(config, client, arguments, &mut found).await?;
        compared.check(found.unreadable(), arguments.step.delete_most)?;
        plan = Some(compared);
    }
    let progress = Progress::new(found.targets.len());
    let metadata = arguments.metadata.clone().unwrap_or_else(|| json!({}));
    let order = Order { collection: arguments.collection.clone(), indexing: arguments.indexing, metadata };
    let mut run = Run::new(client.clone(), Context::system().ids, order, config.http.max_body_bytes, progress);
    let mut result = run.ingest(found).await;
    *report = run.report();
    let mut kept = None;
    if let Some(plan) = &plan {
        report.unchanged += plan.unchanged;
        report.searchable += plan.unchanged;
        kept = plan.kept(&report.failed);
        if result.is_ok() {
            let deleted = if kept.is_some() { Ok(0) } else { plan.delete_gone(client).await };
            result = deleted.map(|deleted| report.deleted = Some(deleted));
        }
    }
    result.map_err(Stop::into_error)?;
    let kept = kept.map(|kept| format!("; {kept}")).unwrap_or_default();
    match report.failed.len() {
        0 => Ok(()),
        failed => bail!("{failed} of {} failed{kept}", counted(report.documents(), "document")),
    }
}

/// The error of a result, in words.
fn told(result: &anyhow::Result<()>) -> Option<String> {
    result.as_ref().err().map(|error| format!("{error:#}"))
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
