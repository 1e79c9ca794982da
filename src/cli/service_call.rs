//! Calls of commands to the running service, and how their results are printed.

use std::time::Duration;

use anyhow::bail;
use clap::Args;
use serde_json::Value;
use url::Url;

use super::{
    ingest::client,
    output::{print, print_json},
    refusal::refusal,
    unreachable::unreachable,
};
use crate::{
    config::Config,
    providers::remote::{Answer, Client},
};

/// Longest wait for a result; a large tenant takes a while to delete.
const TIMEOUT: Duration = Duration::from_mins(10);
/// Most collections that one request names.
const MOST_COLLECTIONS: usize = 32;
/// Rows that are listed at once.
pub(super) const PAGE: usize = 200;

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
    pub(super) json: bool,
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
        let client = self.client(config)?;
        let answer = request(&client).await.map_err(|error| unreachable(&client, &error))?;
        let has_failed = answer.status >= 400;
        if self.json {
            print_json(&answer.body)?;
        } else if !has_failed {
            print(readable(&answer.body))?;
        }
        if has_failed { Err(refusal(&client, &answer).await) } else { Ok(answer.body) }
    }

    /// The body of a request about collections: those that are named, else all that the caller may see. A key that may not
    /// list them leaves the choice to the service.
    ///
    /// # Errors
    /// If the service cannot be reached, or has more collections than one request may name.
    pub(super) async fn about_collections(
        &self,
        config: &Config,
        named: &[String],
        body: Value,
    ) -> anyhow::Result<Value> {
        if !named.is_empty() {
            return Ok(with(body, "collections", named.to_vec()));
        }
        let client = self.client(config)?;
        let all = collections(&client).await.map_err(|error| unreachable(&client, &error))?.unwrap_or_default();
        if all.len() > MOST_COLLECTIONS {
            bail!(
                "there are {} collections, and {MOST_COLLECTIONS} can be asked at once: choose with -c NAME, which may be \
                 given several times; cited collections lists them",
                all.len()
            );
        }
        Ok(if all.is_empty() { body } else { with(body, "collections", all) })
    }

    /// A client of the service.
    ///
    /// # Errors
    /// If the key cannot be sent, or no client can be made.
    pub(super) fn client(&self, config: &Config) -> anyhow::Result<Client> {
        client(config, self.server.as_ref(), TIMEOUT)
    }
}

/// The body of an answer that is no refusal.
///
/// # Errors
/// If the service cannot be reached or refuses.
pub(super) async fn answered(client: &Client, answer: Result<Answer, reqwest::Error>) -> anyhow::Result<Value> {
    let answer = answer.map_err(|error| unreachable(client, &error))?;
    if answer.status >= 400 { Err(refusal(client, &answer).await) } else { Ok(answer.body) }
}

/// `GET path` for a list that comes in pages: all of its pages as one, or the first answer that is none.
///
/// # Errors
/// If the service cannot be reached.
pub(super) async fn whole_list(client: &Client, path: &str, member: &str) -> Result<Answer, reqwest::Error> {
    let (mut rows, mut cursor) = (Vec::new(), String::new());
    loop {
        let mut page = client.get(&format!("{path}?limit={PAGE}{cursor}")).await?;
        let Some(Value::Array(more)) = page.body.get_mut(member).map(Value::take) else { return Ok(page) };
        rows.extend(more);
        let Some(next) = page.body.get("next_cursor").and_then(Value::as_str) else {
            return Ok(Answer { body: with(page.body, member, rows), ..page });
        };
        cursor = format!("&cursor={}", encoded(next));
    }
}

/// Says how the rest of a list is got; empty where there is none.
pub(super) fn more(page: &Value) -> String {
    let cursor = page.get("next_cursor").and_then(Value::as_str);
    cursor.map(|cursor| format!("… more with --cursor {cursor}\n")).unwrap_or_default()
}

/// Names of the collections that the caller may see; `None` if it may not list them.
///
/// # Errors
/// If the service cannot be reached.
pub(super) async fn collections(client: &Client) -> Result<Option<Vec<String>>, reqwest::Error> {
    let listed = whole_list(client, "/v1/collections", "collections").await?;
    let names = || items(&listed.body, "collections").iter().map(|one| text(one, "name").to_owned());
    Ok((listed.status == 200).then(|| names().collect()))
}

/// An object with a member that it did not have, or had otherwise.
pub(super) fn with(mut object: Value, name: &str, value: impl Into<Value>) -> Value {
    if let Some(members) = object.as_object_mut() {
        members.insert(name.to_owned(), value.into());
    }
    object
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
