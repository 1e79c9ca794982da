//! The web page: its files at `/` and `/assets/`, and a page for each citation at `/c/{urn}`.
//!
//! The files are built from `web/` and checked in under `assets/web`. They hold nothing of a tenant and need no key;
//! what the page shows it fetches from `/v1`, with the key that its user enters.

mod citation;
mod login;

use axum::{
    Router,
    body::Body,
    extract::{Path, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use rust_embed::{EmbeddedFile, RustEmbed};
use tower_http::compression::CompressionLayer;

pub(super) use citation::{as_pages, routes as citation_routes};
pub(super) use login::login_origin;

use super::AppState;
use crate::domain::fingerprint::hex;

/// For the page itself, which names its other files: a browser asks each time whether it has changed.
const CHECKED_EACH_TIME: &str = "no-cache";
/// For files whose name changes with their content.
const KEPT_FOR_GOOD: &str = "public, max-age=31536000, immutable";

/// The output of `make web`: compiled in, and read from disk by debug builds.
#[derive(RustEmbed)]
#[folder = "assets/web"]
struct Files;

/// The files of the page.
pub(super) fn files() -> Router<AppState> {
    Router::new()
        .route("/", get(page))
        .route("/login.json", get(login::get_login))
        .route(
            "/assets/{*name}",
            get(|Path(name): Path<String>, headers: HeaderMap| async move {
                serve(&format!("assets/{name}"), "", KEPT_FOR_GOOD, &headers)
            }),
        )
        .layer(CompressionLayer::new())
}

/// The page itself: with another policy of its requests it is another page.
async fn page(State(state): State<AppState>, headers: HeaderMap) -> Response {
    serve("index.html", &login_origin(&state.access).unwrap_or_default(), CHECKED_EACH_TIME, &headers)
}

/// A file; its tag has the variant, besides its content.
fn serve(name: &str, variant: &str, cache_control: &'static str, request: &HeaderMap) -> Response {
    let Some(EmbeddedFile { data, metadata }) = Files::get(name) else { return StatusCode::NOT_FOUND.into_response() };
    // Weak, since the file may be compressed on its way.
    let etag = format!("W/\"{}{variant}\"", hex(&metadata.sha256_hash()));
    let is_known = request.get_all(header::IF_NONE_MATCH).iter().any(|value| {
        let known = value.to_str().unwrap_or_default().split(',').map(str::trim);
        known.into_iter().any(|known| known == etag || known == "*")
    });
    let headers = [(header::ETAG, etag), (header::CACHE_CONTROL, cache_control.to_owned())];
    if is_known {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    let media_type = HeaderValue::from_str(metadata.mimetype());
    let mut response = (headers, Body::from(data.into_owned())).into_response();
    if let Ok(media_type) = media_type {
        response.headers_mut().insert(header::CONTENT_TYPE, media_type);
    }
    response
}

/// Path of the stylesheet; its name changes with its content.
fn stylesheet() -> String {
    let name = Files::iter().find(|name| name.ends_with(".css"));
    name.map(|name| format!("/{name}")).unwrap_or_default()
}
