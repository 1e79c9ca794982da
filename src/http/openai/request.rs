//! Requests of the OpenAI-compatible routes, as asks.

use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    super::{
        ask::{AskBody, ChatTurn, MessageBody, RoleBody},
        fields::{Faults, MAX_MESSAGE, MAX_MESSAGES},
        problem::ApiError,
    },
    housekeeping,
    tool_choice::ToolChoiceBody,
};

/// A conversation to be continued. Members of OpenAI's request that are not listed are ignored.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ChatCompletionRequest, example = json!({
    "model": "cited/handbook", "messages": [{"role": "user", "content": "How many days of paid leave do I have?"}],
}))]
pub(in crate::http) struct ChatBody {
    /// The collections to answer from: `cited` for all, `cited/NAME`, several joined by `+`; at the end `:footnote`,
    /// `:link` or `:none` for another notation of citations than `[1]`. `/v1/models` lists them.
    pub(super) model: String,
    /// The conversation, oldest first; it ends with the user's question.
    pub(super) messages: Vec<ChatMessageBody>,
    /// Whether the answer is streamed, as server-sent events. No words are sent before their claim is checked.
    #[serde(default)]
    pub(super) stream: Option<bool>,
    /// Options of the stream.
    #[serde(default)]
    pub(super) stream_options: Option<StreamOptionsBody>,
    /// Sampling temperature of the answering model, 0 to 2.
    #[serde(default)]
    temperature: Option<f32>,
    /// Seed for models that accept one.
    #[serde(default)]
    seed: Option<u64>,
    /// Largest number of tokens of a reply of the answering model. A reply that is cut off is no answer.
    #[serde(default)]
    max_completion_tokens: Option<u32>,
    /// Older name of `max_completion_tokens`.
    #[serde(default)]
    max_tokens: Option<u32>,
    /// Number of answers; 1.
    #[serde(default)]
    n: Option<u32>,
    /// Tools that are offered are passed over, and none is called. A choice that demands a call is not supported.
    #[serde(default)]
    tool_choice: Option<ToolChoiceBody>,
    /// Form of the answer; only `{"type": "text"}` is supported.
    #[serde(default)]
    #[schema(value_type = Option<Map<String, Value>>)]
    response_format: Option<Value>,
    /// Members of `POST /v1/ask`, such as `filter` and `validation`. Question, messages, collections and stream are those
    /// of this request.
    #[serde(default)]
    cited: Option<Box<AskBody>>,
}

/// Options of a stream.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[schema(as = ChatStreamOptions)]
pub(in crate::http) struct StreamOptionsBody {
    /// Whether the last event before the end holds `usage`.
    #[serde(default)]
    pub(super) include_usage: bool,
}

/// A message.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ChatMessage)]
pub(in crate::http) struct ChatMessageBody {
    /// `user`, `assistant`, `system` or `developer`; messages of others, such as `tool`, are passed over.
    #[schema(example = "user")]
    pub(super) role: String,
    /// Text, or parts of type `text`.
    #[serde(default)]
    pub(super) content: Option<ContentBody>,
}

/// Content of a message.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged, expecting = "must be a text or a list of parts with a type and a text")]
#[schema(as = ChatContent)]
pub(super) enum ContentBody {
    /// A text.
    Text(String),
    /// Parts, joined by line breaks.
    Parts(Vec<PartBody>),
}

/// A part of a message.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ChatContentPart)]
pub(super) struct PartBody {
    /// `text`.
    #[serde(rename = "type")]
    #[schema(example = "text")]
    kind: String,
    /// The text.
    #[serde(default)]
    text: Option<String>,
}

/// Types of parts that hold text: those of chat completions and of responses.
const TEXT_PARTS: [&str; 4] = ["text", "input_text", "output_text", "refusal"];

impl ContentBody {
    /// The text, if it is in one piece.
    pub(super) fn only_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Parts(parts) => match &parts[..] {
                [part] => part.text.as_deref(),
                _ => None,
            },
        }
    }

    /// The text; parts that hold none, such as images, are faults.
    fn read(self, pointer: &str, faults: &mut Faults) -> String {
        match self {
            Self::Text(text) => text,
            Self::Parts(parts) => {
                let mut texts = Vec::with_capacity(parts.len());
                for (index, part) in parts.into_iter().enumerate() {
                    if TEXT_PARTS.contains(&part.kind.as_str()) {
                        texts.extend(part.text);
                    } else {
                        let detail = format!("has the type {:?}; only text is read", part.kind);
                        faults.add(format!("{pointer}/{index}/type"), detail);
                    }
                }
                texts.join("\n")
            }
        }
    }
}

