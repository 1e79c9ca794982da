//! Chat completions (<https://platform.openai.com/docs/api-reference/chat>).

use std::time::Duration;

use async_trait::async_trait;
use reqwest::{Response, header};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::chunk::ChunkReader;
use crate::{
    domain::prompt::Message,
    providers::{
        ProviderError, ProviderErrorKind,
        chat::{ChatModel, FinishReason, ReplyEnd, ReplyParts, ReportedUsage, WireCall, whole},
        server::Server,
        sse,
    },
};

const PATH: &str = "chat/completions";
/// Beginnings of the names of models that accept the token limit only under its newer name. Most compatible servers
/// accept only the older name.
const NEWER_LIMIT: [&str; 4] = ["o1", "o3", "o4", "gpt-5"];

/// A model behind `POST {base}/chat/completions`.
pub(in crate::providers) struct OpenAiChat {
    server: Server,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: &'a [Message],
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Choice {
    message: ReplyMessage,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ReplyMessage {
    content: Option<String>,
    #[serde(default)]
    tool_calls: Value,
}

#[derive(Clone, Copy, Deserialize)]
pub(super) struct Usage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

impl Usage {
    /// Both numbers, if both were given.
    pub(crate) fn reported(self) -> Option<ReportedUsage> {
        Some(ReportedUsage { prompt_tokens: self.prompt_tokens?, completion_tokens: self.completion_tokens? })
    }
}

/// The reason in common terms; an error if the text was withheld.
pub(super) fn finish(server: &Server, reason: Option<&str>) -> Result<FinishReason, ProviderError> {
    match reason {
        Some("stop") => Ok(FinishReason::Stop),
        Some("length") => Ok(FinishReason::Length),
        Some("content_filter") => {
            Err(server.fail(ProviderErrorKind::Filtered, "the provider's content filter stopped the reply".to_owned()))
        }
        Some(_) | None => Ok(FinishReason::Other),
    }
}

/// Whether a reply calls a tool, although none was offered. Some servers add an empty text to the call, some give
/// another reason for the end.
pub(super) fn calls_tool(tool_calls: &Value, reason: Option<&str>) -> bool {
    matches!(reason, Some("tool_calls" | "function_call"))
        || tool_calls.as_array().is_some_and(|calls| !calls.is_empty())
}

/// A reply without text, such as one that calls a tool.
pub(super) fn no_text(server: &Server, reason: Option<&str>) -> ProviderError {
    let detail = format!("the reply has no text (finish_reason {})", reason.unwrap_or("unknown"));
    server.fail(ProviderErrorKind::InvalidReply, detail)
}

impl OpenAiChat {
    /// A model on this server; nothing is sent.
    pub(crate) const fn new(server: Server) -> Self {
        Self { server }
    }

    async fn send(&self, call: WireCall<'_>, stream: bool) -> Result<Response, ProviderError> {
        let model = self.server.model();
        let has_newer_limit = NEWER_LIMIT.iter().any(|beginning| model.starts_with(beginning));
        let limit = Some(call.completion_tokens);
        let body = Body {
            model,
            messages: call.messages,
            temperature: call.sampling.temperature,
            seed: call.sampling.seed,
            max_tokens: limit.filter(|_| !has_newer_limit),
            max_completion_tokens: limit.filter(|_| has_newer_limit),
            response_format: call.format.map(|format| {
                json!({"type": "json_schema",
                       "json_schema": {"name": format.name, "strict": true, "schema": format.schema}})
            }),
            stream,
            stream_options: stream.then_some(StreamOptions { include_usage: true }),
        };
        self.server.send(PATH, &body).await
    }

    async fn whole(&self, response: Response) -> Result<(String, ReplyEnd), ProviderError> {
        let body = self.server.read(response).await?;
        let completion: Completion = self.server.parse(PATH, &body)?;
        let Some(choice) = completion.choices.into_iter().next() else {
            return Err(self.server.fail(ProviderErrorKind::InvalidReply, "the reply has no choices".to_owned()));
        };
        let reason = choice.finish_reason.as_deref();
        let finish = finish(&self.server, reason)?;
        let ReplyMessage { content, tool_calls } = choice.message;
        let calls_tool = calls_tool(&tool_calls, reason);
        let text = content.filter(|text| !calls_tool || !text.trim().is_empty());
        let text = text.ok_or_else(|| no_text(&self.server, reason))?;
        Ok((text, ReplyEnd { finish, usage: completion.usage.and_then(Usage::reported) }))
    }
}

#[async_trait]
impl ChatModel for OpenAiChat {
    async fn complete(&self, call: WireCall<'_>) -> Result<(String, ReplyEnd), ProviderError> {
        let response = self.send(call, false).await?;
        self.whole(response).await
    }

    async fn stream(&self, call: WireCall<'_>) -> Result<ReplyParts, ProviderError> {
        let response = self.send(call, true).await?;
        if is_json(&response) {
            // The server does not stream and returns the whole reply instead.
            let (text, end) = self.whole(response).await?;
            return Ok(whole(text, end));
        }
        let server = self.server.clone();
        let broken = move |kind, detail| server.fail(kind, detail);
        let events = sse::events(self.server.bytes(response), broken.clone());
        Ok(sse::parts(events, ChunkReader::new(self.server.clone()), broken))
    }

    fn timeout(&self) -> Duration {
        self.server.timeout()
    }

    fn fail(&self, kind: ProviderErrorKind, detail: String) -> ProviderError {
        self.server.fail(kind, detail)
    }
}

fn is_json(response: &Response) -> bool {
    let media_type = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    media_type.is_some_and(|value| value.starts_with("application/json"))
}
