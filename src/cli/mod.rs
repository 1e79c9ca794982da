//! The commands of the program.

mod ask;
mod audit;
mod check;
mod cluster;
mod collections;
mod completion;
mod delete;
mod doctor;
mod documents;
mod eval;
mod extract;
mod findings;
mod healthcheck;
mod ids;
mod ingest;
mod jobs;
mod keys;
mod openapi;
mod output;
mod passage;
mod recognise;
mod refusal;
mod search;
mod serve;
mod service_call;
mod tenant_export;
mod tenants;
mod terminal;
mod unreachable;
mod webhook_secret;
mod wording;

use std::time::Duration;

use anyhow::Context as _;
use clap::{Parser, Subcommand};

use crate::{config::Config, service::error_chain};

/// Time that computing threads may continue after everything else has ended.
const LONGEST_END: Duration = Duration::from_secs(5);

/// Answers questions from your own documents and proves every claim.
#[derive(Debug, Parser)]
#[command(name = "cited", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the API and process the queue (the default).
    Serve,
    /// Only process the queue of the database at `DATABASE_URL`.
    Worker,
    /// Migrate the database to the current schema and exit.
    Migrate,
    /// Split the database at `DATABASE_URL` up by tenants over several servers, and look at it.
    Cluster(cluster::Arguments),
    /// Ask the running service one question and print the cited answer.
    Ask(ask::Arguments),
    /// Print the passages of the running service that match a query best.
    Search(search::Arguments),
    /// Hold a text against sources, claim by claim; ends with 1 if it has a fault.
    Check(check::Arguments),
    /// Send files, folders and URLs to the running service, and wait until they are indexed.
    Ingest(ingest::Arguments),
    /// List the collections of the running service.
    Collections(collections::Arguments),
    /// List the documents of the running service.
    Documents(documents::Arguments),
    /// List, show, cancel and retry jobs of the running service.
    Jobs(jobs::Arguments),
    /// Delete documents and collections of the running service.
    Delete(delete::Arguments),
    /// Measure retrieval (and answers) on folders in the BEIR layout.
    Eval(eval::Arguments),
    /// Make, list, rotate and revoke keys of the running service.
    Keys(keys::Arguments),
    /// Prove that the record of security events of the running service is whole.
    Audit(audit::Arguments),
    /// Make, list, export and delete tenants of the running service; needs a key of `CITED_API_KEYS`.
    Tenants(tenants::Arguments),
    /// Print the secret by which a receiver checks the webhooks of the running service.
    WebhookSecret(webhook_secret::Arguments),
    /// Read one document from standard input; the service starts this command itself.
    #[command(hide = true)]
    Extract(extract::Arguments),
    /// Print the `OpenAPI` document.
    Openapi,
    /// Print the script that completes these commands in a shell.
    Completion(completion::Arguments),
    /// Print the configuration in force, check what the service needs, and say whether it would start and answer.
    Doctor,
    /// Exit with 0 if the running service is ready, else with 1.
    Healthcheck(healthcheck::Arguments),
}

impl Cli {
    /// Runs the command.
    ///
    /// # Errors
    /// The error of the command, in words for an operator.
    pub fn run(self) -> anyhow::Result<()> {
        match self.command.unwrap_or(Command::Serve) {
            // Confines itself, which needs a process of one thread.
            Command::Extract(arguments) => extract::run(&arguments),
            command => {
                let runtime = tokio::runtime::Runtime::new().context("the program cannot start")?;
                let result = runtime.block_on(command.run());
                // A thread that hangs must not keep the process alive.
                runtime.shutdown_timeout(LONGEST_END);
                // Names of files and texts of other programs stand in errors.
                result.map_err(|error| anyhow::Error::msg(terminal::shown(&error_chain(error.as_ref()))))
            }
        }
    }
}

impl Command {
    async fn run(self) -> anyhow::Result<()> {
        // Every HTTP client needs one, whichever was chosen first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        match self {
            Self::Openapi => openapi::print(),
            Self::Completion(arguments) => completion::print(&arguments),
            Self::Extract(arguments) => extract::run(&arguments),
            Self::Serve => serve::serve(&Config::load()?).await,
            Self::Worker => serve::work(&Config::load()?).await,
            Self::Migrate => serve::migrate(&Config::load()?).await,
            Self::Cluster(arguments) => cluster::run(&Config::load()?, &arguments).await,
            Self::Ask(arguments) => ask::run(&Config::load()?, &arguments).await,
            Self::Search(arguments) => search::run(&Config::load()?, &arguments).await,
            Self::Check(arguments) => check::run(&Config::load()?, &arguments).await,
            Self::Collections(arguments) => collections::run(&Config::load()?, &arguments).await,
            Self::Documents(arguments) => documents::run(&Config::load()?, &arguments).await,
            Self::Jobs(arguments) => jobs::run(&Config::load()?, &arguments).await,
            Self::Delete(arguments) => delete::run(&Config::load()?, &arguments).await,
            Self::Ingest(arguments) => ingest::run(&Config::load()?, arguments).await,
            Self::Keys(arguments) => keys::run(&Config::load()?, &arguments).await,
            Self::Audit(arguments) => audit::run(&Config::load()?, &arguments).await,
            Self::WebhookSecret(arguments) => webhook_secret::run(&Config::load()?, &arguments).await,
            Self::Tenants(arguments) => tenants::run(&Config::load()?, &arguments).await,
            Self::Eval(arguments) => Box::pin(eval::run(&Config::load()?, arguments)).await,
            Self::Doctor => doctor::run(Config::load()).await,
            Self::Healthcheck(arguments) => healthcheck::run(&Config::load()?, &arguments).await,
        }
    }
}
