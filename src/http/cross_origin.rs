//! Refuses, on every route, what pages of other sites make a browser send.
//!
//! A page may send simple requests to any address that the browser reaches, loopback included, and by DNS rebinding it
//! may make a name of its own resolve to such an address, so that requests and responses count as its own. The first
//! shows in `Sec-Fetch-Site` and `Origin`, the second in the name that the request is addressed to.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};
use tower_http::cors::CorsLayer;
use url::{Host, Origin, Url};

use super::{
    client_address::{FORWARDED_FOR, address, elements},
    problem::ApiError,
};

/// The name that a proxy was addressed by which passes on another.
static FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
/// Headers that pages of other origins may send.
const SENT: [HeaderName; 6] = [
    header::ACCEPT,
    header::AUTHORIZATION,
    header::CONTENT_TYPE,
    HeaderName::from_static("idempotency-key"),
    HeaderName::from_static("last-event-id"),
    HeaderName::from_static("traceparent"),
];
/// Headers of responses that they may read.
const READ: [HeaderName; 6] = [
    header::LOCATION,
    header::RETRY_AFTER,
    HeaderName::from_static("idempotency-replayed"),
    HeaderName::from_static("ratelimit"),
    HeaderName::from_static("ratelimit-policy"),
    HeaderName::from_static("x-request-id"),
];
/// How long a browser need not ask again what pages may send.
const PREFLIGHT_LIFE: Duration = Duration::from_hours(1);

/// Names that the service answers to, and pages of other origins that may call it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Names that requests may be addressed to.
    pub hosts: AllowedHosts,
    /// Other origins whose pages may send requests.
    pub origins: Vec<Origin>,
}

/// Names that requests may be addressed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowedHosts {
    /// Every name: requests need a key, which a page under a rebound name does not have.
    Any,
    /// The names and addresses of loopback, and these.
    LoopbackAnd(Vec<Host>),
    /// Every address, the names that a local network alone knows, and these.
    LocalAnd(Vec<Host>),
}

impl Default for Settings {
    fn default() -> Self {
        Self { hosts: AllowedHosts::LoopbackAnd(Vec::new()), origins: Vec::new() }
    }
}

/// Refuses a request that is addressed to a name that is not the service's, or that a page of another origin sends.
pub(super) async fn refuse_foreign(State(settings): State<Arc<Settings>>, request: Request, next: Next) -> Response {
    match settings.check(&request) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

impl Settings {
    /// Lets the pages of the configured origins read responses and send more than simple requests (CORS). Cookies are
    /// never sent along: a page presents a key.
    pub(super) fn readable_by(&self) -> Option<CorsLayer> {
        let origins: Vec<HeaderValue> =
            self.origins.iter().filter_map(|origin| origin.ascii_serialization().parse().ok()).collect();
        if origins.is_empty() {
            return None;
        }
        let layer = CorsLayer::new().allow_origin(origins).max_age(PREFLIGHT_LIFE);
        let layer = layer.allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE]);
        Some(layer.allow_headers(SENT).expose_headers(READ))
    }

    fn check<B>(&self, request: &axum::http::Request<B>) -> Result<(), ApiError> {
        if let Some(foreign) = authorities(request).find(|authority| !self.hosts.contain(authority)) {
            return Err(host_refused(foreign));
        }
        if self.hosts.is_loopback_alone()
            && let Some(client) = clients(request.headers()).find(|client| !is_this_machine(client))
        {
            return Err(client_refused(client));
        }
        if self.is_foreign(request.headers(), authorities(request).next()) && !is_navigation(request) {
            return Err(origin_refused(request.headers()));
        }
        Ok(())
    }

    /// Whether a page of an origin that is neither the service's nor configured sends the request. `Sec-Fetch-Site`
    /// is believed before `Origin`: pages cannot set it, and it is right behind proxies that change the host.
    fn is_foreign(&self, headers: &HeaderMap, authority: Option<&str>) -> bool {
        let origin = headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or_default());
        let parsed = origin.map(str::parse::<Url>);
        if let Some(Ok(url)) = &parsed
            && self.origins.contains(&url.origin())
        {
            return false;
        }
        match headers.get("sec-fetch-site").map(HeaderValue::as_bytes) {
            Some(b"same-origin") => false,
            Some(b"same-site" | b"cross-site") => true,
            _ => parsed.is_some_and(|url| !url.is_ok_and(|url| is_same_origin(&url, authority))),
        }
    }
}

