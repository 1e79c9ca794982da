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
pub(crate) enum Dialect {
    OpenAi,
    Anthropic,
}

impl Dialect {
    /// A reply of 100 tokens read and 20 written.
    pub(crate) fn reply(self, text: &str, is_cut: bool, is_metered: bool, is_stream: bool) -> Response {
        if is_stream {
            let body = self.stream(text, is_cut, is_metered);
            return ([("content-type", "text/event-stream")], body).into_response();
        }
        let mut body = match self {
            Self::OpenAi => json!({
                "id": "c", "object": "chat.completion", "created": 1_764_000_000, "model": "scripted-chat",
                "choices": [{"index": 0, "finish_reason": if is_cut { "length" } else { "stop" },
                             "message": {"role": "assistant", "content": text}}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
            }),
            Self::Anthropic => json!({
                "id": "m", "type": "message", "role": "assistant", "model": "scripted-chat",
                "content": [{"type": "text", "text": text}],
                "stop_reason": if is_cut { "max_tokens" } else { "end_turn" }, "stop_sequence": null,
                "usage": {"input_tokens": 60, "cache_read_input_tokens": 40, "output_tokens": 20},
            }),
        };
        if !is_metered {
            body.as_object_mut().expect("an object").remove("usage");
        }
        Json(body).into_response()
    }

    /// The same as server-sent events.
    pub(crate) fn stream(self, text: &str, is_cut: bool, is_metered: bool) -> String {
        let mut events = self.begin();
        events.extend(pieces(text).iter().map(|piece| self.piece(piece)));
        events.extend(self.end(is_cut, is_metered));
        events.concat()
    }

    pub(crate) fn begin(self) -> Vec<String> {
        match self {
            Self::OpenAi => vec![chunk(&json!({"role": "assistant", "content": ""}), None)],
            Self::Anthropic => vec![
                event(&json!({"type": "message_start", "message": {
                    "id": "m", "type": "message", "role": "assistant", "model": "scripted-chat", "content": [],
                    "stop_reason": null, "stop_sequence": null,
                    "usage": {"input_tokens": 60, "cache_read_input_tokens": 40, "output_tokens": 1}}})),
                event(
                    &json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
                ),
            ],
        }
    }

    pub(crate) fn piece(self, text: &str) -> String {
        match self {
            Self::OpenAi => chunk(&json!({"content": text}), None),
            Self::Anthropic => event(
                &json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
            ),
        }
    }

    pub(crate) fn end(self, is_cut: bool, is_metered: bool) -> Vec<String> {
        match self {
            Self::OpenAi => {
                let mut events = vec![chunk(&json!({}), Some(if is_cut { "length" } else { "stop" }))];
                if is_metered {
                    let usage = json!({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120});
                    events.push(data(&chunk_of(&json!([]), &usage)));
                }
                events.push("data: [DONE]\n\n".to_owned());
                events
            }
            Self::Anthropic => {
                let reason = if is_cut { "max_tokens" } else { "end_turn" };
                let mut delta =
                    json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}});
                if is_metered {
                    delta["usage"] = json!({"output_tokens": 20});
                }
                let stop = json!({"type": "content_block_stop", "index": 0});
                vec![event(&stop), event(&delta), event(&json!({"type": "message_stop"}))]
            }
        }
    }
}

/// A text in small pieces.
pub(crate) fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(PIECE).map(|piece| piece.iter().collect()).collect()
}

/// A chunk of a chat completion with one choice.
fn chunk(delta: &Value, finish: Option<&str>) -> String {
    data(&chunk_of(&json!([{"index": 0, "delta": delta, "finish_reason": finish}]), &Value::Null))
}

fn chunk_of(choices: &Value, usage: &Value) -> Value {
    json!({"id": "c", "object": "chat.completion.chunk", "created": 1_764_000_000, "model": "scripted-chat",
           "choices": choices, "usage": usage})
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn event(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().expect("a type"))
}
