//! The conversation that asks a model for a cited answer.

use super::{Message, Source, question_and_sources};

/// The instructions: fixed text, the same for every question.
pub const SYSTEM: &str = include_str!("answer.txt");

/// The model's turn if it said nothing.
const NO_WORDS: &str = "(no answer)";

/// The conversation for a first draft. The number of a source is its place in `sources`, from 1.
#[must_use]
pub fn messages(question: &str, sources: &[Source<'_>]) -> Vec<Message> {
    vec![Message::system(SYSTEM.trim_end()), Message::user(question_and_sources(question, sources))]
}

/// The conversation after a draft that the validator rejected: the same, then the draft as the
/// model's own turn, then the findings.
#[must_use]
pub fn retry_messages(question: &str, sources: &[Source<'_>], draft: &str, retry_prompt: &str) -> Vec<Message> {
    let mut conversation = messages(question, sources);
    // A turn without words is refused by some, and turns that do not alternate by others.
    conversation.push(Message::assistant(if draft.trim().is_empty() { NO_WORDS } else { draft }));
    conversation.push(Message::user(retry_prompt));
    conversation
}
