//! Model servers over HTTP: connections, keys, limits, and the classification of their failures.

mod failure;

use std::time::Duration;

use futures::{Stream, StreamExt};
use reqwest::{
    Client, RequestBuilder, Response,
    header::{self, HeaderMap},
};
use secrecy::{ExposeSecret, SecretString};
use serde::{Serialize, de::DeserializeOwned};
use url::Url;

use self::failure::{classify, message_of};
use super::{
    ProviderError, ProviderErrorKind,
    error::{excerpt, innermost},
    retry_after::retry_after,
};
use crate::spans;

/// Longest time to connect. Connections are local or across the internet; a server that takes longer is down.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Largest reply that is read.
const MAX_REPLY_BYTES: usize = 64 * 1024 * 1024;
/// Version of the Messages API whose format is implemented here.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// How a request is authenticated to the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Authentication {
    /// `Authorization: Bearer`.
    Bearer,
    /// `x-api-key`, together with the version of the API.
    Anthropic,
}

/// A server and how to reach it.
#[derive(Clone, Debug)]
pub(super) struct ServerSettings {
    /// Name in answers and errors.
    pub(crate) provider: String,
    /// Base URL up to and including the version.
    pub(crate) base_url: Url,
    pub(crate) api_key: Option<SecretString>,
    pub(crate) authentication: Authentication,
    /// Longest call, from connecting to the last byte.
    pub(crate) timeout: Duration,
}

/// A server, and the one model that is called there.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    /// Base URL up to and including the version, such as `http://localhost:11434/v1`.
    pub(crate) base_url: Url,
    /// Model id as the server knows it.
    pub(crate) model: String,
    /// Sent as a bearer token, if there is one.
    pub(crate) api_key: Option<SecretString>,
    /// Longest call, from connecting to the last byte.
    pub(crate) timeout: Duration,
}

/// A connection pool to one server, for one of its models.
#[derive(Clone, Debug)]
pub(super) struct Server {
    client: Client,
    settings: ServerSettings,
    model: String,
}

