//! Reads a model's verdicts on numbered items, in any of the formats that models use.
//!
//! The prompts ask for one line each, `N: verdict - reason`. Models also answer in JSON, in tables, behind code fences
//! and after a preamble. Nothing is invented: an item with an unreadable verdict has none, and neither has an item that
//! the reply does not name.

use serde_json::{Value, json};

use super::json_in_text;

/// Longest reason kept, in characters.
const LONGEST_REASON: usize = 200;

/// The phrases that stand for each verdict, the verdict's own name first. Where a phrase of the reply contains phrases
/// of several verdicts, the first listed counts, so a phrase that contains another ("incorrect", "correct") comes
/// before it.
pub type Phrases<Verdict> = [(Verdict, &'static [&'static str])];

/// A verdict as the reply gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read<Verdict> {
    /// The verdict.
    pub verdict: Verdict,
    /// Why, in the model's words; may be empty.
    pub reason: String,
}

/// The verdicts on `count` items, in the order of their numbers.
#[must_use]
pub fn read<Verdict: Copy>(reply: &str, count: usize, phrases: &Phrases<Verdict>) -> Vec<Option<Read<Verdict>>> {
    let mut reader = Reader { phrases, found: vec![None; count] };
    reader.read_json(reply);
    if reader.is_empty() {
        reader.read_lines(reply);
    }
    if reader.is_empty()
        && let Some(verdict) = reader.only_verdict(reply)
    {
        reader.found.fill(Some(Read { verdict, reason: String::new() }));
    }
    reader.found
}

/// The JSON schema of a reply, for models that support structured output: an object with `list`, in which each item has
/// its number under `number`, one of `verdicts` under `verdict`, and a reason.
#[must_use]
pub fn schema(list: &str, number: &str, verdict: &str, verdicts: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": {
            list: {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        number: {"type": "integer"},
                        verdict: {"type": "string", "enum": verdicts},
                        "reason": {"type": "string"},
                    },
                    "required": [number, verdict, "reason"],
                    "additionalProperties": false,
                },
            },
        },
        "required": [list],
        "additionalProperties": false,
    })
}

struct Reader<'p, Verdict> {
    phrases: &'p Phrases<Verdict>,
    found: Vec<Option<Read<Verdict>>>,
}

