//! `cited check`: holds a text against sources, claim by claim.

use std::{fmt::Write as _, io::Read as _, path::PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use serde_json::{Value, json};

use super::{
    passage::one_line,
    service_call::{Target, items, text},
};
use crate::config::Config;

/// Arguments of `cited check`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The text; - reads it from standard input.
    text: String,
    #[command(flatten)]
    against: AgainstArguments,
    /// How strictly it is checked: structural, cited or supported.
    #[arg(long, default_value = "supported")]
    level: String,
    #[command(flatten)]
    target: Target,
}

/// Sources of one kind.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct AgainstArguments {
    /// Collection to search for evidence; may be given several times.
    #[arg(short, long)]
    collection: Vec<String>,
    /// File with a passage to hold it against, as text; may be given several times, in the order of the markers.
    #[arg(long, value_name = "FILE")]
    passage: Vec<PathBuf>,
    /// URN of a passage to hold it against; may be given several times, in the order of the markers.
    #[arg(long)]
    urn: Vec<String>,
}

impl AgainstArguments {
    /// Name and value of the member of the request.
    fn read(&self) -> anyhow::Result<(&'static str, Value)> {
        if !self.collection.is_empty() {
            return Ok(("collections", json!(self.collection)));
        }
        if !self.urn.is_empty() {
            return Ok(("urns", json!(self.urn)));
        }
        let mut passages = Vec::with_capacity(self.passage.len());
        for path in &self.passage {
            let passage = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            passages.push(json!({"id": path.display().to_string(), "text": passage}));
        }
        Ok(("passages", Value::Array(passages)))
    }
}

/// Checks the text and prints its claims. Fails if it has a fault.
pub(super) async fn run(config: &Config, arguments: &Arguments) -> anyhow::Result<()> {
    let checked = if arguments.text == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("standard input is no text")?;
        text
    } else {
        arguments.text.clone()
    };
    let (kind, sources) = arguments.against.read()?;
    let body = json!({"text": checked, kind: sources, "level": arguments.level});
    let call = arguments.target.call(config, async |client| client.post("/v1/check", &body).await, readable);
    let report = call.await?;
    match items(&report, "errors").len() {
        0 => Ok(()),
        1 => bail!("the text has a fault"),
        faults => bail!("the text has {faults} faults"),
    }
}

fn readable(report: &Value) -> String {
    let mut page = String::new();
    for claim in items(report, "claims") {
        let support = claim.get("support").and_then(Value::as_f64).unwrap_or_default();
        let _ = writeln!(page, "{} ({support:.2}): {}", text(claim, "verdict"), one_line(text(claim, "text")));
        let said = claim.pointer("/contradiction/quote/text").or_else(|| claim.pointer("/citations/0/quote/text"));
        if let Some(words) = said.and_then(Value::as_str) {
            let _ = writeln!(page, "     \"{}\"", one_line(words));
        }
    }
    for error in items(report, "errors") {
        let _ = writeln!(page, "fault: {}: {}", text(error, "kind"), text(error, "detail"));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_have_their_verdict_and_the_words_that_decide_it() {
        let report = json!({
            "claims": [{"verdict": "supported", "support": 0.97, "text": "28 days.", "contradiction": null,
                        "citations": [{"quote": {"text": "28\ndays of leave."}}]}],
            "errors": [{"kind": "unsupported_claim", "detail": "no source says so"}],
        });
        assert_eq!(
            readable(&report),
            "supported (0.97): 28 days.\n     \"28 days of leave.\"\nfault: unsupported_claim: no source says so\n"
        );
    }
}
