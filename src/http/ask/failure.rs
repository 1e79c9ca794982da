//! Failures of an ask, as problem documents with additional members.

use std::collections::HashSet;

use axum::http::StatusCode;
use serde::Serialize;
use serde_json::Value;
use utoipa::{IntoResponses, ToSchema};
use uuid::Uuid;

use super::{
    super::{
        answer::{FindingBody, UsageBody, ValidationBody},
        problem::{ApiError, AttemptBody, Problem},
        source::SourceBody,
        trace::trace_json,
    },
    body::IncludeBody,
};
use crate::service::{
    ask::{AskError, AttemptTrace, FailedAsk, Rejection},
    error_chain,
};

/// Members that problems of an ask add, each only if it applies.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(super) struct AskDetails {
    /// Id of the ask, by which `/v1/audit/{id}` finds its record.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    id: Option<Uuid>,
    /// Calls, tokens and cost of the ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    usage: Option<UsageBody>,
    /// The stage that was running when the time limit was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    stage: Option<&'static str>,
    /// The time limit in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    limit_ms: Option<u64>,
    /// The trace up to the failure, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Map<String, Value>>, nullable = false)]
    trace: Option<Value>,
}

/// Members that the problem `citation_validation` adds to those of an ask.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RejectedAnswer {
    /// How the rejected answer was checked.
    validation: ValidationBody,
    /// The rejected drafts, each with its errors; `validation.errors` are those of the last.
    drafts: Vec<DraftBody>,
    /// Model that wrote the rejected answer.
    model: String,
    /// Provider of that model.
    provider: String,
    /// The sources that the rejected answer was written from.
    sources: Vec<SourceBody>,
    /// The rejected draft, if requested; no statement in it is proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    draft: Option<String>,
}

/// A rejected draft.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RejectedDraft)]
pub(super) struct DraftBody {
    /// 1 or 2.
    attempt: u8,
    /// Its errors.
    errors: Vec<FindingBody>,
}

impl From<&AttemptTrace> for DraftBody {
    fn from(draft: &AttemptTrace) -> Self {
        Self { attempt: draft.attempt, errors: draft.errors.iter().map(FindingBody::from).collect() }
    }
}

/// The problem document of an ask.
#[derive(Serialize, ToSchema)]
pub(super) struct AskProblem {
    #[serde(flatten)]
    problem: Problem,
    #[serde(flatten)]
    details: AskDetails,
}

/// The problem `citation_validation`: the citations of an answer were wrong after the retry.
#[derive(Serialize, ToSchema)]
pub(super) struct CitationValidationProblem {
    #[serde(flatten)]
    problem: Problem,
    #[serde(flatten)]
    details: AskDetails,
    #[serde(flatten)]
    rejected: RejectedAnswer,
}

/// The problem document of an ask; `code` tells wrong citations (`citation_validation`) apart.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes responses; `failed` makes them")]
pub(super) enum AskFailure {
    CitationValidation(CitationValidationProblem),
    Other(AskProblem),
}

/// The ways in which an ask ends without an answer.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "describes the responses; `failed` makes them")]
pub(super) enum AskFailures {
    /// A collection does not exist
    #[response(status = 404)]
    NotFound,
    /// A collection lives in another vector space, or what was found is gone (`sources_withdrawn`)
    #[response(status = 409)]
    Conflict,
    /// The body is too large (`body_too_large`), or the ask is over its budget (`budget_exceeded`)
    #[response(status = 413, content_type = "application/problem+json")]
    TooLarge(AskProblem),
    /// A value is wrong (`invalid_request`), or the citations were wrong after the retry (`citation_validation`)
    #[response(status = 422, content_type = "application/problem+json")]
    Unprocessable(AskFailure),
    /// Model provider or database not available, or the ask could not be audited
    #[response(status = 503, content_type = "application/problem+json")]
    Unavailable(AskProblem),
    /// The time limit was reached
    #[response(status = 504, content_type = "application/problem+json")]
    Deadline(AskProblem),
}

/// The problem for an ask that ended without an answer, with its id, and with what was requested of the trace and the
/// draft.
pub(in crate::http) fn failed(failed: FailedAsk, include: &HashSet<IncludeBody>) -> ApiError {
    let FailedAsk { id, error, trace } = failed;
    let problem = match error {
        AskError::Service(error) => error.into(),
        AskError::Providers(error) => error.into(),
        AskError::Withdrawn => ApiError::new(
            StatusCode::CONFLICT,
            "sources_withdrawn",
            "Documents that the answer was being written from are no longer there",
            "a document that was found for the question was deleted, or its access control list was changed, before the \
             answer was complete; ask again",
        ),
        AskError::Audit(error) => ApiError::unavailable(
            "audit_unavailable",
            "the answer could not be noted in the audit, so it is not given; try again shortly",
            error_chain(&error),
        ),
        AskError::Deadline { stage, limit_ms, usage, attempts } => ApiError::new(
            StatusCode::GATEWAY_TIMEOUT,
            "deadline",
            "The answer took too long",
            format!(
                "the limit of {limit_ms} ms was reached while {stage}; ask for less, or raise limits.timeout_ms, which \
                 counts up to CITED_ASK_TIMEOUT_S"
            ),
        )
        .attempts(attempts.iter().map(AttemptBody::from).collect())
        .with_all(&AskDetails {
            stage: Some(stage),
            limit_ms: Some(limit_ms),
            usage: Some(UsageBody::from(&*usage)),
            ..AskDetails::default()
        }),
        AskError::Rejected(rejection) => {
            let drafts = trace.attempts.iter().map(DraftBody::from).collect();
            rejected(*rejection, drafts, include.contains(&IncludeBody::Draft))
        }
    };
    let trace = include.contains(&IncludeBody::Trace).then(|| trace_json(&trace));
    problem.with_all(&AskDetails { id: Some(id), trace, ..AskDetails::default() })
}

/// The problem for an answer whose citations were still wrong after the retry, with the errors, the sources and the
/// cost, and with the draft if it was requested.
fn rejected(rejection: Rejection, drafts: Vec<DraftBody>, wants_draft: bool) -> ApiError {
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
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "citation_validation", title, detail)
        .with_all(&AskDetails { usage: Some(UsageBody::from(&usage)), ..AskDetails::default() })
        .with_all(&RejectedAnswer {
            validation,
            drafts,
            model: by.model,
            provider: by.provider,
            sources,
            draft: wants_draft.then_some(draft),
        })
}
