//! `POST /mcp`: the Model Context Protocol, for agents and chat applications that call tools.
//!
//! Each message stands alone and no session is kept, so that any process of a deployment serves it. A tool does what its
//! operation under `/v1` does, for the same caller and behind the same scopes.

mod ask;
mod check;
mod collections;
mod fetch;
mod ingest;
mod message;
mod metadata;
mod schema;
mod search;
mod server;
mod session;
mod tool;

use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) use metadata::challenge;

use super::{AppState, body_limit};

/// Largest message, in bytes: a tool may be given the text of a document.
const MESSAGE_BYTES: usize = 4 * 1024 * 1024;

/// The route of the protocol, which needs a key.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(message::call_mcp)).layer(body_limit(MESSAGE_BYTES))
}

/// The route that tells clients how to present themselves, which needs none.
pub(super) fn metadata_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(metadata::get_protected_resource))
}
