//! `/v1/audit`.

use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{
    answer::FindingBody,
    extract::{ValidPath, ValidQuery},
    pagination::{default_limit, next_cursor, rows_to_fetch},
    problem::ApiError,
    schema::{AuditOutcomeSchema, GradeSchema, PlainText, ValidationLevelSchema},
};
use crate::{
    domain::{audit::AuditOutcome, citation::Level, corrective::Grade, cost::NanoUsd},
    service::{
        audit::{AuditFilter, AuditRow},
        granted::Granted,
    },
};

/// Filters of the audit list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct AuditQuery {
    /// Only asks with this outcome.
    #[param(inline, value_type = Option<AuditOutcomeSchema>)]
    outcome: Option<AuditOutcome>,
    /// Only asks of the request with this id: the `x-request-id` header, `request_id` of a problem.
    #[param(inline, value_type = Option<PlainText>)]
    request_id: Option<String>,
    /// Only asks made with the key that has this `key_id`.
    #[param(inline, value_type = Option<PlainText>)]
    key_id: Option<String>,
    /// Only asks in which this provider took part, in any role; `built-in` for the built-in answerer.
    #[param(inline, value_type = Option<PlainText>)]
    provider: Option<String>,
    /// Only asks received at this time (RFC 3339) or later.
    #[serde(default, with = "time::serde::rfc3339::option")]
    #[param(example = "2026-01-31T00:00:00Z")]
    asked_after: Option<OffsetDateTime>,
    /// Only asks received before this time (RFC 3339).
    #[serde(default, with = "time::serde::rfc3339::option")]
    asked_before: Option<OffsetDateTime>,
    /// `next_cursor` of the previous page.
    cursor: Option<Uuid>,
    /// Rows per page, 1 to 200.
    #[serde(default = "default_limit")]
    #[param(default = 50, minimum = 1, maximum = 200)]
    limit: i64,
}

/// A page of the audit.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AuditPage {
    /// The asks, newest first.
    asks: Vec<AuditBody>,
    /// Send this as `cursor` to get the next page; null on the last page.
    next_cursor: Option<String>,
}

/// An ask, and how it ended.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditedAsk)]
pub(super) struct AuditBody {
    /// Id of the ask, as in its answer.
    id: Uuid,
    /// When the ask was received.
    #[serde(with = "time::serde::rfc3339")]
    asked_at: OffsetDateTime,
    /// Id of the request, as in the `x-request-id` header.
    request_id: Option<String>,
    /// Id of the API key; of a key of the operator the first digits of its SHA-256. Null if no key is required.
    key_id: Option<String>,
    /// Outcome of the ask.
    #[schema(value_type = AuditOutcomeSchema)]
    outcome: AuditOutcome,
    /// Reason for the outcome: of an abstention, its reason; the limit that was exceeded; the stage that was running
    /// when the time was up or the client disconnected; the cause of a failure.
    reason: Option<String>,
    /// The question; null if the deployment does not store questions.
    question: Option<String>,
    /// SHA-256 of the question, hexadecimal.
    question_sha256: String,
    /// The collections as named in the request.
    collections: Vec<String>,
    /// Whether the answer was streamed.
    stream: bool,
    /// How the answer was checked.
    validation: AuditValidationBody,
    /// Provider of the model that wrote the answer or its last draft.
    provider: Option<String>,
    /// The model that wrote the answer or its last draft.
    model: Option<String>,
    /// SHA-256 that identifies the deployment's instructions to the models, hexadecimal; null without any.
    instructions_sha256: Option<String>,
    /// Temperature sent with the last draft.
    temperature: Option<f32>,
    /// Seed sent with the last draft.
    seed: Option<u64>,
    /// Model calls with their roles, tokens, costs and failed attempts.
    #[schema(value_type = Vec<Map<String, Value>>)]
    calls: Value,
    /// Calls, tokens and cost of the ask.
    usage: AuditUsageBody,
    /// The queries that were searched, the question first; empty if the deployment does not store questions.
    queries: Vec<String>,
    /// URNs of the sources that the answer was written from: `[^N]` cites the Nth.
    sources: Vec<String>,
    /// Citations of the answer.
    citations: Vec<AuditCitationBody>,
    /// Grades of the passages that were found, in the order in which they were found.
    grades: Vec<AuditGradeBody>,
    /// Whether the answer came from the cache.
    cache_hit: bool,
    /// SHA-256 of the answer's text, hexadecimal.
    answer_sha256: Option<String>,
    /// The answer, if the deployment stores answers.
    answer: Option<String>,
    /// Time spent per stage, in milliseconds.
    #[schema(value_type = Map<String, Value>)]
    timings_ms: Value,
}

