//! The `OpenAPI` document, made from the code, and its pages.

use axum::Router;
use utoipa::{
    Modify, OpenApi,
    openapi::security::{Http, HttpAuthScheme, SecurityScheme},
};
use utoipa_swagger_ui::SwaggerUi;

use super::{AppState, Settings, health_routes, stream_routes, v1_routes};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Cited",
        description = "Answers questions from your own documents and proves every claim. All offsets count Unicode code \
            points, from 0, end exclusive. Every error is a problem document (RFC 9457).",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    tags(
        (name = "ask", description = "Questions and searches"),
        (name = "audit", description = "What was asked, and how it ended"),
        (name = "ingest", description = "Documents in, and the jobs that index them"),
        (name = "documents", description = "Stored documents"),
        (name = "collections", description = "Named sets of documents"),
        (name = "operations", description = "For probes; need no key")
    ),
    modifiers(&Bearer)
)]
struct Document;

struct Bearer;

impl Modify for Bearer {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let components = openapi.components.get_or_insert_default();
        components.add_security_scheme("bearer", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    }
}

/// The `OpenAPI` document of every route.
#[must_use]
pub fn document() -> utoipa::openapi::OpenApi {
    let mut document = Document::openapi();
    let limit = Settings::default().max_body_bytes;
    document.merge(v1_routes(limit).into_openapi());
    document.merge(stream_routes().into_openapi());
    document.merge(health_routes().into_openapi());
    document
}

/// `/openapi.json` and the interactive pages at `/docs`.
pub(super) fn pages() -> Router<AppState> {
    SwaggerUi::new("/docs").url("/openapi.json", document()).into()
}
