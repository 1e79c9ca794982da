//! The `OpenAPI` document, made from the code, and its pages.

use axum::Router;
use utoipa::{
    Modify, OpenApi,
    openapi::{
        ContentBuilder, Ref, RefOr, Response, ResponseBuilder,
        path::{Operation, PathItem},
        security::{Http, HttpAuthScheme, SecurityScheme},
    },
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

/// How every route that needs a key can end.
const OF_ALL: [(&str, &str); 3] = [
    ("401", "No valid key"),
    ("431", "Path, query and headers are too large"),
    ("503", "The database cannot be reached; see Retry-After"),
];
/// How those can end that have the service's time limit.
const OF_TIMED: [(&str, &str); 1] = [("504", "The request took longer than the service allows")];
/// How those can end that take a body, which is JSON unless they say otherwise.
const OF_BODIES: [(&str, &str); 4] = [
    ("400", "The body is not JSON"),
    ("413", "The body is too large"),
    ("415", "The body is not declared as JSON"),
    ("422", "A value is wrong"),
];

/// The `OpenAPI` document of every route.
#[must_use]
pub fn document() -> utoipa::openapi::OpenApi {
    let mut document = Document::openapi();
    let mut timed = v1_routes(Settings::default().max_body_bytes).into_openapi();
    let mut streams = stream_routes().into_openapi();
    for operation in operations(&mut timed) {
        add(operation, &OF_TIMED);
    }
    for operation in operations(&mut timed).chain(operations(&mut streams)) {
        add(operation, &OF_ALL);
        if operation.request_body.is_some() {
            add(operation, &OF_BODIES);
        }
    }
    document.merge(timed);
    document.merge(streams);
    document.merge(health_routes().into_openapi());
    document
}

fn operations(document: &mut utoipa::openapi::OpenApi) -> impl Iterator<Item = &mut Operation> {
    document.paths.paths.values_mut().flat_map(|item| {
        let PathItem { get, put, post, delete, patch, .. } = item;
        [get, put, post, delete, patch].into_iter().flatten()
    })
}

/// Adds ends that the route does not describe itself.
fn add(operation: &mut Operation, ends: &[(&str, &str)]) {
    for (status, description) in ends {
        operation.responses.responses.entry((*status).to_owned()).or_insert_with(|| problem(description));
    }
}

fn problem(description: &str) -> RefOr<Response> {
    let schema = RefOr::Ref(Ref::from_schema_name("Problem"));
    let content = ContentBuilder::new().schema(Some(schema)).build();
    ResponseBuilder::new().description(description).content("application/problem+json", content).into()
}

/// `/openapi.json` and the interactive pages at `/docs`.
pub(super) fn pages() -> Router<AppState> {
    SwaggerUi::new("/docs").url("/openapi.json", document()).into()
}
