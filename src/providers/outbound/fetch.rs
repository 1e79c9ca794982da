//! Fetches documents by URL: with a size limit, conditionally, and with each redirect checked like the first address.

use reqwest::{
    Response, StatusCode,
    header::{
        ACCEPT_ENCODING, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED,
        LOCATION,
    },
};
use url::Url;

use super::{Outbound, OutboundError, wait_asked};
use crate::domain::identity::TenantId;

/// Most redirects that are followed.
const MAX_REDIRECTS: usize = 5;

/// Validators of a document from an earlier fetch of its URL (RFC 9110, section 8.8).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Validators {
    /// `ETag`.
    pub(crate) etag: Option<String>,
    /// `Last-Modified`, as the server wrote it.
    pub(crate) last_modified: Option<String>,
}

/// The result of fetching a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fetched {
    /// The document is unchanged (304).
    Unchanged,
    /// A document.
    Document(FetchedDocument),
}

/// A document as a server sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FetchedDocument {
    /// The content.
    pub(crate) content: Vec<u8>,
    /// Its media type as the server wrote it, parameters such as the charset included, if it named one.
    pub(crate) content_type: Option<String>,
    /// Validators to send with the next fetch.
    pub(crate) validators: Validators,
    /// Final URL, after redirects.
    pub(crate) url: Url,
}

/// A document to fetch for a tenant.
struct Wanted<'a> {
    tenant: TenantId,
    known: &'a Validators,
    max_bytes: usize,
    /// Whether a host that hangs is asked all the same.
    may_hang: bool,
}

/// Where a request led.
enum Hop {
    /// To another URL.
    Further(Url),
    /// To the document.
    Arrived(Fetched),
}

impl Outbound {
    /// Fetches a document of a tenant, as [`Self::fetch`] does, unless its host hangs.
    ///
    /// # Errors
    /// A classified [`OutboundError`].
    pub(crate) async fn fetch_for(
        &self,
        tenant: TenantId,
        url: &str,
        known: &Validators,
        max_bytes: usize,
    ) -> Result<Fetched, OutboundError> {
        self.follow(url, &Wanted { tenant, known, max_bytes, may_hang: false }).await
    }

    /// Fetches a document of at most `max_bytes` for a tenant, unless it is unchanged according to `known`. Waits while other
    /// documents are fetched from its host.
    ///
    /// # Errors
    /// A classified [`OutboundError`].
    pub(crate) async fn fetch(
        &self,
        tenant: TenantId,
        url: &str,
        known: &Validators,
        max_bytes: usize,
    ) -> Result<Fetched, OutboundError> {
        self.follow(url, &Wanted { tenant, known, max_bytes, may_hang: true }).await
    }

    async fn follow(&self, url: &str, wanted: &Wanted<'_>) -> Result<Fetched, OutboundError> {
        let mut url = self.check(url)?;
        for _ in 0..=MAX_REDIRECTS {
            match self.hop_in_turn(&url, wanted).await? {
                Hop::Further(next) => url = next,
                Hop::Arrived(fetched) => return Ok(fetched),
            }
        }
        Err(OutboundError::Refused(format!("redirects more than {MAX_REDIRECTS} times")))
    }

    /// Makes one request when it is the tenant's turn.
    async fn hop_in_turn(&self, url: &Url, wanted: &Wanted<'_>) -> Result<Hop, OutboundError> {
        let &Wanted { tenant, known, max_bytes, may_hang } = wanted;
        let _turn = self.hosts.turn(tenant, url).await;
        let hop = self.hop(url, known, max_bytes);
        if may_hang { hop.await } else { self.unless_hanging(tenant, url, hop).await }
    }

    async fn hop(&self, url: &Url, known: &Validators, max_bytes: usize) -> Result<Hop, OutboundError> {
        let client = self.client_for(url).map_err(OutboundError::Refused)?;
        let request = client.get(url.clone()).headers(conditions(known));
        let response = request.send().await.map_err(|error| self.transport(&error))?;
        match response.status() {
            StatusCode::NOT_MODIFIED if *known != Validators::default() => Ok(Hop::Arrived(Fetched::Unchanged)),
            status if status.is_redirection() && response.headers().contains_key(LOCATION) => {
                self.next_hop(url, &response).map(Hop::Further)
            }
            status if status.is_success() => self.read(response, url.clone(), max_bytes).await.map(Hop::Arrived),
            status => Err(OutboundError::Status { status: status.as_u16(), retry_after: wait_asked(&response) }),
        }
    }

    fn next_hop(&self, from: &Url, response: &Response) -> Result<Url, OutboundError> {
        let target = response.headers().get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let url = from
            .join(target)
            .map_err(|error| OutboundError::Refused(format!("redirects to what is not a URL: {error}")))?;
        if from.scheme() == "https" && url.scheme() == "http" {
            return Err(OutboundError::Refused("redirects from https to http; name the https URL".to_owned()));
        }
        self.client_for(&url).map_err(|error| OutboundError::Refused(format!("redirects to a URL that {error}")))?;
        Ok(url)
    }

