//! Signatures of webhooks (Standard Webhooks 1.0, symmetric scheme `v1`).

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use ring::hmac;
use secrecy::{ExposeSecret, SecretString};
use thiserror::Error;

/// Prefix of secrets.
const PREFIX: &str = "whsec_";

/// A key with which webhooks are signed.
#[derive(Clone)]
pub(crate) struct SigningKey(hmac::Key);

impl fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SigningKey(not shown)")
    }
}

/// Error: the secret is not a signing key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("must be whsec_ and the base64 of 24 to 64 random bytes; make one with: echo whsec_$(openssl rand -base64 32)")]
pub(crate) struct NotASigningKey;

impl SigningKey {
    /// Reads `whsec_` and base64; the prefix may be left out.
    ///
    /// # Errors
    /// [`NotASigningKey`].
    pub(crate) fn parse(secret: &SecretString) -> Result<Self, NotASigningKey> {
        let text = secret.expose_secret().trim();
        let bytes = STANDARD.decode(text.strip_prefix(PREFIX).unwrap_or(text)).map_err(|_| NotASigningKey)?;
        if !(24..=64).contains(&bytes.len()) {
            return Err(NotASigningKey);
        }
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, &bytes)))
    }

    /// The headers that authenticate a message: its identity, when it was sent (seconds since 1970), and the signature
    /// over both and the body.
    #[must_use]
    pub(crate) fn headers(&self, id: &str, sent_at: i64, body: &str) -> [(&'static str, String); 3] {
        let signature = hmac::sign(&self.0, format!("{id}.{sent_at}.{body}").as_bytes());
        [
            ("webhook-id", id.to_owned()),
            ("webhook-timestamp", sent_at.to_string()),
            ("webhook-signature", format!("v1,{}", STANDARD.encode(signature))),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(secret: &str) -> Result<SigningKey, NotASigningKey> {
        SigningKey::parse(&SecretString::from(secret))
    }

    #[test]
    fn the_example_of_the_specification() {
        let key = key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("a key");
        let [id, sent_at, signature] =
            key.headers("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, "{\"test\": 2432232314}");
        assert_eq!(id.1, "msg_p5jXN8AQM9LWM0D4loKWxJek");
        assert_eq!(sent_at.1, "1614265330");
        assert_eq!(signature.1, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn weak_and_broken_secrets_are_refused() {
        for secret in ["", "whsec_", "whsec_c2hvcnQ=", "whsec_not base64 at all, but long enough to be one"] {
            assert_eq!(key(secret).err(), Some(NotASigningKey), "{secret}");
        }
        assert!(!format!("{:?}", key("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")).contains("MfKQ"));
    }
}
