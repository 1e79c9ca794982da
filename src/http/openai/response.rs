//! The response object of the Open Responses specification. It has all members that the specification requires.

use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::{
    super::{
        answer::AnswerBody,
        reply::{Annotation, Delivered},
    },
    completion::UrlCitationBody,
    error::OpenAiProblem,
};
use crate::domain::budget::Spent;

/// Identity and parameters of a response.
#[derive(Clone, Debug)]
pub(super) struct ResponseIdentity {
    /// Without the prefix of its kind.
    pub(super) id: String,
    /// Seconds since 1970.
    pub(super) created_at: i64,
    /// The model as the request names it.
    pub(super) model: String,
    pub(super) instructions: Option<String>,
    pub(super) temperature: f32,
    pub(super) max_output_tokens: Option<u32>,
}

impl ResponseIdentity {
    /// Id of the only item.
    pub(super) fn message_id(&self) -> String {
        format!("msg_{}", self.id)
    }
}

/// State of a response or an item.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ResponseStatus)]
pub(super) enum ItemStatus {
    /// It is being written.
    InProgress,
    /// It is complete.
    Completed,
    /// It ended before it was complete.
    Incomplete,
    /// There is none.
    Failed,
}

/// A message with citations.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ResponseMessage)]
pub(super) struct MessageItem {
    #[serde(rename = "type")]
    #[schema(example = "message")]
    kind: &'static str,
    id: String,
    status: ItemStatus,
    #[schema(example = "assistant")]
    role: &'static str,
    /// One text.
    content: Vec<TextPart>,
}

/// The text of a message.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ResponseText)]
pub(super) struct TextPart {
    #[serde(rename = "type")]
    #[schema(example = "output_text")]
    kind: &'static str,
    /// The answer with its markers, or a sentence that there is none.
    #[schema(example = "Everyone has 28 days of paid leave a year. [1]")]
    text: String,
    /// A citation for each marker.
    annotations: Vec<TextAnnotation>,
    #[schema(value_type = Vec<Object>)]
    logprobs: Vec<Value>,
}

/// A citation at a marker.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ResponseAnnotation)]
pub(super) struct TextAnnotation {
    #[serde(rename = "type")]
    #[schema(example = "url_citation")]
    kind: &'static str,
    #[serde(flatten)]
    citation: UrlCitationBody,
}

impl Default for TextPart {
    fn default() -> Self {
        Self { kind: "output_text", text: String::new(), annotations: Vec::new(), logprobs: Vec::new() }
    }
}

impl TextPart {
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

impl From<Annotation> for TextAnnotation {
    fn from(annotation: Annotation) -> Self {
        Self { kind: "url_citation", citation: annotation.into() }
    }
}

impl MessageItem {
    /// A message of which nothing is written.
    pub(super) fn begun(identity: &ResponseIdentity) -> Self {
        let (id, status) = (identity.message_id(), ItemStatus::InProgress);
        Self { kind: "message", id, status, role: "assistant", content: Vec::new() }
    }

    /// A message that ended before anything of it was valid.
    pub(super) fn broken_off(identity: &ResponseIdentity) -> Self {
        Self { status: ItemStatus::Incomplete, ..Self::begun(identity) }
    }

    /// A whole message.
    pub(super) fn new(identity: &ResponseIdentity, delivered: Delivered) -> Self {
        let annotations = delivered.annotations.into_iter().map(TextAnnotation::from).collect();
        let part = TextPart { text: delivered.text, annotations, ..TextPart::default() };
        Self { status: ItemStatus::Completed, content: vec![part], ..Self::begun(identity) }
    }