impl ChatBody {
    /// The conversation as an ask of these collections.
    ///
    /// # Errors
    /// Faults of the messages, and parameters that ask for something else than one text.
    pub(super) fn into_ask(self, collections: Vec<String>) -> Result<AskBody, ApiError> {
        self.refuse_unsupported()?;
        let parameters = Parameters {
            collections,
            temperature: self.temperature,
            seed: self.seed,
            max_completion_tokens: self.max_completion_tokens.or(self.max_tokens),
        };
        parameters.ask("/messages", self.messages, self.cited)
    }

    fn refuse_unsupported(&self) -> Result<(), ApiError> {
        ToolChoiceBody::refuse_demand(self.tool_choice.as_ref())?;
        let kind = |value: &Value| value.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let fault = if self.n.is_some_and(|n| n != 1) {
            Some(("/n", "there is one answer; leave it out"))
        } else if self.response_format.as_ref().is_some_and(|format| kind(format) != "text") {
            Some(("/response_format", "answers are text with citations; leave it out"))
        } else {
            None
        };
        fault.map_or(Ok(()), |(pointer, detail)| Err(ApiError::unsupported_parameter(pointer, detail)))
    }

    /// The only message, if it is one of the user.
    pub(super) fn only_message(&self) -> Option<&str> {
        match &self.messages[..] {
            [ChatMessageBody { role, content: Some(content) }] if role == "user" => content.only_text(),
            _ => None,
        }
    }
}

/// Parameters of an ask besides its messages.
pub(super) struct Parameters {
    pub(super) collections: Vec<String>,
    pub(super) temperature: Option<f32>,
    pub(super) seed: Option<u64>,
    pub(super) max_completion_tokens: Option<u32>,
}

impl Parameters {
    /// The ask of a conversation, whose messages are at `pointer` in the request.
    ///
    /// # Errors
    /// Faults of the messages.
    pub(super) fn ask(
        self,
        pointer: &str,
        messages: Vec<ChatMessageBody>,
        cited: Option<Box<AskBody>>,
    ) -> Result<AskBody, ApiError> {
        let mut faults = Faults::default();
        let messages = read_messages(pointer, messages, &mut faults);
        if !messages.last().is_some_and(MessageBody::is_of_user) {
            faults.add(pointer, "must end with a message of the user that has a text");
        }
        faults.finish()?;
        let Self { collections, temperature, seed, max_completion_tokens } = self;
        let turn = ChatTurn { messages, collections, temperature, seed, max_completion_tokens };
        Ok(cited.map(|body| *body).unwrap_or_default().of_chat(turn))
    }
}

impl ChatMessageBody {
    /// A message of a text.
    pub(super) fn new(role: &str, text: String) -> Self {
        Self { role: role.to_owned(), content: Some(ContentBody::Text(text)) }
    }
}

/// An error of an ask with the pointers of a chat client's request.
pub(super) fn repointed(error: ApiError) -> ApiError {
    error.repointed(|pointer| {
        let own = ["/messages", "/temperature", "/seed"].iter().any(|own| pointer.starts_with(own));
        match pointer {
            _ if own => pointer.to_owned(),
            _ if pointer.starts_with("/collections") => "/model".to_owned(),
            _ => format!("/cited{pointer}"),
        }
    })
}

/// The messages of an ask. Older ones than an ask may have are left out, and earlier messages are cut to the length that
/// it may have: chat clients send the whole conversation, however long it has grown.
fn read_messages(pointer: &str, messages: Vec<ChatMessageBody>, faults: &mut Faults) -> Vec<MessageBody> {
    let last = messages.len().saturating_sub(1);
    let mut read: Vec<MessageBody> = Vec::with_capacity(messages.len());
    for (index, ChatMessageBody { role, content }) in messages.into_iter().enumerate() {
        let role = match role.as_str() {
            "user" => RoleBody::User,
            "assistant" => RoleBody::Assistant,
            "system" | "developer" => RoleBody::System,
            _ => continue,
        };
        let Some(content) = content else { continue };
        let content = content.read(&format!("{pointer}/{index}/content"), faults);
        let mut content = match role {
            RoleBody::User => housekeeping::question_in(&content).to_owned(),
            RoleBody::Assistant | RoleBody::System => content,
        };
        if index < last
            && let Some((end, _)) = content.char_indices().nth(MAX_MESSAGE)
        {
            content.truncate(end);
            content.shrink_to_fit();
        }
        read.push(MessageBody::new(role, content));
    }
    let oldest = read.len().saturating_sub(MAX_MESSAGES);
    read.split_off(oldest)
}
