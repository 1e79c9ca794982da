//! How much of a collection a caller may see.
//!
//! Where documents may be hidden from a caller, what it may see is counted: else the number of hidden chunks would show in the
//! weights of words, and a collection of hidden documents would not be an empty one. Where nothing is hidden, a search needs no
//! filter.
//!
//! A count is kept under the revision of its index, of which a change of a list makes another one, as a change of documents does.

use std::mem::{size_of, size_of_val};

use uuid::Uuid;

use super::bounded_cache::BoundedCache;
use crate::{
    domain::identity::TenantId,
    service::ServiceError,
    store::{SearchedCollection, Seen, SeenChunks, Store},
};

/// Largest collection, in chunks, of which it is counted how many a caller may see: each document is looked at.
const MOST_CHUNKS_COUNTED: u64 = 50_000;

/// The revision of an index, and the numbers of the principals that a caller is.
type Key = (Uuid, Vec<i32>);

/// Counts of what callers may see.
pub(super) struct SeenCache(BoundedCache<Key, Seen>);

impl SeenCache {
    /// A cache of so many bytes; 0 keeps nothing.
    pub(super) fn new(most_bytes: usize) -> Self {
        Self(BoundedCache::new(most_bytes))
    }

    /// Determines how much of each collection a caller may see.
    ///
    /// # Errors
    /// Store failures.
    pub(super) async fn count(
        &self,
        store: &Store,
        tenant: TenantId,
        caller: Option<&[i32]>,
        collections: &mut [SearchedCollection],
    ) -> Result<(), ServiceError> {
        let mut uncounted = Vec::new();
        for one in collections {
            let key = caller.filter(|_| one.collection.is_restricted).map(|caller| (one.revision, caller.to_vec()));
            match key {
                None => one.seen = Seen::All,
                Some(key) => match self.0.get(&key) {
                    Some(seen) => one.seen = seen,
                    None if one.chunks <= MOST_CHUNKS_COUNTED => uncounted.push((key, one)),
                    None => {}
                },
            }
        }
        let (Some(caller), false) = (caller, uncounted.is_empty()) else { return Ok(()) };
        let ids: Vec<Uuid> = uncounted.iter().map(|(_, one)| one.collection.id).collect();
        let counts = store.collections().seen(tenant, &ids, caller).await?;
        for (key, one) in uncounted {
            one.seen = counts.get(&one.collection.index).copied().unwrap_or(Seen::Part(SeenChunks::default()));
            let bytes = size_of::<(Key, Seen)>() + size_of_val(key.1.as_slice());
            self.0.keep(key, one.seen, bytes);
        }
        Ok(())
    }
}
