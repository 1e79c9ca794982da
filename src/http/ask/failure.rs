//! Failures of an ask, as problem documents with additional members.

use axum::http::StatusCode;
use serde::Serialize;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{AllOfBuilder, Ref, RefOr, Schema},
};

use super::super::{
    answer::{FindingBody, UsageBody, ValidationBody},
    problem::{ApiError, AttemptBody, Problem},
    source::SourceBody,
};
use crate::service::{
    ask::{AskError, Rejection},
    error_chain,
};

/// Members that problems of an ask add, each only if it applies.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(super) struct AskDetails {
    /// How the rejected answer was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    validation: Option<ValidationBody>,
    /// Model that wrote the rejected answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    model: Option<String>,
    /// Provider of that model.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    provider: Option<String>,
    /// Calls, tokens and cost of the ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    usage: Option<UsageBody>,
    /// The sources that the rejected answer was written from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sources: Option<Vec<SourceBody>>,
    /// The rejected draft, if requested; no statement in it is proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    draft: Option<String>,
    /// The stage that was running when the time limit was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    stage: Option<&'static str>,
    /// The time limit in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    limit_ms: Option<u64>,
}

/// The problem document of an ask.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct AskProblem(pub(super) Problem);

impl PartialSchema for AskProblem {
    fn schema() -> RefOr<Schema> {
        AllOfBuilder::new()
            .description(Some("The problem document of an ask."))
            .item(Ref::from_schema_name(Problem::name()))
            .item(Ref::from_schema_name(AskDetails::name()))
            .into()
    }
}

impl ToSchema for AskProblem {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((AskDetails::name().into(), AskDetails::schema()));
        AskDetails::schemas(schemas);
    }
}

impl From<AskError> for ApiError {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Service(error) => error.into(),
            AskError::Providers(error) => error.into(),
            AskError::Audit(error) => Self::unavailable(
                "audit_unavailable",
                "the answer could not be noted in the audit, so it is not given; try again shortly",
                error_chain(&error),
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
            .attempts(attempts.iter().map(AttemptBody::from).collect())
            .with_all(&AskDetails {
                stage: Some(stage),
                limit_ms: Some(limit_ms),
                usage: Some(UsageBody::from(&*usage)),
                ..AskDetails::default()
            }),
            AskError::Rejected(rejection) => rejected(*rejection, false),
        }
    }
}

/// The problem for an answer whose citations were still wrong after the retry, with the errors, the sources and the
/// cost, and with the draft if it was requested.
pub(super) fn rejected(rejection: Rejection, wants_draft: bool) -> ApiError {
    let Rejection { errors, draft, attempts, level, warnings, by, sources, usage, .. } = rejection;
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
    let sources = sources.into_iter().map(|graded| SourceBody::new(graded.hit, Some(graded.verdict.grade))).collect();
    let title = "The answer's citations do not hold";
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "citation_validation", title, detail).with_all(&AskDetails {
        validation: Some(validation),
        model: Some(by.model),
        provider: Some(by.provider),
        usage: Some(UsageBody::from(&usage)),
        sources: Some(sources),
        draft: wants_draft.then_some(draft),
        ..AskDetails::default()
    })
}
