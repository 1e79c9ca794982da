//! Reads a model's verdicts on numbered items: the grades of passages, and the rulings on claims.
//!
//! Tolerant of form: the prompts ask for one line each, `N: verdict - reason`; models also answer in JSON of many shapes,
//! in tables, behind code fences, after a preamble, and in other languages. Strict in sense: see [`stance`]. Nothing is
//! invented: an item with an unreadable verdict has none, and neither has an item that the reply does not name.

pub mod stance;

use serde_json::{Map, Value, json};

pub use self::stance::Stance;
use self::stance::{combined, is_bare, stance_of};
use super::json_in_text;

/// Longest reason kept, in characters.
const LONGEST_REASON: usize = 200;

/// A verdict as the reply gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// Its sense.
    pub stance: Stance,
    /// Why, in the model's words; may be empty.
    pub reason: String,
}

/// The verdicts on `count` items, in the order of their numbers.
#[must_use]
pub fn read(reply: &str, count: usize) -> Vec<Option<Read>> {
    let mut reader = Reader { found: vec![None; count] };
    reader.read_json(reply);
    if reader.is_empty() {
        reader.read_lines(reply);
    }
    if reader.is_empty()
        && let Some(stance) = reader.only_verdict(reply)
    {
        reader.found.fill(Some(Read { stance, reason: String::new() }));
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

struct Reader {
    found: Vec<Option<Read>>,
}

impl Reader {
    fn is_empty(&self) -> bool {
        self.found.iter().all(Option::is_none)
    }

    /// Sets the verdict on item `number`. Of two the first stands, since a model that goes on after its verdicts is
    /// explaining them; but an assent that is taken back later is none.
    fn set(&mut self, number: usize, new: Read) {
        let Some(slot) = number.checked_sub(1).and_then(|index| self.found.get_mut(index)) else { return };
        match slot {
            Some(known) if known.stance == Stance::Assent => known.stance = combined(known.stance, new.stance),
            Some(_) => {}
            None => *slot = Some(new),
        }
    }

    fn read_json(&mut self, reply: &str) {
        for value in json_in_text::values(reply) {
            self.read_value(&value, None);
        }
    }

    /// Walks `{"1": "correct"}`, `[{"source": 1, "grade": "correct"}]`, `{"supported": false}`, `[true, …]` and nestings.
    /// `number` is the item that the enclosing value names.
    fn read_value(&mut self, value: &Value, number: Option<usize>) {
        match value {
            Value::String(_) | Value::Bool(_) => {
                if let (Some(number), Some(stance)) = (number, stance_of_value(value)) {
                    self.set(number, Read { stance, reason: String::new() });
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.read_value(item, Some(index + 1));
                }
            }
            Value::Object(fields) => self.read_object(fields, number),
            Value::Null | Value::Number(_) => {}
        }
    }

    fn read_object(&mut self, fields: &Map<String, Value>, number: Option<usize>) {
        let named = field(fields, &NUMBER_FIELDS).and_then(as_number);
        if let Some(stance) = stance_of_fields(fields) {
            let reason = field(fields, &REASON_FIELDS).and_then(Value::as_str);
            // A reply about a single item need not number it.
            let only = (self.found.len() == 1).then_some(1);
            if let Some(number) = named.or(number).or(only) {
                self.set(number, Read { stance, reason: tidy(reason.unwrap_or_default()) });
            }
            return;
        }
        for (name, inner) in fields {
            self.read_value(inner, first_number(name).or(named));
        }
    }

    /// Reads `N: verdict - reason` lines; without numbers, exactly one line with a verdict per item in order.
    fn read_lines(&mut self, reply: &str) {
        let mut unnumbered = Vec::new();
        let mut heading: Option<usize> = None;
        for line in reply.lines().flat_map(entries).filter(|line| !line.trim().is_empty()) {
            let numbered = numbered(line).map(|(number, rest)| (number, read_phrase(rest)));
            match (numbered, read_phrase(line)) {
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

    /// The verdict of a reply about a single item, or of one that consists of one word for all. The latter is never an
    /// assent: which of the items it is about is not said.
    fn only_verdict(&self, reply: &str) -> Option<Stance> {
        let stance = stance_of(reply)?;
        let is_of_all = stance != Stance::Assent && is_bare(reply);
        (self.found.len() == 1 || is_of_all).then_some(stance)
    }
}

fn read_phrase(phrase: &str) -> Option<Read> {
    Some(Read { stance: stance_of(phrase)?, reason: tidy(after_first_word(phrase)) })
}

/// The parts of a line that lists several verdicts, `1: correct, 2: incorrect`; otherwise the line itself.
fn entries(line: &str) -> Vec<&str> {
    let parts: Vec<&str> = line.split([',', ';']).collect();
    let is_entry = |part: &&str| numbered(part).is_some_and(|(_, rest)| stance_of(rest).is_some());
    if parts.len() > 1 && parts.iter().all(is_entry) { parts } else { vec![line] }
}

/// The sense of a text or of a truth value; of numbers and of nothing there is none.
fn stance_of_value(value: &Value) -> Option<Stance> {
    match value {
        Value::String(text) => stance_of(text),
        Value::Bool(true) => Some(Stance::Assent),
        Value::Bool(false) => Some(Stance::Dissent),
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The verdict of an object: its field for verdicts, and fields whose names are verdicts themselves, such as
/// `"supported": false`. All must agree for an assent.
fn stance_of_fields(fields: &Map<String, Value>) -> Option<Stance> {
    let of_field = |(name, value): (&String, &Value)| {
        let lowered = name.to_lowercase().replace(['_', '-'], " ");
        let lowered = lowered.strip_prefix("is ").unwrap_or(&lowered);
        if VERDICT_FIELDS.contains(&lowered) {
            return stance_of_value(value);
        }
        let named = stance_of(lowered).filter(|_| is_bare(lowered))?;
        let stated = stance_of_value(value)?;
        Some(match (named, stated) {
            (Stance::Assent, stated) => stated,
            (Stance::Dissent, Stance::Assent) => Stance::Dissent,
            (Stance::Dissent | Stance::Hedge, _) => Stance::Hedge,
        })
    };
    fields.iter().filter_map(of_field).reduce(combined)
}

fn field<'f>(fields: &'f Map<String, Value>, names: &[&str]) -> Option<&'f Value> {
    fields.iter().find(|(name, _)| names.contains(&name.to_lowercase().as_str())).map(|(_, value)| value)
}

/// Names of fields that hold the number.
const NUMBER_FIELDS: [&str; 9] =
    ["source", "statement", "claim", "id", "number", "index", "n", "source_id", "document"];

/// Names of fields that hold the verdict.
const VERDICT_FIELDS: [&str; 11] = [
    "grade",
    "verdict",
    "label",
    "judgement",
    "judgment",
    "relevance",
    "result",
    "support",
    "ruling",
    "answer",
    "decision",
];

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

#[cfg(test)]
mod tests;
