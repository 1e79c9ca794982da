//! `cited ingest`: sends files, folders and URLs to a running service and follows each of them until it is settled.

mod gather;
mod parts;
mod progress;
mod report;
mod run;

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use clap::Args;
use secrecy::ExposeSecret;
use serde_json::{Map, Value};

use self::{
    gather::Selection,
    progress::Progress,
    run::{Order, Run},
};
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
    /// URL of the service; if not given, `CITED_SERVER`, or the service on this machine. Its key is read from
    /// `CITED_API_KEY`.
    #[arg(long, value_name = "URL", value_parser = url)]
    server: Option<url::Url>,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("not a JSON object: {error}"))
}

fn url(text: &str) -> Result<url::Url, String> {
    url::Url::parse(text).map_err(|error| format!("not a URL such as http://127.0.0.1:8080: {error}"))
}

fn indexing(text: &str) -> Result<Indexing, String> {
    Indexing::from_name(text).ok_or_else(|| "must be complete or progressive".to_owned())
}

/// Sends all documents, follows their jobs and prints the report. Fails unless all of them are stored.
pub(super) async fn run(config: &Config, arguments: Arguments) -> anyhow::Result<()> {
    let started = Instant::now();
    let client = client(config, arguments.server.as_ref(), TIMEOUT)?;
    let selection = Selection { exclude: &arguments.exclude, all: arguments.all };
    let found = selection.gather(&arguments.targets)?;
    if found.is_empty() {
        bail!(
            "there is nothing to ingest: {} files were passed over, which are of no format that is read, or links; \
             hidden and ignored ones are taken with --all",
            found.passed_over()
        );
    }
    let progress = Progress::new(found.targets.len());
    let metadata = Value::Object(arguments.metadata.unwrap_or_default());
    let ids = Context::system().ids;
    let order = Order { collection: arguments.collection, indexing: arguments.indexing, metadata };
    let mut run = Run::new(client, ids, order, config.http.max_body_bytes, progress);
    let result = run.ingest(found).await;
    let mut report = run.report();
    report.seconds = started.elapsed().as_secs_f64();
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{report}");
    }
    result.context("not everything was sent; run the command again, what is stored is not done twice")?;
    match report.failed.len() {
        0 => Ok(()),
        failed => bail!("{failed} of {} documents failed", report.documents()),
    }
}

/// A client of the chosen service, with its key. Keys from this machine's configuration are not sent to other services.
pub(super) fn client(config: &Config, server: Option<&url::Url>, timeout: Duration) -> anyhow::Result<remote::Client> {
    let elsewhere = server.or(config.remote.server.as_ref());
    let key = config.remote.key.as_ref().or_else(|| elsewhere.is_none().then(|| config.http.keys.first()).flatten());
    let client = match elsewhere {
        Some(url) => remote::Client::at(url, timeout),
        None => remote::Client::here(config.listen, timeout),
    };
    Ok(client?.with_key(key.map(|key| key.expose_secret().to_owned())))
}
