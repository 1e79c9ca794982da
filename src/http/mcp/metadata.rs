//! Metadata of the protected resource (RFC 9728): how clients of `/mcp` present themselves.

use axum::{
    Json,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::Next,
    response::Response,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::super::{AppState, public_url::public_url};
use crate::domain::access::Scope;

/// Path of the metadata; clients make it of the path of the resource.
const PATH: &str = "/.well-known/oauth-protected-resource/mcp";

/// Metadata of `/mcp` (RFC 9728).
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ProtectedResource)]
pub(in crate::http) struct ProtectedResourceBody {
    /// Address of the resource.
    #[schema(example = "http://127.0.0.1:8080/mcp")]
    resource: String,
    /// Issuers of tokens that open the resource, where the operator has set one; without it keys alone do, which `POST
    /// /v1/keys` makes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, example = json!(["https://login.example.org"]))]
    authorization_servers: Vec<String>,
    /// Name for people.
    #[schema(example = "Cited")]
    resource_name: &'static str,
    /// Scopes of which a key needs one.
    #[schema(example = json!(["ask", "ingest", "read"]))]
    scopes_supported: Vec<&'static str>,
    /// Where a key is presented: the header `Authorization: Bearer`.
    #[schema(example = json!(["header"]))]
    bearer_methods_supported: Vec<&'static str>,
    /// Documentation for developers.
    #[schema(example = "http://127.0.0.1:8080/docs")]
    resource_documentation: String,
}

/// Describe the protected resource
///
/// How clients of `/mcp` present themselves (RFC 9728): with a key, in the header `Authorization: Bearer`.
#[utoipa::path(
    get, path = "/.well-known/oauth-protected-resource/mcp", tag = "mcp",
    responses((status = 200, description = "The metadata", body = ProtectedResourceBody)),
)]
pub(in crate::http) async fn get_protected_resource(
    State(state): State<AppState>,
    headers: HeaderMap,
) -> Json<ProtectedResourceBody> {
    let base = public_url(&state, &headers);
    Json(ProtectedResourceBody {
        resource: format!("{base}/mcp"),
        authorization_servers: state.access.token_settings().map(|tokens| tokens.issuer.clone()).into_iter().collect(),
        resource_name: "Cited",
        scopes_supported: [Scope::Ask, Scope::Ingest, Scope::Read].map(Scope::as_str).to_vec(),
        bearer_methods_supported: vec!["header"],
        resource_documentation: format!("{base}/docs"),
    })
}

/// Names the metadata where a request is refused for want of a key (RFC 9728, section 5.1).
pub(in crate::http) async fn challenge(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let base = public_url(&state, request.headers());
    let mut response = next.run(request).await;
    if response.status() == StatusCode::UNAUTHORIZED {
        let challenge = HeaderValue::from_str(&format!("Bearer resource_metadata=\"{base}{PATH}\""));
        response.headers_mut().extend(challenge.ok().map(|challenge| (header::WWW_AUTHENTICATE, challenge)));
    }
    response
}
