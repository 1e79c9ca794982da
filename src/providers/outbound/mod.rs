//! Requests to URLs from external sources: webhooks, documents by URL.
//!
//! Such a URL may name a machine that only this one can reach (server-side request forgery). So addresses are
//! judged, not names: literal ones in the URL, and in that of each redirect, before anything is sent; those of a
//! name in the resolver of the connection itself, which hands out none that is refused. The name is not resolved
//! a second time, so a second answer cannot differ. Proxies of the environment are not used: they would resolve
//! names on their own.
//!
//! The addresses that may be reached depend on the port, which a resolver is not told. So the URL's port chooses the client, and
//! each client has a resolver that knows what may be reached at its ports.

mod address;
#[cfg(test)]
mod attack_tests;
mod fetch;
mod hanging;
mod politeness;
mod resolver;
mod rule;
mod signature;

use std::{collections::BTreeMap, net::IpAddr, sync::Arc, time::Duration};

use reqwest::{
    Client, ClientBuilder, StatusCode,
    header::{HeaderMap, HeaderName, HeaderValue},
    redirect,
};
use thiserror::Error;
use url::{Host, Url};

use address::AddressRule;
pub(crate) use fetch::{Fetched, FetchedDocument, Validators};
use hanging::HangingHosts;
use politeness::Hosts;
use resolver::GuardedResolver;
pub(crate) use rule::{Destination, Rule};
pub(crate) use signature::{Endpoint, WebhookSecret};

use super::{
    error::{excerpt, innermost},
    retry_after,
};
use crate::domain::identity::TenantId;

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Longest request, from connecting to the last byte, unless configured otherwise.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

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
    /// Not asked: the host answered none of the last requests of the tenant in time.
    #[error("{host} does not answer; it is asked again in {} s", .pause.as_secs() + 1)]
    Hanging {
        /// Name of the host.
        host: String,
        /// How long it is not to be asked.
        pause: Duration,
    },
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

/// Sends requests of one purpose to where its rule permits.
#[derive(Clone, Debug)]
pub(crate) struct Outbound {
    rule: Rule,
    timeout: Duration,
    /// Clients by port.
    by_port: BTreeMap<u16, PortClient>,
    /// The client for all other ports.
    others: PortClient,
    /// Hosts that documents are fetched from.
    hosts: Hosts,
    /// Hosts that hang.
    hanging: HangingHosts,
}

/// A client for ports at which the same may be reached.
#[derive(Clone, Debug)]
struct PortClient {
    addresses: AddressRule,
    /// `None` if nothing may be reached there.
    client: Option<Client>,
}

impl Outbound {
    /// Clients under this rule that follow no redirect.
    ///
    /// # Errors
    /// [`OutboundError::Unreachable`] when the machine has no root certificates to check servers with.
    pub(crate) fn new(rule: Rule, timeout: Duration) -> Result<Self, OutboundError> {
        let others = PortClient::new(&rule, rule.at(None), timeout)?;
        let mut by_port: BTreeMap<u16, PortClient> = BTreeMap::new();
        for port in rule.named_ports() {
            let addresses = rule.at(Some(port));
            let known = by_port.values().find(|client| client.addresses == addresses).cloned();
            by_port.insert(port, known.map_or_else(|| PortClient::new(&rule, addresses, timeout), Ok)?);
        }
        Ok(Self { rule, timeout, by_port, others, hosts: Hosts::default(), hanging: HangingHosts::default() })
    }

    /// Longest request.
    pub(crate) const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Checks the parts of a URL that need no name resolution: scheme, credentials, port, and a literal address.
    ///
    /// # Errors
    /// [`OutboundError::Refused`] with the error and a correct form.
    pub(crate) fn check(&self, url: &str) -> Result<Url, OutboundError> {
        let url = Url::parse(url).map_err(|error| OutboundError::Refused(format!("is not a URL: {error}")))?;
        self.client_for(&url).map(|_| url.clone()).map_err(OutboundError::Refused)
    }

