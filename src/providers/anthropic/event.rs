//! Events of a streamed message (<https://platform.claude.com/docs/en/build-with-claude/streaming>).
//!
//! Unknown kinds of events and blocks are skipped, as the API asks of its clients.

use serde::Deserialize;
use serde_json::Value;

use super::{Text, Usage, end};
use crate::providers::{
    ProviderError, ProviderErrorKind,
    chat::ReplyEnd,
    error::excerpt,
    server::Server,
    sse::{EventReader, Reading},
};

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    MessageStart {
        message: Start,
    },
    ContentBlockStart {
        content_block: Content,
    },
    ContentBlockDelta {
        delta: Content,
    },
    MessageDelta {
        delta: Stop,
        usage: Option<Usage>,
    },
    MessageStop,
    Error {
        error: Value,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Start {
    usage: Option<Usage>,
}

/// The beginning of a block or a piece of it.
#[derive(Deserialize)]
struct Content {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
}

#[derive(Deserialize)]
struct Stop {
    stop_reason: Option<String>,
}

/// Interprets the events one after the other.
pub(in crate::providers) struct MessageReader {
    server: Server,
    text: Text,
    reason: Option<String>,
    usage: Option<Usage>,
}

impl MessageReader {
    pub(crate) const fn new(server: Server) -> Self {
        Self { server, text: Text { is_there: false, has_words: false }, reason: None, usage: None }
    }

    fn add_usage(&mut self, usage: Option<Usage>) {
        if let Some(later) = usage {
            self.usage = Some(self.usage.unwrap_or_default().updated(later));
        }
    }
}

impl EventReader for MessageReader {
    fn read(&mut self, data: &str) -> Result<Reading, ProviderError> {
        let event: Event = serde_json::from_str(data).map_err(|error| {
            let detail = format!("an event is not what the protocol promises ({error}): {}", excerpt(data));
            self.server.fail(ProviderErrorKind::InvalidReply, detail)
        })?;
        match event {
            Event::MessageStart { message } => self.add_usage(message.usage),
            Event::ContentBlockStart { content_block: content } | Event::ContentBlockDelta { delta: content } => {
                if matches!(content.kind.as_str(), "text" | "text_delta") {
                    self.text.add(content.text.as_deref().unwrap_or_default());
                    return Ok(content.text.filter(|text| !text.is_empty()).map_or(Reading::Nothing, Reading::Text));
                }
            }
            Event::MessageDelta { delta, usage } => {
                self.reason = delta.stop_reason.or(self.reason.take());
                self.add_usage(usage);
            }
            Event::MessageStop => return Ok(Reading::Over),
            Event::Error { error } => return Err(self.server.reported_failure(status_of(&error), data)),
            Event::Other => {}
        }
        Ok(Reading::Nothing)
    }

    fn is_complete(&self) -> bool {
        self.reason.is_some()
    }

    fn end(&mut self) -> Result<ReplyEnd, ProviderError> {
        end(&self.server, self.reason.as_deref(), self.text, self.usage)
    }
}

/// The HTTP status that corresponds to an error's type (<https://platform.claude.com/docs/en/api/errors>): in the
/// middle of a stream there is no other status.
fn status_of(error: &Value) -> u16 {
    match error.get("type").and_then(Value::as_str) {
        Some("invalid_request_error") => 400,
        Some("authentication_error") => 401,
        Some("billing_error") => 402,
        Some("permission_error") => 403,
        Some("not_found_error") => 404,
        Some("request_too_large") => 413,
        Some("rate_limit_error") => 429,
        Some("overloaded_error") => 529,
        Some(_) | None => 500,
    }
}
