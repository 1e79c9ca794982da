//! `GET /livez`, `GET /readyz`.

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    AppState,
    problem::{ApiError, Problem},
};

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

/// Alive
///
/// Answers as long as the process runs; asks nothing of the database.
#[utoipa::path(get, path = "/livez", tag = "operations", operation_id = "livez",
    responses((status = 200, description = "The process runs", body = Health)))]
pub(super) async fn livez() -> Json<Health> {
    Json(OK)
}

/// Ready
///
/// Answers 200 when requests can be served.
#[utoipa::path(get, path = "/readyz", tag = "operations", operation_id = "readyz",
    responses(
        (status = 200, description = "Requests can be served", body = Health),
        (status = 503, description = "The database cannot be reached", body = Problem, content_type = "application/problem+json"),
    ))]
pub(super) async fn readyz(State(state): State<AppState>) -> Result<Json<Health>, ApiError> {
    state.services.readiness.check().await?;
    Ok(Json(OK))
}
