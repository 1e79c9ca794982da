//! `cited serve`, `cited worker`, `cited migrate`.

use anyhow::{Context as _, bail};
use confine::Lock;

use super::output::print_line;
use crate::{
    app::{App, Core},
    config::{Config, Database},
    providers::local_models::{self, LocalServer},
    service::{context::Context, ingest::ExtractionSettings},
    shutdown::Shutdown,
    store::{Store, connect_options},
    telemetry,
};

/// Serves the API and processes the queue until a signal.
pub(super) async fn serve(config: &Config) -> anyhow::Result<()> {
    let telemetry = telemetry::start(&config.log, config.traces.as_ref())?;
    warn_of_settings(config);
    lock(&config.ingest.extraction).await?;
    let shutdown = Shutdown::on_signals()?;
    let app = tokio::select! {
        app = App::build(config, Context::system()) => app?,
        () = shutdown.soft.cancelled() => return Ok(()),
    };
    let scheme = if config.server.tls.is_some() { "https" } else { "http" };
    tracing::info!(address = %app.address()?, "Cited {} listens on {scheme}://{}", env!("CARGO_PKG_VERSION"), app.address()?);
    if config.looks_for_models && config.chat.providers.is_empty() {
        tokio::spawn(name_local_models(app.port()));
    }
    // The whole service is one future; on the stack it would be too large.
    let result = Box::pin(app.run_until_stopped(shutdown)).await;
    telemetry.end().await;
    result
}

/// Processes the queue until a signal.
pub(super) async fn work(config: &Config) -> anyhow::Result<()> {
    let telemetry = telemetry::start(&config.log, config.traces.as_ref())?;
    if matches!(config.database, Database::Private(_)) {
        bail!("a worker needs DATABASE_URL: the embedded database belongs to the one service that runs it");
    }
    warn_of_settings(config);
    lock(&config.ingest.extraction).await?;
    let shutdown = Shutdown::on_signals()?;
    let core = tokio::select! {
        core = Core::build(config, Context::system()) => core?,
        () = shutdown.soft.cancelled() => return Ok(()),
    };
    tracing::info!("Cited {} works on the queue of the database at DATABASE_URL", env!("CARGO_PKG_VERSION"));
    let result = Box::pin(core.work_until_stopped(shutdown)).await;
    telemetry.end().await;
    result
}

/// Closes this process to others of its user, and says which locks the process that reads documents lacks.
///
/// # Errors
/// If it lacks one that is required.
async fn lock(extraction: &ExtractionSettings) -> anyhow::Result<()> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_dumpable(false)?;
    for Lock { name, missing } in extraction.locks().await.context("documents cannot be read")? {
        match missing {
            Some(missing) if extraction.needs_locks => bail!(
                "the process that reads documents lacks the lock {name}: {missing}; set CITED_EXTRACT_LOCKS=available \
                 to read without it"
            ),
            Some(missing) => tracing::info!(lock = name, missing, "the process that reads documents lacks a lock"),
            None => {}
        }
    }
    Ok(())
}

/// Says how a model server that runs on this machine could write the answers. None is used unasked.
async fn name_local_models(own_port: u16) {
    for LocalServer { program, base_url, model } in local_models::find(own_port).await {
        tracing::info!(
            "{program} runs on this machine; to let it write the answers, start Cited with \
             CITED_CHAT_BASE_URL={base_url} CITED_CHAT_MODEL={model}"
        );
    }
}

fn warn_of_settings(config: &Config) {
    for unknown in config.unknown_variables() {
        tracing::warn!("{unknown}");
    }
    for unconfigured in config.unconfigured_choices() {
        tracing::warn!("{unconfigured}");
    }
    if let Some(exposure) = config.exposure() {
        tracing::warn!("{exposure}");
    }
}

/// Migrates the operator's database to the current schema.
pub(super) async fn migrate(config: &Config) -> anyhow::Result<()> {
    match &config.database {
        Database::Server { primary, direct, .. } => {
            let (name, url) = direct.as_ref().map_or(("DATABASE_URL", primary), |url| ("DATABASE_DIRECT_URL", url));
            let options = connect_options(url).with_context(|| format!("{name} is not a Postgres URL"))?;
            Store::migrate(&options).await?;
            print_line("the database is up to date")
        }
        Database::Private(_) => bail!("set DATABASE_URL; the embedded database is brought up to date at start"),
    }
}
