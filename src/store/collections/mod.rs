//! Collections, their indexes and the statistics of those.

pub(in crate::store) mod acl;
mod activation;
pub(in crate::store) mod build;
pub(in crate::store) mod build_jobs;
pub(in crate::store) mod collection;
pub(in crate::store) mod index;
pub(in crate::store) mod lock;
pub(in crate::store) mod maintenance;
pub(in crate::store) mod profile;
mod seen;
pub(in crate::store) mod statistics;
pub(in crate::store) mod vector_graphs;
mod web_search;

pub use collection::{CollectionSettings, NewCollection};
pub use vector_graphs::{GraphChanges, GraphSizes};

pub(crate) use activation::{ActivationOutcome, DroppedIndex, IndexDrop};
pub(crate) use build::{BuildBatch, StoredDocument};
pub(crate) use collection::{Collection, CollectionSummary, SearchedCollection};
pub(crate) use index::{BuildOutcome, CollectionIndex, IndexChange, NewIndex};
pub(crate) use profile::ProfileId;
pub(crate) use seen::{Seen, SeenChunks};
pub(crate) use vector_graphs::GraphKind;

use crate::store::Store;

/// Collections, their indexes and the statistics of those.
#[derive(Clone, Copy, Debug)]
pub struct Collections<'s> {
    pub(in crate::store) store: &'s Store,
}
