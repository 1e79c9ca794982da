//! Parses a plan written by a model.

use serde::Serialize;
use serde_json::Value;

use super::{MOST_SUB_QUESTIONS, Plan, PlannedBy, QuestionType, Strategy};
use crate::json_in_text;

/// Most characters of a reason that are kept: it is for people who read the trace.
const LONGEST_REASONING: usize = 500;
/// Longest sub-question accepted, in characters: a longer text is no question.
const LONGEST_SUB_QUESTION: usize = 500;

/// Reads the first JSON object of a reply that is a plan: with `type`, `strategy` and `sub_questions`. `None` if
/// there is none, or if it takes a question apart into nothing.
#[must_use]
pub fn read_reply(reply: &str) -> Option<Plan> {
    json_in_text::values(reply).iter().find_map(read)
}

/// The item whose name in the API is written here, in whatever case and form: `multi_hop`, `MultiHop`, `MULTI-HOP`.
fn named<Item: Copy + Serialize>(all: &[Item], written: &Value) -> Option<Item> {
    let plain = |name: &Value| -> Option<String> {
        Some(name.as_str()?.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect())
    };
    let written = plain(written)?;
    all.iter().copied().find(|item| {
        let name = serde_json::to_value(item).ok();
        name.as_ref().and_then(plain).is_some_and(|name| name == written)
    })
}

fn read(value: &Value) -> Option<Plan> {
    let question_type = named(&QuestionType::ALL, value.get("type")?)?;
    let strategy = named(&Strategy::ALL, value.get("strategy")?)?;
    let texts = value.get("sub_questions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut sub_questions: Vec<String> = Vec::new();
    for text in texts.iter().filter_map(Value::as_str) {
        let text = on_one_line(text);
        let is_fit = text.chars().any(char::is_alphanumeric) && text.chars().count() <= LONGEST_SUB_QUESTION;
        if is_fit && !sub_questions.contains(&text) && sub_questions.len() < MOST_SUB_QUESTIONS {
            sub_questions.push(text);
        }
    }
    let needed = match strategy {
        Strategy::Direct | Strategy::BroadThenRerank => 0,
        Strategy::Rewrite => 1,
        Strategy::Decompose => 2,
    };
    if sub_questions.len() < needed {
        return None;
    }
    if needed < 2 {
        sub_questions.truncate(needed);
    }
    let reasoning = value.get("reasoning").and_then(Value::as_str).map(on_one_line).filter(|text| !text.is_empty());
    let reasoning = reasoning.map(|text| text.chars().take(LONGEST_REASONING).collect());
    Some(Plan { question_type, strategy, sub_questions, reasoning, by: PlannedBy::Model })
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
