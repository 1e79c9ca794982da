//! The conversation that asks a model for another wording of the question.
//!
//! The reply is read by [`crate::rewriting::read_reply`].

use serde_json::json;

use super::{Message, ReplyFormat, fence, last_paragraph};

/// The instructions: fixed text, the same for every question.
pub const SYSTEM: &str = include_str!("rewrite.txt");

/// The conversation; `former` holds the earlier rewrites, oldest first, without the question; `missing` the aspects of the
/// question that no correct passage holds.
#[must_use]
pub fn messages(question: &str, former: &[String], missing: &[String]) -> Vec<Message> {
    let mut content = fence::question(question);
    for query in former {
        content.push_str(&fence::query(query));
    }
    if !missing.is_empty() {
        content.push_str(&fence::missing(&missing.join("; ")));
    }
    vec![Message::system(SYSTEM.trim_end()), Message::user(content)]
}

/// The reply as JSON, for models that can be held to a schema.
#[must_use]
pub fn format() -> ReplyFormat {
    ReplyFormat {
        name: "rewritten_query",
        schema: json!({
            "type": "object",
            "properties": {"query": {"type": "string"}},
            "required": ["query"],
            "additionalProperties": false,
        }),
        described: last_paragraph(SYSTEM),
        instruction: "Reply with a JSON object whose only member \"query\" is the new query, without quotes, label or explanation.",
    }
}
