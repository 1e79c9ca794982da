//! Headers of every response that tell browsers what not to do with it.

use axum::{
    extract::{Request, State},
    http::{HeaderName, HeaderValue, header},
    middleware::Next,
    response::Response,
};

/// For pages: everything from the service itself, but for the styles and small pictures within Swagger UI's own files.
const CSP_OF_PAGES: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// For what is no page: nothing, should a browser take it for one.
const CSP_OF_DATA: &str = "default-src 'none'; frame-ancestors 'none'";
/// A year; sent over TLS only, because a browser ignores it elsewhere.
const HSTS: &str = "max-age=31536000";

/// Adds the headers; `has_tls` says whether the service speaks TLS itself.
pub(super) async fn harden(State(has_tls): State<bool>, request: Request, next: Next) -> Response {
    let is_data = request.uri().path().starts_with("/v1/");
    let mut response = next.run(request).await;
    let media_type = response.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    let csp = if media_type.is_some_and(|name| name.starts_with(b"text/html")) { CSP_OF_PAGES } else { CSP_OF_DATA };
    let mut set = |name: HeaderName, value| {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    };
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::X_FRAME_OPTIONS, "DENY");
    set(header::REFERRER_POLICY, "no-referrer");
    set(header::CONTENT_SECURITY_POLICY, csp);
    if is_data {
        set(header::CACHE_CONTROL, "no-store");
    }
    if has_tls {
        set(header::STRICT_TRANSPORT_SECURITY, HSTS);
    }
    response
}
