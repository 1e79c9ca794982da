//! `cited search`: the best passages for a query.

use std::fmt::Write as _;

use clap::Args;
use serde_json::{Value, json};

use super::{
    passage::{named, one_line},
    service_call::{Target, items, text},
};
use crate::{config::Config, domain::notices};

/// Arguments of `cited search`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The query.
    query: String,
    /// Collection to search; may be given several times. All of them if none is given.
    #[arg(short, long)]
    collection: Vec<String>,
    /// Most passages.
    #[arg(long, default_value_t = 10)]
    top_k: usize,
    /// Print the passages whole.
    #[arg(long)]
    whole: bool,
    #[command(flatten)]
    target: Target,
}

/// Searches and prints the passages.
pub(super) async fn run(config: &Config, arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { query, collection, top_k, whole, target } = arguments;
    let body = target.about_collections(config, collection, json!({"query": query, "top_k": top_k})).await?;
    let readable = |found: &Value| readable(found, *whole);
    target.call(config, async |client| client.post("/v1/search", &body).await, readable).await.map(drop)
}

fn readable(found: &Value, is_whole: bool) -> String {
    let results = items(found, "results");
    if results.is_empty() {
        return "Nothing was found.\n".to_owned();
    }
    let mut page = String::new();
    for (place, source) in results.iter().enumerate() {
        let words = text(source, "text");
        let words = if is_whole { one_line(words) } else { notices::beginning(words) };
        let score = source.pointer("/scores/fused").and_then(Value::as_f64).unwrap_or_default();
        let (name, urn) = (named(source), text(source, "urn"));
        let _ = writeln!(page, "{}. {name}\n   \"{words}\"\n   score {score:.2}, {urn}", place + 1);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_are_numbered_and_named() {
        let source = json!({"title": "Leave", "source": "leave.md", "page": 4, "heading": [], "urn": "cited:h/d@1#0",
                            "text": "28 days\nof leave.", "scores": {"fused": 0.875}});
        let shown = readable(&json!({"results": [source]}), true);
        assert_eq!(shown, "1. Leave, p. 4 (leave.md)\n   \"28 days of leave.\"\n   score 0.88, cited:h/d@1#0\n");
        assert_eq!(readable(&json!({"results": []}), false), "Nothing was found.\n");
    }
}
