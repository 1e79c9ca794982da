//! Requests to URLs from external sources: webhooks, documents by URL.
//!
//! Such a URL may name a machine that only this one can reach (server-side request forgery). So addresses are
//! judged, not names: literal ones in the URL, and in that of each redirect, before anything is sent; those of a
//! name in the resolver of the connection itself, which hands out none that is refused. The name is not resolved
//! a second time, so a second answer cannot differ. Proxies of the environment are not used: they would resolve
//! names on their own.

mod address;
mod fetch;
mod resolver;
mod signature;

use std::{sync::Arc, time::Duration};

use reqwest::{
    Client, ClientBuilder, StatusCode,
    header::{HeaderMap, HeaderName, HeaderValue},
    redirect,
};
use thiserror::Error;
use url::{Host, Url};

pub(crate) use address::AddressRule;
pub(crate) use fetch::{Fetched, FetchedDocument, Validators};
use resolver::{GuardedResolver, RefusedAddress};
pub(crate) use signature::SigningKey;

use super::{
    error::{excerpt, innermost},
    retry_after,
};

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Which addresses requests may reach, and how long they may take.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The allowed addresses.
    pub(crate) addresses: AddressRule,
    /// Longest request, from connecting to the last byte.
    pub(crate) timeout: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { addresses: AddressRule::default(), timeout: Duration::from_secs(30) }
    }
}

/// Reasons why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum OutboundError {
    /// The URL, or where it leads, is not allowed. Trying again does not help.
    #[error("{0}")]
    Refused(String),
    /// No connection, or the connection broke.
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    /// No complete reply in time.
    #[error("no complete answer within {} s", .0.as_secs())]
    Timeout(Duration),
    /// A reply whose status is not a success.
    #[error("the server answered with HTTP {status}")]
    Status {
        /// HTTP status.
        status: u16,
        /// Delay that the server requested before the next call.
        retry_after: Option<Duration>,
    },
    /// The reply is larger than requested.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
}

/// Sends requests to the public internet, and to the networks that the operator allows.
#[derive(Clone, Debug)]
pub(crate) struct Outbound {
    client: Client,
    settings: Settings,
}

impl Outbound {
    /// A client under these rules that follows no redirect.
    ///
    /// # Errors
    /// [`OutboundError::Unreachable`] when the machine has no root certificates to check servers with.
    pub(crate) fn new(settings: Settings) -> Result<Self, OutboundError> {
        let client = guarded(&settings)
            .redirect(redirect::Policy::none())
            .build()
            .map_err(|error| OutboundError::Unreachable(innermost(&error).to_string()))?;
        Ok(Self { client, settings })
    }

    /// Checks the parts of a URL that need no name resolution: scheme, credentials, and a literal address.
    ///
    /// # Errors
    /// [`OutboundError::Refused`] with the error and a correct form.
    pub(crate) fn check(&self, url: &str) -> Result<Url, OutboundError> {
        let url = Url::parse(url).map_err(|error| OutboundError::Refused(format!("is not a URL: {error}")))?;
        check_url(&url, &self.settings.addresses)?;
        Ok(url)
    }

