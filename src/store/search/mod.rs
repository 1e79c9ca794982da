//! Retrieval: dense, lexical and filtered search, and the passages of the hits.

pub(in crate::store) mod dense;
pub(in crate::store) mod filter;
pub(in crate::store) mod filtered;
pub(in crate::store) mod lexical;
pub(in crate::store) mod passages;
pub(in crate::store) mod read_connection;
pub(in crate::store) mod selection;

pub use dense::{DenseHit, DenseQuery, VectorScan};
pub use lexical::LexicalQuery;
pub use passages::{LexicalHit, Passage, Scope};
pub use selection::Selection;

use crate::store::Store;

/// Retrieval: dense, lexical and filtered search, and the passages of the hits.
#[derive(Clone, Copy, Debug)]
pub struct Search<'s> {
    pub(in crate::store) store: &'s Store,
}
