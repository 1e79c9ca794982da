//! Conversations: a message that leans on earlier ones becomes a question that stands alone.
//!
//! Nothing but words is taken from the earlier messages. They are never sources, and no answer is checked against them.

mod courtesy;
mod exchange;
mod expansion;
mod leaning;
mod reply;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde::Serialize;

pub use courtesy::{reply_to_courtesy, reply_to_reaction, reply_to_remark};
pub use expansion::{Expansion, expand, last_exchange};
pub(crate) use leaning::has_pronoun;
pub use leaning::{leans, may_lean};
pub use reply::{Condensed, UnusableQuestion, read_reply};

use super::{
    citation::{loose_marker, without_markers},
    evidence::QuestionTerms,
    lexical::analyzer::Analyzer,
};

/// Turns at the end of a conversation that are read.
const RECENT_TURNS: usize = 6;

/// Longest part of a turn that is read, in characters: an answer says at its beginning what it is about.
const LONGEST_TURN: usize = 2_000;

/// The author of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// The one who asks.
    User,
    /// The one who answers.
    Assistant,
}

/// A message before the one that is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Turn {
    /// Its author.
    pub speaker: Speaker,
    /// Its text.
    pub text: String,
}

/// The last turns of a conversation, oldest first, without citation markers, each cut to a readable length.
#[must_use]
pub fn recent(history: &[Turn]) -> Vec<Turn> {
    let first = history.len().saturating_sub(RECENT_TURNS);
    let last = history.get(first..).unwrap_or_default();
    last.iter().map(|turn| Turn { speaker: turn.speaker, text: readable(&turn.text) }).collect()
}

fn readable(text: &str) -> String {
    let end = text.char_indices().nth(LONGEST_TURN).map_or(text.len(), |(end, _)| end);
    let text = text.get(..end).unwrap_or_default();
    let strict = loose_marker::normalised(text, usize::MAX);
    without_markers(strict.as_deref().unwrap_or(text)).trim().to_owned()
}

/// How rare words are in the collections asked.
#[derive(Debug, Clone, Default)]
pub struct Rarity {
    /// Number of chunks.
    pub chunks: u64,
    /// Number of chunks that hold a stem; one without an entry is in none.
    pub document_frequencies: HashMap<String, u64>,
}

impl Rarity {
    /// The terms of a text with their weights.
    fn terms(&self, analyzer: &Analyzer, text: &str) -> QuestionTerms {
        let frequency = |stem: &str| self.document_frequencies.get(stem).copied().unwrap_or(0);
        QuestionTerms::new(analyzer, text, self.chunks, frequency)
    }
}