impl AllowedHosts {
    fn contain(&self, authority: &str) -> bool {
        let (others, is_own): (_, fn(&Host) -> bool) = match self {
            Self::Any => return true,
            Self::LoopbackAnd(others) => (others, is_loopback),
            Self::LocalAnd(others) => (others, is_local),
        };
        host_of(authority).is_some_and(|host| is_own(&host) || others.contains(&host))
    }

    /// Whether nobody is served but this machine, under its own names. The address that is listened on is one of the others.
    fn is_loopback_alone(&self) -> bool {
        matches!(self, Self::LoopbackAnd(others) if others.iter().all(is_loopback))
    }

    /// The same for a listener that never asks for a key and that other machines of its network call.
    pub(crate) fn without_keys(&self) -> Self {
        match self {
            Self::Any => Self::LocalAnd(Vec::new()),
            Self::LoopbackAnd(others) | Self::LocalAnd(others) => Self::LocalAnd(others.clone()),
        }
    }
}

/// Names that the request is addressed to: several if `:authority` and `Host` are both there, or a proxy tells the name that
/// it was addressed by; none from clients of HTTP/1.0. A browser always sends one.
fn authorities<B>(request: &axum::http::Request<B>) -> impl Iterator<Item = &str> {
    let target = request.uri().authority().map(Authority::as_str);
    let texts = |name| request.headers().get_all(name).iter().map(|host| host.to_str().unwrap_or_default());
    let forwarded = forwarded(request.headers(), &FORWARDED_HOST, "host");
    target.into_iter().chain(texts(header::HOST)).chain(forwarded)
}

/// Clients that proxies passed the request on for, by their own account.
fn clients(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    forwarded(headers, &FORWARDED_FOR, "for")
}

/// The elements of a header of proxies, and of the parameter of this name of `Forwarded` (RFC 7239).
fn forwarded<'h>(headers: &'h HeaderMap, name: &HeaderName, parameter: &str) -> impl Iterator<Item = &'h str> {
    let pairs = elements(headers, &header::FORWARDED).flat_map(|proxy| proxy.split(';'));
    elements(headers, name).chain(pairs.filter_map(move |pair| {
        let (name, value) = pair.split_once('=')?;
        name.trim().eq_ignore_ascii_case(parameter).then(|| value.trim().trim_matches('"'))
    }))
}

/// Whether a client that a proxy names is this machine. An address may have a port; what is no address is another's.
fn is_this_machine(client: &str) -> bool {
    address(client)
        .map_or_else(|| host_of(client).is_some_and(|host| is_loopback(&host)), |address| address.is_loopback())
}

fn host_of(authority: &str) -> Option<Host> {
    let authority: Authority = authority.parse().ok().filter(|_| !authority.contains('@'))?;
    let host = authority.host();
    // The dot of a fully qualified name adds nothing.
    Host::parse(host.strip_suffix('.').unwrap_or(host)).ok()
}

