//! `POST /v1/responses`, after the Open Responses specification.

use std::convert::Infallible;

use axum::{
    Json,
    extract::State,
    http::HeaderMap,
    response::{IntoResponse, Response, sse::Sse},
};
use futures::stream;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{
    super::{
        AppState, ask::AskBody, in_flight::LargeJson, problem::ApiError, public_url::public_url, reply::Delivered,
    },
    error::OpenAiProblem,
    housekeeping,
    model::ModelRef,
    ready_ask::ReadyAsk,
    request::{ChatMessageBody, ContentBody, Parameters},
    response::{MessageItem, ResponseBody, ResponseIdentity},
    response_events::ResponseEvents,
    tool_choice::ToolChoiceBody,
};
use crate::{
    domain::budget::Spent,
    service::{context::Context, granted::Granted},
};

/// The detail of a refusal of what refers to an earlier request.
const NOTHING_KEPT: &str = "nothing is kept between requests; send the conversation as input";

/// A conversation to be continued. Members of the specification that are not listed are ignored.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CreateResponse, example = json!({"model": "cited/handbook", "input": "How many days of paid leave do I have?"}))]
pub(in crate::http) struct CreateResponseBody {
    /// The collections to answer from, as in a chat completion.
    model: String,
    /// The question, or the conversation with the question at its end. Items other than messages are passed over.
    input: InputBody,
    /// Instructions to the assistant. They are not followed: the warning `instructions_ignored` says so.
    #[serde(default)]
    instructions: Option<String>,
    /// Whether the answer is streamed, as server-sent events. No words are sent before their claim is checked.
    #[serde(default)]
    stream: Option<bool>,
    /// Sampling temperature of the answering model, 0 to 2.
    #[serde(default)]
    temperature: Option<f32>,
    /// Largest number of tokens of a reply of the answering model. A reply that is cut off is no answer.
    #[serde(default)]
    max_output_tokens: Option<u32>,
    /// Tools that are offered are passed over, and none is called. A choice that demands a call is not supported.
    #[serde(default)]
    tool_choice: Option<ToolChoiceBody>,
    /// Not supported: nothing is kept between requests. Send the conversation as `input`.
    #[serde(default)]
    previous_response_id: Option<String>,
    /// Not supported, for the same reason.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    conversation: Option<serde_json::Value>,
    /// Not supported: there are no stored prompts.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    prompt: Option<serde_json::Value>,
    /// How text is written. Its `format` may be `{"type": "text"}` and no other.
    #[serde(default)]
    #[schema(value_type = Option<Object>, example = json!({"format": {"type": "text"}}))]
    text: Option<serde_json::Value>,
    /// Not supported; must be left out or false.
    #[serde(default)]
    background: Option<bool>,
    /// Members of `POST /v1/ask`, such as `filter` and `validation`.
    #[serde(default)]
    cited: Option<Box<AskBody>>,
}

/// The input of a response.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged, expecting = "must be a text or a list of items")]
#[schema(as = ResponseInput)]
enum InputBody {
    /// The question.
    Text(String),
    /// The conversation, oldest first.
    Items(Vec<InputItemBody>),
}

/// An item of a conversation: a message, if it has a role; anything else is passed over.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ResponseInputItem)]
struct InputItemBody {
    /// `user`, `assistant`, `system` or `developer`.
    #[serde(default)]
    #[schema(example = "user")]
    role: Option<String>,
    /// Text, or parts that hold text.
    #[serde(default)]
    content: Option<ContentBody>,
}

impl From<InputItemBody> for ChatMessageBody {
    fn from(InputItemBody { role, content }: InputItemBody) -> Self {
        Self { role: role.unwrap_or_default(), content }
    }
}

impl CreateResponseBody {
    /// The only message, if it is one of the user.
    fn only_message(&self) -> Option<&str> {
        match &self.input {
            InputBody::Text(text) => Some(text),
            InputBody::Items(items) => match &items[..] {
                [InputItemBody { role: Some(role), content: Some(content) }] if role == "user" => content.only_text(),
                _ => None,
            },
        }
    }

