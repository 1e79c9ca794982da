//! Parses a plan written by a model.

use serde_json::Value;

use super::{MOST_SUB_QUESTIONS, Plan, PlannedBy, Strategy};
use crate::json_in_text;

/// Longest sub-question accepted, in characters: a longer text is no question.
const LONGEST_SUB_QUESTION: usize = 500;

/// Reads the first JSON object of a reply that is a plan: with `type`, `strategy` and `sub_questions`. `None` if
/// there is none, or if it takes a question apart into nothing.
#[must_use]
pub fn read_reply(reply: &str) -> Option<Plan> {
    json_in_text::values(reply).iter().find_map(read)
}

fn read(value: &Value) -> Option<Plan> {
    let question_type = serde_json::from_value(value.get("type")?.clone()).ok()?;
    let strategy: Strategy = serde_json::from_value(value.get("strategy")?.clone()).ok()?;
    let texts = value.get("sub_questions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut sub_questions: Vec<String> = Vec::new();
    for text in texts.iter().filter_map(Value::as_str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
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
    Some(Plan { question_type, strategy, sub_questions, by: PlannedBy::Model })
}
