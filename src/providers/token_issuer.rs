//! The identity provider that issues tokens: fetches the keys that it signs them with (`OpenID` Connect Discovery, RFC 7517).

use std::time::Duration;

use jsonwebtoken::jwk::Jwk;
use reqwest::{Client, Response, redirect};
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use super::error::{excerpt, innermost};

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest request.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Largest document that is read.
const MAX_BYTES: usize = 256 * 1024;
/// Path of the metadata below the issuer.
const METADATA: &str = "/.well-known/openid-configuration";

/// Error: the keys of an issuer cannot be read.
#[derive(Debug, Error)]
#[error("{0}")]
pub(crate) struct IssuerError(String);

/// An identity provider. Its address comes from the configuration, so it may be on an inner network; where it leads is held to
/// its own word, and no redirect is followed.
#[derive(Clone, Debug)]
pub(crate) struct TokenIssuer {
    client: Client,
    issuer: String,
}

#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

#[derive(Deserialize)]
struct Keys {
    keys: Vec<Value>,
}

impl TokenIssuer {
    /// The issuer of this name, as tokens have it in `iss`.
    ///
    /// # Errors
    /// [`IssuerError`] when the machine has no root certificates to check servers with.
    pub(crate) fn new(issuer: &str) -> Result<Self, IssuerError> {
        let client = Client::builder()
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
            .user_agent(concat!("cited/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| IssuerError(innermost(&error).to_string()))?;
        Ok(Self { client, issuer: issuer.to_owned() })
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.issuer
    }

    /// The keys that it signs with now. Keys of kinds that are not known here are left out.
    ///
    /// # Errors
    /// [`IssuerError`].
    pub(crate) async fn keys(&self) -> Result<Vec<Jwk>, IssuerError> {
        let address = format!("{}{METADATA}", self.issuer.trim_end_matches('/'));
        let metadata: Metadata = self.read(&address).await?;
        if metadata.issuer != self.issuer {
            let named = excerpt(&metadata.issuer);
            return Err(IssuerError(format!("{address} is about the issuer {named:?}, not {:?}", self.issuer)));
        }
        // An issuer on loopback has no certificate.
        let is_secure = metadata.jwks_uri.starts_with("https://") || self.issuer.starts_with("http:");
        if !is_secure {
            let named = excerpt(&metadata.jwks_uri);
            return Err(IssuerError(format!("{address} names keys at {named:?}, which is no https URL")));
        }
        let Keys { keys } = self.read(&metadata.jwks_uri).await?;
        Ok(keys.into_iter().filter_map(|key| serde_json::from_value(key).ok()).collect())
    }

    async fn read<T: for<'de> Deserialize<'de>>(&self, address: &str) -> Result<T, IssuerError> {
        let failed =
            |error: &reqwest::Error| IssuerError(format!("{address}: {}", excerpt(&innermost(error).to_string())));
        let response = self.client.get(address).send().await.map_err(|error| failed(&error))?;
        if !response.status().is_success() {
            return Err(IssuerError(format!("{address} answered with HTTP {}", response.status().as_u16())));
        }
        let body = bounded(response).await.map_err(|error| failed(&error))?;
        let body = body.ok_or_else(|| IssuerError(format!("{address} is larger than {MAX_BYTES} bytes")))?;
        serde_json::from_slice(&body)
            .map_err(|error| IssuerError(format!("{address} is not what it should be: {error}")))
    }
}

/// The body of a response; `None` if it is too large.
async fn bounded(mut response: Response) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await? {
        if body.len() + part.len() > MAX_BYTES {
            return Ok(None);
        }
        body.extend_from_slice(&part);
    }
    Ok(Some(body))
}
