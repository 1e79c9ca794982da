//! `cited ask`: sends one question to the running service and prints the answer with its footnotes.

use std::fmt::Write as _;

use clap::Args;
use serde_json::{Value, json};

use super::{
    findings::finding,
    passage::{named, named_at, one_line},
    service_call::{Target, items, number, with},
};
use crate::{
    config::Config,
    domain::{notices, spelling::Correction},
};

/// Arguments of `cited ask`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The question.
    question: String,
    /// Collection to answer from; may be given several times. All of them if none is given.
    #[arg(short, long)]
    collection: Vec<String>,
    /// How strictly the answer is checked; cited unless it is given.
    #[arg(long, value_name = "LEVEL", value_parser = ["structural", "cited", "supported", "off"])]
    validation: Option<String>,
    #[command(flatten)]
    target: Target,
}

/// Sends the question and prints the answer.
pub(super) async fn run(config: &Config, arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { question, collection, validation, target } = arguments;
    // The errors of a rejected draft are about words of it.
    let body = json!({"question": question, "include": ["draft"]});
    let body = match validation {
        Some(level) => with(body, "validation", level.as_str()),
        None => body,
    };
    let body = target.about_collections(config, collection, body).await?;
    target.call(config, async |client| client.post("/v1/ask", &body).await, readable).await.map(drop)
}

/// Formats the answer with its footnotes; an abstention with the nearest passages.
fn readable(body: &Value) -> String {
    let Some(answer) = body.get("answer").and_then(Value::as_str) else { return abstention(body) };
    let is_passages = !items(body, "passages").is_empty();
    let mut page = corrections(body);
    if is_passages {
        let _ = write!(page, "{}\n\n", notices::PASSAGES);
    }
    let _ = writeln!(page, "{answer}");
    for notice in notices::unanswered(answer, items(body, "missing").iter().filter_map(Value::as_str)) {
        let _ = write!(page, "\n{notice}\n");
    }
    page.push_str(&warnings(body, answer));
    let mut told = Vec::new();
    for citation in items(body, "citations") {
        let marker = number(citation, "marker");
        // The quotes of a passage are the passage.
        if is_passages && told.contains(&marker) {
            continue;
        }
        told.push(marker);
        let footnote = footnote(body, citation, !is_passages);
        // Several markers of one claim have one quote.
        if !page.contains(&footnote) {
            page.push_str(&footnote);
        }
    }
    page
}

/// Formats a citation: its source, the words that it quotes, and where they are.
fn footnote(body: &Value, citation: &Value, is_quoted: bool) -> String {
    let index = usize::try_from(number(citation, "source_index")).unwrap_or(usize::MAX);
    let title = match (items(body, "sources").get(index), citation.get("page")) {
        (Some(source), Some(page)) => named_at(source, page.as_i64()),
        (Some(source), None) => named(source),
        (None, _) => String::new(),
    };
    let mut footnote = format!("\n[^{}] {title}\n     ", number(citation, "marker"));
    if let Some(quote) = citation.get("quote").filter(|quote| !quote.is_null() && is_quoted) {
        let (words, start, end) = (one_line(text(quote, "text")), number(quote, "start"), number(quote, "end"));
        let _ = write!(footnote, "\"{words}\"\n     characters {start} to {end}, ");
    }
    footnote + text(citation, "urn") + "\n"
}

