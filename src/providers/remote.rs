//! Calls from the command line to a running service.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use reqwest::{
    RequestBuilder,
    multipart::{Form, Part},
};
use serde_json::Value;
use url::Url;

use super::retry_after::retry_after;

/// A client of one service.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: String,
    key: Option<String>,
}

/// The reply of the service.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Body; null when it is not JSON.
    pub body: Value,
    /// Delay that the service requests before the next call.
    pub retry_after: Option<Duration>,
}

/// A file to be uploaded.
#[derive(Clone, Debug)]
pub(crate) struct Upload {
    /// Name of the source under which it is uploaded.
    pub source: String,
    /// Content of the file.
    pub content: Vec<u8>,
}

impl Client {
    /// A client for the service that listens on `listen`, with TLS or without. Its certificate names the service as
    /// others see it and is not checked.
    ///
    /// # Errors
    /// When no HTTP client can be made.
    pub(crate) fn here(listen: SocketAddr, has_tls: bool, timeout: Duration) -> Result<Self, reqwest::Error> {
        let host = match listen.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        let scheme = if has_tls { "https" } else { "http" };
        let base = format!("{scheme}://{}", SocketAddr::new(host, listen.port()));
        let builder = reqwest::Client::builder().no_proxy().danger_accept_invalid_certs(has_tls);
        Self::build(builder, base, timeout)
    }

    /// A client for the service at a URL.
    ///
    /// # Errors
    /// When no HTTP client can be made.
    pub(crate) fn at(url: &Url, timeout: Duration) -> Result<Self, reqwest::Error> {
        Self::build(reqwest::Client::builder(), url.as_str().trim_end_matches('/').to_owned(), timeout)
    }

    fn build(builder: reqwest::ClientBuilder, base: String, timeout: Duration) -> Result<Self, reqwest::Error> {
        Ok(Self { http: builder.timeout(timeout).build()?, base, key: None })
    }

    /// The base URL of the service.
    #[must_use]
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// The HTTP client, the base URL and the key, for a client of another kind.
    #[must_use]
    pub(crate) fn into_parts(self) -> (reqwest::Client, String, Option<String>) {
        (self.http, self.base, self.key)
    }

    /// Sends this key with each request.
    #[must_use]
    pub(crate) fn with_key(mut self, key: Option<String>) -> Self {
        self.key = key;
        self
    }

    /// `GET path`.
    ///
    /// # Errors
    /// When the service cannot be reached.
    pub(crate) async fn get(&self, path: &str) -> Result<Answer, reqwest::Error> {
        self.send(self.http.get(format!("{}{path}", self.base))).await
    }

    /// `DELETE path`.
    ///
    /// # Errors
    /// When the service cannot be reached.
    pub(crate) async fn delete(&self, path: &str) -> Result<Answer, reqwest::Error> {
        self.send(self.http.delete(format!("{}{path}", self.base))).await
    }

    /// `PATCH path` with a JSON body.
    ///
    /// # Errors
    /// When the service cannot be reached.
    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Result<Answer, reqwest::Error> {
        self.send(self.http.patch(format!("{}{path}", self.base)).json(body)).await
    }

    /// `POST path` with a JSON body.
    ///
    /// # Errors
    /// When the service cannot be reached.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Answer, reqwest::Error> {
        self.send(self.http.post(format!("{}{path}", self.base)).json(body)).await
    }

    /// `POST /v1/documents` with JSON, under the idempotency key `key`: a repeated request is carried out once.
    ///
    /// # Errors
    /// When the service cannot be reached.
    pub(crate) async fn send_documents(&self, body: &Value, key: &str) -> Result<Answer, reqwest::Error> {
        self.send(self.documents(key).json(body)).await
    }

    /// `POST /v1/documents` with files and further parts of the form, under the idempotency key `key`: a repeated
    /// request is carried out once.
    ///
    /// # Errors
    /// When the service cannot be reached.
    pub(crate) async fn upload(
        &self,
        files: &[Upload],
        fields: &[(&'static str, String)],
        key: &str,
    ) -> Result<Answer, reqwest::Error> {
        // File names are sent unchanged: the service uses them as sources.
        let mut form = Form::new().percent_encode_noop();
        for (name, value) in fields {
            form = form.text(*name, value.clone());
        }
        for file in files {
            form = form.part("file", Part::bytes(file.content.clone()).file_name(file.source.clone()));
        }
        self.send(self.documents(key).multipart(form)).await
    }

    fn documents(&self, key: &str) -> RequestBuilder {
        self.http.post(format!("{}/v1/documents", self.base)).header("idempotency-key", key)
    }

    /// `GET path` for a body that may be too large to be held: the response, or the answer that is none, within this time.
    ///
    /// # Errors
    /// If the service cannot be reached.
    pub(crate) async fn download(
        &self,
        path: &str,
        longest: Duration,
    ) -> Result<Result<reqwest::Response, Answer>, reqwest::Error> {
        let request = self.http.get(format!("{}{path}", self.base)).timeout(longest);
        let response = self.authorized(request).send().await?;
        if response.status().is_success() { Ok(Ok(response)) } else { Self::answer(response).await.map(Err) }
    }

    fn authorized(&self, request: RequestBuilder) -> RequestBuilder {
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    async fn send(&self, request: RequestBuilder) -> Result<Answer, reqwest::Error> {
        Self::answer(self.authorized(request).send().await?).await
    }

    async fn answer(response: reqwest::Response) -> Result<Answer, reqwest::Error> {
        let status = response.status().as_u16();
        let retry_after = retry_after(response.headers());
        let body = response.bytes().await?;
        Ok(Answer { status, body: serde_json::from_slice(&body).unwrap_or_default(), retry_after })
    }
}
