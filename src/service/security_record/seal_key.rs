//! The key of the codes that seal the record: derived from the pepper, so that who can write to the database alone cannot
//! make a seal.

use std::sync::Arc;

use ring::hmac;

use crate::{
    domain::security_event::{Seal, SecurityEvent},
    service::access::Pepper,
};

/// The label that the pepper signs to become this key.
const PURPOSE: &str = "cited seal of security events";

/// Makes and checks the codes of seals.
#[derive(Clone)]
pub(crate) struct SealKey {
    secret: Option<Arc<hmac::Key>>,
    /// For deployments without a secret.
    open: Arc<hmac::Key>,
}

impl SealKey {
    /// The key of a deployment with this pepper. Without one anybody can make seals: they then show mistakes and not
    /// forgery.
    #[must_use]
    pub(crate) fn new(pepper: Option<&Pepper>) -> Self {
        let key = |bytes: &[u8]| Arc::new(hmac::Key::new(hmac::HMAC_SHA256, bytes));
        Self { secret: pepper.map(|pepper| key(&pepper.code(PURPOSE))), open: key(&[]) }
    }

    /// Whether it has a secret.
    pub(super) const fn is_secret(&self) -> bool {
        self.secret.is_some()
    }

    /// The code of a message.
    pub(super) fn sign(&self, message: &str) -> Vec<u8> {
        hmac::sign(self.secret.as_ref().unwrap_or(&self.open), message.as_bytes()).as_ref().to_vec()
    }

    /// Whether a seal has the code of what it and these events say.
    pub(super) fn verifies(&self, seal: &Seal, events: &[SecurityEvent]) -> bool {
        let key = if seal.is_keyed { self.secret.as_ref() } else { Some(&self.open) };
        key.is_some_and(|key| hmac::verify(key, seal.message(events).as_bytes(), &seal.code).is_ok())
    }
}
