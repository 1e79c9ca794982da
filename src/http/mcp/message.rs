//! `POST /mcp`: one message of a client, and the reply to it.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderValue, Request, header},
    response::Response,
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{
    super::{
        AppState,
        in_flight::LargeJson,
        problem::{ApiError, Problem},
        public_url::public_url,
    },
    server::Server,
    session::Session,
};
use crate::service::granted::Granted;

/// Version of JSON-RPC.
const JSON_RPC: &str = "2.0";
/// Both media types that the transport may reply with: it refuses clients that do not accept both, and replies with JSON.
const ACCEPTED: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// A message of a client (JSON-RPC 2.0): a request, or a notification if it has no id.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = McpMessage, example = json!({
    "jsonrpc": "2.0", "id": 1, "method": "tools/call",
    "params": {"name": "ask", "arguments": {"question": "How many days of paid leave do I have?"}},
}))]
pub(in crate::http) struct MessageBody {
    /// `2.0`.
    #[schema(example = "2.0")]
    jsonrpc: String,
    /// The client's own name for a request, which the reply repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<MessageId>,
    /// A method of the Model Context Protocol, such as `initialize`, `tools/list` and `tools/call`.
    #[schema(example = "tools/list")]
    method: String,
    /// Parameters of the method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    params: Option<Map<String, Value>>,
}

/// A client's own name for a request.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(untagged, expecting = "must be a text or a whole number")]
#[schema(as = McpMessageId)]
pub(super) enum MessageId {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

/// The reply to a request (JSON-RPC 2.0): a result, or an error of the protocol.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = McpReply)]
pub(in crate::http) struct ReplyBody {
    /// `2.0`.
    jsonrpc: String,
    /// The id of the request.
    id: MessageId,
    /// The result of the method. That of a tool has `content`, `structuredContent` after the tool's schema, and `isError`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    result: Option<Map<String, Value>>,
    /// An error of the protocol, with `code` and `message`. Tools that fail have a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    error: Option<Map<String, Value>>,
}

/// Call a tool
///
/// The Model Context Protocol, Streamable HTTP without sessions: revisions 2024-11-05 to 2026-07-28. Tools: `search`,
/// `fetch`, `ask`, `check` and `ingest`; a key sees and calls those for which it has the scope that their operations
/// under `/v1` need. Passages are resources too, by their URN. Replies are JSON. A tool that fails says so in its result
/// (`isError`), with the problem document in `_meta` as `cited/problem`.
#[utoipa::path(
    post, path = "/mcp", tag = "mcp", request_body = MessageBody,
    responses(
        (status = 200, description = "The reply to a request", body = ReplyBody),
        (status = 202, description = "The notification was taken"),
        (status = 400, description = "The body is not JSON, or the headers of the protocol contradict it", content(
            (ReplyBody = "application/json"), (Problem = "application/problem+json"),
        )),
        (status = 404, description = "Of a client of revision 2026-07-28: there is no such method", body = ReplyBody),
    ),
)]
pub(in crate::http) async fn call_mcp(
    State(state): State<AppState>,
    granted: Granted,
    headers: HeaderMap,
    LargeJson(message, _room): LargeJson<MessageBody>,
) -> Result<Response, ApiError> {
    let request = message.into_request(&headers)?;
    let server = Server::new(Session::new(granted, public_url(&state, &headers), state.longest_wait));
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, transport());
    Ok(service.handle(request).await.map(Body::new))
}

/// Settings of the transport. Names, origins and sizes were checked before, for all routes alike.
fn transport() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(usize::MAX)
}

impl MessageBody {
    /// The message as the transport expects it, with the headers of the protocol.
    ///
    /// # Errors
    /// 422 for another version of JSON-RPC.
    fn into_request(self, headers: &HeaderMap) -> Result<Request<Body>, ApiError> {
        if self.jsonrpc != JSON_RPC {
            return Err(ApiError::invalid_field("/jsonrpc", format!("must be {JSON_RPC:?}")));
        }
        let body = serde_json::to_vec(&self).map_err(|error| ApiError::internal(error.to_string()))?;
        let mut request = Request::post("/mcp").body(Body::from(body));
        if let Ok(request) = &mut request {
            let of_protocol = headers.iter().filter(|(name, _)| name.as_str().starts_with("mcp-"));
            let own = request.headers_mut();
            own.extend(of_protocol.map(|(name, value)| (name.clone(), value.clone())));
            own.insert(header::HOST, HeaderValue::from_static("localhost"));
            own.insert(header::ACCEPT, ACCEPTED);
            own.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        request.map_err(|error| ApiError::internal(error.to_string()))
    }
}
