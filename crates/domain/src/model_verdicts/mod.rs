//! Reads a model's verdicts on numbered items: the grades of passages, and the rulings on claims.
//!
//! Tolerant of form: the prompts ask for one line each, `N: verdict - reason`; models also answer in JSON of many shapes,
//! in tables, behind code fences, after a preamble or their thoughts, and in other languages. Strict in sense: see
//! [`stance`]. Nothing is invented: an item that the reply does not name has no verdict, and if there is none in the whole
//! reply, no item has one.

mod json;
mod numbered;
mod reason;
pub mod stance;
mod vocabulary;

use serde_json::{Value, json};

pub use self::stance::Stance;
use self::{
    json::Json,
    numbered::{after_first_word, numbered, tidy},
    stance::{combined, is_bare, stance_of},
};
use super::json_in_text;

/// A verdict as the reply gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// Its sense.
    pub stance: Stance,
    /// Why, in the model's words; may be empty.
    pub reason: String,
}

impl Read {
    const fn bare(stance: Stance) -> Self {
        Self { stance, reason: String::new() }
    }
}

/// The verdicts on `count` items, in the order of their numbers.
#[must_use]
pub fn read(reply: &str, count: usize) -> Vec<Option<Read>> {
    // The reasoning that some models print first is no verdict.
    let reply = reply.rsplit_once("</think>").map_or(reply, |(_, said)| said);
    let mut reader = Reader { found: vec![None; count], unnumbered: Vec::new(), unclear: Vec::new() };
    let values = json_in_text::find::<Json>(reply);
    for value in &values.found {
        reader.read_json(value);
    }
    reader.take_unnumbered();
    // Text beside the JSON may take it back. `[2]` is no JSON but the number of a line.
    let text = if values.found.iter().all(Json::is_number_in_brackets) { reply } else { &values.rest };
    reader.read_lines(text);
    reader.take_unnumbered();
    if reader.is_empty() {
        reader.read_as_one(text);
    }
    reader.finish()
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
    /// Verdicts without a number, in their order.
    unnumbered: Vec<Read>,
    /// Numbers of entries without a readable verdict, and their words.
    unclear: Vec<(usize, String)>,
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

    /// Gives verdicts without a number to the items in their order, if there are as many. A single one is of all items,
    /// but never an assent: which of them it is about is not said.
    fn take_unnumbered(&mut self) {
        let mut unnumbered = std::mem::take(&mut self.unnumbered);
        if !self.is_empty() {
            return;
        }
        if unnumbered.len() == self.found.len() {
            self.found = unnumbered.into_iter().map(Some).collect();
        } else if unnumbered.len() == 1
            && let Some(read) = unnumbered.pop()
            && read.stance != Stance::Assent
            && read.reason.is_empty()
        {
            self.found.fill(Some(read));
        }
    }

    /// Reads `N: verdict - reason` lines, and lines with a verdict without a number.
    fn read_lines(&mut self, reply: &str) {
        let mut heading: Option<(usize, &str)> = None;
        for line in reply.lines().flat_map(entries).filter(|line| !line.trim().is_empty()) {
            let numbered = numbered(line).map(|(number, rest)| (number, rest, read_phrase(rest)));
            match (numbered, read_phrase(line)) {
                (Some((number, _, Some(read))), _) => {
                    self.set(number, read);
                    self.note_unclear(heading.take());
                }
                // "Source 2:" on a line of its own, its verdict on the next.
                (Some((number, rest, None)), None) => self.note_unclear(heading.replace((number, rest))),
                (_, Some(read)) => match heading.take() {
                    Some((number, _)) => self.set(number, read),
                    // Text after the verdict on a single item may take it back.
                    None if self.found.len() == 1 && !self.is_empty() => self.set(1, read),
                    None => self.unnumbered.push(read),
                },
                (None, None) => {}
            }
        }
        self.note_unclear(heading);
    }

    fn note_unclear(&mut self, entry: Option<(usize, &str)>) {
        if let Some((number, words)) = entry.filter(|(_, words)| words.contains(char::is_alphabetic)) {
            self.unclear.push((number, tidy(words)));
        }
    }

    /// Reads the verdict of a reply about a single item, or of one that is a single verdict for all of them, which is no
    /// assent.
    fn read_as_one(&mut self, reply: &str) {
        let Some(stance) = stance_of(reply) else { return };
        let is_of_all = stance != Stance::Assent && is_bare(reply);
        if self.found.len() == 1 || is_of_all {
            self.found.fill(Some(Read::bare(stance)));
        }
    }

    /// The verdicts. An item of which something is said that is no readable verdict has none that is plain, where the
    /// rest of the reply can be read.
    fn finish(mut self) -> Vec<Option<Read>> {
        if !self.is_empty() {
            for (number, reason) in std::mem::take(&mut self.unclear) {
                let slot = number.checked_sub(1).and_then(|index| self.found.get_mut(index));
                if let Some(slot @ None) = slot {
                    *slot = Some(Read { stance: Stance::Hedge, reason });
                }
            }
        }
        self.found
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

#[cfg(test)]
mod tests;