/// Whether the host is this machine for every resolver (RFC 6761, section 6.3).
fn is_loopback(host: &Host) -> bool {
    match host {
        Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

/// Whether the host is an address, or a name that no page of another site can have: one without a dot, or of loopback.
fn is_local(host: &Host) -> bool {
    let Host::Domain(name) = host else { return true };
    !name.contains('.') || is_loopback(host)
}

/// Whether an origin is that of the service at this authority. The scheme is taken from the origin, because a proxy
/// may speak TLS for the service.
fn is_same_origin(origin: &Url, authority: Option<&str>) -> bool {
    let own = authority.map(|authority| format!("{}://{authority}", origin.scheme()).parse::<Url>());
    own.is_some_and(|own| own.is_ok_and(|own| own.origin() == origin.origin()))
}

/// Whether the request follows a link to a page of the service: it changes nothing, and the other site sees nothing.
fn is_navigation<B>(request: &axum::http::Request<B>) -> bool {
    let is_safe = matches!(*request.method(), Method::GET | Method::HEAD);
    let header = |name| request.headers().get(name).map(HeaderValue::as_bytes);
    is_safe && header("sec-fetch-mode") == Some(b"navigate") && header("sec-fetch-dest") == Some(b"document")
}

fn host_refused(host: &str) -> ApiError {
    let detail = format!(
        "the request is addressed to {host:?}, and this service answers to localhost, loopback addresses and the names \
         in CITED_ALLOWED_HOSTS only, so that no web page can reach it under a name of its own; if the name is yours, \
         add it there, or set keys (CITED_API_KEYS)"
    );
    let title = "The service is not known by this name";
    ApiError::new(StatusCode::MISDIRECTED_REQUEST, "host_not_allowed", title, detail)
}

fn client_refused(client: &str) -> ApiError {
    let detail = format!(
        "a proxy passed this request on for {client:?}, and without keys this service is for its own machine alone; set keys \
         (CITED_API_KEYS), or, if the proxy lets nobody through who may not ask, the name that it is addressed by in \
         CITED_ALLOWED_HOSTS"
    );
    let title = "The service is for its own machine alone";
    ApiError::new(StatusCode::MISDIRECTED_REQUEST, "host_not_allowed", title, detail)
}

fn origin_refused(headers: &HeaderMap) -> ApiError {
    let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok()).unwrap_or("(not named)");
    let detail = format!(
        "a page of the origin {origin} sent this request, which is not the service's own; if it may, add the origin \
         to CITED_ALLOWED_ORIGINS; a proxy in front of the service should pass on the Host header unchanged"
    );
    ApiError::new(StatusCode::FORBIDDEN, "cross_origin", "Pages of other sites may not call the service", detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Headers<'a> = &'a [(&'a str, &'a str)];

    /// The code of the problem that a request ends with; empty if it passes.
    fn code(settings: &Settings, method: &str, uri: &str, headers: Headers<'_>) -> String {
        let mut request = axum::http::Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let Err(error) = settings.check(&request.body(()).expect("a request")) else { return String::new() };
        let response = error.into_response();
        response.extensions().get::<crate::http::problem::Problem>().expect("a problem").code.clone()
    }

    #[test]
    fn without_keys_only_loopback_and_listed_names_are_the_services() {
        let listed = vec![Host::parse("cited.example").expect("a host"), Host::parse("10.0.0.7").expect("an address")];
        let settings = Settings { hosts: AllowedHosts::LoopbackAnd(listed), ..Settings::default() };
        for own in [
            "localhost",
            "LOCALHOST:8080",
            "localhost.:8080",
            "cited.localhost",
            "127.0.0.1:1",
            "127.8.9.1",
            "[::1]:8080",
            "cited.example",
            "Cited.Example:443",
            "cited.example.",
            "10.0.0.7:8080",
        ] {
            assert_eq!(code(&settings, "GET", "/livez", &[("host", own)]), "", "{own}");
        }
        for foreign in [
            "rebind.attacker.example",
            "localhost.attacker.example",
            "attacker.example:8080",
            "notlocalhost",
            "",
            "@",
            "localhost@attacker.example",
            "attacker.example@localhost",
            "0.0.0.0:8080",
            "[::]:8080",
            "10.0.0.8",
            "[::ffff:10.0.0.8]",
            "x.cited.example",
            "169.254.169.254",
            "localhost evil",
            "localhost/evil",
            "[::1",
        ] {
            assert_eq!(code(&settings, "GET", "/livez", &[("host", foreign)]), "host_not_allowed", "{foreign}");
        }
        assert_eq!(code(&settings, "GET", "/livez", &[]), "", "HTTP/1.0 has no Host");
    }

    #[test]
    fn every_name_of_a_request_counts() {
        let settings = Settings::default();
        let code = |uri, hosts: Headers<'_>| code(&settings, "GET", uri, hosts);
        assert_eq!(code("http://attacker.example/livez", &[]), "host_not_allowed", "HTTP/2 has :authority");
        assert_eq!(code("http://localhost/livez", &[("host", "attacker.example")]), "host_not_allowed");
        assert_eq!(code("http://attacker.example/livez", &[("host", "localhost")]), "host_not_allowed");
        assert_eq!(code("/livez", &[("host", "localhost"), ("host", "attacker.example")]), "host_not_allowed");
        assert_eq!(code("http://localhost/livez", &[("host", "localhost")]), "");
        let forwarded = |name| code("/livez", &[("host", "localhost:8080"), ("x-forwarded-host", name)]);
        assert_eq!(forwarded("cited.example"), "host_not_allowed", "a proxy was addressed by it");
        assert_eq!(forwarded("localhost, cited.example"), "host_not_allowed", "the first of several proxies");
        assert_eq!(forwarded("localhost:3000"), "", "a proxy on this machine");
        let standard = |value| code("/livez", &[("host", "localhost:8080"), ("forwarded", value)]);
        for foreign in [
            "host=cited.example",
            "for=192.0.2.60;proto=https; Host=\"cited.example:443\"",
            "host=localhost, host=a.example",
            "host=",
        ] {
            assert_eq!(standard(foreign), "host_not_allowed", "{foreign}");
        }
        assert_eq!(standard("for=127.0.0.1;host=localhost:3000, for=\"[::1]:80\";by=\"_host=x\""), "");
    }

    /// A proxy that names itself as host would open a service without keys to everybody who reaches the proxy.
    #[test]
    fn a_service_for_its_own_machine_serves_no_client_of_a_proxy() {
        let named = |settings: &Settings, (name, value)| {
            code(settings, "GET", "/v1/collections", &[("host", "127.0.0.1:8080"), (name, value)])
        };
        let own = vec![Host::parse("127.0.0.1").expect("a host")];
        let listening = Settings { hosts: AllowedHosts::LoopbackAnd(own), ..Settings::default() };
        assert_eq!(named(&listening, ("x-forwarded-for", "203.0.113.7")), "host_not_allowed");
        let alone = Settings::default();
        for foreign in [
            ("x-forwarded-for", "203.0.113.7"),
            ("x-forwarded-for", "127.0.0.1, 203.0.113.7"),
            ("x-forwarded-for", "2001:db8::7"),
            ("x-forwarded-for", "[2001:db8::7]:4711"),
            ("x-forwarded-for", "10.0.0.3:4711"),
            ("x-forwarded-for", "unknown"),
            ("x-forwarded-for", ""),
            ("forwarded", "for=203.0.113.7;proto=https"),
            ("forwarded", "proto=https, For=\"[2001:db8::7]\""),
            ("forwarded", "for=_hidden"),
        ] {
            assert_eq!(named(&alone, foreign), "host_not_allowed", "{foreign:?}");
        }
        for own in ["127.0.0.1", "::1", "[::1]:4711", "127.0.0.1:4711", "::ffff:127.0.0.1", "localhost"] {
            assert_eq!(named(&alone, ("x-forwarded-for", own)), "", "{own}");
        }
        let listed = vec![Host::parse("cited.example").expect("a host")];
        for hosts in [AllowedHosts::Any, AllowedHosts::LoopbackAnd(listed)] {
            let settings = Settings { hosts, ..Settings::default() };
            assert_eq!(
                named(&settings, ("x-forwarded-for", "203.0.113.7")),
                "",
                "with keys, or as the operator wants it"
            );
        }
    }

    #[test]
    fn a_listener_without_keys_has_the_names_of_its_network() {
        let listed = vec![Host::parse("metrics.cited.example").expect("a host")];
        for (all, is_listed) in [(AllowedHosts::Any, false), (AllowedHosts::LoopbackAnd(listed), true)] {
            let settings = Settings { hosts: all.without_keys(), ..Settings::default() };
            let code = |host| code(&settings, "GET", "/metrics", &[("host", host)]);
            for own in ["127.0.0.1:9464", "10.1.2.3:9464", "[fd00::1]:9464", "localhost", "x.localhost", "cited:9464"] {
                assert_eq!(code(own), "", "{own}");
            }
            for foreign in ["rebind.attacker.example", "cited.example", "10.1.2.3.attacker.example", ""] {
                assert_eq!(code(foreign), "host_not_allowed", "{foreign}");
            }
            assert_eq!(code("metrics.cited.example").is_empty(), is_listed);
        }
    }

    #[test]
    fn with_keys_the_service_has_any_name() {
        let settings = Settings { hosts: AllowedHosts::Any, ..Settings::default() };
        assert_eq!(code(&settings, "POST", "/v1/ask", &[("host", "cited.team.example")]), "");
        let page = [("host", "cited.team.example"), ("origin", "https://evil.example")];
        assert_eq!(code(&settings, "POST", "/v1/ask", &page), "cross_origin");
    }

    #[test]
    fn pages_of_other_origins_are_told_by_what_browsers_send() {
        let configured = "https://app.example:8443".parse::<Url>().expect("a URL").origin();
        let settings = Settings { hosts: AllowedHosts::Any, origins: vec![configured] };
        let passes: &[Headers<'_>] = &[
            &[],
            &[("sec-fetch-site", "none")],
            &[("origin", "http://localhost:8080")],
            &[("origin", "http://localhost:8080"), ("sec-fetch-site", "same-origin")],
            // A proxy has changed the host, and the browser says what it saw.
            &[("origin", "https://cited.example"), ("sec-fetch-site", "same-origin")],
            &[("origin", "https://app.example:8443"), ("sec-fetch-site", "cross-site")],
        ];
        let refused: &[Headers<'_>] = &[
            &[("origin", "https://evil.example")],
            &[("origin", "null")],
            &[("origin", "")],
            &[("origin", "file://")],
            &[("origin", "http://localhost")],
            &[("origin", "http://localhost:3000")],
            &[("origin", "http://localhost:3000"), ("sec-fetch-site", "same-site")],
            &[("origin", "http://127.0.0.1:8080")],
            &[("origin", "https://app.example")],
            &[("origin", "https://evil.example"), ("sec-fetch-site", "none")],
            &[("origin", "http://localhost:8080"), ("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site")],
            &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")],
        ];
        for method in ["GET", "POST", "PUT", "DELETE", "OPTIONS"] {
            let code = |more: Headers<'_>| {
                code(&settings, method, "/v1/documents", &[&[("host", "localhost:8080")], more].concat())
            };
            for more in passes {
                assert_eq!(code(more), "", "{method} {more:?}");
            }
            for more in refused {
                assert_eq!(code(more), "cross_origin", "{method} {more:?}");
            }
        }
    }

    #[test]
    fn an_origin_is_the_services_under_the_port_of_its_scheme() {
        let settings = Settings { hosts: AllowedHosts::Any, ..Settings::default() };
        let code = |host, origin| code(&settings, "POST", "/v1/ask", &[("host", host), ("origin", origin)]);
        assert_eq!(code("cited.example", "https://cited.example"), "");
        assert_eq!(code("cited.example:443", "https://cited.example"), "");
        assert_eq!(code("cited.example", "http://cited.example"), "");
        assert_eq!(code("cited.example:443", "http://cited.example"), "cross_origin");
        assert_eq!(code("cited.example", "https://cited.example.evil.example"), "cross_origin");
    }

    #[test]
    fn a_link_to_the_service_can_be_followed_and_a_form_not_be_sent() {
        let settings = Settings::default();
        let link = [
            ("host", "localhost:8080"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ];
        assert_eq!(code(&settings, "GET", "/docs", &link), "");
        assert_eq!(code(&settings, "POST", "/v1/documents", &link), "cross_origin");
        let frame = [link[0], link[1], link[2], ("sec-fetch-dest", "iframe")];
        assert_eq!(code(&settings, "GET", "/docs", &frame), "cross_origin");
    }
}