/// Formats the warnings of the check, each with the words of the answer that it is about.
fn warnings(body: &Value, answer: &str) -> String {
    let found = items(&body["validation"], "warnings");
    let lines: String = found.iter().map(|warning| format!("warning: {}\n", finding(warning, answer))).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// Formats an abstention with the beginnings of the nearest passages; the reply to a message that asks nothing.
fn abstention(body: &Value) -> String {
    if let Some(reply) = body.get("reply").and_then(Value::as_str) {
        return format!("{reply}\n");
    }
    let mut page = corrections(body);
    let _ = writeln!(page, "{}", no_answer(text(body, "reason")));
    let unknown: Vec<&str> = items(body, "unknown_terms").iter().filter_map(Value::as_str).collect();
    if let Some(notice) = notices::unknown(&unknown) {
        let _ = writeln!(page, "{notice}");
    }
    for (place, source) in items(body, "sources").iter().take(notices::MOST_CLOSEST).enumerate() {
        if place == 0 {
            page.push_str("\nClosest:\n");
        }
        let _ = writeln!(page, "  - {}: \"{}\"", named(source), notices::beginning(text(source, "text")));
    }
    page.push_str(&warnings(body, ""));
    page
}

/// Says why there is no answer.
fn no_answer(reason: &str) -> String {
    match reason {
        "no_relevant_content" => "No answer in these documents: none of the passages found answers it.".to_owned(),
        "low_support" => "No sure answer in these documents: no passage surely answers it.".to_owned(),
        "model_declined" => "No answer in these documents: the model found none in the passages.".to_owned(),
        "empty_collection" => "No answer: the collections asked hold no documents.".to_owned(),
        "out_of_budget" => "No answer: more model calls would have been needed than are allowed.".to_owned(),
        other => format!("No answer in these documents ({other})."),
    }
}

/// Formats how words of the question were read, if not as they were written.
fn corrections(body: &Value) -> String {
    let read = |word: &Value| {
        let correction = Correction { from: text(word, "from").to_owned(), to: text(word, "to").to_owned() };
        notices::read_as(&correction) + "\n"
    };
    items(body, "corrected").iter().map(read).collect()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn footnotes_follow_the_answer() {
        let body = json!({
            "answer": "28 days. [^1]",
            "citations": [{"marker": 1, "source_index": 0, "urn": "cited:h/d@1#0", "quote": {"text": "28\n days.", "start": 5, "end": 13}}],
            "sources": [{"title": "Leave", "source": "leave.md", "page": 4, "heading": ["Parents"]}],
        });
        let expected = "28 days. [^1]\n\n[^1] Leave, p. 4, Parents (leave.md)\n     \"28 days.\"\n     characters 5 to 13, cited:h/d@1#0\n";
        assert_eq!(readable(&body), expected);
        assert_eq!(
            readable(&json!({"answer": null, "reason": "low_support"})),
            "No sure answer in these documents: no passage surely answers it.\n"
        );
    }

    #[test]
    fn a_quote_is_shown_once() {
        let cite = |words: &str, start: usize| {
            json!({"marker": 1, "source_index": 0, "urn": "cited:h/d@1#0",
                   "quote": {"text": words, "start": start, "end": start + words.len()}})
        };
        let body = json!({
            "answer": "1.0 [^1] It is open. [^1] It is new. [^1]",
            "citations": [cite("It is open.", 0), cite("It is open.", 0), cite("It is new.", 12)],
            "sources": [{"title": "Doors", "source": "doors.md"}],
        });
        let shown = readable(&body);
        assert_eq!(
            (shown.matches("\"It is open.\"").count(), shown.matches("\"It is new.\"").count()),
            (1, 1),
            "{shown}"
        );
    }

    #[test]
    fn passages_have_one_footnote_for_each_source() {
        let citation = json!({"marker": 2, "source_index": 1, "urn": "cited:h/d@1#0", "quote": {"text": "Open it.", "start": 0, "end": 8}});
        let body = json!({
            "answer": "1. Open it. [^2]\n2. Close it. [^2]",
            "passages": [{"source_index": 1, "reason": "steps", "about": null}],
            "citations": [citation, citation],
            "sources": [{}, {"title": "Doors", "source": "doors.md"}],
        });
        assert_eq!(
            readable(&body),
            "No sentence of these documents surely answers this. They say about it:\n\n1. Open it. [^2]\n2. Close it. [^2]\n\n[^2] Doors (doors.md)\n     cited:h/d@1#0\n"
        );
    }

    #[test]
    fn what_is_missing_is_said_once_and_corrections_are_said() {
        let body = json!({
            "answer": "28 days. [^1]\n\nThe sources do not say who repairs laptops.",
            "missing": ["Who repairs laptops?", "why?"],
            "corrected": [{"from": "laptpos", "to": "laptops"}],
        });
        assert_eq!(
            readable(&body),
            "Read \"laptpos\" as \"laptops\".\n28 days. [^1]\n\nThe sources do not say who repairs laptops.\n\nThese documents do not answer: why?\n"
        );
        let abstention = json!({"answer": null, "reason": "low_support", "unknown_terms": ["rsync", "nginx"]});
        assert_eq!(
            readable(&abstention),
            "No sure answer in these documents: no passage surely answers it.\nNo document holds: rsync, nginx\n"
        );
    }

    #[test]
    fn warnings_stand_below_the_answer_and_quote_it() {
        let warning = json!({"kind": "unsupported_claim", "detail": "[^1] contradicts this statement", "span": [0, 8]});
        let body = json!({"answer": "45 days. [^1]", "validation": {"warnings": [warning]}});
        assert_eq!(
            readable(&body),
            "45 days. [^1]\n\nwarning: unsupported_claim: \"45 days.\": [^1] contradicts this statement\n"
        );
        let skipped = json!({"kind": "model_skipped", "detail": "it was not asked", "span": null});
        let body = json!({"answer": null, "reason": "low_support", "validation": {"warnings": [skipped]}});
        assert!(readable(&body).ends_with("\n\nwarning: model_skipped: it was not asked\n"), "{}", readable(&body));
    }

    #[test]
    fn a_greeting_is_returned() {
        let body = json!({"answer": null, "reason": "no_question", "reply": "Hello."});
        assert_eq!(readable(&body), "Hello.\n");
    }

    #[test]
    fn an_abstention_shows_the_closest_passages() {
        let source = json!({"title": "Doors", "source": "doors.md", "text": "Doors\nopen inwards."});
        let body = json!({"answer": null, "reason": "low_support", "sources": [source, source, source, source]});
        let closest = "  - Doors (doors.md): \"Doors open inwards.\"\n".repeat(3);
        assert_eq!(
            readable(&body),
            format!("No sure answer in these documents: no passage surely answers it.\n\nClosest:\n{closest}")
        );
    }
}