    /// Its text.
    pub(super) fn part(&self) -> Option<&TextPart> {
        self.content.first()
    }
}

/// An answer as a response.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Response)]
pub(in crate::http) struct ResponseBody {
    id: String,
    #[schema(example = "response")]
    object: &'static str,
    /// Seconds since 1970.
    created_at: i64,
    /// Seconds since 1970.
    completed_at: Option<i64>,
    status: ItemStatus,
    /// The model as the request names it.
    #[schema(example = "cited/handbook")]
    model: String,
    instructions: Option<String>,
    /// Sampling temperature of the answering model.
    temperature: f32,
    max_output_tokens: Option<u32>,
    /// One message; none if the response failed.
    output: Vec<MessageItem>,
    /// The failure, if the response failed.
    #[schema(value_type = Option<Map<String, Value>>)]
    error: Option<Value>,
    /// Tokens of configured models; 0 without one.
    usage: ResponseUsage,
    /// The answer as `POST /v1/ask` returns it, once the response is complete.
    cited: Option<Box<AnswerBody>>,
    /// Members of the specification that have the same value in every response.
    #[serde(flatten)]
    constant: Constant,
}

/// Members that have the same value in every response.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ResponseConstants)]
struct Constant {
    #[schema(value_type = Option<Object>)]
    incomplete_details: Option<Value>,
    previous_response_id: Option<String>,
    #[schema(value_type = Vec<Object>)]
    tools: Vec<Value>,
    #[schema(example = "auto")]
    tool_choice: &'static str,
    #[schema(example = "disabled")]
    truncation: &'static str,
    parallel_tool_calls: bool,
    /// The form of the answer: text.
    #[schema(value_type = Map<String, Value>)]
    text: Value,
    top_p: f32,
    presence_penalty: f32,
    frequency_penalty: f32,
    top_logprobs: u32,
    #[schema(value_type = Option<Object>)]
    reasoning: Option<Value>,
    user: Option<String>,
    max_tool_calls: Option<u32>,
    /// False: nothing is kept between requests.
    store: bool,
    background: bool,
    #[schema(example = "default")]
    service_tier: &'static str,
    #[schema(value_type = Map<String, Value>)]
    metadata: Map<String, Value>,
    safety_identifier: Option<String>,
    prompt_cache_key: Option<String>,
}

impl Default for Constant {
    fn default() -> Self {
        Self {
            incomplete_details: None,
            previous_response_id: None,
            tools: Vec::new(),
            tool_choice: "auto",
            truncation: "disabled",
            parallel_tool_calls: false,
            text: json!({"format": {"type": "text"}}),
            top_p: 1.0,
            presence_penalty: 0.0,
            frequency_penalty: 0.0,
            top_logprobs: 0,
            reasoning: None,
            user: None,
            max_tool_calls: None,
            store: false,
            background: false,
            service_tier: "default",
            metadata: Map::new(),
            safety_identifier: None,
            prompt_cache_key: None,
        }
    }
}

/// Tokens of a response.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = ResponseUsage)]
struct ResponseUsage {
    input_tokens: u64,
    input_tokens_details: InputTokens,
    output_tokens: u64,
    output_tokens_details: OutputTokens,
    total_tokens: u64,
}

/// Tokens read, by kind; none is counted apart.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = ResponseInputTokens)]
struct InputTokens {
    cached_tokens: u64,
    cache_write_tokens: u64,
}

/// Tokens written, by kind; none is counted apart.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = ResponseOutputTokens)]
struct OutputTokens {
    reasoning_tokens: u64,
}

impl From<&Spent> for ResponseUsage {
    fn from(spent: &Spent) -> Self {
        let (input_tokens, output_tokens) = (spent.prompt_tokens, spent.completion_tokens);
        let total_tokens = input_tokens.saturating_add(output_tokens);
        Self { input_tokens, output_tokens, total_tokens, ..Self::default() }
    }
}

impl ResponseBody {
    /// A response of which nothing is written.
    pub(super) fn begun(identity: &ResponseIdentity) -> Self {
        let identity = identity.clone();
        Self {
            id: format!("resp_{}", identity.id),
            object: "response",
            created_at: identity.created_at,
            completed_at: None,
            status: ItemStatus::InProgress,
            model: identity.model,
            instructions: identity.instructions,
            temperature: identity.temperature,
            max_output_tokens: identity.max_output_tokens,
            output: Vec::new(),
            error: None,
            usage: ResponseUsage::default(),
            cited: None,
            constant: Constant::default(),
        }
    }

    /// The response with its message.
    pub(super) fn completed(self, message: MessageItem, completed_at: i64, spent: &Spent) -> Self {
        let (status, output) = (ItemStatus::Completed, vec![message]);
        Self { completed_at: Some(completed_at), status, output, usage: spent.into(), ..self }
    }

    /// The response with the answer that it was made of.
    pub(super) fn of(self, cited: Option<AnswerBody>) -> Self {
        Self { cited: cited.map(Box::new), ..self }
    }

    /// The response that failed, with the message as far as it came.
    pub(super) fn failed(self, message: MessageItem, problem: OpenAiProblem) -> Self {
        Self {
            status: ItemStatus::Failed,
            output: vec![message],
            error: serde_json::to_value(problem).ok().and_then(|mut problem| Some(problem.get_mut("error")?.take())),
            ..self
        }
    }
}
