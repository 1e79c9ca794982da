//! The `OpenAPI` document, generated from the code, and its pages.
//!
//! A handler documents only its own responses: its success, and failures whose meaning differs from the common one. The
//! rest is added here: common failures of routes ([`responses`]), examples ([`examples`]), and additions to schemas
//! that client generators need ([`schemas`]).

mod examples;
mod responses;
mod schemas;

use axum::{Router, http::Method};
use utoipa::{
    Modify, OpenApi,
    openapi::{
        path::{Operation, PathItem},
        security::{Http, HttpAuthScheme, SecurityScheme},
    },
};
use utoipa_swagger_ui::SwaggerUi;

use super::{AppState, Settings, mcp, open_routes, openai, problem::Problem, stream_routes, v1_routes, web};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Cited",
        description = "Answers questions from your own documents and proves every claim. All offsets count Unicode code \
            points, from 0, end exclusive. Every error is a problem document (RFC 9457). A service whose operator has \
            set no keys takes requests without one. The security of an operation names the scopes of which a key needs \
            one; the scope admin includes every other.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    servers((url = "/", description = "The service that this document comes from")),
    security(("bearer" = [])),
    tags(
        (name = "ask", description = "Questions and searches"),
        (name = "openai", description = "The same answers for clients of OpenAI: a model is a collection"),
        (name = "mcp", description = "The same answers for agents: tools of the Model Context Protocol"),
        (name = "audit", description = "What was asked, and how it ended"),
        (name = "ingest", description = "Documents in, and the jobs that index them"),
        (name = "documents", description = "Stored documents"),
        (name = "collections", description = "Named sets of documents"),
        (name = "access", description = "Keys, and for the operator tenants"),
        (name = "operations", description = "For probes; need no key")
    ),
    components(schemas(Problem)),
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
pub fn openapi_document() -> utoipa::openapi::OpenApi {
    let mut document = Document::openapi();
    let timed = v1_routes(Settings::default().max_body_bytes).merge(openai::routes()).merge(mcp::routes());
    let timed = timed.merge(web::citation_routes());
    let mut timed = timed.into_openapi();
    let mut streams = stream_routes().into_openapi();
    let mut open = open_routes().into_openapi();
    for operation in operations(&mut timed) {
        responses::add_timeout(operation);
    }
    for operation in operations(&mut timed).chain(operations(&mut streams)) {
        responses::add_shared(operation);
    }
    for operation in operations(&mut open) {
        responses::add_open(operation);
    }
    document.merge(timed);
    document.merge(streams);
    document.merge(open);
    for operation in operations(&mut document) {
        examples::add(operation);
        super::operations::describe(operation);
    }
    schemas::complete(&mut document);
    document
}

fn operations(document: &mut utoipa::openapi::OpenApi) -> impl Iterator<Item = &mut Operation> {
    operations_by_route(document).map(|(_, _, operation)| operation)
}

/// The operations with their methods and paths.
pub(super) fn operations_by_route(
    document: &mut utoipa::openapi::OpenApi,
) -> impl Iterator<Item = (Method, &str, &mut Operation)> {
    document.paths.paths.iter_mut().flat_map(|(path, item)| {
        let PathItem { get, put, post, delete, patch, .. } = item;
        [(Method::GET, get), (Method::PUT, put), (Method::POST, post), (Method::DELETE, delete), (Method::PATCH, patch)]
            .into_iter()
            .filter_map(move |(method, operation)| Some((method, path.as_str(), operation.as_mut()?)))
    })
}

/// `/openapi.json` and the interactive pages at `/docs`.
pub(super) fn pages() -> Router<AppState> {
    SwaggerUi::new("/docs").url("/openapi.json", openapi_document()).into()
}
