//! Chat completions.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{PROVIDER, Server, Settings};
use crate::{
    domain::{
        budget::{Allowance, Chat, Usage},
        prompt::{Message, tokens},
    },
    providers::{ChatModel, ChatReply, ChatRequest, ProviderError, ProviderErrorKind},
};

/// A model behind `POST {base}/chat/completions`.
#[derive(Clone, Debug)]
pub struct OpenAiChat {
    server: Server,
}

impl OpenAiChat {
    /// Prepares the connection pool; nothing is sent.
    ///
    /// # Errors
    /// When no HTTP client can be made.
    pub fn new(settings: Settings) -> Result<Self, ProviderError> {
        Ok(Self { server: Server::new(settings)? })
    }
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: &'a [Message],
    temperature: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    // The newer name max_completion_tokens is not known to most compatible servers.
    max_tokens: u32,
    stream: bool,
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
    usage: Option<ReportedUsage>,
}

#[derive(Deserialize)]
struct Choice {
    message: ReplyMessage,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ReplyMessage {
    content: Option<String>,
}

#[derive(Deserialize)]
struct ReportedUsage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

#[async_trait]
impl ChatModel for OpenAiChat {
    fn model(&self) -> &str {
        &self.server.settings.model
    }

    fn provider(&self) -> &str {
        PROVIDER
    }

    async fn complete(&self, request: &ChatRequest, allowance: Allowance<Chat>) -> Result<ChatReply, ProviderError> {
        let body = Body {
            model: self.model(),
            messages: &request.messages,
            temperature: request.temperature,
            seed: request.seed,
            max_tokens: allowance.completion_tokens(),
            stream: false,
        };
        let completion: Completion = self.server.post("chat/completions", &body).await?;
        let Some(choice) = completion.choices.into_iter().next() else {
            return Err(self.server.fail(ProviderErrorKind::InvalidReply, "the reply has no choices".to_owned()));
        };
        let Some(text) = choice.message.content else {
            let reason = choice.finish_reason.unwrap_or_else(|| "unknown".to_owned());
            let detail = format!("the reply has no text (finish_reason {reason})");
            return Err(self.server.fail(ProviderErrorKind::InvalidReply, detail));
        };
        let usage = completion.usage.map_or_else(
            || Usage {
                prompt_tokens: u64::from(allowance.prompt_tokens()),
                completion_tokens: u64::from(tokens::estimate(&text)),
            },
            |reported| Usage { prompt_tokens: reported.prompt_tokens, completion_tokens: reported.completion_tokens },
        );
        allowance.settle(usage);
        Ok(ChatReply { text, usage, is_cut: choice.finish_reason.as_deref() == Some("length") })
    }
}
