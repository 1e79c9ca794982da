//! Results of searches that were made before.
//!
//! A result is kept under all that decides it, the revisions of the indexes among it. An index gets another revision in the
//! transaction that changes what can be found in it, so that a result of an earlier state is never asked for again, and
//! nothing has to be told to forget it. The revisions are read by each question before anything else.
//!
//! A search with a filter is not kept: the key has none. Nor is one by a caller in a collection with access control lists: each
//! passage is held against them when it is read.

use std::mem::size_of;

use serde::Serialize;
use uuid::Uuid;

use super::{Hit, RetrievalQuery, Retrieved, Stages, bounded_cache::BoundedCache, passage_cache};
use crate::{
    domain::fingerprint::{Hash, content_hash},
    store::{GraphKind, Passage, SearchedCollection},
};

/// Results by what decides them.
pub(super) struct ResultCache(BoundedCache<Hash, Retrieved>);

/// The place of a result that may be kept.
#[derive(Clone, Copy)]
pub(super) struct ResultKey(Hash);

/// Everything that decides a result, together with the settings of the process.
#[derive(Serialize)]
struct Deciding<'a> {
    tenant: Uuid,
    collections: Vec<SearchedState>,
    text: &'a str,
    other_wording: Option<&'a str>,
    stages: Stages,
    top_k: usize,
    min_score: Option<f64>,
}

/// The state in which a collection is searched.
#[derive(Serialize)]
struct SearchedState {
    index: Uuid,
    revision: Uuid,
    graph: Option<GraphKind>,
    is_restricted: bool,
}

impl SearchedState {
    const fn of(searched: &SearchedCollection) -> Self {
        Self {
            index: searched.collection.index,
            revision: searched.revision,
            graph: searched.graph,
            is_restricted: searched.collection.is_restricted,
        }
    }
}

impl ResultKey {
    /// `None` where the result may change without a new revision.
    pub(super) fn of(query: &RetrievalQuery<'_>) -> Option<Self> {
        // Destructured, so that a new member must be handled here before this compiles.
        let RetrievalQuery { tenant, collections, text, other_wording, stages, top_k, min_score, filter: _ } = *query;
        let deciding = Deciding {
            tenant: tenant.0,
            collections: collections.iter().map(SearchedState::of).collect(),
            text,
            other_wording,
            stages,
            top_k,
            min_score,
        };
        let is_kept = query.searched_filter().is_empty() && !query.may_hide_documents();
        is_kept.then(|| Self(content_hash(&serde_json::to_vec(&deciding).expect("plain structs can be serialised"))))
    }
}

impl ResultCache {
    /// A cache of so many bytes; 0 keeps nothing.
    pub(super) fn new(most_bytes: usize) -> Self {
        Self(BoundedCache::new(most_bytes))
    }

    /// The result of an earlier search, for the caller of this one.
    pub(super) fn get(&self, key: ResultKey, query: &RetrievalQuery<'_>) -> Option<Retrieved> {
        let kept = self.0.get(&key.0)?;
        Some(Retrieved { stages: kept.stages.taking_no_time(), caller: query.filter.caller.clone(), ..kept })
    }

    pub(super) fn keep(&self, key: ResultKey, result: &Retrieved) {
        self.0.keep(key.0, result.clone(), bytes_of(result));
    }
}

/// The approximate memory that a result takes, its passages included, which others may share.
fn bytes_of(result: &Retrieved) -> usize {
    let passages = |hit: &Hit| {
        let texts = |passage: &Passage| passage_cache::bytes_of(passage);
        size_of::<Hit>() + texts(&hit.passage) + hit.duplicates.iter().map(|same| texts(same)).sum::<usize>()
    };
    let words = result.document_frequencies.keys().map(|word| size_of::<(String, u64)>() + word.len());
    size_of::<Retrieved>() + result.hits.iter().map(passages).sum::<usize>() + words.sum::<usize>()
}