    /// The client for a URL that is allowed as far as it says itself.
    fn client_for(&self, url: &Url) -> Result<&Client, String> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("has the scheme {}; only http and https are allowed", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("holds a user name or password; leave them out".to_owned());
        }
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Err("names no host".to_owned());
        };
        let setting = self.rule.setting;
        let at_port = self.by_port.get(&port).unwrap_or(&self.others);
        let literal: Option<IpAddr> = match host {
            Host::Domain(_) => None,
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
        };
        let is_allowed = literal.is_none_or(|address| at_port.addresses.permits(address));
        match &at_port.client {
            Some(client) if is_allowed => Ok(client),
            Some(_) if at_port.addresses.public => Err(format!(
                "{host} is not on the public internet; requests to private, loopback, link-local and other special \
                 addresses are refused unless {setting} has {host}:{port} or its network, with the port"
            )),
            _ => Err(format!(
                "names port {port}; ports other than 80 and 443 are refused unless {setting} has {host}:{port}"
            )),
        }
    }

    /// Posts a JSON body for a tenant, unless the host hangs; any success status is accepted, and the reply's body is not read.
    ///
    /// # Errors
    /// A classified [`OutboundError`].
    pub(crate) async fn post_json(
        &self,
        tenant: TenantId,
        url: &str,
        headers: &[(&'static str, String)],
        body: String,
    ) -> Result<(), OutboundError> {
        let url = self.check(url)?;
        let client = self.client_for(&url).map_err(OutboundError::Refused)?;
        let mut map = HeaderMap::new();
        map.insert("content-type", HeaderValue::from_static("application/json"));
        for (name, value) in headers {
            let value = HeaderValue::from_str(value)
                .map_err(|_| OutboundError::Refused(format!("{name} holds what a header cannot carry")))?;
            map.insert(HeaderName::from_static(name), value);
        }
        let request = client.post(url.clone()).headers(map).body(body);
        let sent = async { request.send().await.map_err(|error| self.transport(&error)) };
        let response = self.unless_hanging(tenant, &url, sent).await?;
        if response.status().is_success() {
            return Ok(());
        }
        Err(OutboundError::Status { status: response.status().as_u16(), retry_after: wait_asked(&response) })
    }

    /// Makes a request, unless its host answered none of the last ones of the tenant in time, and notes whether it does now.
    async fn unless_hanging<Output>(
        &self,
        tenant: TenantId,
        url: &Url,
        request: impl Future<Output = Result<Output, OutboundError>>,
    ) -> Result<Output, OutboundError> {
        if let Some(pause) = self.hanging.pause(tenant, url) {
            return Err(OutboundError::Hanging { host: url.host_str().unwrap_or_default().to_owned(), pause });
        }
        let result = request.await;
        self.hanging.note(tenant, url, !matches!(result, Err(OutboundError::Timeout(_))));
        result
    }

    fn transport(&self, error: &reqwest::Error) -> OutboundError {
        if error.is_timeout() {
            return OutboundError::Timeout(self.timeout);
        }
        OutboundError::Unreachable(excerpt(&innermost(error).to_string()))
    }
}

impl PortClient {
    fn new(rule: &Rule, addresses: AddressRule, timeout: Duration) -> Result<Self, OutboundError> {
        let build =
            || guarded(GuardedResolver { addresses: addresses.clone(), setting: rule.setting }, timeout).build();
        let client = addresses.is_open().then(build).transpose();
        let client = client.map_err(|error| OutboundError::Unreachable(innermost(&error).to_string()))?;
        Ok(Self { addresses, client })
    }
}

fn guarded(resolver: GuardedResolver, timeout: Duration) -> ClientBuilder {
    Client::builder()
        .dns_resolver(Arc::new(resolver))
        .no_proxy()
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(timeout)
        .user_agent(concat!("cited/", env!("CARGO_PKG_VERSION")))
}

/// The delay that a busy server requests before the next call.
fn wait_asked(response: &reqwest::Response) -> Option<Duration> {
    let is_busy = matches!(response.status(), StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
    if is_busy { retry_after::retry_after(response.headers()) } else { None }
}

/// An outbound client of tests, with these entries.
#[cfg(test)]
fn test_outbound(allow: &[&str]) -> Outbound {
    test_outbound_within(allow, TIMEOUT)
}

/// The same with this longest request.
#[cfg(test)]
fn test_outbound_within(allow: &[&str], timeout: Duration) -> Outbound {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let allow = allow.iter().map(|entry| entry.parse().expect("an entry")).collect();
    Outbound::new(Rule::for_tenants("CITED_FETCH_ALLOW", allow), timeout).expect("a client")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_url_alone_gives_away_is_refused_at_once() {
        let outbound = test_outbound(&[]);
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
            ("http://1.1.1.1:22/", "port 22"),
            ("https://example.org:6379/", "port 6379"),
        ] {
            let error = outbound.check(url).expect_err(url).to_string();
            assert!(error.contains(word) || error.contains("ffff"), "{url}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
        assert!(outbound.check("https://example.org/hook?a=b").is_ok());
        assert!(test_outbound(&["127.0.0.0/8:9"]).check("http://127.0.0.1:9/").is_ok());
        assert!(test_outbound(&["127.0.0.0/8:9"]).check("http://127.0.0.1:10/").is_err());
        assert!(test_outbound(&["example.org:9"]).check("http://other.example:9/").is_ok(), "names are judged later");
    }

    #[tokio::test]
    async fn a_receiver_that_hangs_is_left_alone_for_a_while() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/", listener.local_addr().expect("an address"));
        let outbound = test_outbound_within(&["127.0.0.1/32:*"], Duration::from_millis(50));
        let post = async |tenant| outbound.post_json(tenant, &url, &[], "{}".to_owned()).await;
        for _ in 0..3 {
            assert!(matches!(post(TenantId::DEFAULT).await, Err(OutboundError::Timeout(_))));
        }
        assert!(matches!(post(TenantId::DEFAULT).await, Err(OutboundError::Hanging { .. })));
        assert!(matches!(post(TenantId(uuid::Uuid::from_u128(7))).await, Err(OutboundError::Timeout(_))));
    }

    #[tokio::test]
    async fn a_name_is_judged_by_the_addresses_it_resolves_to() {
        let post = async |allow: &[&str], url: &str| {
            test_outbound(allow).post_json(TenantId::DEFAULT, url, &[], "{}".to_owned()).await
        };
        let not_found = |result: &Result<(), OutboundError>| matches!(result, Err(OutboundError::Unreachable(text)) if text.contains("was not found on the public"));
        let hidden = post(&[], "http://localhost/").await;
        assert!(not_found(&hidden), "{hidden:?}");
        // A name that there is not answers alike, but for the name.
        let absent = post(&[], "http://absent.invalid/").await.expect_err("no such name").to_string();
        assert_eq!(absent.replace("absent.invalid", "localhost"), hidden.expect_err("checked").to_string());
        // Allowed at another port, it is as absent as before.
        for allow in [["127.0.0.0/8:9", "::1/128"], ["localhost", "10.0.0.0/8:10"]] {
            let elsewhere = post(&allow, "http://localhost:10/").await;
            assert!(not_found(&elsewhere) || matches!(elsewhere, Err(OutboundError::Refused(_))), "{elsewhere:?}");
        }
        for allow in [["127.0.0.0/8:9", "[::1/128]:9"], ["localhost:9", "10.0.0.0/8:9"]] {
            let open = post(&allow, "http://localhost:9/").await;
            assert!(matches!(&open, Err(OutboundError::Unreachable(_))) && !not_found(&open), "{open:?}");
        }
    }
}
