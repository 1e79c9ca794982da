//! The conversation that asks a model for a plan for a question.
//!
//! The reply is read by [`crate::planning::read_reply`].

use serde_json::json;

use super::{Message, ReplyFormat, fence, last_paragraph};

/// The instructions: fixed text, the same for every question.
pub const SYSTEM: &str = include_str!("plan.txt");

/// The conversation.
#[must_use]
pub fn messages(question: &str) -> Vec<Message> {
    vec![Message::system(SYSTEM.trim_end()), Message::user(fence::question(question))]
}

/// The reply as JSON, for models that can be held to a schema.
#[must_use]
pub fn format() -> ReplyFormat {
    ReplyFormat {
        name: "plan",
        schema: json!({
            "type": "object",
            "properties": {
                "reasoning": {"type": "string"},
                "type": {"type": "string", "enum": ["lookup", "compare", "multi_hop", "summary", "exploratory"]},
                "strategy": {"type": "string", "enum": ["direct", "rewrite", "decompose", "broad_then_rerank"]},
                "sub_questions": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["reasoning", "type", "strategy", "sub_questions"],
            "additionalProperties": false,
        }),
        described: last_paragraph(SYSTEM),
        // It describes JSON already.
        instruction: last_paragraph(SYSTEM),
    }
}
