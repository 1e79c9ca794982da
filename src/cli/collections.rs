//! `cited collections`: the collections of the running service.

use clap::Args;
use serde_json::{Value, json};

use super::{
    service_call::{Target, encoded, items, number, text, whole_list},
    wording::counted,
};
use crate::{config::Config, providers::remote::Client};

/// Arguments of `cited collections`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Name of one collection; without it all are listed.
    name: Option<String>,
    /// Allow (true) or forbid (false) that questions to this collection are sent to the search engine of the service.
    #[arg(long, requires = "name")]
    web_search: Option<bool>,
    #[command(flatten)]
    target: Target,
}

/// Lists the collections, or changes the one that is named.
pub(super) async fn run(config: &Config, arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { name, web_search, target } = arguments;
    let path = |name: &str| format!("/v1/collections/{}", encoded(name));
    let answer = match (name, web_search) {
        (None, _) => {
            let all = async |client: &Client| whole_list(client, "/v1/collections", "collections").await;
            target.call(config, all, list).await
        }
        (Some(name), None) => target.call(config, async |client| client.get(&path(name)).await, line).await,
        (Some(name), Some(allowed)) => {
            let change = json!({"web_search": allowed});
            target.call(config, async |client| client.patch(&path(name), &change).await, line).await
        }
    };
    answer.map(drop)
}

fn list(body: &Value) -> String {
    let lines: String = items(body, "collections").iter().map(line).collect();
    if lines.is_empty() { "There is no collection yet; cited ingest makes one.\n".to_owned() } else { lines }
}

fn line(collection: &Value) -> String {
    let [documents, chunks] = ["documents", "chunks"].map(|name| number(collection, name));
    let model = collection.pointer("/embedding/model").and_then(Value::as_str).unwrap_or("-");
    let next =
        if collection.get("next_index_id").is_some_and(Value::is_string) { ", another index beside it" } else { "" };
    let web = if collection.get("web_search") == Some(&Value::Bool(true)) { ", may search the web" } else { "" };
    let (name, language) = (text(collection, "name"), text(collection, "language"));
    let (documents, chunks) = (counted(documents, "document"), counted(chunks, "chunk"));
    format!("{name}: {documents}, {chunks}, {model}, language {language}{web}{next}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collection_is_one_line() {
        let one = json!({"name": "handbook", "documents": 1, "chunks": 3, "embedding": {"model": "minilm"}, "language": "en", "next_index_id": null});
        assert_eq!(list(&json!({"collections": [one]})), "handbook: 1 document, 3 chunks, minilm, language en\n");
        assert!(list(&json!({"collections": []})).contains("cited ingest"));
    }
}
