//! `cited healthcheck`: for container images without curl.

use std::time::Duration;

use anyhow::{Context, bail};

use crate::{config::Config, providers::remote};

/// Longest wait for the response.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Requests `/readyz` from the service on this machine.
pub(super) async fn run(config: &Config) -> anyhow::Result<()> {
    let client = remote::Client::here(config.listen, config.server.tls.is_some(), TIMEOUT)?;
    let answer = client.get("/readyz").await.context("the service does not answer")?;
    if answer.status != 200 {
        bail!("the service is not ready: HTTP {}", answer.status);
    }
    Ok(())
}
