//! Keys that were looked up a moment ago. A key that was revoked or rotated is forgotten within [`LIFE`] by every
//! process.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    domain::identity::TenantId,
    store::{FoundKey, Store, StoreError},
};

/// How long a key is used without another look-up.
const LIFE: Duration = Duration::from_secs(1);
/// Time between two notes that a key is used.
const NOTE_EVERY: Duration = Duration::from_mins(1);
/// Most keys that are remembered; beyond it the ones that have not been used for a while are dropped.
const CAPACITY: usize = 10_000;

/// A key, and when it was read and noted last.
#[derive(Debug)]
struct Known {
    key: Arc<FoundKey>,
    read_at: Instant,
    noted_at: Option<Instant>,
}

/// Keys by their ids. Only keys that exist are remembered, so that guesses take no memory.
#[derive(Debug, Default)]
pub(super) struct KnownKeys(Mutex<HashMap<String, Known>>);

impl KnownKeys {
    /// Returns the key with this id as it was at most [`LIFE`] ago.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(super) async fn find(&self, store: &Store, id: &str) -> Result<Option<Arc<FoundKey>>, StoreError> {
        let now = Instant::now();
        if let Some(known) = self.lock().get(id).filter(|known| now.duration_since(known.read_at) < LIFE) {
            return Ok(Some(Arc::clone(&known.key)));
        }
        let found = store.access().find_key(id).await?.map(Arc::new);
        let mut all = self.lock();
        match &found {
            None => {
                all.remove(id);
            }
            Some(key) => {
                if all.len() >= CAPACITY {
                    all.retain(|_, known| now.duration_since(known.read_at) < NOTE_EVERY);
                }
                let noted_at = all.get(id).and_then(|known| known.noted_at);
                all.insert(id.to_owned(), Known { key: Arc::clone(key), read_at: now, noted_at });
            }
        }
        Ok(found)
    }

    /// Forgets a key that has changed.
    pub(super) fn forget(&self, id: &str) {
        self.lock().remove(id);
    }

    /// Forgets all keys of a tenant.
    pub(super) fn forget_all_of(&self, tenant: TenantId) {
        self.lock().retain(|_, known| known.key.tenant != tenant);
    }

    /// Whether the use of a key is to be noted now; if so, it is not for the next minute.
    pub(super) fn is_note_due(&self, id: &str) -> bool {
        let now = Instant::now();
        let mut all = self.lock();
        let Some(known) = all.get_mut(id) else { return false };
        let is_due = known.noted_at.is_none_or(|noted| now.duration_since(noted) >= NOTE_EVERY);
        if is_due {
            known.noted_at = Some(now);
        }
        is_due
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
