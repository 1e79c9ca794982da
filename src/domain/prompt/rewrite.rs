//! The conversation that asks a model for another wording of the question.
//!
//! The reply is read by [`crate::domain::rewriting::read_reply`].

use super::{Message, fence};

/// The instructions: fixed text, the same for every question.
pub const SYSTEM: &str = include_str!("rewrite.txt");

/// The conversation; `former` holds the earlier rewrites, oldest first, without the question.
#[must_use]
pub fn messages(question: &str, former: &[String]) -> Vec<Message> {
    let mut content = fence::question(question);
    for query in former {
        content.push_str(&fence::query(query));
    }
    vec![Message::system(SYSTEM.trim_end()), Message::user(content)]
}
