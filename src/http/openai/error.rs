//! Errors in the form that clients of OpenAI read, beside the members of the problem document.

use std::fmt::Write as _;

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode},
    middleware::Next,
    response::Response,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::super::problem::Problem;

/// Tells OpenAI's clients whether to send a request again; without it they repeat each that ended with 408, 409, 429 or
/// 5xx, up to twice.
static SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// Marks a response whose problem is to be sent as an [`OpenAiProblem`].
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct AsOpenAi;

/// An error for clients of OpenAI: their `error`, and the members of the problem document (RFC 9457).
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenAiProblem)]
pub(in crate::http) struct OpenAiProblem {
    /// The error as OpenAI's clients read it.
    error: ErrorBody,
    /// The problem document.
    #[serde(flatten)]
    problem: Problem,
}

/// The error as OpenAI's clients read it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenAiError)]
pub(super) struct ErrorBody {
    /// A description of the error and how to resolve it.
    message: String,
    /// Class of the error.
    #[serde(rename = "type")]
    #[schema(example = "invalid_request_error")]
    class: &'static str,
    /// Path of the wrong value in the request.
    #[schema(example = "messages[0].content")]
    param: Option<String>,
    /// Stable name of the kind of error.
    #[schema(example = "invalid_request")]
    code: String,
}

impl From<Problem> for OpenAiProblem {
    fn from(mut problem: Problem) -> Self {
        // Their clients expect 400 for a wrong value, and 422 of nothing else than citations that do not hold.
        if problem.code == "invalid_request" {
            problem.status = StatusCode::BAD_REQUEST.as_u16();
        }
        let code = match (problem.code.as_str(), problem.status) {
            ("not_found", _) => "model_not_found",
            (_, 401) => "invalid_api_key",
            (code, _) => code,
        };
        let message = match code {
            "model_not_found" => format!("{}; GET /v1/models lists the models", problem.detail),
            _ => problem.detail.clone(),
        };
        let error = ErrorBody {
            message,
            class: class_of(&problem),
            param: problem.errors.first().map(|error| path_of(&error.pointer)),
            code: code.to_owned(),
        };
        Self { error, problem }
    }
}

impl OpenAiProblem {
    /// The status to send.
    pub(in crate::http) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// Keeps clients from repeating a request that would end in the same way and cost as much again.
    pub(in crate::http) fn write_headers(&self, headers: &mut HeaderMap) {
        if matches!(self.problem.code.as_str(), "deadline" | "budget_exceeded" | "internal") {
            headers.insert(&SHOULD_RETRY, HeaderValue::from_static("false"));
        }
    }
}

/// OpenAI's class of an error.
fn class_of(problem: &Problem) -> &'static str {
    match (problem.code.as_str(), problem.status) {
        ("citation_validation", _) => "citation_validation_error",
        (_, 401) => "authentication_error",
        (_, 403) => "permission_error",
        (_, 429) => "rate_limit_error",
        (_, 500..) => "server_error",
        _ => "invalid_request_error",
    }
}

/// The path that a JSON pointer (RFC 6901) names, as OpenAI writes it.
fn path_of(pointer: &str) -> String {
    let mut path = String::new();
    for part in pointer.trim_start_matches(['/', '?']).split('/') {
        if !part.is_empty() && part.bytes().all(|sign| sign.is_ascii_digit()) {
            let _ = write!(path, "[{part}]");
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&part.replace("~1", "/").replace("~0", "~"));
        }
    }
    path
}

/// Has the problems of these routes sent in OpenAI's form.
pub(in crate::http) async fn as_openai(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    response.extensions_mut().insert(AsOpenAi);
    response
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::http::problem::ApiError;

    fn body(error: ApiError) -> serde_json::Value {
        serde_json::to_value(OpenAiProblem::from(error.into_problem(None, None))).expect("JSON")
    }

    #[test]
    fn a_wrong_value_is_named_as_openai_does() {
        let body = body(ApiError::invalid_field("/messages/0/content", "must not be empty"));
        assert_eq!(
            body["error"],
            json!({
                "message": "/messages/0/content: must not be empty", "type": "invalid_request_error",
                "param": "messages[0].content", "code": "invalid_request",
            })
        );
        assert_eq!((&body["status"], &body["code"]), (&json!(400), &json!("invalid_request")));
    }

    #[test]
    fn an_unknown_model_is_called_so() {
        let body = body(ApiError::not_found("there is no collection \"x\""));
        assert_eq!((&body["error"]["code"], &body["status"]), (&json!("model_not_found"), &json!(404)));
        assert_eq!(body["error"]["message"], "there is no collection \"x\"; GET /v1/models lists the models");
    }
}
