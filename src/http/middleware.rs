//! Layers that every request passes through: request id, completion of problem documents, one log line.

use axum::{
    Json,
    extract::{MatchedPath, Request, State},
    http::{HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use tower_http::request_id::RequestId;
use tracing::{Instrument, Span};

use super::{
    MAX_HEADER_BYTES,
    client_address::client_address,
    openai::{AsOpenAi, OpenAiProblem},
    problem::{ApiError, Problem},
};
use crate::{
    metrics::{Metrics, Responded},
    spans::{self, RequestSpan},
};

/// Header that carries a request's id in both directions.
pub(super) static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest request id that is accepted from a client, in characters.
const MAX_REQUEST_ID: usize = 128;

/// Drops a client's request id that is not suitable for a log line; a new one replaces it.
pub(super) async fn sane_request_id(mut request: Request, next: Next) -> Response {
    let is_sane = request.headers().get(&REQUEST_ID).is_some_and(|value| {
        value.len() <= MAX_REQUEST_ID
            && !value.is_empty()
            && value.as_bytes().iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte))
    });
    if !is_sane {
        request.headers_mut().remove(&REQUEST_ID);
    }
    next.run(request).await
}

/// Refuses a request whose path, query and headers are too large.
pub(super) async fn limit_headers(request: Request, next: Next) -> Response {
    let headers: usize = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    if headers + target <= MAX_HEADER_BYTES {
        return next.run(request).await;
    }
    let detail = format!(
        "path, query and headers have {} bytes together, the limit is {MAX_HEADER_BYTES}; send long values in the body",
        headers + target
    );
    let title = "The headers are too large";
    ApiError::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "headers_too_large", title, detail).into_response()
}

/// Refuses a request whose body is compressed: it would be read as it is.
pub(super) async fn refuse_encoded(request: Request, next: Next) -> Response {
    let encoded = request.headers().get(header::CONTENT_ENCODING).filter(|value| *value != "identity");
    match encoded {
        None => next.run(request).await,
        Some(_) => ApiError::content_encoding().into_response(),
    }
}

/// The request's id, which [`sane_request_id`] and the layer after it have set.
pub(super) fn request_id(request: &Request) -> Option<String> {
    request.extensions().get::<RequestId>().and_then(|id| id.header_value().to_str().ok()).map(str::to_owned)
}

/// Adds path and request id to problem documents, and converts the bare errors of other layers into problem documents.
pub(super) async fn complete_problem(request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let id = request_id(&request);
    let mut response = next.run(request).await;
    let is_for_openai = response.extensions().get::<AsOpenAi>().is_some();
    if response.extensions().get::<Problem>().is_none()
        && let Some(error) = bare_error(&response)
    {
        let allow = response.headers().get(header::ALLOW).cloned();
        response = error.into_response();
        if let Some(allow) = allow {
            response.headers_mut().insert(header::ALLOW, allow);
        }
    }
    let Some(mut problem) = response.extensions_mut().remove::<Problem>() else { return response };
    problem.instance = Some(path);
    problem.request_id = id;
    let (parts, _) = response.into_parts();
    let (status, mut completed) = if is_for_openai {
        let problem = OpenAiProblem::from(problem);
        let mut response = Json(&problem).into_response();
        problem.write_headers(response.headers_mut());
        (problem.status(), response)
    } else {
        let mut response = Json(problem).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        (parts.status, response)
    };
    *completed.status_mut() = status;
    for name in parts.headers.keys().filter(|name| **name != header::CONTENT_LENGTH && **name != header::CONTENT_TYPE) {
        completed.headers_mut().remove(name);
        // Of several limits each has a line of its own; of other headers the outermost layer tells the value.
        let is_limit = name.as_str().starts_with("ratelimit");
        let values: Vec<&HeaderValue> = parts.headers.get_all(name).iter().collect();
        let overridden = if is_limit { 0 } else { values.len().saturating_sub(1) };
        for value in values.into_iter().skip(overridden) {
            completed.headers_mut().append(name, value.clone());
        }
    }
    completed
}

/// Converts errors that routing and limits return with an empty or plain text body.
fn bare_error(response: &Response) -> Option<ApiError> {
    let media_type = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if media_type.is_some_and(|value| value.contains("json") || value.starts_with("text/html")) {
        return None;
    }
    match response.status() {
        StatusCode::NOT_FOUND => {
            Some(ApiError::not_found("there is nothing at this path; the paths are listed at /docs"))
        }
        StatusCode::METHOD_NOT_ALLOWED => Some(ApiError::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            "The path does not have this method",
            "use one of the methods of the Allow header; they are described at /docs",
        )),
        StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT => Some(ApiError::new(
            StatusCode::GATEWAY_TIMEOUT,
            "deadline",
            "The request took too long",
            "the request did not finish within the service's time limit; ask for less at once",
        )),
        status if status.is_client_error() => {
            Some(ApiError::new(status, "bad_request", "The request cannot be served", status.to_string()))
        }
        status if status.is_server_error() => Some(ApiError::internal(status.to_string())),
        _ => None,
    }
}

/// Status, in logs and metrics, of a request that its client did not wait for. HTTP has none; this is that of nginx.
const CLIENT_GONE: u16 = 499;

/// Logs one line per request and counts it, with its route instead of its path, because paths may contain confidential
/// data. A request that is dropped before its response is one that its client did not wait for.
pub(super) async fn log_request(State(metrics): State<Metrics>, request: Request, next: Next) -> Response {
    let method = request.method().clone();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or_else(|| "unmatched".to_owned(), |path| path.as_str().to_owned());
    let id = request_id(&request).unwrap_or_default();
    let span = spans::request(&RequestSpan {
        method: method.as_str(),
        route: &route,
        request_id: &id,
        headers: request.headers(),
    });
    let client = client_address(&request).map(|address| address.to_string());
    let started = tokio::time::Instant::now();
    let mut line = RequestLine { metrics, method, route, id, client, started, span, status: CLIENT_GONE };
    let response = next.run(request).instrument(line.span.clone()).await;
    line.status = response.status().as_u16();
    response
}

/// The line of a request, which is written when it is dropped.
struct RequestLine {
    metrics: Metrics,
    method: Method,
    route: String,
    id: String,
    client: Option<String>,
    started: tokio::time::Instant,
    span: Span,
    status: u16,
}

impl Drop for RequestLine {
    fn drop(&mut self) {
        let Self { metrics, method, route, id, client, started, span, status } = self;
        spans::answered(span, *status);
        let duration = started.elapsed();
        metrics.note_request(&Responded { method: method.as_str(), route, status: *status, duration });
        let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        tracing::info!(target: "cited::http", %method, route, status, duration_ms, client, request_id = id, "{method} {route} {status}");
    }
}
