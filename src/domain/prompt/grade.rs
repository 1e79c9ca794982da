//! The conversation that asks a model to grade retrieved passages, all in one call.
//!
//! The reply is read by [`crate::domain::grading::reply`].

use super::{Message, Source, question_and_sources};

/// The instructions: fixed text, the same for every question.
pub const SYSTEM: &str = include_str!("grade.txt");

/// The conversation. The number of a source is its place in `sources`, from 1.
#[must_use]
pub fn messages(question: &str, sources: &[Source<'_>]) -> Vec<Message> {
    vec![Message::system(SYSTEM.trim_end()), Message::user(question_and_sources(question, sources))]
}
