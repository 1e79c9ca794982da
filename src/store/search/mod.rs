//! Retrieval: dense, lexical and filtered search, and the passages of the hits.

pub(in crate::store) mod dense;
pub(in crate::store) mod filter;
pub(in crate::store) mod filtered;
pub(in crate::store) mod lexical;
pub(in crate::store) mod passages;
pub(in crate::store) mod read_connection;
pub(in crate::store) mod selection;

pub(crate) use dense::{Care, DenseHit, DenseQuery, VectorScan};
pub(crate) use lexical::{DocumentFrequencies, LexicalQuery};
pub(crate) use passages::{FoundPassage, LexicalHit, Passage, Scope, WantedPassage};
pub(crate) use selection::Selection;

use crate::store::Store;

/// Retrieval: dense, lexical and filtered search, and the passages of the hits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'s> {
    pub(in crate::store) store: &'s Store,
}
