//! Failure responses that routes share, described once.

use utoipa::openapi::{
    ContentBuilder, Ref, RefOr, Response, ResponseBuilder,
    path::{Operation, ParameterIn},
};

/// Failures of every route.
const OF_OPEN: [(&str, &str); 2] = [
    ("403", "A page of another origin sent the request"),
    ("421", "The request is addressed to a name that is not the service's"),
];
/// Failures of every route that needs a key.
const OF_ALL: [(&str, &str); 5] = [
    ("401", "No valid key"),
    ("403", "The key does not allow this (`insufficient_scope`), or a page of another origin sent the request"),
    (
        "429",
        "The key or the address is used too often (`rate_limited`), or the key too often at once (`too_many_at_once`); see Retry-After",
    ),
    ("431", "Path, query and headers are too large"),
    ("503", "The database cannot be reached; see Retry-After"),
];
/// Failures of routes that have the service's time limit.
const OF_TIMED: [(&str, &str); 1] = [("504", "The request took longer than the service allows")];
/// Failures of routes that accept a body, which is JSON unless they specify another type.
const OF_BODIES: [(&str, &str); 4] = [
    ("400", "The body is not JSON"),
    ("413", "The body is too large"),
    ("415", "The body is not declared as JSON"),
    ("422", "A value is wrong"),
];
/// Failures of routes whose path names a resource.
const OF_PATHS: [(&str, &str); 1] = [("404", "What the path names does not exist")];
/// Failures of routes that accept query parameters.
const OF_QUERIES: [(&str, &str); 1] = [("422", "A parameter is wrong")];

/// Adds the responses that a route shares with others, and gives all failures the schema of a problem document.
pub(super) fn add_shared(operation: &mut Operation) {
    add(operation, &OF_ALL);
    add(operation, &OF_OPEN);
    if operation.request_body.is_some() {
        add(operation, &OF_BODIES);
    }
    if has_parameter(operation, &ParameterIn::Path) {
        add(operation, &OF_PATHS);
    }
    if has_parameter(operation, &ParameterIn::Query) {
        add(operation, &OF_QUERIES);
    }
    complete_problems(operation);
}

/// Adds the responses that routes without a key share.
pub(super) fn add_open(operation: &mut Operation) {
    add(operation, &OF_OPEN);
    complete_problems(operation);
}

/// Adds the response for a request that exceeds the service's time limit.
pub(super) fn add_timeout(operation: &mut Operation) {
    add(operation, &OF_TIMED);
}

fn has_parameter(operation: &Operation, place: &ParameterIn) -> bool {
    let mut parameters = operation.parameters.iter().flatten();
    parameters.any(|parameter| matches!(parameter, RefOr::T(parameter) if parameter.parameter_in == *place))
}

/// Adds responses that the route does not describe itself.
fn add(operation: &mut Operation, ends: &[(&str, &str)]) {
    for (status, description) in ends {
        let responses = &mut operation.responses.responses;
        let end = || ResponseBuilder::new().description(*description).into();
        responses.entry((*status).to_owned()).or_insert_with(end);
    }
}

/// Gives every failure a body: a problem document, unless the route specifies another one, and in the form of OpenAI on
/// routes that are compatible with it.
fn complete_problems(operation: &mut Operation) {
    let is_openai = operation.tags.iter().flatten().any(|tag| tag == "openai");
    let (media_type, schema) =
        if is_openai { ("application/json", "OpenAiProblem") } else { ("application/problem+json", "Problem") };
    for (status, response) in &mut operation.responses.responses {
        let RefOr::T(Response { content, .. }) = response else { continue };
        if status.starts_with(['4', '5']) && content.is_empty() {
            let body = ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).build();
            content.insert(media_type.to_owned(), RefOr::T(body));
        }
    }
}
