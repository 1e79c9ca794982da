//! Errors for calls that the service refused, with what to do about them.

use anyhow::anyhow;
use serde_json::Value;

use super::{findings::rejection, service_call::collections, terminal::shown};
use crate::providers::remote::{Answer, Client};

/// Most collections that an error names.
const MOST_NAMED: usize = 20;

/// The error for a call that the service refused, with what to do about it.
pub(super) async fn refusal(client: &Client, answer: &Answer) -> anyhow::Error {
    let Answer { status, body, .. } = answer;
    let detail = body.get("detail").and_then(Value::as_str).unwrap_or("no detail; is this a Cited service?");
    let remedy = match status {
        401 => format!("; set CITED_API_KEY to a key of {}", client.base()),
        404 if detail.starts_with("collection ") => existing_collections(client).await.unwrap_or_default(),
        422 => rejection(body),
        _ => String::new(),
    };
    anyhow!("HTTP {status}: {}{}", shown(detail), shown(&remedy))
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