/// How the answer was checked.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditValidation)]
pub(super) struct AuditValidationBody {
    /// Validation level that was requested.
    #[schema(value_type = ValidationLevelSchema)]
    level: Level,
    /// Validation level that was applied.
    #[schema(value_type = ValidationLevelSchema)]
    effective_level: Level,
    /// Number of drafts: one more than the number of retries; 0 if nothing was generated.
    attempts: u8,
    /// Errors of the last draft.
    errors: Vec<FindingBody>,
    /// Kinds of the warnings.
    warnings: Vec<String>,
}

/// Calls, tokens and cost of an ask.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditUsage)]
pub(super) struct AuditUsageBody {
    /// Number of calls to configured models.
    llm_calls: u32,
    /// Tokens read by those models.
    prompt_tokens: u64,
    /// Tokens written by those models.
    completion_tokens: u64,
    /// Whether some tokens were counted by this service.
    estimated: bool,
    /// Cost in US dollars.
    cost_usd: f64,
}

/// A citation of an audited answer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditCitation)]
pub(super) struct AuditCitationBody {
    /// Number in the marker.
    marker: u32,
    /// URN of the cited passage.
    urn: String,
    /// How well the passage supports its claim.
    support: f32,
}

/// The grade of a passage.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditGrade)]
pub(super) struct AuditGradeBody {
    /// URN of the passage.
    urn: String,
    /// Its grade.
    #[schema(value_type = GradeSchema)]
    grade: Grade,
    /// The grader: `model` or `built_in`.
    #[schema(example = "model")]
    by: String,
}

impl From<AuditRow> for AuditBody {
    fn from(row: AuditRow) -> Self {
        Self {
            id: row.ask_id,
            asked_at: row.asked_at,
            request_id: row.request_id,
            key_id: row.key_id,
            outcome: row.outcome,
            reason: row.reason,
            question: row.question,
            question_sha256: row.question_sha256.hex().to_owned(),
            collections: row.collections,
            stream: row.is_stream,
            validation: AuditValidationBody {
                level: row.level,
                effective_level: row.effective_level,
                attempts: row.drafts,
                errors: row.errors.iter().map(FindingBody::from).collect(),
                warnings: row.warnings,
            },
            provider: row.provider,
            model: row.model,
            instructions_sha256: row.instructions_sha256.map(|digest| digest.hex().to_owned()),
            temperature: row.temperature,
            seed: row.seed,
            calls: row.calls,
            usage: AuditUsageBody {
                llm_calls: row.llm_calls,
                prompt_tokens: row.prompt_tokens,
                completion_tokens: row.completion_tokens,
                estimated: row.is_estimated,
                cost_usd: NanoUsd::new(row.cost_nano_usd).usd(),
            },
            queries: row.queries,
            sources: row.sources,
            citations: row
                .citations
                .into_iter()
                .map(|citation| AuditCitationBody {
                    marker: citation.marker,
                    urn: citation.urn,
                    support: citation.support,
                })
                .collect(),
            grades: row
                .grades
                .into_iter()
                .map(|graded| AuditGradeBody { urn: graded.urn, grade: graded.grade, by: graded.by })
                .collect(),
            cache_hit: row.is_cache_hit,
            answer_sha256: row.answer_sha256.map(|digest| digest.hex().to_owned()),
            answer: row.answer,
            timings_ms: row.timings_ms,
        }
    }
}

/// List past asks
///
/// One row per ask regardless of its outcome, including abstentions, refusals, failures and clients that disconnected.
/// The row is written before the answer is sent.
#[utoipa::path(
    get, path = "/v1/audit", tag = "audit", params(AuditQuery),
    responses(
        (status = 200, description = "Asks, newest first", body = AuditPage),
    ),
)]
pub(super) async fn list_asks(
    granted: Granted,
    ValidQuery(query): ValidQuery<AuditQuery>,
) -> Result<Json<AuditPage>, ApiError> {
    let rows = rows_to_fetch(query.limit)?;
    let filter = AuditFilter {
        ask_id: None,
        among: None,
        before: query.cursor,
        outcome: query.outcome,
        request_id: query.request_id,
        key_id: query.key_id,
        provider: query.provider,
        asked_from: query.asked_after,
        asked_before: query.asked_before,
    };
    let found = granted.asks(filter, rows).await?;
    let mut asks: Vec<AuditBody> = found.into_iter().map(AuditBody::from).collect();
    let next_cursor = next_cursor(&mut asks, query.limit, |last| last.id.to_string());
    Ok(Json(AuditPage { asks, next_cursor }))
}

/// Get a past ask
///
/// Returns one ask by the `id` of its answer.
#[utoipa::path(
    get, path = "/v1/audit/{id}", tag = "audit",
    params(("id" = Uuid, Path, description = "Identity of the ask")),
    responses(
        (status = 200, description = "The ask", body = AuditBody),
        (status = 404, description = "There is no such ask, or it is no longer kept"),
    ),
)]
pub(super) async fn get_ask(granted: Granted, ValidPath(id): ValidPath<Uuid>) -> Result<Json<AuditBody>, ApiError> {
    Ok(Json(granted.past_ask(id).await?.into()))
}
