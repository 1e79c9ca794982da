//! Examples of bodies, read from files.

use std::collections::BTreeMap;

use utoipa::openapi::{Content, RefOr, Response, example::Example, path::Operation, request_body::RequestBody};

/// Example files by the operation they belong to.
const FILES: [(&str, &str); 4] = [
    ("ask", include_str!("../../../openapi/examples/ask.json")),
    ("check", include_str!("../../../openapi/examples/check.json")),
    ("stream_ask", include_str!("../../../openapi/examples/stream_ask.json")),
    ("stream_documents", include_str!("../../../openapi/examples/stream_documents.json")),
];
/// Key used instead of a status for the body of the request.
const REQUEST: &str = "request";

/// Content of an example file: by status (or [`REQUEST`]), by media type, by name.
type Examples = BTreeMap<String, BTreeMap<String, BTreeMap<String, Example>>>;

/// Adds the examples of an operation to the bodies that it describes. The tests check that every example is used.
pub(super) fn add(operation: &mut Operation) {
    let name = operation.operation_id.as_deref().unwrap_or_default();
    let Some((_, file)) = FILES.iter().find(|(operation, _)| *operation == name) else { return };
    let by_status: Examples = serde_json::from_str(file).expect("examples by status, media type and name");
    for (status, by_media_type) in by_status {
        for (media_type, examples) in by_media_type {
            let Some(RefOr::T(content)) = body(operation, &status, &media_type) else { continue };
            content.examples.extend(examples.into_iter().map(|(name, example)| (name, RefOr::T(example))));
        }
    }
}

/// The body of a request, or of the response with this status.
fn body<'a>(operation: &'a mut Operation, status: &str, media_type: &str) -> Option<&'a mut RefOr<Content>> {
    if status == REQUEST {
        let Some(RefOr::T(RequestBody { content, .. })) = &mut operation.request_body else { return None };
        return content.get_mut(media_type);
    }
    let Some(RefOr::T(Response { content, .. })) = operation.responses.responses.get_mut(status) else { return None };
    content.get_mut(media_type)
}
