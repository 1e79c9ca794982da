//! The keys of the issuer, as they were read last.

use std::{
    sync::{Arc, Mutex as StdMutex, PoisonError},
    time::Duration,
};

use jsonwebtoken::jwk::Jwk;
use tokio::{sync::Mutex, time::Instant};

use crate::providers::token_issuer::TokenIssuer;

/// Age from which keys are read again.
const FRESH_FOR: Duration = Duration::from_hours(1);
/// Least time between two attempts to read them, whatever unknown keys tokens name.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// Age from which keys that cannot be read again are not used any more.
const USED_FOR: Duration = Duration::from_hours(24);

/// The keys, and when they were read.
#[derive(Clone, Debug)]
struct Known {
    keys: Arc<[Jwk]>,
    read_at: Instant,
}

/// Keys that are read when they are needed: at first, when they are old, and when a token names one that is not among them,
/// because issuers change keys without notice. Attempts are far between, so that tokens with made-up keys are no way to
/// flood the issuer.
#[derive(Debug)]
pub(super) struct IssuerKeys {
    issuer: TokenIssuer,
    known: StdMutex<Option<Known>>,
    /// When the last attempt was made; held while one is under way.
    attempted: Mutex<Option<Instant>>,
}

impl IssuerKeys {
    pub(super) fn new(issuer: TokenIssuer) -> Self {
        Self { issuer, known: StdMutex::default(), attempted: Mutex::default() }
    }

    /// The keys of this name, or all if a token names none; empty if there is no such key. `None` if the keys are not known.
    pub(super) async fn named(&self, kid: Option<&str>) -> Option<Vec<Jwk>> {
        let has = |known: &Known| kid.is_none_or(|kid| known.keys.iter().any(|key| is_named(key, kid)));
        let is_good = |known: &Known| known.read_at.elapsed() < FRESH_FOR && has(known);
        if !self.known().as_ref().is_some_and(is_good) {
            self.read_again(is_good).await;
        }
        let known = self.known().filter(|known| known.read_at.elapsed() < USED_FOR)?;
        Some(known.keys.iter().filter(|key| kid.is_none_or(|kid| is_named(key, kid))).cloned().collect())
    }

    /// Reads the keys, unless somebody else has just done so or tried to.
    async fn read_again(&self, is_good: impl Fn(&Known) -> bool) {
        let mut attempted = self.attempted.lock().await;
        let is_too_soon = attempted.is_some_and(|at| at.elapsed() < RETRY_AFTER);
        if is_too_soon || self.known().as_ref().is_some_and(is_good) {
            return;
        }
        *attempted = Some(Instant::now());
        match self.issuer.keys().await {
            Ok(keys) => {
                let known = Known { keys: keys.into(), read_at: Instant::now() };
                *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
            }
            Err(error) => {
                tracing::warn!(
                    issuer = self.issuer.name(), error = %error,
                    "the keys of the token issuer could not be read; tokens that need them are refused until they can"
                );
            }
        }
    }

    fn known(&self) -> Option<Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn is_named(key: &Jwk, kid: &str) -> bool {
    key.common.key_id.as_deref() == Some(kid)
}
