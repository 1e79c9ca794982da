//! Calls of the command line to the service on this machine.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use serde_json::Value;

/// A client of the service that listens on this machine.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    key: Option<String>,
}

/// What came back.
#[derive(Clone, Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Body; null when it is not JSON.
    pub body: Value,
}

impl Client {
    /// For the service that was told to listen on `listen`.
    ///
    /// # Errors
    /// When no HTTP client can be made.
    pub fn new(listen: SocketAddr, timeout: Duration) -> Result<Self, reqwest::Error> {
        let host = match listen.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().timeout(timeout).no_proxy().build()?;
        Ok(Self { http, base: format!("http://{}", SocketAddr::new(host, listen.port())), key: None })
    }

    /// Sends this key along.
    #[must_use]
    pub fn with_key(mut self, key: Option<String>) -> Self {
        self.key = key;
        self
    }

    /// `GET path`.
    ///
    /// # Errors
    /// When the service cannot be reached.
    pub async fn get(&self, path: &str) -> Result<Answer, reqwest::Error> {
        self.send(self.http.get(format!("{}{path}", self.base))).await
    }

    /// `POST path` with a JSON body.
    ///
    /// # Errors
    /// When the service cannot be reached.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Answer, reqwest::Error> {
        self.send(self.http.post(format!("{}{path}", self.base)).json(body)).await
    }

    async fn send(&self, mut request: reqwest::RequestBuilder) -> Result<Answer, reqwest::Error> {
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        let response = request.send().await?;
        let status = response.status().as_u16();
        let body = response.bytes().await?;
        Ok(Answer { status, body: serde_json::from_slice(&body).unwrap_or_default() })
    }
}
