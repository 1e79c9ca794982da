//! `GET /metrics`.

use std::sync::Arc;

use axum::{
    Router,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
    routing::get,
};
use tower::ServiceBuilder;

use super::{
    AllowedHosts, AppState, cross_origin,
    headers::{self, Hardening},
    problem::ApiError,
};
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

/// The metrics alone, without a key, for a listener of their own. Pages of other sites cannot read them.
pub(crate) fn metrics_router(measurements: Measurements, hosts: &AllowedHosts) -> Router {
    let cross_origin = cross_origin::Settings { hosts: hosts.without_keys(), origins: Vec::new() };
    let handler = get(|State(measurements): State<Measurements>| async move { text(&measurements).await });
    let layers = ServiceBuilder::new()
        .layer(axum::middleware::from_fn_with_state(Hardening::new(false, None), headers::harden))
        .layer(axum::middleware::from_fn_with_state(Arc::new(cross_origin), cross_origin::refuse_foreign));
    Router::new().route("/metrics", handler).layer(layers).with_state(measurements)
}

async fn text(measurements: &Measurements) -> Result<Response, ApiError> {
    let text = measurements.render().await.map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response())
}
