//! Values that are kept in memory up to a number of bytes; those that were not asked for the longest make room.

use std::{
    hash::Hash,
    sync::{Mutex, MutexGuard, PoisonError},
};

use hashlink::LruCache;

/// A cache of so many bytes; one of 0 keeps nothing.
pub(super) struct BoundedCache<K, V> {
    kept: Mutex<Kept<K, V>>,
    most_bytes: usize,
}

struct Kept<K, V> {
    /// With the bytes that each takes.
    values: LruCache<K, (V, usize)>,
    bytes: usize,
}

impl<K: Eq + Hash, V: Clone> BoundedCache<K, V> {
    pub(super) fn new(most_bytes: usize) -> Self {
        Self { kept: Mutex::new(Kept { values: LruCache::new_unbounded(), bytes: 0 }), most_bytes }
    }

    pub(super) fn get(&self, key: &K) -> Option<V> {
        self.lock().values.get(key).map(|(value, _)| value.clone())
    }

    /// Keeps a value that takes so many bytes.
    pub(super) fn keep(&self, key: K, value: V, bytes: usize) {
        let mut kept = self.lock();
        let former = kept.values.insert(key, (value, bytes));
        kept.bytes = kept.bytes + bytes - former.map_or(0, |(_, bytes)| bytes);
        while kept.bytes > self.most_bytes {
            let Some((_, (_, bytes))) = kept.values.remove_lru() else { break };
            kept.bytes -= bytes;
        }
    }

    /// No thread panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, Kept<K, V>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
