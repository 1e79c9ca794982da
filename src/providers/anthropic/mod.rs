//! Anthropic's Messages API (<https://platform.claude.com/docs/en/api/messages>): `POST {base}/messages`.

mod event;

use std::time::Duration;

use async_trait::async_trait;
use reqwest::Response;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(super) use self::event::MessageReader;
use super::{
    ProviderError, ProviderErrorKind,
    chat::{ChatModel, FinishReason, ReplyEnd, ReplyParts, ReportedUsage, WireCall},
    server::Server,
    sse,
};
use crate::domain::prompt::{Message, Role};

const PATH: &str = "messages";
/// Highest temperature of this API, which is the middle of the range of others.
const HIGHEST_TEMPERATURE: f32 = 1.0;

/// A model behind `POST {base}/messages`.
pub(super) struct AnthropicChat {
    server: Server,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "String::is_empty")]
    system: String,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Value>,
    stream: bool,
}

/// A message. One with a part that is worth caching is sent in blocks, because only blocks can be marked for caching.
#[derive(Serialize)]
struct WireMessage<'a> {
    role: Role,
    content: Content<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Blocks([Value; 2]),
}

impl<'a> WireMessage<'a> {
    fn new(message: &'a Message) -> Self {
        Self { role: message.role, content: Content::Text(&message.content) }
    }

    /// Marks the beginning to be cached for other calls
    /// (<https://platform.claude.com/docs/en/build-with-claude/prompt-caching>): everything before it is cached with
    /// it.
    fn keep(&mut self, bytes: usize) {
        let Content::Text(text) = self.content else { return };
        let parts = text.split_at_checked(bytes).filter(|(kept, rest)| !kept.is_empty() && !rest.is_empty());
        if let Some((kept, rest)) = parts {
            self.content = Content::Blocks([
                json!({"type": "text", "text": kept, "cache_control": {"type": "ephemeral"}}),
                json!({"type": "text", "text": rest}),
            ]);
        }
    }
}

#[derive(Deserialize)]
struct Reply {
    content: Vec<Block>,
    stop_reason: Option<String>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
}

/// Token usage. Input tokens are reported in three parts, of which two concern the cache.
#[derive(Clone, Copy, Default, Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names of the wire")]
struct Usage {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl Usage {
    /// Both numbers, if both were given.
    fn reported(self) -> Option<ReportedUsage> {
        let cached = self.cache_creation_input_tokens.unwrap_or(0) + self.cache_read_input_tokens.unwrap_or(0);
        Some(ReportedUsage { prompt_tokens: self.input_tokens? + cached, completion_tokens: self.output_tokens? })
    }

    /// Updates the numbers from a later report; each report counts from the beginning.
    fn updated(self, later: Self) -> Self {
        Self {
            input_tokens: later.input_tokens.or(self.input_tokens),
            cache_creation_input_tokens: later.cache_creation_input_tokens.or(self.cache_creation_input_tokens),
            cache_read_input_tokens: later.cache_read_input_tokens.or(self.cache_read_input_tokens),
            output_tokens: later.output_tokens.or(self.output_tokens),
        }
    }
}

/// The text of a reply so far.
#[derive(Clone, Copy, Default)]
struct Text {
    /// Whether there is a text, though it may be empty.
    is_there: bool,
    has_words: bool,
}

impl Text {
    fn add(&mut self, piece: &str) {
        self.is_there = true;
        self.has_words |= !piece.trim().is_empty();
    }
}

/// The end of a reply in common terms, or an error if it is incomplete.
fn end(server: &Server, reason: Option<&str>, text: Text, usage: Option<Usage>) -> Result<ReplyEnd, ProviderError> {
    let finish = match reason {
        Some("end_turn" | "stop_sequence") => FinishReason::Stop,
        Some("max_tokens" | "model_context_window_exceeded") => FinishReason::Length,
        Some("refusal") => {
            let detail = "the provider's content filter stopped the reply".to_owned();
            return Err(server.fail(ProviderErrorKind::Filtered, detail));
        }
        Some(_) | None => FinishReason::Other,
    };
    // Some servers send an empty text before a tool call, although no tool was offered.
    if !text.is_there || (reason == Some("tool_use") && !text.has_words) {
        let detail = format!("the reply has no text (stop_reason {})", reason.unwrap_or("unknown"));
        return Err(server.fail(ProviderErrorKind::InvalidReply, detail));
    }
    Ok(ReplyEnd { finish, usage: usage.and_then(Usage::reported) })
}

impl AnthropicChat {
    /// A model on this server; nothing is sent.
    pub(crate) const fn new(server: Server) -> Self {
        Self { server }
    }

    async fn send(&self, call: WireCall<'_>, stream: bool) -> Result<Response, ProviderError> {
        let (system, messages): (Vec<&Message>, Vec<&Message>) =
            call.messages.iter().partition(|message| message.role == Role::System);
        let mut messages: Vec<WireMessage<'_>> = messages.into_iter().map(WireMessage::new).collect();
        if let Some(last) = messages.last_mut() {
            last.keep(call.shared_bytes);
        }
        let system: Vec<&str> = system.iter().map(|message| message.content.as_str()).collect();
        let body = Body {
            model: self.server.model(),
            max_tokens: call.completion_tokens,
            system: system.join("\n\n"),
            messages,
            temperature: call.sampling.temperature.map(|temperature| temperature.min(HIGHEST_TEMPERATURE)),
            output_config: call
                .format
                .map(|format| json!({"format": {"type": "json_schema", "schema": format.schema}})),
            stream,
        };
        self.server.send(PATH, &body).await
    }
}

#[async_trait]
impl ChatModel for AnthropicChat {
    async fn complete(&self, call: WireCall<'_>) -> Result<(String, ReplyEnd), ProviderError> {
        let response = self.send(call, false).await?;
        let body = self.server.read(response).await?;
        let reply: Reply = self.server.parse(PATH, &body)?;
        let texts: Vec<String> =
            reply.content.into_iter().filter(|block| block.kind == "text").filter_map(|block| block.text).collect();
        let mut text = Text::default();
        for piece in &texts {
            text.add(piece);
        }
        let end = end(&self.server, reply.stop_reason.as_deref(), text, reply.usage)?;
        Ok((texts.concat(), end))
    }

    async fn stream(&self, call: WireCall<'_>) -> Result<ReplyParts, ProviderError> {
        let response = self.send(call, true).await?;
        let server = self.server.clone();
        let broken = move |kind, detail| server.fail(kind, detail);
        let events = sse::events(self.server.bytes(response), broken.clone());
        Ok(sse::parts(events, MessageReader::new(self.server.clone()), broken))
    }

    fn timeout(&self) -> Duration {
        self.server.timeout()
    }

    fn fail(&self, kind: ProviderErrorKind, detail: String) -> ProviderError {
        self.server.fail(kind, detail)
    }
}
