//! The conversation that asks a model whether sources support statements of an answer, all in one call.
//!
//! The reply is read by [`crate::citation::read_rulings`].

use std::fmt::Write as _;

use super::{Message, ReplyFormat, Source, fence, last_paragraph};
use crate::model_verdicts;

/// The instructions: fixed text, the same for every answer.
pub const SYSTEM: &str = include_str!("verify.txt");

/// A statement and the numbers of its sources.
#[derive(Debug, Clone, Copy)]
pub struct Statement<'s> {
    /// Text of the statement.
    pub text: &'s str,
    /// The sources that it cites.
    pub sources: &'s [u32],
}

/// The conversation about statements, counted from 1, and the sources that they cite. Source N is `sources[N - 1]`. `question` is
/// the one that they answer, where there is one.
#[must_use]
pub fn messages(question: Option<&str>, statements: &[Statement<'_>], sources: &[Source<'_>]) -> Vec<Message> {
    let mut content = question.map(fence::question).unwrap_or_default();
    for (number, source) in (1_u32..).zip(sources) {
        if statements.iter().any(|statement| statement.sources.contains(&number)) {
            fence::push_source(&mut content, number, *source);
            content.push('\n');
        }
    }
    for (number, statement) in (1..).zip(statements) {
        let sources: Vec<String> = statement.sources.iter().map(u32::to_string).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(
            content,
            "<statement id=\"{number}\" sources=\"{}\">\n{}\n</statement>",
            sources.join(" "),
            fence::neutralise(statement.text.trim()),
        );
    }
    vec![Message::system(SYSTEM.trim_end()), Message::user(content)]
}

/// The reply as JSON, for models that can be held to a schema.
#[must_use]
pub fn format() -> ReplyFormat {
    ReplyFormat {
        name: "verdicts",
        schema: model_verdicts::schema("verdicts", "statement", "verdict", &["supported", "unsupported"]),
        described: last_paragraph(SYSTEM),
        instruction: "Reply with a JSON object and nothing else. Its member \"verdicts\" is an array with one object for \
                      each statement, in order, with the members \"statement\" (its number), \"verdict\" (one of the \
                      words supported and unsupported) and \"reason\" (at most ten words about that statement).",
    }
}