    /// Posts a JSON body; any success status is accepted, and the reply's body is not read.
    ///
    /// # Errors
    /// A classified [`OutboundError`].
    pub(crate) async fn post_json(
        &self,
        url: &str,
        headers: &[(&'static str, String)],
        body: String,
    ) -> Result<(), OutboundError> {
        let url = self.check(url)?;
        let mut map = HeaderMap::new();
        map.insert("content-type", HeaderValue::from_static("application/json"));
        for (name, value) in headers {
            let value = HeaderValue::from_str(value)
                .map_err(|_| OutboundError::Refused(format!("{name} holds what a header cannot carry")))?;
            map.insert(HeaderName::from_static(name), value);
        }
        let response =
            self.client.post(url).headers(map).body(body).send().await.map_err(|error| self.transport(&error))?;
        if response.status().is_success() {
            return Ok(());
        }
        Err(OutboundError::Status { status: response.status().as_u16(), retry_after: wait_asked(&response) })
    }

    fn transport(&self, error: &reqwest::Error) -> OutboundError {
        if let Some(refused) = refusal(error) {
            return refused;
        }
        if error.is_timeout() {
            return OutboundError::Timeout(self.settings.timeout);
        }
        OutboundError::Unreachable(excerpt(&innermost(error).to_string()))
    }
}

fn guarded(settings: &Settings) -> ClientBuilder {
    Client::builder()
        .dns_resolver(Arc::new(GuardedResolver(settings.addresses.clone())))
        .no_proxy()
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(settings.timeout)
        .user_agent(concat!("cited/", env!("CARGO_PKG_VERSION")))
}

fn check_url(url: &Url, addresses: &AddressRule) -> Result<(), OutboundError> {
    let refused = |text: String| Err(OutboundError::Refused(text));
    if !matches!(url.scheme(), "http" | "https") {
        return refused(format!("has the scheme {}; only http and https are allowed", url.scheme()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refused("holds a user name or password; leave them out".to_owned());
    }
    let literal = match url.host() {
        None => return refused("names no host".to_owned()),
        Some(Host::Domain(_)) => None,
        Some(Host::Ipv4(address)) => Some(address.into()),
        Some(Host::Ipv6(address)) => Some(address.into()),
    };
    match literal {
        Some(address) if !addresses.permits(address) => refused(RefusedAddress(address.to_string()).to_string()),
        _ => Ok(()),
    }
}

/// The refusal among the causes of an error of the HTTP client, if there is one.
fn refusal(error: &reqwest::Error) -> Option<OutboundError> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(refused) = error.downcast_ref::<RefusedAddress>() {
            return Some(OutboundError::Refused(refused.to_string()));
        }
        cause = error.source();
    }
    None
}

/// The delay that a busy server requests before the next call.
fn wait_asked(response: &reqwest::Response) -> Option<Duration> {
    let is_busy = matches!(response.status(), StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
    if is_busy { retry_after::retry_after(response.headers()) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outbound(allow: &[&str]) -> Outbound {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let allow = allow.iter().map(|network| network.parse().expect("a network")).collect();
        Outbound::new(Settings { addresses: AddressRule { allow }, ..Settings::default() }).expect("a client")
    }

    #[test]
    fn what_a_url_alone_gives_away_is_refused_at_once() {
        let outbound = outbound(&[]);
        for (url, word) in [
            ("nonsense", "URL"),
            ("ftp://example.org/", "ftp"),
            ("file:///etc/passwd", "file"),
            ("http://user:secret@example.org/", "user name"),
            ("http://127.0.0.1/", "127.0.0.1"),
            ("http://2130706433/", "127.0.0.1"),
            ("http://0x7f.1/", "127.0.0.1"),
            ("http://[::1]:8080/", "::1"),
            ("http://[::ffff:10.0.0.1]/", "10.0.0.1"),
            ("http://169.254.169.254/latest/meta-data", "169.254.169.254"),
        ] {
            let error = outbound.check(url).expect_err(url).to_string();
            assert!(error.contains(word) || error.contains("ffff"), "{url}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
        assert!(outbound.check("https://example.org/hook?a=b").is_ok());
        assert!(super::tests::outbound(&["127.0.0.0/8"]).check("http://127.0.0.1:9/").is_ok());
    }

    #[tokio::test]
    async fn a_name_is_judged_by_the_addresses_it_resolves_to() {
        let error = outbound(&[]).post_json("http://localhost:9/", &[], "{}".to_owned()).await.expect_err("refused");
        assert!(matches!(&error, OutboundError::Refused(text) if text.contains("localhost")), "{error:?}");
        let error = outbound(&["127.0.0.0/8", "::1/128"]).post_json("http://localhost:9/", &[], "{}".to_owned()).await;
        assert!(matches!(error, Err(OutboundError::Unreachable(_))), "{error:?}");
    }
}
