//! Calls of commands that manage the running service, and how their results are printed.

use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use serde_json::Value;
use url::Url;

use super::ingest::client;
use crate::{
    config::Config,
    providers::remote::{Answer, Client},
};

/// Longest wait for a result; a large tenant takes a while to delete.
const TIMEOUT: Duration = Duration::from_mins(10);

/// Where the service is, and how results are printed.
#[derive(Debug, Args)]
pub(super) struct Target {
    /// URL of the service; by default the one on this machine.
    #[arg(long, global = true)]
    server: Option<Url>,
    /// Print the result as JSON.
    #[arg(long, global = true)]
    json: bool,
}

impl Target {
    /// Calls the service and prints its answer, readable by people unless JSON is wanted.
    ///
    /// # Errors
    /// If it cannot be reached or refuses.
    pub(super) async fn call(
        &self,
        config: &Config,
        request: impl AsyncFnOnce(&Client) -> Result<Answer, reqwest::Error>,
        readable: impl FnOnce(&Value) -> String,
    ) -> anyhow::Result<()> {
        let client = client(config, self.server.as_ref(), TIMEOUT)?;
        let answer = request(&client).await.with_context(|| {
            format!("no service answers at {}; start one with cited serve, or name it with --server", client.base())
        })?;
        if answer.status >= 400 {
            bail!("HTTP {}: {}", answer.status, text(&answer.body, "detail"));
        }
        if self.json {
            println!("{}", serde_json::to_string_pretty(&answer.body)?);
        } else {
            print!("{}", readable(&answer.body));
        }
        Ok(())
    }
}

/// The text of a member; a dash where there is none.
pub(super) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or("-")
}

/// The texts of a member that is a list, separated by commas.
pub(super) fn texts(value: &Value, name: &str) -> Option<String> {
    let all: Vec<&str> = value.get(name)?.as_array()?.iter().filter_map(Value::as_str).collect();
    Some(all.join(","))
}
