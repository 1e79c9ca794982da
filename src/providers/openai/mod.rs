//! Servers that speak the `OpenAI` API: `OpenAI`, Ollama, vLLM, llama.cpp, Groq, Together, `OpenRouter`, …
//!
//! Only the common core is used: `POST {base}/chat/completions` and `POST {base}/embeddings`.

mod chat;
mod embedding;

use std::time::Duration;

use reqwest::{Client, Response, StatusCode, header};
use secrecy::{ExposeSecret, SecretString};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use url::Url;

pub use chat::OpenAiChat;
pub use embedding::{DEFAULT_EMBEDDING_WINDOW, EmbeddingSettings, MINIMUM_EMBEDDING_WINDOW, OpenAiEmbedder};

use super::{ProviderError, ProviderErrorKind, error::excerpt};

/// Name of these providers in answers and errors.
const PROVIDER: &str = "openai";
/// Connections are local or across the internet; longer than this they are down.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Largest reply that is read.
const MAX_REPLY_BYTES: usize = 64 * 1024 * 1024;

/// A server, and the model to use there.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Base URL up to and including the version, such as `http://localhost:11434/v1`.
    pub base_url: Url,
    /// Model id as the server knows it.
    pub model: String,
    /// Sent as a bearer token, if there is one.
    pub api_key: Option<SecretString>,
    /// Longest call, from connecting to the last byte.
    pub timeout: Duration,
}

/// A connection pool to one server.
#[derive(Clone, Debug)]
struct Server {
    client: Client,
    settings: Settings,
}

impl Server {
    fn new(settings: Settings) -> Result<Self, ProviderError> {
        let client = Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(settings.timeout)
            // A model server has no business sending us elsewhere with the key.
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("cited/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| Self::error(&settings, ProviderErrorKind::Rejected, error.to_string()))?;
        Ok(Self { client, settings })
    }

    async fn post<Reply: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<Reply, ProviderError> {
        let base = self.settings.base_url.as_str().trim_end_matches('/');
        let mut request = self.client.post(format!("{base}/{path}")).json(body);
        if let Some(key) = &self.settings.api_key {
            request = request.bearer_auth(key.expose_secret());
        }
        let response = request.send().await.map_err(|error| self.transport_error(&error))?;
        let status = response.status();
        let retry_after = retry_after(&response);
        let body = self.read(response).await?;
        if !status.is_success() {
            return Err(self.status_error(status, retry_after, &String::from_utf8_lossy(&body)));
        }
        serde_json::from_slice(&body).map_err(|error| {
            self.fail(
                ProviderErrorKind::InvalidReply,
                format!(
                    "the reply is not what {path} promises ({error}): {}",
                    excerpt(&String::from_utf8_lossy(&body))
                ),
            )
        })
    }

    async fn read(&self, mut response: Response) -> Result<Vec<u8>, ProviderError> {
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|error| self.transport_error(&error))? {
            if body.len() + part.len() > MAX_REPLY_BYTES {
                return Err(
                    self.fail(ProviderErrorKind::InvalidReply, format!("the reply is over {MAX_REPLY_BYTES} bytes"))
                );
            }
            body.extend_from_slice(&part);
        }
        Ok(body)
    }

    fn transport_error(&self, error: &reqwest::Error) -> ProviderError {
        let kind = if error.is_timeout() { ProviderErrorKind::Timeout } else { ProviderErrorKind::Unreachable };
        // The innermost cause says what happened; the URL is left out because it may hold a secret.
        let mut cause: &dyn std::error::Error = error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        let detail = match kind {
            ProviderErrorKind::Timeout => format!("no complete reply within {} s", self.settings.timeout.as_secs_f32()),
            _ => format!("the server cannot be reached: {cause}"),
        };
        self.fail(kind, detail)
    }

    fn status_error(&self, status: StatusCode, retry_after: Option<Duration>, body: &str) -> ProviderError {
        let kind = classify(status, body);
        let message = serde_json::from_str::<Value>(body)
            .ok()
            .and_then(|value| {
                let error = value.get("error")?;
                error.get("message").or(Some(error)).and_then(Value::as_str).map(str::to_owned)
            })
            .unwrap_or_else(|| body.to_owned());
        ProviderError { retry_after, ..self.fail(kind, format!("HTTP {}: {}", status.as_u16(), excerpt(&message))) }
    }

    fn fail(&self, kind: ProviderErrorKind, detail: String) -> ProviderError {
        Self::error(&self.settings, kind, detail)
    }

    fn error(settings: &Settings, kind: ProviderErrorKind, detail: String) -> ProviderError {
        ProviderError { kind, provider: PROVIDER.to_owned(), model: settings.model.clone(), detail, retry_after: None }
    }
}

/// Error codes by which servers say that waiting will not help: `OpenAI`'s `insufficient_quota` and
/// `billing_hard_limit_reached` come with status 429.
const QUOTA_CODES: [&str; 2] = ["insufficient_quota", "billing_hard_limit_reached"];
/// Error codes and words for a prompt that is too long (`OpenAI`; llama.cpp).
const CONTEXT_CODES: [&str; 2] = ["context_length_exceeded", "exceed_context_size_error"];

fn classify(status: StatusCode, body: &str) -> ProviderErrorKind {
    let names = |codes: &[&str]| codes.iter().any(|code| body.contains(code));
    match status.as_u16() {
        429 if names(&QUOTA_CODES) => ProviderErrorKind::QuotaExhausted,
        429 => ProviderErrorKind::RateLimited,
        408 => ProviderErrorKind::Timeout,
        500.. => ProviderErrorKind::ServerError,
        _ if names(&CONTEXT_CODES) => ProviderErrorKind::ContextLength,
        _ => ProviderErrorKind::Rejected,
    }
}

/// `Retry-After` in seconds (RFC 9110, section 10.2.3); the date form is not used by model servers.
fn retry_after(response: &Response) -> Option<Duration> {
    let value = response.headers().get(header::RETRY_AFTER)?.to_str().ok()?;
    value.trim().parse().ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_apart() {
        let cases = [
            (429, r#"{"error":{"code":"insufficient_quota"}}"#, ProviderErrorKind::QuotaExhausted),
            (429, "slow down", ProviderErrorKind::RateLimited),
            (400, r#"{"error":{"code":"context_length_exceeded"}}"#, ProviderErrorKind::ContextLength),
            (400, "bad", ProviderErrorKind::Rejected),
            (401, "who are you", ProviderErrorKind::Rejected),
            (408, "", ProviderErrorKind::Timeout),
            (503, "", ProviderErrorKind::ServerError),
        ];
        for (status, body, expected) in cases {
            let status = StatusCode::from_u16(status).expect("valid status");
            assert_eq!(classify(status, body), expected, "{status} {body}");
        }
    }
}
