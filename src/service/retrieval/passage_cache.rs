//! Passages that were read for an earlier question.
//!
//! A version of a document never changes, nor do its chunks: an entry stays right for as long as it is kept, so that
//! nothing has to be told to forget it. Whether a question may have it is decided by the database each time: that returns
//! the current version of each passage which the caller may see, and the passage itself where another version is kept, or
//! none.

use std::sync::Arc;

use serde_json::Value;

use super::bounded_cache::BoundedCache;
use crate::{
    domain::identity::ChunkKey,
    store::{FoundPassage, Passage, WantedPassage},
};

/// Bytes that an entry takes beside its texts.
const BESIDE_TEXTS: usize = 512;

/// Passages by their chunk.
pub(super) struct PassageCache(BoundedCache<ChunkKey, Arc<Passage>>);

impl PassageCache {
    /// A cache of so many bytes; 0 keeps nothing.
    pub(super) fn new(most_bytes: usize) -> Self {
        Self(BoundedCache::new(most_bytes))
    }

    /// The passages of these chunks as far as they are kept.
    pub(super) fn look_up(&self, keys: impl Iterator<Item = ChunkKey>) -> KnownPassages {
        KnownPassages(keys.map(|key| (key, self.0.get(&key))).collect())
    }

    /// Keeps a passage that was read.
    fn keep(&self, passage: Passage) -> Arc<Passage> {
        let (key, bytes, passage) = (passage.key, bytes_of(&passage), Arc::new(passage));
        self.0.keep(key, Arc::clone(&passage), bytes);
        passage
    }
}

/// Chunks that are wanted, with the passages that are kept of them.
pub(super) struct KnownPassages(Vec<(ChunkKey, Option<Arc<Passage>>)>);

impl KnownPassages {
    /// The chunks, with the versions that are kept.
    pub(super) fn wanted(&self) -> Vec<WantedPassage> {
        let wanted = |(key, known): &(ChunkKey, Option<Arc<Passage>>)| WantedPassage {
            key: *key,
            known_version: known.as_ref().map(|passage| passage.version),
        };
        self.0.iter().map(wanted).collect()
    }

    /// The passages that the database says exist, in any order: those that are kept in their current version, and those
    /// that it returned.
    pub(super) fn merge(self, cache: &PassageCache, found: Vec<FoundPassage>) -> Vec<Arc<Passage>> {
        let known = |key: ChunkKey| self.0.iter().find(|(wanted, _)| *wanted == key)?.1.clone();
        let passage = |found| match found {
            FoundPassage::AsKnown(key) => known(key),
            FoundPassage::Read(passage) => Some(cache.keep(*passage)),
        };
        found.into_iter().filter_map(passage).collect()
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