    async fn read(&self, mut response: Response, url: Url, max_bytes: usize) -> Result<Fetched, OutboundError> {
        let too_large = OutboundError::TooLarge { limit: max_bytes };
        if response
            .content_length()
            .is_some_and(|announced| usize::try_from(announced).map_or(true, |size| size > max_bytes))
        {
            return Err(too_large);
        }
        let headers = response.headers();
        let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let content_type = text(CONTENT_TYPE).filter(|value| !value.trim().is_empty());
        let validators = Validators { etag: text(ETAG), last_modified: text(LAST_MODIFIED) };
        let mut content = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|error| self.transport(&error))? {
            if content.len() + part.len() > max_bytes {
                return Err(too_large);
            }
            content.extend_from_slice(&part);
        }
        Ok(Fetched::Document(FetchedDocument { content, content_type, validators, url }))
    }
}

fn conditions(known: &Validators) -> HeaderMap {
    let mut headers = HeaderMap::new();
    // Content is not decompressed here: the bytes that arrive are the bytes that are counted.
    let mut set = |name: HeaderName, value: &str| {
        if let Ok(value) = value.parse() {
            headers.insert(name, value);
        }
    };
    set(ACCEPT_ENCODING, "identity");
    if let Some(etag) = &known.etag {
        set(IF_NONE_MATCH, etag);
    }
    if let Some(moment) = &known.last_modified {
        set(IF_MODIFIED_SINCE, moment);
    }
    headers
}

#[cfg(test)]
mod tests {
    use axum::{
        Router,
        body::Body,
        http::{HeaderMap, Response, StatusCode},
        routing::get,
    };
    use std::{
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        time::Duration,
    };

    use futures::stream;

    use super::*;
    use crate::providers::outbound::test_outbound as outbound;

    fn redirect(to: &str) -> Response<Body> {
        Response::builder().status(302).header("location", to).body(Body::empty()).expect("a response")
    }

    async fn page(headers: HeaderMap) -> Response<Body> {
        let answer =
            Response::builder().header("etag", "\"v1\"").header("last-modified", "Sat, 01 Nov 2025 10:00:00 GMT");
        if headers.get("if-none-match").is_some_and(|value| value == "\"v1\"") {
            return answer.status(StatusCode::NOT_MODIFIED).body(Body::empty()).expect("a response");
        }
        answer.header("content-type", "Text/HTML; charset=utf-8").body(Body::from("<p>Leave</p>")).expect("a response")
    }

    /// A site on loopback, and its base URL.
    async fn site() -> String {
        site_at("127.0.0.1").await
    }

