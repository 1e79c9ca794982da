//! `cited webhook-secret`: prints the secret by which a receiver checks the webhooks of a running service.

use clap::Args;
use url::form_urlencoded;

use super::service_call::{Target, text};
use crate::config::Config;

/// Arguments of `cited webhook-secret`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// URL of the receiver, such as <https://hooks.example.org>; its path does not matter.
    url: String,
    #[command(flatten)]
    target: Target,
}

/// Calls the service and prints what it answers.
pub(super) async fn run(config: &Config, arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { url, target } = arguments;
    let query: String = form_urlencoded::byte_serialize(url.as_bytes()).collect();
    let path = format!("/v1/webhooks/secret?url={query}");
    target
        .call(config, async |client| client.get(&path).await, |body| format!("{}\n", text(body, "secret")))
        .await
        .map(drop)
}
