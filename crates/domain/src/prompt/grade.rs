//! The conversation that asks a model to grade retrieved passages, all in one call.
//!
//! The reply is read by [`crate::grading::reply`].

use super::{Message, ReplyFormat, Source, question_and_sources};
use crate::numbered_verdicts;

/// The instructions: fixed text, the same for every question.
pub const SYSTEM: &str = include_str!("grade.txt");

/// The conversation. The number of a source is its place in `sources`, from 1.
#[must_use]
pub fn messages(question: &str, sources: &[Source<'_>]) -> Vec<Message> {
    vec![Message::system(SYSTEM.trim_end()), Message::user(question_and_sources(question, sources))]
}

/// The reply as JSON, for models that can be held to a schema.
#[must_use]
pub fn format() -> ReplyFormat {
    ReplyFormat {
        name: "grades",
        schema: numbered_verdicts::schema("grades", "source", "grade", &["correct", "ambiguous", "incorrect"]),
        instruction: "Instead of lines, reply with JSON: an object with the member \"grades\", an array with one \
                      object for each source, in order, that has the members \"source\" (its number), \"grade\" and \
                      \"reason\".",
    }
}