    async fn site_at(address: &str) -> String {
        let endless = || async {
            let parts = stream::repeat_with(|| Ok::<_, std::convert::Infallible>(vec![b'x'; 1_000]));
            Body::from_stream(parts)
        };
        let until = [("date", "Wed, 21 Oct 2026 07:26:30 GMT"), ("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT")];
        let router = Router::new()
            .route("/later", get(move || async move { (StatusCode::TOO_MANY_REQUESTS, until) }))
            .route("/page", get(page))
            .route("/moved", get(|| async { redirect("/page") }))
            .route("/loop", get(|| async { redirect("/loop") }))
            .route("/metadata", get(|| async { redirect("http://169.254.169.254/latest/") }))
            .route("/file", get(|| async { redirect("file:///etc/passwd") }))
            .route("/inside", get(|| async { redirect("http://localhost:9/") }))
            .route("/endless", get(endless))
            .route("/busy", get(|| async { (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "7")]) }));
        let listener = tokio::net::TcpListener::bind((address, 0)).await.expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        tokio::spawn(async move { axum::serve(listener, router).await });
        base
    }

    #[tokio::test]
    async fn a_document_comes_with_what_makes_the_next_fetch_cheap() {
        let (outbound, base) = (outbound(&["127.0.0.0/8:*"]), site().await);
        let fetched = outbound
            .fetch(TenantId::DEFAULT, &format!("{base}/moved"), &Validators::default(), 1_000)
            .await
            .expect("a page");
        let Fetched::Document(document) = fetched else { panic!("{fetched:?}") };
        assert_eq!(document.content, b"<p>Leave</p>");
        assert_eq!(document.content_type.as_deref(), Some("Text/HTML; charset=utf-8"));
        assert_eq!(document.url.path(), "/page");
        assert_eq!(document.validators.etag.as_deref(), Some("\"v1\""));
        let again = outbound.fetch(TenantId::DEFAULT, &format!("{base}/moved"), &document.validators, 1_000).await;
        assert_eq!(again, Ok(Fetched::Unchanged));
    }

    #[tokio::test]
    async fn every_hop_is_judged() {
        let (outbound, base) = (outbound(&["127.0.0.1/32:*"]), site().await);
        for (path, word) in [("/metadata", "169.254.169.254"), ("/file", "file"), ("/loop", "5 times")] {
            let error =
                outbound.fetch(TenantId::DEFAULT, &format!("{base}{path}"), &Validators::default(), 1_000).await;
            assert!(matches!(&error, Err(OutboundError::Refused(text)) if text.contains(word)), "{path}: {error:?}");
        }
        let strict = super::super::test_outbound(&[]);
        let error = strict.fetch(TenantId::DEFAULT, &format!("{base}/page"), &Validators::default(), 1_000).await;
        assert!(matches!(error, Err(OutboundError::Refused(_))), "{error:?}");
    }

    #[test]
    fn no_hop_leads_from_https_to_http() {
        let outbound = outbound(&[]);
        let from = Url::parse("https://93.184.215.14/a").expect("a URL");
        let hop = |to: &str| outbound.next_hop(&from, &redirect(to).map(|_| "").into());
        for to in ["http://93.184.215.14/a", "HTTP://93.184.215.14/b", "http://93.184.215.14:443/a"] {
            let refused = hop(to);
            assert!(
                matches!(&refused, Err(OutboundError::Refused(text)) if text.contains("https to http")),
                "{refused:?}"
            );
        }
        for to in ["/b", "//93.184.215.14/b", "https://93.184.215.14/b"] {
            assert_eq!(hop(to).map(|url| url.scheme().to_owned()), Ok("https".to_owned()), "{to}");
        }
    }

    // Other systems have one loopback address only.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_hop_to_a_name_is_judged_by_where_it_leads() {
        let (outbound, base) = (outbound(&["127.0.0.2/32:*"]), site_at("127.0.0.2").await);
        let error = outbound.fetch(TenantId::DEFAULT, &format!("{base}/inside"), &Validators::default(), 1_000).await;
        assert!(
            matches!(&error, Err(OutboundError::Unreachable(text)) if text.contains("localhost was not found")),
            "{error:?}"
        );
    }

    #[tokio::test]
    async fn too_much_and_not_now_are_told_apart() {
        let (outbound, base) = (outbound(&["127.0.0.0/8:*"]), site().await);
        let none = Validators::default();
        assert_eq!(
            outbound.fetch(TenantId::DEFAULT, &format!("{base}/endless"), &none, 5_000).await,
            Err(OutboundError::TooLarge { limit: 5_000 })
        );
        assert_eq!(
            outbound.fetch(TenantId::DEFAULT, &format!("{base}/page"), &none, 3).await,
            Err(OutboundError::TooLarge { limit: 3 })
        );
        assert_eq!(
            outbound.fetch(TenantId::DEFAULT, &format!("{base}/busy"), &none, 3).await,
            Err(OutboundError::Status { status: 503, retry_after: Some(Duration::from_secs(7)) })
        );
        assert_eq!(
            outbound.fetch(TenantId::DEFAULT, &format!("{base}/later"), &none, 3).await,
            Err(OutboundError::Status { status: 429, retry_after: Some(Duration::from_secs(90)) })
        );
    }

    #[tokio::test]
    async fn a_host_is_asked_for_two_documents_at_once() {
        let counts = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let shared = Arc::clone(&counts);
        let page = move || {
            let counts = Arc::clone(&shared);
            async move {
                let (now, most) = &*counts;
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                for _ in 0..100 {
                    tokio::task::yield_now().await;
                }
                now.fetch_sub(1, Ordering::SeqCst);
                "words"
            }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        tokio::spawn(async move { axum::serve(listener, Router::new().fallback(get(page))).await });
        let (outbound, known) = (outbound(&["127.0.0.1:*"]), Validators::default());
        let urls: Vec<String> = (0..12).map(|number| format!("{base}/{number}")).collect();
        let all =
            futures::future::join_all(urls.iter().map(|url| outbound.fetch(TenantId::DEFAULT, url, &known, 1_000)))
                .await;
        assert!(all.iter().all(Result::is_ok), "{all:?}");
        assert_eq!(counts.1.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_host_that_hangs_is_not_asked_for_a_while() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let allow = vec!["127.0.0.0/8:*".parse().expect("an entry")];
        let rule = super::super::Rule::for_tenants("CITED_FETCH_ALLOW", allow);
        let outbound = Outbound::new(rule, Duration::from_millis(100)).expect("a client");
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let silent = format!("http://{}", listener.local_addr().expect("an address"));
        let base = site().await;
        let (one, other) = (TenantId::DEFAULT, TenantId(uuid::Uuid::from_u128(7)));
        let known = Validators::default();
        let fetch = async |tenant, url: String| outbound.fetch_for(tenant, &url, &known, 1_000).await;
        for number in 0..3 {
            let error = fetch(one, format!("{silent}/{number}")).await;
            assert!(matches!(error, Err(OutboundError::Timeout(_))), "{number}: {error:?}");
        }
        let error = fetch(one, format!("{silent}/page")).await.expect_err("it hangs");
        assert!(matches!(&error, OutboundError::Hanging { host, .. } if host == "127.0.0.1"), "{error:?}");
        assert!(error.to_string().starts_with("127.0.0.1 does not answer; it is asked again in "), "{error}");
        assert!(fetch(one, format!("{base}/page")).await.is_ok(), "another host");
        let error = fetch(other, format!("{silent}/page")).await;
        assert!(matches!(error, Err(OutboundError::Timeout(_))), "another tenant: {error:?}");
    }
}
