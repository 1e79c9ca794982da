//! Problem documents (RFC 9457): the one format of every error.
//!
//! The lowest level of the HTTP layer: nothing here depends on a resource. A resource adds members of its own with
//! [`ApiError::with`].

mod service;

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::rate_limit::RateLimit;

pub(crate) use service::AttemptBody;

/// Prefix of problem types; each type has a section of that name in the documentation.
const TYPE_PREFIX: &str = "urn:cited:problem:";
/// Seconds after which a client may retry if a dependency of the service is unavailable.
const RETRY_AFTER_S: &str = "2";

/// An error as returned by the API (RFC 9457). Some kinds of errors have additional members.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// URI that names the kind of problem.
    #[serde(rename = "type")]
    #[schema(example = "urn:cited:problem:invalid_request")]
    pub(crate) type_uri: String,
    /// The kind of problem in words.
    pub(crate) title: String,
    /// HTTP status.
    #[schema(example = 422)]
    pub(crate) status: u16,
    /// A description of this error and how to resolve it.
    pub(crate) detail: String,
    /// Path of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) instance: Option<String>,
    /// Stable name of the kind of problem.
    #[schema(example = "invalid_request")]
    pub(crate) code: String,
    /// Id of the request, as in the `x-request-id` header and the logs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) request_id: Option<String>,
    /// The wrong values of a request (`invalid_request`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) errors: Vec<FieldError>,
    /// Models that were called and did not answer (`providers_unavailable`, `deadline`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) attempts: Option<Vec<AttemptBody>>,
    /// Members of other kinds of problems: `limit`, `value`, …
    #[serde(flatten)]
    pub(crate) extensions: Map<String, Value>,
}

/// A wrong value in a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct FieldError {
    /// JSON pointer (RFC 6901) to the value; query parameters are named as `?name`.
    #[schema(example = "/documents/0/source")]
    pub(crate) pointer: String,
    /// A description of the error and of valid values.
    pub(crate) detail: String,
}

impl FieldError {
    /// The error for people; an error in the whole request has no pointer to name.
    fn named(&self) -> String {
        if matches!(self.pointer.as_str(), "" | "?") {
            self.detail.clone()
        } else {
            format!("{}: {}", self.pointer, self.detail)
        }
    }
}

/// An error that becomes a [`Problem`] response.
#[derive(Debug)]
pub(crate) struct ApiError(Box<Parts>);

#[derive(Debug)]
struct Parts {
    status: StatusCode,
    code: &'static str,
    title: &'static str,
    detail: String,
    errors: Vec<FieldError>,
    attempts: Option<Vec<AttemptBody>>,
    extensions: Map<String, Value>,
    retry_after: Option<String>,
    /// The limit that was reached.
    limit: Option<RateLimit>,
    /// The cause, for the log only.
    cause: Option<String>,
}

