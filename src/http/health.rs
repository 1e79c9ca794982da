//! `GET /livez`, `GET /readyz`.

use axum::{Json, extract::State};
use serde::Serialize;
use serde_json::{Value, json};
use time::format_description::well_known::Rfc3339;
use utoipa::ToSchema;

use super::{AppState, problem::ApiError};
use crate::service::readiness::{NotReady, StalledSince};

/// State of the service.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Health {
    /// Always `ok`; anything else is a problem document.
    #[schema(example = "ok")]
    status: &'static str,
    /// Version of the service.
    version: &'static str,
}

const OK: Health = Health { status: "ok", version: env!("CARGO_PKG_VERSION") };

/// Liveness
///
/// Returns 200 as long as the process runs; the database is not queried.
#[utoipa::path(get, path = "/livez", tag = "operations",
    responses((status = 200, description = "The process runs", body = Health)))]
pub(super) async fn livez() -> Json<Health> {
    Json(OK)
}

/// Readiness
///
/// Returns 200 if requests can be served and the queue is being processed, as it was at most a second ago.
#[utoipa::path(get, path = "/readyz", tag = "operations",
    responses(
        (status = 200, description = "Requests can be served", body = Health),
        (status = 503, description = "The database cannot be reached, or background tasks do not move"),
    ))]
pub(super) async fn readyz(State(state): State<AppState>) -> Result<Json<Health>, ApiError> {
    state.readiness.check().await?;
    Ok(Json(OK))
}

impl From<NotReady> for ApiError {
    fn from(error: NotReady) -> Self {
        match error {
            NotReady::Store(error) => Self::from(&*error),
            NotReady::Stalled(stalled) => stalled_problem(&stalled),
        }
    }
}

fn stalled_problem(stalled: &[StalledSince]) -> ApiError {
    let moved_last = |each: &StalledSince| each.since.format(&Rfc3339).unwrap_or_default();
    let named: Vec<String> =
        stalled.iter().map(|each| format!("{} has not moved since {}", each.name, moved_last(each))).collect();
    let named = named.join("; ");
    let detail = format!("{named}; what is queued may wait: look for what blocks the database, or restart the service");
    let tasks: Vec<Value> = stalled.iter().map(|each| json!({"task": each.name, "since": moved_last(each)})).collect();
    ApiError::unavailable("tasks_stalled", detail, named).with("stalled", json!(tasks))
}
