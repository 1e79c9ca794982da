//! Clock and identity source as parameters, so that tests control both.

use std::sync::Arc;

use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::prompt::Nonce;

/// A clock.
pub trait Clock: Send + Sync {
    /// Now, in UTC.
    fn now(&self) -> OffsetDateTime;
}

/// A source of identities.
pub trait Ids: Send + Sync {
    /// Returns a new identity; later ones sort after earlier ones (UUID version 7, RFC 9562).
    fn next(&self) -> Uuid;

    /// Returns a word that nobody can guess, for the prompts of one ask.
    fn nonce(&self) -> Nonce;
}

/// Clock and identity source of a running service.
#[derive(Clone)]
pub struct Context {
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of identities.
    pub ids: Arc<dyn Ids>,
}

/// The system clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> OffsetDateTime {
        OffsetDateTime::now_utc()
    }
}

/// Random identities that sort by time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomIds;

impl Ids for RandomIds {
    #[expect(clippy::disallowed_methods, reason = "the one place that makes random identities")]
    fn next(&self) -> Uuid {
        Uuid::now_v7()
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that makes random words")]
    fn nonce(&self) -> Nonce {
        // The second half of a version 4 UUID: random but for two bits.
        Nonce::new(Uuid::new_v4().as_u64_pair().1.to_be_bytes())
    }
}

impl Context {
    /// The system clock and random identities.
    #[must_use]
    pub fn system() -> Self {
        Self { clock: Arc::new(SystemClock), ids: Arc::new(RandomIds) }
    }
}
