//! In how many chunks that a caller may see the rare words of queries stand.
//!
//! Each chunk that holds a word is looked at, and words come again: a number is kept under the revision of its index, of which
//! a change of a list makes another one, as a change of documents does.

use std::{
    collections::HashMap,
    mem::{size_of, size_of_val},
};

use uuid::Uuid;

use super::bounded_cache::BoundedCache;
use crate::{
    domain::identity::TenantId,
    service::ServiceError,
    store::{DocumentFrequencies, SearchedCollection, Store},
};

/// Largest number of chunks of a term that are counted one by one.
const MOST_COUNTED: u64 = 2_000;

/// The revision of an index, the numbers of the principals that a caller is, and a term.
type Key = (Uuid, Vec<i32>, i32);

/// Numbers of chunks that hold a term and that a caller may see.
pub(super) struct SeenFrequencies(BoundedCache<Key, u64>);

impl SeenFrequencies {
    /// A cache of so many bytes; 0 keeps nothing.
    pub(super) fn new(most_bytes: usize) -> Self {
        Self(BoundedCache::new(most_bytes))
    }

    /// Lowers the frequencies of rare terms, by index, to the number of chunks that a caller who is these principals may see,
    /// so that hidden documents tell nothing by the words that stand in them alone. Counting commoner ones would take too long;
    /// of those enough is seen.
    ///
    /// # Errors
    /// Store failures.
    pub(super) async fn lower(
        &self,
        (store, tenant): (&Store, TenantId),
        caller: &[i32],
        collections: &[SearchedCollection],
        frequencies: &mut HashMap<Uuid, DocumentFrequencies>,
    ) -> Result<(), ServiceError> {
        let revisions: HashMap<Uuid, Uuid> =
            collections.iter().map(|searched| (searched.collection.index, searched.revision)).collect();
        let key = |index: &Uuid, term| Some((*revisions.get(index)?, caller.to_vec(), term));
        let (mut counted, mut indexes, mut terms) = (Vec::new(), Vec::new(), Vec::new());
        for (index, all) in &*frequencies {
            for (term, _) in all.iter().filter(|(_, count)| **count <= MOST_COUNTED) {
                if let Some(seen) = key(index, *term).and_then(|key| self.0.get(&key)) {
                    counted.push((*index, *term, seen));
                } else {
                    indexes.push(*index);
                    terms.push(*term);
                }
            }
        }
        if !terms.is_empty() {
            let found = store.search().seen_frequencies(tenant, &indexes, &terms, caller).await?;
            for (index, term, seen) in &found {
                if let Some(key) = key(index, *term) {
                    let bytes = size_of::<(Key, u64)>() + size_of_val(caller);
                    self.0.keep(key, *seen, bytes);
                }
            }
            counted.extend(found);
        }
        for (index, term, seen) in counted {
            let Some(terms) = frequencies.get_mut(&index) else { continue };
            match seen {
                0 => terms.remove(&term),
                seen => terms.insert(term, seen),
            };
        }
        Ok(())
    }
}
