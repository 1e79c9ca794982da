//! Chunks of a streamed chat completion (<https://platform.openai.com/docs/api-reference/chat-streaming>).

use serde::Deserialize;
use serde_json::Value;

use super::chat::{Usage, calls_tool, finish, no_text};
use crate::providers::{
    ProviderError, ProviderErrorKind,
    chat::{FinishReason, ReplyEnd},
    error::excerpt,
    server::Server,
    sse::{EventReader, Reading},
};

/// Data of the event after the last chunk.
const DONE: &str = "[DONE]";
/// Status of a failure in the middle of a stream, if the failure does not state one itself.
const INTERNAL: u16 = 500;

#[derive(Deserialize)]
struct Chunk {
    // The chunk with the usage has none, and neither have some chunks with comments.
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Usage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Delta,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Delta {
    content: Option<String>,
    #[serde(default)]
    tool_calls: Value,
}

/// Interprets the chunks one after the other.
pub(in crate::providers) struct ChunkReader {
    server: Server,
    /// Whether there is a text, though it may be empty.
    has_text: bool,
    has_words: bool,
    calls_tool: bool,
    reason: Option<String>,
    usage: Option<Usage>,
}

impl ChunkReader {
    pub(crate) const fn new(server: Server) -> Self {
        Self { server, has_text: false, has_words: false, calls_tool: false, reason: None, usage: None }
    }
}

impl EventReader for ChunkReader {
    fn read(&mut self, data: &str) -> Result<Reading, ProviderError> {
        if data.trim() == DONE {
            return Ok(Reading::Over);
        }
        let chunk: Chunk = serde_json::from_str(data).map_err(|error| {
            let detail = format!("a chunk is not what the protocol promises ({error}): {}", excerpt(data));
            self.server.fail(ProviderErrorKind::InvalidReply, detail)
        })?;
        if let Some(error) = &chunk.error {
            let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
            let status = code.filter(|code| (400..600).contains(code)).unwrap_or(INTERNAL);
            return Err(self.server.reported_failure(status, data));
        }
        self.usage = chunk.usage.or(self.usage);
        let Some(choice) = chunk.choices.into_iter().next() else { return Ok(Reading::Nothing) };
        // Some servers send an empty reason with every chunk; it does not count as one.
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.reason = Some(reason);
        }
        let Delta { content, tool_calls } = choice.delta;
        self.has_text |= content.is_some();
        self.has_words |= content.as_deref().is_some_and(|text| !text.trim().is_empty());
        self.calls_tool |= calls_tool(&tool_calls, self.reason.as_deref());
        Ok(content.filter(|text| !text.is_empty()).map_or(Reading::Nothing, Reading::Text))
    }

    fn is_complete(&self) -> bool {
        self.reason.is_some()
    }

    fn end(&mut self) -> Result<ReplyEnd, ProviderError> {
        let reason = self.reason.as_deref();
        let finish = finish(&self.server, reason)?;
        if !self.has_text || (self.calls_tool && !self.has_words) {
            return Err(no_text(&self.server, reason));
        }
        // The end was announced, although without a reason.
        let finish = if reason.is_none() { FinishReason::Stop } else { finish };
        Ok(ReplyEnd { finish, usage: self.usage.and_then(Usage::reported) })
    }
}