    fn into_ask(self, collections: Vec<String>) -> Result<AskBody, ApiError> {
        self.refuse_unsupported()?;
        let instructions = self.instructions.map(|text| ChatMessageBody::new("system", text));
        let input = match self.input {
            InputBody::Text(text) => vec![ChatMessageBody::new("user", text)],
            InputBody::Items(items) => items.into_iter().map(ChatMessageBody::from).collect(),
        };
        let messages = instructions.into_iter().chain(input).collect();
        let parameters = Parameters {
            collections,
            temperature: self.temperature,
            seed: None,
            max_completion_tokens: self.max_output_tokens,
        };
        parameters.ask("/input", messages, self.cited)
    }

    fn refuse_unsupported(&self) -> Result<(), ApiError> {
        ToolChoiceBody::refuse_demand(self.tool_choice.as_ref())?;
        let format = self.text.as_ref().and_then(|text| text.pointer("/format/type"));
        let fault = if self.previous_response_id.is_some() {
            Some(("/previous_response_id", NOTHING_KEPT))
        } else if self.conversation.is_some() {
            Some(("/conversation", NOTHING_KEPT))
        } else if self.prompt.is_some() {
            Some(("/prompt", "there are no stored prompts; send the question as input"))
        } else if format.is_some_and(|format| format != "text") {
            Some(("/text", "answers are text; leave its format out"))
        } else if self.background == Some(true) {
            Some(("/background", "answers are not made in the background; leave it out"))
        } else {
            None
        };
        fault.map_or(Ok(()), |(pointer, detail)| Err(ApiError::unsupported_parameter(pointer, detail)))
    }
}

/// Create a response
///
/// After the Open Responses specification, for clients of OpenAI. Answers like a chat completion; the output is one
/// message with `url_citation` annotations.
#[utoipa::path(
    post, path = "/v1/responses", tag = "openai", request_body = CreateResponseBody,
    responses(
        (status = 200, description = "An answer, or a message that there is none", content(
            (ResponseBody = "application/json"), (serde_json::Value = "text/event-stream"),
        )),
        (status = 400, description = "The body is not JSON, a value is wrong, or a parameter is not supported", body = OpenAiProblem),
        (status = 404, description = "A collection does not exist", body = OpenAiProblem),
        (status = 422, description = "The citations were wrong after the retry", body = OpenAiProblem),
    ),
)]
pub(in crate::http) async fn create_response(
    State(state): State<AppState>,
    granted: Granted,
    headers: HeaderMap,
    LargeJson(body, room): LargeJson<CreateResponseBody>,
) -> Result<Response, ApiError> {
    let id = granted.caller().request_id.clone().unwrap_or_default();
    let created_at = state.context.clock.now().unix_timestamp();
    let (model, instructions) = (body.model.clone(), body.instructions.clone());
    let (max_output_tokens, is_streamed) = (body.max_output_tokens, body.stream == Some(true));
    let collections = ModelRef::read(&body.model)?;
    let base = public_url(&state, &headers);
    if let Some(reply) = body.only_message().and_then(housekeeping::reply_to) {
        let temperature = body.temperature.unwrap_or_default();
        let identity = ResponseIdentity { id, created_at, model, instructions, temperature, max_output_tokens };
        return Ok(housekept(identity, reply, is_streamed, &state.context));
    }
    let ask = ReadyAsk::new(granted, collections, base, |collections| body.into_ask(collections)).await?;
    drop(room);
    let temperature = ask.temperature();
    let identity = ResponseIdentity { id, created_at, model, instructions, temperature, max_output_tokens };
    if is_streamed {
        return ask.stream(ResponseEvents::new(identity, state.context.clone())).await;
    }
    let (delivered, spent, cited) = ask.whole().await?;
    let message = MessageItem::new(&identity, delivered);
    let completed_at = state.context.clock.now().unix_timestamp();
    let response = ResponseBody::begun(&identity).completed(message, completed_at, &spent);
    Ok(Json(response.of(Some(cited))).into_response())
}

/// The reply to a prompt of a chat front end about the conversation itself.
fn housekept(identity: ResponseIdentity, text: String, is_streamed: bool, context: &Context) -> Response {
    let reply = Delivered { text, annotations: Vec::new() };
    if is_streamed {
        let events = ResponseEvents::new(identity, context.clone()).of_reply(reply);
        return Sse::new(stream::iter(events.into_iter().map(Ok::<_, Infallible>))).into_response();
    }
    let message = MessageItem::new(&identity, reply);
    let completed_at = identity.created_at;
    Json(ResponseBody::begun(&identity).completed(message, completed_at, &Spent::default())).into_response()
}
