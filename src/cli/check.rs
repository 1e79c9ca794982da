//! `cited check`: holds a text against sources, claim by claim.

use std::{collections::BTreeSet, fmt::Write as _, io::Read as _, path::PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use serde_json::{Value, json};

use super::{
    findings::finding,
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
    let readable = |report: &Value| readable(report, &checked);
    let call = arguments.target.call(config, async |client| client.post("/v1/check", &body).await, readable);
    let report = call.await?;
    match items(&report, "errors").len() {
        0 => Ok(()),
        1 => bail!("the text has a fault"),
        faults => bail!("the text has {faults} faults"),
    }
}

/// Formats the claims and the faults of a text, and names the sources that they are held against.
fn readable(report: &Value, checked: &str) -> String {
    let (claims, errors) = (items(report, "claims"), items(report, "errors"));
    if claims.is_empty() && errors.is_empty() {
        return "There is no claim to check.\n".to_owned();
    }
    let mut page = String::new();
    for claim in claims {
        let support = claim.get("support").and_then(Value::as_f64).unwrap_or_default();
        let _ = writeln!(page, "{} ({support:.2}): {}", text(claim, "verdict"), one_line(text(claim, "text")));
        let said = contradiction(claim).or_else(|| claim.pointer("/citations/0"));
        if let Some(words) = said.and_then(|said| said.pointer("/quote/text")).and_then(Value::as_str) {
            let source = said.and_then(marker).map(|marker| format!("[^{marker}] ")).unwrap_or_default();
            let _ = writeln!(page, "     {source}\"{}\"", one_line(words));
        }
    }
    for error in errors {
        let _ = writeln!(page, "fault: {}", finding(error, checked));
    }
    page + &footnotes(report)
}

fn contradiction(claim: &Value) -> Option<&Value> {
    claim.get("contradiction").filter(|found| !found.is_null())
}

/// The number by which a citation or a contradiction names its source.
fn marker(said: &Value) -> Option<u64> {
    said.get("source_index").and_then(Value::as_u64).map(|index| index + 1)
}

/// Names the sources that decide about the claims.
fn footnotes(report: &Value) -> String {
    let found = items(report, "claims").iter().chain(items(report, "errors"));
    let named = found.flat_map(|one| items(one, "citations").iter().chain(contradiction(one)));
    let named: BTreeSet<u64> = named.filter_map(marker).collect();
    let footnotes = named.into_iter().filter_map(|marker| {
        let source = items(report, "sources").get(usize::try_from(marker).ok()?.checked_sub(1)?)?;
        Some(format!("\n[^{marker}] {}\n", source_name(source)))
    });
    footnotes.collect()
}

/// The title of a source, and its file or its URN.
fn source_name(source: &Value) -> String {
    let member = |name: &str| source.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    match (member("title"), member("id").or_else(|| member("urn"))) {
        (Some(title), Some(place)) => format!("{title} ({place})"),
        (title, place) => title.or(place).unwrap_or_default().to_owned(),
    }
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
            readable(&report, ""),
            "supported (0.97): 28 days.\n     \"28 days of leave.\"\nfault: unsupported_claim: no source says so\n"
        );
    }

    #[test]
    fn sources_that_decide_are_named() {
        let report = json!({
            "claims": [{"verdict": "supported", "support": 0.97, "text": "28 days.", "contradiction": null,
                        "citations": [{"source_index": 2, "quote": {"text": "28 days of leave."}}]},
                       {"verdict": "contradicted", "support": 0.02, "text": "No cars.",
                        "citations": [{"source_index": 2, "quote": null}],
                        "contradiction": {"source_index": 0, "quote": {"text": "A car is ordered."}}}],
            "errors": [{"kind": "unsupported_claim", "detail": "[^1] contradicts this statement", "span": [9, 17]}],
            "sources": [{"title": "", "id": "cars.md"}, {"title": "Unused"}, {"title": "Leave", "urn": "cited:h/d@1#0"}],
        });
        assert_eq!(
            readable(&report, "28 days. No cars."),
            "supported (0.97): 28 days.\n     [^3] \"28 days of leave.\"\n\
             contradicted (0.02): No cars.\n     [^1] \"A car is ordered.\"\n\
             fault: unsupported_claim: \"No cars.\": [^1] contradicts this statement\n\
             \n[^1] cars.md\n\n[^3] Leave (cited:h/d@1#0)\n"
        );
        assert_eq!(readable(&json!({"claims": [], "errors": []}), "Hello"), "There is no claim to check.\n");
    }
}
