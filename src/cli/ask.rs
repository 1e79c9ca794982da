//! `cited ask`: sends one question to the running service and prints the answer with its footnotes.

use std::{fmt::Write as _, time::Duration};

use anyhow::{Context, bail};
use clap::Args;
use serde_json::{Value, json};

use super::ingest::client;
use crate::config::Config;

/// Time added to the longest ask: for the network, and because a service elsewhere may allow longer asks.
const MARGIN: Duration = Duration::from_secs(90);

/// Arguments of `cited ask`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The question.
    question: String,
    /// Collection to answer from; may be given several times.
    #[arg(short, long, default_value = "default")]
    collection: Vec<String>,
    /// Print the whole answer as JSON.
    #[arg(long)]
    json: bool,
}

/// Sends the question and prints the answer.
pub(super) async fn run(config: &Config, arguments: &Arguments) -> anyhow::Result<()> {
    let client = client(config, None, config.ask.timeout + MARGIN)?;
    let body = json!({"question": arguments.question, "collections": arguments.collection});
    let answer = client.post("/v1/ask", &body).await.with_context(|| {
        format!("no service answers at {}; start one with cited serve, or name it with CITED_SERVER", client.base())
    })?;
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&answer.body)?);
    } else if answer.status == 200 {
        print!("{}", readable(&answer.body));
    }
    if answer.status != 200 {
        let detail = answer.body.get("detail").and_then(Value::as_str).unwrap_or("no detail");
        bail!("HTTP {}: {detail}", answer.status);
    }
    Ok(())
}

/// Formats the answer with one footnote per citation.
fn readable(body: &Value) -> String {
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |value: &Value, name: &str| value.get(name).and_then(Value::as_u64).unwrap_or_default();
    let Some(answer) = body.get("answer").and_then(Value::as_str) else {
        return format!("No answer in these documents ({}).\n", text(body, "reason"));
    };
    let mut page = format!("{answer}\n");
    let empty = Vec::new();
    for part in body.get("missing").and_then(Value::as_array).unwrap_or(&empty).iter().filter_map(Value::as_str) {
        let _ = write!(page, "\nNot in these documents: {part}\n");
    }
    let sources = body.get("sources").and_then(Value::as_array).unwrap_or(&empty);
    for citation in body.get("citations").and_then(Value::as_array).unwrap_or(&empty) {
        let index = usize::try_from(number(citation, "source_index")).unwrap_or(usize::MAX);
        let title = sources
            .get(index)
            .map(|source| format!("{} ({})", text(source, "title"), text(source, "source")))
            .unwrap_or_default();
        let _ = write!(page, "\n[^{}] {title}\n", number(citation, "marker"));
        if let Some(quote) = citation.get("quote").filter(|quote| !quote.is_null()) {
            let words = text(quote, "text").split_whitespace().collect::<Vec<_>>().join(" ");
            let _ = write!(
                page,
                "     \"{words}\"\n     characters {} to {}, ",
                number(quote, "start"),
                number(quote, "end")
            );
        } else {
            page.push_str("     ");
        }
        let _ = writeln!(page, "{}", text(citation, "urn"));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn footnotes_follow_the_answer() {
        let body = json!({
            "answer": "28 days. [^1]",
            "citations": [{"marker": 1, "source_index": 0, "urn": "cited:h/d@1#0", "quote": {"text": "28\n days.", "start": 5, "end": 13}}],
            "sources": [{"title": "Leave", "source": "leave.md"}],
        });
        let expected =
            "28 days. [^1]\n\n[^1] Leave (leave.md)\n     \"28 days.\"\n     characters 5 to 13, cited:h/d@1#0\n";
        assert_eq!(readable(&body), expected);
        assert_eq!(
            readable(&json!({"answer": null, "reason": "low_support"})),
            "No answer in these documents (low_support).\n"
        );
    }
}
