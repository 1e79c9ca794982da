//! Passages that were read for an earlier question.
//!
//! A version of a document never changes, nor do its chunks: an entry stays right for as long as it is kept, so that
//! nothing has to be told to forget it. Whether a question may have it is decided by what the question has read of the
//! database: as long as the index has the revision in which the passage was read last, and nothing in it may be hidden from
//! the caller, that is enough. Else the database returns the current version of each passage which the caller may see, and
//! the passage itself where another version is kept, or none.

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;
use uuid::Uuid;

use super::{RetrievalQuery, bounded_cache::BoundedCache};
use crate::{
    domain::identity::ChunkKey,
    store::{FoundPassage, Passage, SearchedCollection, WantedPassage},
};

/// Bytes that an entry takes beside its texts.
const BESIDE_TEXTS: usize = 512;

/// Passages by their chunk.
pub(super) struct PassageCache(BoundedCache<ChunkKey, Kept>);

#[derive(Clone)]
struct Kept {
    passage: Arc<Passage>,
    /// Revision of its index when it was known last to be current.
    revision: Uuid,
}

impl PassageCache {
    /// A cache of so many bytes; 0 keeps nothing.
    pub(super) fn new(most_bytes: usize) -> Self {
        Self(BoundedCache::new(most_bytes))
    }

    /// The passages of these chunks as far as they are kept.
    pub(super) fn look_up(&self, keys: impl Iterator<Item = ChunkKey>, query: &RetrievalQuery<'_>) -> KnownPassages {
        let is_all_visible = !query.may_hide_documents();
        let is_current =
            |revision| is_all_visible && query.collections.iter().any(|searched| searched.revision == revision);
        let known = |key| match self.0.get(&key) {
            None => Known::Nothing,
            Some(Kept { passage, revision }) if is_current(revision) => Known::Current(passage),
            Some(Kept { passage, .. }) => Known::Version(passage),
        };
        KnownPassages(keys.map(|key| (key, known(key))).collect())
    }

    /// Keeps a passage that is current in what is searched.
    fn keep(&self, passage: Arc<Passage>, collections: &[SearchedCollection]) -> Arc<Passage> {
        if let Some(searched) = collections.iter().find(|searched| searched.collection.name == passage.collection) {
            let kept = Kept { passage: Arc::clone(&passage), revision: searched.revision };
            self.0.keep(passage.key, kept, bytes_of(&passage));
        }
        passage
    }
}

/// The entry of the cache for a chunk that is wanted.
enum Known {
    Nothing,
    /// A passage of a version that may be current.
    Version(Arc<Passage>),
    /// The current passage, which the caller may see.
    Current(Arc<Passage>),
}

/// Chunks that are wanted, with what is known of them.
pub(super) struct KnownPassages(Vec<(ChunkKey, Known)>);

impl KnownPassages {
    /// The chunks that the database has to be asked for, with the versions that are kept.
    pub(super) fn wanted(&self) -> Vec<WantedPassage> {
        let wanted = |(key, known): &(ChunkKey, Known)| {
            let known_version = match known {
                Known::Nothing => None,
                Known::Version(passage) => Some(passage.version),
                Known::Current(_) => return None,
            };
            Some(WantedPassage { key: *key, known_version })
        };
        self.0.iter().filter_map(wanted).collect()
    }

    /// The passages that exist, in any order: those that are current, those that the database says are, and those that it
    /// returned.
    pub(super) fn merge(
        self,
        cache: &PassageCache,
        collections: &[SearchedCollection],
        found: Vec<FoundPassage>,
    ) -> Vec<Arc<Passage>> {
        let (mut passages, mut versions) = (Vec::with_capacity(self.0.len()), HashMap::new());
        for (key, known) in self.0 {
            match known {
                Known::Nothing => {}
                Known::Version(passage) => drop(versions.insert(key, passage)),
                Known::Current(passage) => passages.push(passage),
            }
        }
        let passage = |found| match found {
            FoundPassage::AsKnown(key) => versions.remove(&key),
            FoundPassage::Read(passage) => Some(Arc::from(passage)),
        };
        passages.extend(found.into_iter().filter_map(passage).map(|passage| cache.keep(passage, collections)));
        passages
    }
}

/// The approximate memory that a passage takes.
pub(super) fn bytes_of(passage: &Passage) -> usize {
    let Passage { source, uri, title, text, heading, table_header, context, metadata, .. } = passage;
    let texts = [source, uri, title, text].into_iter().chain(heading).chain(table_header).chain(context);
    BESIDE_TEXTS + texts.map(String::len).sum::<usize>() + bytes_of_json(metadata)
}

fn bytes_of_json(value: &Value) -> usize {
    let inside = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(bytes_of_json).sum(),
        Value::Object(members) => members.iter().map(|(name, value)| 64 + name.len() + bytes_of_json(value)).sum(),
    };
    size_of::<Value>() + inside
}
