//! Headers of every response that tell browsers what not to do with it.

use axum::{
    extract::{Request, State},
    http::{HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::Response,
};

/// For pages: files of the service, requests to it, and no text that could become markup or script.
const CSP_OF_PAGES: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types 'none'; connect-src 'self'";
/// For Swagger UI, which has styles and small pictures within its own files and makes markup of text.
const CSP_OF_DOCS: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// For what is no page: nothing, should a browser take it for one.
const CSP_OF_DATA: &str = "default-src 'none'; frame-ancestors 'none'";
/// A year; sent over TLS only, because a browser ignores it elsewhere.
const HSTS: &str = "max-age=31536000";

/// Settings that the headers depend on.
#[derive(Clone, Debug)]
pub(super) struct Hardening {
    has_tls: bool,
    csp_of_app: HeaderValue,
}

impl Hardening {
    /// For a service that speaks TLS itself or not, and whose page logs people in at this origin.
    pub(super) fn new(has_tls: bool, login_origin: Option<&str>) -> Self {
        let with_login = login_origin.and_then(|origin| format!("{CSP_OF_PAGES} {origin}").parse().ok());
        Self { has_tls, csp_of_app: with_login.unwrap_or(HeaderValue::from_static(CSP_OF_PAGES)) }
    }

    /// The policy of a page at this path.
    fn csp_of_page(&self, path: &str) -> HeaderValue {
        match path {
            "/" => self.csp_of_app.clone(),
            path if path.starts_with("/docs") => HeaderValue::from_static(CSP_OF_DOCS),
            _ => HeaderValue::from_static(CSP_OF_PAGES),
        }
    }
}

/// Adds the headers.
pub(super) async fn harden(State(hardening): State<Hardening>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_of_documents = path.starts_with("/v1/") || path.starts_with("/c/");
    let csp_of_page = hardening.csp_of_page(path);
    let mut response = next.run(request).await;
    let is_unchanged = response.status() == StatusCode::NOT_MODIFIED;
    let media_type = response.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    let is_page = media_type.is_some_and(|name| name.starts_with(b"text/html"));
    let csp = if is_page { csp_of_page } else { HeaderValue::from_static(CSP_OF_DATA) };
    let mut set = |name: HeaderName, value| {
        response.headers_mut().entry(name).or_insert(value);
    };
    set(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    set(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    set(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    // A browser would hold the page that it has against the policy of the reply that says it has not changed.
    if !is_unchanged {
        set(header::CONTENT_SECURITY_POLICY, csp);
    }
    if is_page {
        set(HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin"));
    }
    if is_of_documents {
        set(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if hardening.has_tls {
        set(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static(HSTS));
    }
    response
}
