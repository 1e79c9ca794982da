//! The conversation that asks a model to make the last message a question that stands alone.
//!
//! The reply is read by [`crate::conversation::read_reply`].

use serde_json::json;

use super::{Message, ReplyFormat, fence, last_paragraph};
use crate::conversation::{Speaker, Turn};

/// The instructions: fixed text, the same for every conversation.
pub const SYSTEM: &str = include_str!("condense.txt");

/// The conversation; `history` holds the turns before the message, oldest first.
#[must_use]
pub fn messages(message: &str, history: &[Turn]) -> Vec<Message> {
    let mut content = String::new();
    for turn in history {
        let speaker = match turn.speaker {
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
        };
        content.push_str(&fence::turn(speaker, &turn.text));
    }
    content.push_str(&fence::question(message));
    vec![Message::system(SYSTEM.trim_end()), Message::user(content)]
}

/// The reply as JSON, for models that can be held to a schema.
#[must_use]
pub fn format() -> ReplyFormat {
    ReplyFormat {
        name: "condensed_question",
        schema: json!({
            "type": "object",
            "properties": {"question": {"type": "string"}},
            "required": ["question"],
            "additionalProperties": false,
        }),
        described: last_paragraph(SYSTEM),
        instruction: "Reply with a JSON object whose only member \"question\" is that one line, without quotes, label or explanation.",
    }
}
