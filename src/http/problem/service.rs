//! Errors of the services as problem documents.

use axum::http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{
    super::{
        number::{hundredths, whole_seconds},
        rate_limit::{Per, RateLimit},
    },
    ApiError,
};
use crate::{
    domain::{budget::LimitKind, storage::OverQuota},
    service::{
        DailyQuota, FailedAttempt, ProviderErrorKind, ProvidersUnavailable, QueueFull, ServiceError, StoreError,
        error_chain,
    },
};

/// Seconds after which a client may retry if the queue is full.
const QUEUE_RETRY_AFTER_S: &str = "10";

/// A model that was called, or skipped, and did not answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Attempt)]
pub(crate) struct AttemptBody {
    /// Provider of the model.
    #[schema(example = "groq")]
    provider: String,
    /// Name of the model.
    #[schema(example = "llama-3.3-70b-versatile")]
    model: String,
    /// Kind of the failure, such as `timeout`.
    #[schema(example = "timeout")]
    kind: &'static str,
    /// A description of the failure.
    detail: String,
    /// Whether the model was called; false for a model that is skipped for a while after failures.
    tried: bool,
    /// Duration of the call, in milliseconds.
    duration_ms: f64,
}

impl From<&FailedAttempt> for AttemptBody {
    fn from(attempt: &FailedAttempt) -> Self {
        let error = &attempt.error;
        Self {
            provider: error.provider.clone(),
            model: error.model.clone(),
            kind: error.kind.as_str(),
            detail: error.detail.clone(),
            tried: attempt.was_tried,
            duration_ms: hundredths(attempt.duration.as_secs_f64() * 1_000.0),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Self::from(&error)
    }
}

impl From<&StoreError> for ApiError {
    fn from(error: &StoreError) -> Self {
        let cause = error_chain(error);
        match error {
            StoreError::Unavailable(_) => {
                Self::unavailable("database_unavailable", "the database cannot be reached; try again shortly", cause)
            }
            StoreError::DiskFull(_) => Self::unavailable(
                "database_full",
                "the disk of the database is full; its operator has to make room, then send the request again",
                cause,
            ),
            StoreError::Busy(waited) => Self::unavailable(
                "database_busy",
                format!(
                    "other requests had all connections to the database for {} s; try again shortly, or send less at once",
                    waited.as_secs()
                ),
                cause,
            ),
            StoreError::Timeout(_) => Self::unavailable(
                "database_timeout",
                "the database did not answer in time; try again or ask for less",
                cause,
            ),
            StoreError::OverQuota(over) => over_quota(*over),
            StoreError::Constraint { .. }
            | StoreError::Inconsistent(_)
            | StoreError::Unsuitable(_)
            | StoreError::Database(_) => Self::internal(cause),
        }
    }
}

impl From<ProvidersUnavailable> for ApiError {
    fn from(error: ProvidersUnavailable) -> Self {
        if let [FailedAttempt { error, .. }] = error.attempts.as_slice()
            && error.kind == ProviderErrorKind::Internal
        {
            return Self::internal(error.to_string());
        }
        let detail = match error.attempts.as_slice() {
            [only] => format!("the model provider failed: {}", only.error.detail),
            all => format!("none of {} models answered; attempts lists what happened", all.len()),
        };
        // A server's error message may quote the request, which must not be logged.
        let kinds = error
            .attempts
            .iter()
            .map(|FailedAttempt { error, .. }| format!("{}:{} {}", error.provider, error.model, error.kind.as_str()));
        let cause = kinds.collect::<Vec<_>>().join(", ");
        let problem = Self::unavailable("providers_unavailable", detail, cause)
            .attempts(error.attempts.iter().map(AttemptBody::from).collect());
        match error.retry_after() {
            Some(wait) => problem.retry_after(wait.as_secs_f64().ceil().max(1.0).to_string()),
            None => problem,
        }
    }
}

impl From<ServiceError> for ApiError {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::NotFound { what: what @ "collection", name } => {
                Self::not_found(format!("{what} {name:?} does not exist; GET /v1/collections lists those that do"))
            }
            ServiceError::NotFound { what, name } => Self::not_found(format!("{what} {name:?} does not exist")),
            ServiceError::NotGranted { collection, granted } => Self::new(
                StatusCode::FORBIDDEN,
                "collection_not_granted",
                "The key is limited to other collections",
                format!("the key may fill no collection {collection:?}, only {}", quoted(&granted)),
            ),
            ServiceError::Conflict { code, detail } => {
                Self::new(StatusCode::CONFLICT, code, "The request contradicts what is stored", detail)
            }
            ServiceError::TooOften { code, title, detail, wait, quota } => {
                let problem = Self::new(StatusCode::TOO_MANY_REQUESTS, code, title, detail)
                    .retry_after(whole_seconds(wait).to_string());
                match quota {
                    Some(DailyQuota { name, limit, left }) => problem.limited_by(RateLimit {
                        name,
                        quota: limit,
                        per: Per::Day,
                        remaining: left,
                        wait: Some(wait),
                    }),
                    None => problem,
                }
            }
            ServiceError::QueueFull(full) => queue_full(full),
            ServiceError::Invalid { pointer, detail } => Self::invalid_field(pointer, detail),
            ServiceError::Budget(exceeded) => Self::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "budget_exceeded",
                "The request needs more than it may spend",
                format!("{exceeded}; {}", what_helps(exceeded.limit)),
            )
            .with("limit", json!(exceeded.limit.as_str()))
            .with("value", amount_json(exceeded.limit, exceeded.value))
            .with("asked", amount_json(exceeded.limit, exceeded.asked)),
            ServiceError::Provider(error) => ProvidersUnavailable::from(error).into(),
            ServiceError::Store(error) => error.into(),
        }
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