impl Server {
    pub(crate) fn new(settings: ServerSettings) -> Result<Self, ProviderError> {
        let mut builder = Client::builder();
        if settings.base_url.scheme() == "http" {
            // A proxy of the environment would read prompts and the key. Of https it sees no more than the host.
            builder = builder.no_proxy();
        }
        let client = builder
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(settings.timeout)
            // A model server has no reason to redirect requests, which carry the key, elsewhere.
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("cited/", env!("CARGO_PKG_VERSION")))
            .build();
        match client {
            Ok(client) => Ok(Self { client, settings, model: String::new() }),
            Err(error) => Err(ProviderError {
                kind: ProviderErrorKind::Internal,
                provider: settings.provider,
                model: String::new(),
                detail: format!("no HTTP client can be made: {error}"),
                retry_after: None,
            }),
        }
    }

    /// The pool of an endpoint, for its model; `provider` is its name in errors.
    pub(crate) fn of(provider: &str, endpoint: Endpoint) -> Result<Self, ProviderError> {
        let Endpoint { base_url, model, api_key, timeout } = endpoint;
        let provider = provider.to_owned();
        let settings = ServerSettings { provider, base_url, api_key, authentication: Authentication::Bearer, timeout };
        Ok(Self { model, ..Self::new(settings)? })
    }

    /// The same pool for another model.
    pub(crate) fn for_model(&self, model: &str) -> Self {
        Self { model: model.to_owned(), ..self.clone() }
    }

    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    pub(crate) const fn timeout(&self) -> Duration {
        self.settings.timeout
    }

    /// Builds an error that names the model.
    pub(crate) fn fail(&self, kind: ProviderErrorKind, detail: String) -> ProviderError {
        ProviderError {
            kind,
            provider: self.settings.provider.clone(),
            model: self.model.clone(),
            detail,
            retry_after: None,
        }
    }

    /// The status with which the server answers for its list of models, which costs nothing; servers need not have one.
    ///
    /// # Errors
    /// If no server answers.
    pub(crate) async fn status_of_models(&self) -> Result<u16, ProviderError> {
        let base = self.settings.base_url.as_str().trim_end_matches('/');
        let request = self.authenticated(self.client.get(format!("{base}/models")));
        let response = request.send().await.map_err(|error| self.transport_error(&error))?;
        Ok(response.status().as_u16())
    }

    /// Sends a body and reads the whole reply.
    pub(crate) async fn post<Reply: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<Reply, ProviderError> {
        let response = self.send(path, body).await?;
        let body = self.read(response).await?;
        self.parse(path, &body)
    }

    /// Sends a body; returns a successful response whose body is not yet read.
    pub(crate) async fn send(&self, path: &str, body: &impl Serialize) -> Result<Response, ProviderError> {
        let base = self.settings.base_url.as_str().trim_end_matches('/');
        let mut headers = HeaderMap::new();
        spans::inject(&mut headers);
        let request = self.client.post(format!("{base}/{path}")).headers(headers).json(body);
        let request = self.authenticated(request);
        let response = request.send().await.map_err(|error| self.transport_error(&error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let retry_after = retry_after(response.headers());
        // The body of a failure helps only if it can be read; otherwise it is left empty.
        let body = self.read(response).await.unwrap_or_default();
        let body = String::from_utf8_lossy(&body);
        let detail = format!("HTTP {}: {}", status.as_u16(), excerpt(&message_of(&body)));
        Err(ProviderError { retry_after, ..self.fail(classify(status.as_u16(), &body), detail) })
    }

    /// A failure that a server reports in the middle of a stream.
    pub(crate) fn reported_failure(&self, status: u16, body: &str) -> ProviderError {
        self.fail(classify(status, body), excerpt(&message_of(body)))
    }

    /// The whole body of a response.
    pub(crate) async fn read(&self, response: Response) -> Result<Vec<u8>, ProviderError> {
        let mut body = Vec::new();
        let mut parts = std::pin::pin!(self.bytes(response));
        while let Some(part) = parts.next().await {
            body.extend_from_slice(&part?);
        }
        Ok(body)
    }

    /// The body of a response as it arrives, up to the limit.
    pub(crate) fn bytes(
        &self,
        response: Response,
    ) -> impl Stream<Item = Result<bytes::Bytes, ProviderError>> + Send + 'static {
        let server = self.clone();
        let mut read = 0;
        response.bytes_stream().map(move |part| {
            let part = part.map_err(|error| server.transport_error(&error))?;
            read += part.len();
            if read > MAX_REPLY_BYTES {
                let detail = format!("the reply is over {MAX_REPLY_BYTES} bytes");
                return Err(server.fail(ProviderErrorKind::InvalidReply, detail));
            }
            Ok(part)
        })
    }

    /// Parses a whole body into the form that the protocol specifies.
    pub(crate) fn parse<Reply: DeserializeOwned>(&self, path: &str, body: &[u8]) -> Result<Reply, ProviderError> {
        serde_json::from_slice(body).map_err(|error| {
            let shown = excerpt(&String::from_utf8_lossy(body));
            let detail = format!("the reply is not what {path} promises ({error}): {shown}");
            self.fail(ProviderErrorKind::InvalidReply, detail)
        })
    }

    fn authenticated(&self, request: RequestBuilder) -> RequestBuilder {
        let key = self.settings.api_key.as_ref().map(ExposeSecret::expose_secret);
        match (self.settings.authentication, key) {
            (Authentication::Bearer, Some(key)) => request.bearer_auth(key),
            (Authentication::Bearer, None) => request,
            (Authentication::Anthropic, key) => {
                let request = request.header("anthropic-version", ANTHROPIC_VERSION);
                match key.map(header::HeaderValue::from_str) {
                    Some(Ok(mut key)) => {
                        key.set_sensitive(true);
                        request.header("x-api-key", key)
                    }
                    Some(Err(_)) | None => request,
                }
            }
        }
    }

    fn transport_error(&self, error: &reqwest::Error) -> ProviderError {
        let kind = if error.is_connect() {
            ProviderErrorKind::Unreachable
        } else if error.is_timeout() {
            ProviderErrorKind::Timeout
        } else {
            ProviderErrorKind::Interrupted
        };
        let cause = innermost(error);
        let detail = match kind {
            ProviderErrorKind::Timeout => format!("no complete reply within {} s", self.settings.timeout.as_secs_f32()),
            ProviderErrorKind::Unreachable => format!("the server cannot be reached: {cause}"),
            _ => format!("the connection broke off: {cause}"),
        };
        self.fail(kind, detail)
    }
}
