//! Signatures of webhooks (Standard Webhooks 1.0, symmetric scheme `v1`), by a secret of each tenant's endpoint.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use ring::hmac;
use secrecy::{ExposeSecret, SecretString};
use thiserror::Error;
use url::Url;
use uuid::Uuid;

/// Prefix of secrets.
const PREFIX: &str = "whsec_";
/// Beginning of the text that a secret is derived from: the same key derives nothing else.
const PURPOSE: &str = "cited webhook endpoint 1";

/// The deployment's secret, from which that of each endpoint is derived.
#[derive(Clone)]
pub(crate) struct WebhookSecret(hmac::Key);

/// The receiver of a tenant's webhooks: the origin of their URLs, which paths and queries do not tell apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    tenant: Uuid,
    /// Scheme, host and port, such as `https://hooks.example.org`.
    pub(crate) origin: String,
}

/// The secret of one endpoint, with which its messages are signed.
pub(crate) struct EndpointSecret([u8; 32]);

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("WebhookSecret(not shown)")
    }
}

/// Error: the secret is not one to derive others from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("must be whsec_ and the base64 of 24 to 64 random bytes; make one with: echo whsec_$(openssl rand -base64 32)")]
pub(crate) struct NotAWebhookSecret;

impl Endpoint {
    /// The endpoint that a URL leads to.
    pub(crate) fn of(tenant: Uuid, url: &Url) -> Self {
        Self { tenant, origin: url.origin().ascii_serialization() }
    }
}

impl WebhookSecret {
    /// Reads `whsec_` and base64; the prefix may be left out.
    ///
    /// # Errors
    /// [`NotAWebhookSecret`].
    pub(crate) fn parse(secret: &SecretString) -> Result<Self, NotAWebhookSecret> {
        let text = secret.expose_secret().trim();
        let bytes = STANDARD.decode(text.strip_prefix(PREFIX).unwrap_or(text)).map_err(|_| NotAWebhookSecret)?;
        if !(24..=64).contains(&bytes.len()) {
            return Err(NotAWebhookSecret);
        }
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, &bytes)))
    }

    /// The secret of an endpoint. Nobody who knows it learns that of another one, of another tenant least of all.
    #[must_use]
    pub(crate) fn of(&self, endpoint: &Endpoint) -> EndpointSecret {
        let mut context = hmac::Context::with_key(&self.0);
        context.update(PURPOSE.as_bytes());
        context.update(endpoint.tenant.as_bytes());
        context.update(endpoint.origin.as_bytes());
        let mut secret = [0; 32];
        for (byte, derived) in secret.iter_mut().zip(context.sign().as_ref()) {
            *byte = *derived;
        }
        EndpointSecret(secret)
    }
}

impl EndpointSecret {
    /// The secret as receivers take it.
    #[must_use]
    pub(crate) fn reveal(&self) -> SecretString {
        SecretString::from(format!("{PREFIX}{}", STANDARD.encode(self.0)))
    }

    /// The headers that authenticate a message: its identity, when it was sent (seconds since 1970), and the signature
    /// over both and the body.
    #[must_use]
    pub(crate) fn headers(&self, id: &str, sent_at: i64, body: &str) -> [(&'static str, String); 3] {
        let signature = sign(&self.0, &format!("{id}.{sent_at}.{body}"));
        [
            ("webhook-id", id.to_owned()),
            ("webhook-timestamp", sent_at.to_string()),
            ("webhook-signature", format!("v1,{signature}")),
        ]
    }
}

fn sign(secret: &[u8], text: &str) -> String {
    STANDARD.encode(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Result<WebhookSecret, NotAWebhookSecret> {
        WebhookSecret::parse(&SecretString::from(text))
    }

    #[test]
    fn the_example_of_the_specification() {
        let key = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("base64");
        let signed = r#"msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}"#;
        assert_eq!(sign(&key, signed), "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn each_tenant_has_a_secret_for_each_receiver() {
        let deployment = secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("a secret");
        let of = |tenant: u128, url: &str| {
            let endpoint = Endpoint::of(Uuid::from_u128(tenant), &Url::parse(url).expect("a URL"));
            deployment.of(&endpoint).reveal().expose_secret().to_owned()
        };
        let one = of(1, "https://hooks.example.org/a?token=1");
        assert_eq!(one, of(1, "https://HOOKS.example.org:443/b"), "paths and queries are the receiver's own");
        for other in [
            of(2, "https://hooks.example.org/a?token=1"),
            of(1, "http://hooks.example.org/a"),
            of(1, "https://hooks.example.org:8443/a"),
            of(1, "https://hooks.example.com/a"),
        ] {
            assert_ne!(one, other);
        }
        let others = secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx").expect("a secret");
        let endpoint = Endpoint::of(Uuid::from_u128(1), &Url::parse("https://hooks.example.org/").expect("a URL"));
        assert_ne!(others.of(&endpoint).reveal().expose_secret(), one);
        let key = one.strip_prefix(PREFIX).expect("the prefix");
        assert_eq!(STANDARD.decode(key).expect("base64").len(), 32);
    }

    #[test]
    fn weak_and_broken_secrets_are_refused() {
        for text in ["", "whsec_", "whsec_c2hvcnQ=", "whsec_not base64 at all, but long enough to be one"] {
            assert_eq!(secret(text).err(), Some(NotAWebhookSecret), "{text}");
        }
        assert!(!format!("{:?}", secret("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")).contains("MfKQ"));
    }
}
