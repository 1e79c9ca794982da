//! How an ask fails, as problem documents with members of their own.

use axum::http::StatusCode;
use serde_json::json;

use super::super::{
    answer::{FindingBody, UsageBody, ValidationBody},
    problem::{ApiError, AttemptBody, chain},
    source::SourceBody,
};
use crate::service::ask::{AskError, Rejection};

impl From<AskError> for ApiError {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Service(error) => error.into(),
            AskError::Providers(error) => error.into(),
            AskError::Audit(error) => Self::unavailable(
                "audit_unavailable",
                "the answer could not be noted in the audit, so it is not given; try again shortly",
                chain(&error),
            ),
            AskError::Deadline { stage, limit_ms, usage, attempts } => Self::new(
                StatusCode::GATEWAY_TIMEOUT,
                "deadline",
                "The answer took too long",
                format!(
                    "the limit of {limit_ms} ms was reached while {stage}; ask for less, or raise limits.timeout_ms, \
                     which counts up to CITED_ASK_TIMEOUT_S"
                ),
            )
            .with("stage", json!(stage))
            .with("limit_ms", json!(limit_ms))
            .with("usage", json!(UsageBody::from(&*usage)))
            .with("attempts", json!(attempts.iter().map(AttemptBody::from).collect::<Vec<_>>())),
            AskError::Rejected(rejection) => rejected(*rejection),
        }
    }
}

/// The problem of an answer whose citations were wrong after the retry: what was wrong, over which sources, at what cost.
pub(super) fn rejected(rejection: Rejection) -> ApiError {
    let Rejection { errors, attempts, level, warnings, by, sources, usage, .. } = rejection;
    let detail = format!(
        "the answer of {} ({}) failed validation at level {:?} after {attempts} attempts; validation.errors lists what \
         was wrong",
        by.model,
        by.provider,
        level.as_str(),
    );
    let validation = ValidationBody {
        ok: false,
        level,
        effective_level: level,
        attempts,
        warnings: warnings.iter().map(FindingBody::from).collect(),
        errors: errors.iter().map(FindingBody::from).collect(),
    };
    let sources: Vec<SourceBody> =
        sources.into_iter().map(|graded| SourceBody::new(graded.hit, Some(graded.verdict.grade))).collect();
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "citation_validation", "The answer's citations do not hold", detail)
        .with("validation", json!(validation))
        .with("model", json!(by.model))
        .with("provider", json!(by.provider))
        .with("usage", json!(UsageBody::from(&usage)))
        .with("sources", json!(sources))
}
