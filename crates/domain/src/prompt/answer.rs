//! The conversation that asks a model for a cited answer.

use super::{Message, Source, fence, question_and_sources};

/// The instructions: fixed text, the same for every question.
pub const SYSTEM: &str = include_str!("answer.txt");

/// The conversation after a model found no answer although a source was graded correct: the same, then its reply, then the
/// part of that source that comes nearest. The number of a source is its place in `sources`, from 1.
#[must_use]
pub fn second_look_messages(question: &str, sources: &[Source<'_>], reply: &str, nearest: Nearest<'_>) -> Vec<Message> {
    let mut content = String::from("Look once more. This source was judged to hold the answer, or a part of it:\n\n");
    fence::push_source(&mut content, nearest.number, nearest.part);
    content.push_str(
        "\nIf it answers the question, or a part of it, answer from the sources by the same rules, with markers. If it \
         does not, reply with the one word NOT_IN_SOURCES.",
    );
    retry_messages(question, sources, reply, &content)
}

/// The part of a source that comes nearest to the question.
#[derive(Debug, Clone, Copy)]
pub struct Nearest<'s> {
    /// The number of the source.
    pub number: u32,
    /// The part, in place of the whole text.
    pub part: Source<'s>,
}

/// Assistant message for a draft without text.
const NO_WORDS: &str = "(no answer)";

/// Last line of the message with this many sources: a small model does what it has read last, and no markers without it.
pub(super) fn reminder(sources: usize) -> String {
    let marker = if sources == 1 { "the source, [^1]" } else { "its source, [^1] for source 1, [^2] for source 2" };
    format!(
        "\nAnswer with one or two whole sentences, or with as many sentences or list items as the question needs. End each \
         with the marker of {marker}.\n"
    )
}

/// The conversation for a first draft. The number of a source is its place in `sources`, from 1.
#[must_use]
pub fn messages(question: &str, sources: &[Source<'_>]) -> Vec<Message> {
    let content = question_and_sources(question, sources) + &reminder(sources.len());
    vec![Message::system(SYSTEM.trim_end()), Message::user(content)]
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