const fn what_helps(limit: LimitKind) -> &'static str {
    match limit {
        LimitKind::LlmCalls => "ask something simpler or raise the limit",
        LimitKind::EmbeddingCalls | LimitKind::RerankCalls | LimitKind::CompletionTokens => "raise the limit",
        LimitKind::PromptTokens | LimitKind::SourceBytes => "ask for fewer sources (top_k) or raise the limit",
        LimitKind::DailyCost => "the next day begins at midnight UTC; raise the limit, or ask cheaper models",
    }
}

/// The amount as JSON: dollars for a cost, a whole number otherwise.
fn amount_json(limit: LimitKind, amount: u64) -> Value {
    if limit == LimitKind::DailyCost { json!(limit.shown(amount)) } else { json!(amount) }
}

/// The error for a tenant that would keep more than it may.
fn over_quota(over: OverQuota) -> ApiError {
    let (title, detail) = ("The tenant keeps all that it may", over.to_string());
    let mut error = ApiError::new(StatusCode::FORBIDDEN, "storage_quota", title, detail);
    for (name, number) in [("limit", over.limit), ("used", over.used), ("asked", over.asked)] {
        error = error.with(name, json!(number));
    }
    error.with("quota", json!(over.quota))
}

/// The error for a full queue. A request that exceeds the whole queue is not worth retrying.
fn queue_full(full: QueueFull) -> ApiError {
    let QueueFull { limit, value, waiting, asked } = full;
    let mut error = if asked > value {
        let detail =
            format!("the request brings {asked} ({limit}), and the queue takes {value} at most; send less at once");
        ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "exceeds_queue", "The request is larger than the queue", detail)
    } else {
        let detail = format!(
            "{waiting} of {value} ({limit}) wait already and the request brings {asked}; nothing was accepted, send it \
             again when some of that is done"
        );
        ApiError::new(StatusCode::TOO_MANY_REQUESTS, "queue_full", "The queue is full", detail)
            .retry_after(QUEUE_RETRY_AFTER_S)
    };
    for (name, number) in [("value", value), ("waiting", waiting), ("asked", asked)] {
        error = error.with(name, json!(number));
    }
    error.with("limit", json!(limit))
}
