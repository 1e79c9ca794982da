//! Reading a model's grading reply, whatever shape it came in.
//!
//! The prompt asks for one line per source, `N: grade - reason`. Models also answer in JSON, in
//! tables, behind code fences and after a preamble. What cannot be read is ambiguous, and so is a
//! source that the reply does not name: a verdict is never invented. Where a phrase holds several
//! grades "incorrect" is looked for before "correct", which it contains.

use serde_json::Value;

use super::{Grade, Verdict};
use crate::domain::json_in_text;

/// Longest reason kept, in characters.
const LONGEST_REASON: usize = 200;

/// Phrases by grade, in the order in which they are looked for.
const PHRASES: [(Grade, &[&str]); 3] = [
    (Grade::Incorrect, &["incorrect", "not correct", "irrelevant", "not relevant", "unrelated"]),
    (Grade::Ambiguous, &["ambiguous", "partial", "unclear", "unsure", "uncertain"]),
    (Grade::Correct, &["correct", "relevant"]),
];

/// The verdicts on `sources` sources, in their order.
#[must_use]
pub fn read(reply: &str, sources: usize) -> Vec<Verdict> {
    let mut verdicts: Vec<Option<Verdict>> = vec![None; sources];
    if !read_json(reply, &mut verdicts) {
        read_lines(reply, &mut verdicts);
    }
    if verdicts.iter().all(Option::is_none)
        && let Some(grade) = only_grade(reply, sources)
    {
        verdicts.fill(Some(verdict(grade, "")));
    }
    let missing = || verdict(Grade::Ambiguous, "the reply does not grade this source");
    verdicts.into_iter().map(|verdict| verdict.unwrap_or_else(missing)).collect()
}

fn verdict(grade: Grade, reason: &str) -> Verdict {
    let reason = reason.trim_matches(|c: char| c.is_whitespace() || "-–—:,.;|*\"'`()".contains(c));
    Verdict { grade, probability: None, is_clear: true, reason: reason.chars().take(LONGEST_REASON).collect() }
}

/// Sets the verdict on source `number` unless the reply graded it before: a model that goes on
/// after its verdicts is explaining them.
fn set(verdicts: &mut [Option<Verdict>], number: usize, new: Verdict) {
    if let Some(slot) = number.checked_sub(1).and_then(|index| verdicts.get_mut(index)) {
        slot.get_or_insert(new);
    }
}

/// The grade that a phrase names: the one it begins with, else the first found in the order above.
fn grade_in(phrase: &str) -> Option<Grade> {
    let phrase = phrase.to_lowercase();
    let start = phrase.trim_start_matches(|c: char| !c.is_alphabetic());
    let begins = PHRASES.iter().find(|(_, words)| words.iter().any(|word| start.starts_with(word)));
    let holds = || PHRASES.iter().find(|(_, words)| words.iter().any(|word| phrase.contains(word)));
    begins.or_else(holds).map(|(grade, _)| *grade)
}

/// Reads the JSON in the reply; whether any of it grades anything.
fn read_json(reply: &str, verdicts: &mut [Option<Verdict>]) -> bool {
    for value in json_in_text::values(reply) {
        read_value(&value, None, verdicts);
    }
    verdicts.iter().any(Option::is_some)
}

/// Walks `{"1": "correct"}`, `[{"source": 1, "grade": "correct"}]`, `["correct", …]` and nestings.
/// `number` is the source that the surroundings name.
fn read_value(value: &Value, number: Option<usize>, verdicts: &mut [Option<Verdict>]) {
    match value {
        Value::String(text) => {
            if let (Some(number), Some(grade)) = (number, grade_in(text)) {
                set(verdicts, number, verdict(grade, ""));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                read_value(item, Some(index + 1), verdicts);
            }
        }
        Value::Object(fields) => {
            let field = |names: &[&str]| {
                fields.iter().find(|(name, _)| names.contains(&name.to_lowercase().as_str())).map(|(_, value)| value)
            };
            let named = field(&["source", "id", "number", "index", "n", "source_id", "document"]).and_then(as_number);
            let graded = field(&["grade", "verdict", "label", "judgement", "judgment", "relevance", "result"]);
            if let Some(grade) = graded.and_then(Value::as_str).and_then(grade_in) {
                let reason = field(&["reason", "explanation", "rationale"]).and_then(Value::as_str);
                if let Some(number) = named.or(number) {
                    set(verdicts, number, verdict(grade, reason.unwrap_or_default()));
                }
                return;
            }
            for (name, inner) in fields {
                read_value(inner, first_number(name).or(named), verdicts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
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

/// Reads `N: grade - reason` lines; without numbers, exactly one graded line per source in order.
fn read_lines(reply: &str, verdicts: &mut [Option<Verdict>]) {
    let mut unnumbered = Vec::new();
    let mut heading: Option<usize> = None;
    for line in reply.lines().flat_map(entries).filter(|line| !line.trim().is_empty()) {
        match (numbered(line), grade_in(line)) {
            (Some((number, rest)), _) if grade_in(rest).is_some() => {
                let grade = grade_in(rest).unwrap_or(Grade::Ambiguous);
                set(verdicts, number, verdict(grade, after_grade(rest)));
                heading = None;
            }
            // "Source 2:" on a line of its own, its grade on the next.
            (Some((number, _)), None) => heading = Some(number),
            (_, Some(grade)) => match heading.take() {
                Some(number) => set(verdicts, number, verdict(grade, after_grade(line))),
                None => unnumbered.push(verdict(grade, after_grade(line))),
            },
            (None, None) => {}
        }
    }
    if verdicts.iter().all(Option::is_none) && unnumbered.len() == verdicts.len() {
        for (slot, verdict) in verdicts.iter_mut().zip(unnumbered) {
            *slot = Some(verdict);
        }
    }
}

/// The parts of a line that lists several verdicts, `1: correct, 2: incorrect`; else the line.
fn entries(line: &str) -> Vec<&str> {
    let parts: Vec<&str> = line.split([',', ';']).collect();
    let is_entry = |part: &&str| numbered(part).is_some_and(|(_, rest)| grade_in(rest).is_some());
    if parts.len() > 1 && parts.iter().all(is_entry) { parts } else { vec![line] }
}

/// The number a line starts with, behind bullets, "Source", brackets and the like, and the rest.
fn numbered(line: &str) -> Option<(usize, &str)> {
    let lowered = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let label = ["source", "document", "chunk", "passage", "id"]
        .iter()
        .find_map(|word| lowered.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word)));
    let rest = lowered.get(label.map_or(0, str::len)..)?;
    let rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let number = rest.get(..end)?.parse().ok()?;
    Some((number, rest.get(end..)?))
}

/// What follows the first grade word of a line.
fn after_grade(line: &str) -> &str {
    let is_word = |c: char| c.is_alphabetic();
    let Some(start) = line.find(is_word) else {
        return "";
    };
    let rest = line.get(start..).unwrap_or_default();
    let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
    rest.get(end..).unwrap_or_default()
}

/// The grade of a reply that is nothing but a grade, or of one about a single source.
fn only_grade(reply: &str, sources: usize) -> Option<Grade> {
    let bare = reply.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    let is_bare = ["incorrect", "ambiguous", "correct"].contains(&bare.as_str());
    if is_bare || sources == 1 { grade_in(reply) } else { None }
}

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;
