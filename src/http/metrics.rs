//! `GET /metrics`.

use axum::{
    Router,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
    routing::get,
};

use super::{AppState, problem::ApiError};
use crate::{metrics::CONTENT_TYPE, service::measurements::Measurements};

/// Get metrics
///
/// Counts and measures of this process and of its database, in the text format of Prometheus. They concern all tenants,
/// so only the operator sees them; `CITED_METRICS_LISTEN` opens an address of their own that needs no key.
#[utoipa::path(
    get, path = "/metrics", tag = "operations",
    responses((status = 200, description = "The metrics", body = String, content_type = "text/plain")),
)]
pub(super) async fn get_metrics(State(state): State<AppState>) -> Result<Response, ApiError> {
    text(&state.measurements).await
}

/// The metrics alone, without a key, for a listener of their own.
pub(crate) fn metrics_router(measurements: Measurements) -> Router {
    let handler = get(|State(measurements): State<Measurements>| async move { text(&measurements).await });
    Router::new().route("/metrics", handler).with_state(measurements)
}

async fn text(measurements: &Measurements) -> Result<Response, ApiError> {
    let text = measurements.render().await.map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response())
}