impl ApiError {
    /// An error with this status and kind.
    #[must_use]
    pub(crate) fn new(status: StatusCode, code: &'static str, title: &'static str, detail: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            status,
            code,
            title,
            detail: detail.into(),
            errors: Vec::new(),
            attempts: None,
            extensions: Map::new(),
            retry_after: None,
            limit: None,
            cause: None,
        }))
    }

    /// An error for wrong values in a well-formed request.
    #[must_use]
    pub(crate) fn invalid(errors: Vec<FieldError>) -> Self {
        let named: Vec<String> = errors.iter().map(FieldError::named).collect();
        let title = "The request has wrong values";
        let mut error = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_request", title, named.join("; "));
        error.0.errors = errors;
        error
    }

    /// An error for one wrong value.
    #[must_use]
    pub(crate) fn invalid_field(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::invalid(vec![FieldError { pointer: pointer.into(), detail: detail.into() }])
    }

    /// An error for a parameter of another API that asks for something that this service does not do.
    #[must_use]
    pub(crate) fn unsupported_parameter(pointer: &str, detail: &str) -> Self {
        let error = FieldError { pointer: pointer.to_owned(), detail: detail.to_owned() };
        let title = "The request asks for something that this service does not do";
        let mut problem = Self::new(StatusCode::BAD_REQUEST, "unsupported_parameter", title, error.named());
        problem.0.errors = vec![error];
        problem
    }

    /// An error for a body that cannot be read.
    #[must_use]
    pub(crate) fn unreadable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "unreadable_body", "The request body cannot be read", detail)
    }

    /// An error for a body in the wrong format.
    #[must_use]
    pub(crate) fn media_type(expected: &str) -> Self {
        Self::unsupported_media_type(format!("send {expected} and say so in the Content-Type header"))
    }

    /// An error for a body in a content coding (RFC 9110, section 8.4).
    #[must_use]
    pub(crate) fn content_encoding() -> Self {
        let detail = "bodies are not decompressed; send the body without a Content-Encoding header";
        Self::unsupported_media_type(detail.to_owned())
    }

    fn unsupported_media_type(detail: String) -> Self {
        let title = "The request body has the wrong format";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", title, detail)
    }

    /// An error for a body over the limit.
    #[must_use]
    pub(crate) fn too_large(limit_bytes: usize) -> Self {
        let detail = format!("the request body is over the limit of {limit_bytes} bytes; send less at once");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", "The request body is too large", detail)
            .with("limit", json!("body_bytes"))
            .with("value", json!(limit_bytes))
    }

    /// An error for a resource that does not exist.
    #[must_use]
    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", "There is no such thing", detail)
    }

    /// An error caused by a defect; the client receives only the request's id.
    #[must_use]
    pub(crate) fn internal(cause: impl Into<String>) -> Self {
        let mut error = Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "The service failed",
            "something went wrong in the service; tell its operator the request_id",
        );
        error.0.cause = Some(cause.into());
        error
    }

    /// The description of the error, in words.
    #[must_use]
    pub(crate) fn detail(&self) -> &str {
        &self.0.detail
    }

    /// Its HTTP status.
    pub(crate) fn status(&self) -> StatusCode {
        self.0.status
    }

    /// Its stable code.
    pub(crate) fn code(&self) -> &'static str {
        self.0.code
    }

    /// The error with other pointers to its wrong values, for a request of another form.
    #[must_use]
    pub(crate) fn repointed(self, pointer: impl Fn(&str) -> String) -> Self {
        if self.0.errors.is_empty() {
            return self;
        }
        let errors = self.0.errors.into_iter();
        Self::invalid(errors.map(|error| FieldError { pointer: pointer(&error.pointer), ..error }).collect())
    }

    /// Adds a member to the document.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: Value) -> Self {
        self.0.extensions.insert(name.to_owned(), value);
        self
    }

    /// Adds the members of an object to the document.
    pub(super) fn with_all(mut self, members: &impl Serialize) -> Self {
        match serde_json::to_value(members) {
            Ok(Value::Object(members)) => self.0.extensions.extend(members),
            other => tracing::error!(?other, "members of a problem document are no JSON object and are left out"),
        }
        self
    }

    /// Adds the models that were called and did not answer.
    pub(super) fn attempts(mut self, attempts: Vec<AttemptBody>) -> Self {
        self.0.attempts = Some(attempts);
        self
    }

    /// An error for a dependency of the service that cannot be reached; `cause` is for the log.
    pub(super) fn unavailable(code: &'static str, detail: impl Into<String>, cause: String) -> Self {
        let mut error = Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            code,
            "Something that the service needs is not available",
            detail,
        );
        error.0.cause = Some(cause);
        error.retry_after(RETRY_AFTER_S)
    }

    /// Sets the number of seconds after which the client may retry.
    pub(super) fn retry_after(mut self, seconds: impl Into<String>) -> Self {
        self.0.retry_after = Some(seconds.into());
        self
    }

    /// Names the limit that the client has reached.
    pub(super) fn limited_by(mut self, limit: RateLimit) -> Self {
        self.0.limit = Some(limit);
        self
    }
}

impl ApiError {
    /// The problem document, with the path and the id of its request as far as they are known. Logs the cause.
    #[must_use]
    pub(crate) fn into_problem(self, instance: Option<String>, request_id: Option<String>) -> Problem {
        let parts = *self.0;
        if let Some(cause) = &parts.cause {
            tracing::error!(code = parts.code, status = parts.status.as_u16(), cause = %cause, "a request failed");
        }
        Problem {
            type_uri: format!("{TYPE_PREFIX}{}", parts.code),
            title: parts.title.to_owned(),
            status: parts.status.as_u16(),
            detail: parts.detail,
            instance,
            code: parts.code.to_owned(),
            request_id,
            errors: parts.errors,
            attempts: parts.attempts,
            extensions: parts.extensions,
        }
    }
}

impl IntoResponse for ApiError {
    /// `instance` and `request_id` are added to every response by the middleware `complete_problem`.
    fn into_response(mut self) -> Response {
        let status = self.0.status;
        let (retry_after, limit) = (self.0.retry_after.take(), self.0.limit.take());
        let problem = self.into_problem(None, None);
        let mut response = (status, Json(&problem)).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(value) = retry_after.and_then(|seconds| HeaderValue::from_str(&seconds).ok()) {
            response.headers_mut().insert(header::RETRY_AFTER, value);
        }
        if let Some(limit) = limit {
            limit.tell(response.headers_mut());
        }
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(problem);
        response
    }
}