impl<Verdict: Copy> Reader<'_, Verdict> {
    fn is_empty(&self) -> bool {
        self.found.iter().all(Option::is_none)
    }

    /// Sets the verdict on item `number` unless the reply judged it before: a model that goes on after its verdicts is
    /// explaining them.
    fn set(&mut self, number: usize, new: Read<Verdict>) {
        if let Some(slot) = number.checked_sub(1).and_then(|index| self.found.get_mut(index)) {
            slot.get_or_insert(new);
        }
    }

    /// The verdict that a phrase names: the one it begins with, else the first found in the order of the phrases.
    fn verdict_in(&self, phrase: &str) -> Option<Verdict> {
        let phrase = phrase.to_lowercase();
        let start = phrase.trim_start_matches(|c: char| !c.is_alphabetic());
        let begins = self.phrases.iter().find(|(_, words)| words.iter().any(|word| start.starts_with(word)));
        let holds = || self.phrases.iter().find(|(_, words)| words.iter().any(|word| phrase.contains(word)));
        begins.or_else(holds).map(|(verdict, _)| *verdict)
    }

    fn read_json(&mut self, reply: &str) {
        for value in json_in_text::values(reply) {
            self.read_value(&value, None);
        }
    }

    /// Walks `{"1": "correct"}`, `[{"source": 1, "grade": "correct"}]`, `["correct", …]` and nestings.
    /// `number` is the item that the enclosing value names.
    fn read_value(&mut self, value: &Value, number: Option<usize>) {
        match value {
            Value::String(text) => {
                if let (Some(number), Some(verdict)) = (number, self.verdict_in(text)) {
                    self.set(number, Read { verdict, reason: String::new() });
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.read_value(item, Some(index + 1));
                }
            }
            Value::Object(fields) => {
                let field = |names: &[&str]| {
                    fields
                        .iter()
                        .find(|(name, _)| names.contains(&name.to_lowercase().as_str()))
                        .map(|(_, value)| value)
                };
                let named = field(&NUMBER_FIELDS).and_then(as_number);
                if let Some(verdict) =
                    field(&VERDICT_FIELDS).and_then(Value::as_str).and_then(|text| self.verdict_in(text))
                {
                    let reason = field(&REASON_FIELDS).and_then(Value::as_str);
                    if let Some(number) = named.or(number) {
                        self.set(number, Read { verdict, reason: tidy(reason.unwrap_or_default()) });
                    }
                    return;
                }
                for (name, inner) in fields {
                    self.read_value(inner, first_number(name).or(named));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Reads `N: verdict - reason` lines; without numbers, exactly one line with a verdict per item in order.
    fn read_lines(&mut self, reply: &str) {
        let mut unnumbered = Vec::new();
        let mut heading: Option<usize> = None;
        let lines: Vec<&str> = reply.lines().flat_map(|line| self.entries(line)).collect();
        for line in lines.into_iter().filter(|line| !line.trim().is_empty()) {
            let numbered = numbered(line).map(|(number, rest)| (number, self.read_phrase(rest)));
            match (numbered, self.read_phrase(line)) {
                (Some((number, Some(read))), _) => {
                    self.set(number, read);
                    heading = None;
                }
                // "Source 2:" on a line of its own, its verdict on the next.
                (Some((number, None)), None) => heading = Some(number),
                (_, Some(read)) => match heading.take() {
                    Some(number) => self.set(number, read),
                    None => unnumbered.push(read),
                },
                (None, None) => {}
            }
        }
        if self.is_empty() && unnumbered.len() == self.found.len() {
            self.found = unnumbered.into_iter().map(Some).collect();
        }
    }

    fn read_phrase(&self, phrase: &str) -> Option<Read<Verdict>> {
        Some(Read { verdict: self.verdict_in(phrase)?, reason: tidy(after_first_word(phrase)) })
    }

    /// The parts of a line that lists several verdicts, `1: correct, 2: incorrect`; otherwise the line itself.
    fn entries<'l>(&self, line: &'l str) -> Vec<&'l str> {
        let parts: Vec<&str> = line.split([',', ';']).collect();
        let is_entry = |part: &&str| numbered(part).is_some_and(|(_, rest)| self.verdict_in(rest).is_some());
        if parts.len() > 1 && parts.iter().all(is_entry) { parts } else { vec![line] }
    }

    /// The verdict of a reply that consists of one verdict only, or of a reply about a single item.
    fn only_verdict(&self, reply: &str) -> Option<Verdict> {
        let bare = reply.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
        let is_bare = self.phrases.iter().any(|(_, words)| words.first().is_some_and(|name| *name == bare));
        if is_bare || self.found.len() == 1 { self.verdict_in(reply) } else { None }
    }
}

/// Names of fields that hold the number.
const NUMBER_FIELDS: [&str; 9] =
    ["source", "statement", "claim", "id", "number", "index", "n", "source_id", "document"];

/// Names of fields that hold the verdict.
const VERDICT_FIELDS: [&str; 7] = ["grade", "verdict", "label", "judgement", "judgment", "relevance", "result"];

/// Names of fields that hold the reason.
const REASON_FIELDS: [&str; 3] = ["reason", "explanation", "rationale"];

/// Words that stand before a number.
const LABELS: [&str; 7] = ["source", "statement", "claim", "document", "chunk", "passage", "id"];

/// A reason without the separator after the verdict, cut to the longest length kept.
fn tidy(reason: &str) -> String {
    let reason = reason.trim_matches(|c: char| c.is_whitespace() || "-–—:,.;|*\"'`()".contains(c));
    reason.chars().take(LONGEST_REASON).collect()
}

fn as_number(value: &Value) -> Option<usize> {
    match value {
        Value::Number(number) => number.as_u64().and_then(|number| usize::try_from(number).ok()),
        Value::String(text) => first_number(text),
        _ => None,
    }
}

fn first_number(text: &str) -> Option<usize> {
    let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits.get(..end)?.parse().ok()
}

/// The number a line starts with, behind bullets, "Source", brackets and the like, and the rest.
fn numbered(line: &str) -> Option<(usize, &str)> {
    let lowered = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let label =
        LABELS.iter().find_map(|word| lowered.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word)));
    let rest = lowered.get(label.map_or(0, str::len)..)?;
    let rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let number = rest.get(..end)?.parse().ok()?;
    Some((number, rest.get(end..)?))
}

/// The text after the first word of a line.
fn after_first_word(line: &str) -> &str {
    let is_word = |c: char| c.is_alphabetic();
    let Some(start) = line.find(is_word) else {
        return "";
    };
    let rest = line.get(start..).unwrap_or_default();
    let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
    rest.get(end..).unwrap_or_default()
}
