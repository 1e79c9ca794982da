//! Replies in the formats of the two APIs.

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

/// Characters of a piece of a streamed text: fewer than a marker has.
const PIECE: usize = 3;

/// The API that a caller speaks.
#[derive(Clone, Copy, Debug)]
pub enum Dialect {
    OpenAi,
    Anthropic,
}

impl Dialect {
    /// A reply of 100 tokens read and 20 written.
    pub fn reply(self, text: &str, is_cut: bool, is_metered: bool, is_stream: bool) -> Response {
        if is_stream {
            let body = self.stream(text, is_cut, is_metered);
            return ([("content-type", "text/event-stream")], body).into_response();
        }
        let mut body = match self {
            Self::OpenAi => json!({
                "id": "c", "object": "chat.completion", "model": "scripted-chat",
                "choices": [{"index": 0, "finish_reason": if is_cut { "length" } else { "stop" },
                             "message": {"role": "assistant", "content": text}}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
            }),
            Self::Anthropic => json!({
                "id": "m", "type": "message", "role": "assistant", "model": "scripted-chat",
                "content": [{"type": "text", "text": text}],
                "stop_reason": if is_cut { "max_tokens" } else { "end_turn" },
                "usage": {"input_tokens": 60, "cache_read_input_tokens": 40, "output_tokens": 20},
            }),
        };
        if !is_metered {
            body.as_object_mut().expect("an object").remove("usage");
        }
        Json(body).into_response()
    }

    /// The same as server-sent events.
    pub fn stream(self, text: &str, is_cut: bool, is_metered: bool) -> String {
        let mut events = self.begin();
        events.extend(pieces(text).iter().map(|piece| self.piece(piece)));
        events.extend(self.end(is_cut, is_metered));
        events.concat()
    }

    pub fn begin(self) -> Vec<String> {
        match self {
            Self::OpenAi => {
                vec![data(&json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}))]
            }
            Self::Anthropic => vec![
                event(
                    &json!({"type": "message_start", "message": {"usage": {"input_tokens": 60, "cache_read_input_tokens": 40, "output_tokens": 1}}}),
                ),
                event(
                    &json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
                ),
            ],
        }
    }

    pub fn piece(self, text: &str) -> String {
        match self {
            Self::OpenAi => data(&json!({"choices": [{"index": 0, "delta": {"content": text}}]})),
            Self::Anthropic => event(
                &json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
            ),
        }
    }

    pub fn end(self, is_cut: bool, is_metered: bool) -> Vec<String> {
        match self {
            Self::OpenAi => {
                let reason = if is_cut { "length" } else { "stop" };
                let mut events = vec![data(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))];
                if is_metered {
                    events
                        .push(data(&json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20}})));
                }
                events.push("data: [DONE]\n\n".to_owned());
                events
            }
            Self::Anthropic => {
                let reason = if is_cut { "max_tokens" } else { "end_turn" };
                let mut delta = json!({"type": "message_delta", "delta": {"stop_reason": reason}});
                if is_metered {
                    delta["usage"] = json!({"output_tokens": 20});
                }
                vec![event(&delta), event(&json!({"type": "message_stop"}))]
            }
        }
    }
}

/// A text in small pieces.
pub fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(PIECE).map(|piece| piece.iter().collect()).collect()
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn event(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().expect("a type"))
}
