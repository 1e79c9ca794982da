//! The address by which clients reach the service.

use axum::http::{HeaderMap, header};

use super::AppState;

/// The address without a slash at its end: as configured, else as the request was addressed.
pub(super) fn public_url(state: &AppState, headers: &HeaderMap) -> String {
    if let Some(url) = &state.public_url {
        return url.as_str().trim_end_matches('/').to_owned();
    }
    let scheme = if state.has_tls { "https" } else { "http" };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    format!("{scheme}://{host}")
}
