//! `cited healthcheck`: for container images without curl.

use std::time::Duration;

use anyhow::bail;
use clap::Args;
use url::Url;

use super::{ingest::client, service_call::service_url, unreachable::unreachable};
use crate::{config::Config, providers::remote};

/// Longest wait for the response.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Arguments of `cited healthcheck`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// URL of the service; by default the service on this machine.
    #[arg(long, value_name = "URL", value_parser = service_url)]
    server: Option<Url>,
}

/// Requests `/readyz`.
pub(super) async fn run(config: &Config, arguments: &Arguments) -> anyhow::Result<()> {
    let client = match &arguments.server {
        Some(url) => client(config, Some(url), TIMEOUT)?,
        None => remote::Client::here(config.listen, config.server.tls.is_some(), TIMEOUT)?,
    };
    let answer = client.get("/readyz").await.map_err(|error| unreachable(&client, &error))?;
    if answer.status != 200 {
        bail!("the service is not ready: HTTP {}", answer.status);
    }
    Ok(())
}
