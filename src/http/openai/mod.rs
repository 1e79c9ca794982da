//! Routes that clients of OpenAI know: chat completions, responses and models. Behind them the same asks run as behind `/v1/ask`.

mod chat;
mod completion;
mod error;
mod housekeeping;
mod model;
mod progress;
mod ready_ask;
mod request;
mod response;
mod response_events;
mod responses;
mod stream;
mod tool_choice;

use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) use error::{AsOpenAi, OpenAiProblem, as_openai};

use super::{AppState, body_limit};

/// Largest body of a conversation, in bytes: clients send all of it with each question.
const CONVERSATION_BYTES: usize = 4 * 1024 * 1024;

/// The routes, which need a key.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(chat::create_chat_completion))
        .routes(routes!(responses::create_response))
        .routes(routes!(model::list_models))
        .routes(routes!(model::get_model))
        .layer(body_limit(CONVERSATION_BYTES))
}
