//! Keys that were looked up a moment ago. A key that was revoked or rotated is forgotten within [`LIFE`] by every
//! process.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, timeout};

use crate::{
    domain::identity::TenantId,
    service::together::Together,
    store::{FoundKey, Store, StoreError},
};

/// How long a key is used without another look-up.
const LIFE: Duration = Duration::from_secs(1);
/// Longest wait for a look-up, with those before it.
const PATIENCE: Duration = Duration::from_secs(10);
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
///
/// Keys are looked up one statement after the other, each for all that were asked for meanwhile: whoever sends wrong keys has
/// one connection of the database busy, and a key that exists is found among them.
#[derive(Default)]
pub(super) struct KnownKeys {
    known: Mutex<HashMap<String, Known>>,
    look_ups: Together<(), String, LookUp>,
}

/// The result of a look-up; calls that share one share its error.
type LookUp = Result<Option<Arc<FoundKey>>, Arc<StoreError>>;

impl KnownKeys {
    /// Returns the key with this id as it was at most [`LIFE`] ago.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(super) async fn find(&self, store: &Store, id: &str) -> LookUp {
        let now = Instant::now();
        if let Some(known) = self.lock().get(id).filter(|known| now.duration_since(known.read_at) < LIFE) {
            return Ok(Some(Arc::clone(&known.key)));
        }
        let store = store.clone();
        let look_up = self.look_ups.call((), id.to_owned(), move |ids| look_up(store.clone(), ids));
        let looked_up = timeout(PATIENCE, look_up).await.map_err(|_| Arc::new(StoreError::Busy(PATIENCE)))?;
        let found = looked_up.unwrap_or_else(|| Err(Arc::new(StoreError::panicked("a look-up of keys"))))?;
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
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks keys up.
async fn look_up(store: Store, ids: Vec<String>) -> Vec<LookUp> {
    match store.access().find_keys(&ids).await {
        Ok(found) => {
            let found: HashMap<String, Arc<FoundKey>> =
                found.into_iter().map(|(id, key)| (id, Arc::new(key))).collect();
            ids.iter().map(|id| Ok(found.get(id).cloned())).collect()
        }
        Err(error) => {
            let error = Arc::new(error);
            ids.iter().map(|_| Err(Arc::clone(&error))).collect()
        }
    }
}
