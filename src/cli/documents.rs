//! `cited documents`: the documents of the running service.

use std::fmt::Write as _;

use clap::Args;
use serde_json::Value;

use super::service_call::{Target, encoded, items, more, number, text};
use crate::config::Config;

/// Arguments of `cited documents`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Collection whose documents are listed; without it those of all.
    #[arg(short, long)]
    collection: Option<String>,
    /// Beginning of the source of the documents.
    #[arg(long)]
    source_prefix: Option<String>,
    /// Most documents, newest first.
    #[arg(long, default_value_t = 50)]
    limit: usize,
    /// Where to go on: what an earlier list ended with.
    #[arg(long)]
    cursor: Option<String>,
    #[command(flatten)]
    target: Target,
}

/// Lists the documents.
pub(super) async fn run(config: &Config, arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { collection, source_prefix, limit, cursor, target } = arguments;
    let mut path = format!("/v1/documents?limit={limit}");
    for (name, value) in [("collection", collection), ("source_prefix", source_prefix), ("cursor", cursor)] {
        if let Some(value) = value {
            let _ = write!(path, "&{name}={}", encoded(value));
        }
    }
    target.call(config, async |client| client.get(&path).await, list).await.map(drop)
}

fn list(body: &Value) -> String {
    let mut page: String = items(body, "documents").iter().map(line).collect();
    if page.is_empty() {
        page.push_str("There is no such document.\n");
    }
    page.push_str(&more(body));
    page
}

fn line(document: &Value) -> String {
    let [id, collection, source, updated] =
        ["id", "collection", "source", "updated_at"].map(|member| text(document, member));
    let [version, characters] = ["version", "characters"].map(|member| number(document, member));
    format!("{id}  {collection}/{source}  version {version}, {characters} characters, {updated}\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_document_is_one_line_and_the_next_page_is_named() {
        let one = json!({"id": "1", "collection": "h", "source": "a.md", "version": 2, "characters": 50, "updated_at": "2026-01-01T00:00:00Z"});
        let shown = list(&json!({"documents": [one], "next_cursor": "abc"}));
        assert_eq!(shown, "1  h/a.md  version 2, 50 characters, 2026-01-01T00:00:00Z\n… more with --cursor abc\n");
    }
}
