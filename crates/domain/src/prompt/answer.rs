//! The conversation that asks a model for a cited answer.

use super::{Message, Source, question_and_sources};

/// The instructions: fixed text, the same for every question.
pub const SYSTEM: &str = include_str!("answer.txt");

/// Assistant message for a draft without text.
const NO_WORDS: &str = "(no answer)";

/// The conversation for a first draft. The number of a source is its place in `sources`, from 1.
#[must_use]
pub fn messages(question: &str, sources: &[Source<'_>]) -> Vec<Message> {
    vec![Message::system(SYSTEM.trim_end()), Message::user(question_and_sources(question, sources))]
}

/// The conversation after a draft that the validator rejected: the same, then the draft as an assistant message, then
/// the findings.
#[must_use]
pub fn retry_messages(question: &str, sources: &[Source<'_>], draft: &str, retry_prompt: &str) -> Vec<Message> {
    let mut conversation = messages(question, sources);
    // Some providers refuse messages without text, others refuse roles that do not alternate.
    conversation.push(Message::assistant(if draft.trim().is_empty() { NO_WORDS } else { draft }));
    conversation.push(Message::user(retry_prompt));
    conversation
}
