//! Calls of commands to the running service, and how their results are printed.

use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::Args;
use serde_json::Value;
use url::Url;

use super::{
    ingest::client,
    output::{print, print_json},
    terminal::shown,
};
use crate::{
    config::Config,
    providers::remote::{Answer, Client},
};

/// Longest wait for a result; a large tenant takes a while to delete.
const TIMEOUT: Duration = Duration::from_mins(10);
/// Most collections that an error names.
const MOST_NAMED: usize = 20;

/// Reads the URL of a service.
///
/// # Errors
/// In words for the user, if it is none.
pub(super) fn service_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    url.ok_or_else(|| "not a URL such as http://127.0.0.1:8080".to_owned())
}

/// Where the service is, and how results are printed.
#[derive(Debug, Args)]
pub(super) struct Target {
    /// URL of the service; by default `CITED_SERVER`, or the service on this machine. Its key is read from
    /// `CITED_API_KEY`.
    #[arg(long, value_name = "URL", value_parser = service_url, global = true)]
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
    ) -> anyhow::Result<Value> {
        let client = client(config, self.server.as_ref(), TIMEOUT)?;
        let answer = request(&client).await.with_context(|| {
            format!(
                "no service answers at {}; start one with cited serve, or name it with --server or CITED_SERVER",
                client.base()
            )
        })?;
        let has_failed = answer.status >= 400;
        if self.json {
            print_json(&answer.body)?;
        } else if !has_failed {
            print(readable(&answer.body))?;
        }
        if has_failed { Err(refusal(&client, &answer).await) } else { Ok(answer.body) }
    }
}

/// The error for a call that the service refused, with what to do about it.
async fn refusal(client: &Client, answer: &Answer) -> anyhow::Error {
    let Answer { status, body, .. } = answer;
    let detail = body.get("detail").and_then(Value::as_str).unwrap_or("no detail; is this a Cited service?");
    let remedy = match status {
        401 => format!("; set CITED_API_KEY to a key of {}", client.base()),
        404 if detail.starts_with("collection ") => existing_collections(client).await.unwrap_or_default(),
        _ => String::new(),
    };
    anyhow!("HTTP {status}: {}{remedy}", shown(detail))
}

/// Says which collections there are; `None` if that cannot be read.
async fn existing_collections(client: &Client) -> Option<String> {
    let all = collections(client).await.ok().flatten()?;
    if all.is_empty() {
        return Some("; there is none yet, cited ingest makes one".to_owned());
    }
    let more = if all.len() > MOST_NAMED { ", …" } else { "" };
    let named = all.get(..MOST_NAMED).unwrap_or(&all);
    Some(format!("; there are: {}{more} (--collection)", named.join(", ")))
}

/// Names of the collections that the caller may see; `None` if it may not list them.
async fn collections(client: &Client) -> Result<Option<Vec<String>>, reqwest::Error> {
    let listed = client.get("/v1/collections?limit=100").await?;
    let names = || items(&listed.body, "collections").iter().map(|one| text(one, "name").to_owned());
    Ok((listed.status == 200).then(|| names().collect()))
}

/// The body of a request about collections: those that are named, else all that the caller may see. A key that may not list
/// them leaves the choice to the service.
///
/// # Errors
/// If the service cannot be reached.
pub(super) async fn about_collections(
    client: &Client,
    named: &[String],
    mut body: Value,
) -> Result<Value, reqwest::Error> {
    let mut asked = named.to_vec();
    if asked.is_empty() {
        asked = collections(client).await?.unwrap_or_default();
    }
    if let Some(members) = body.as_object_mut().filter(|_| !asked.is_empty()) {
        members.insert("collections".to_owned(), asked.into());
    }
    Ok(body)
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

/// The elements of a member that is a list.
pub(super) fn items<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The number of a member; 0 where there is none.
pub(super) fn number(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or_default()
}

/// A part of a path or of a query, percent-encoded.
pub(super) fn encoded(part: &str) -> String {
    percent_encoding::utf8_percent_encode(part, percent_encoding::NON_ALPHANUMERIC).to_string()
}
