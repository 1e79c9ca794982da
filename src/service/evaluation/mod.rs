//! Evaluation: a set's documents into a collection of their own, its queries and questions through the
//! same services that requests go through, and what came of it.

mod answers;
mod load;
mod retrieval;

use thiserror::Error;

pub use load::Loaded;

use super::{
    ServiceError,
    ask::{AskError, AskService},
    collections::CollectionService,
    ingest::IngestService,
    search::SearchService,
};
use crate::domain::identity::TenantId;

/// What an evaluation can fail with.
#[derive(Debug, Error)]
pub enum EvaluationError {
    /// There is a collection of that name already.
    #[error("there is a collection {0:?} already")]
    CollectionExists(String),
    /// Figures over part of the documents would mislead.
    #[error("{failed} documents could not be indexed; the first: {first}")]
    NotIndexed {
        /// How many.
        failed: u64,
        /// Name of the first, and why it failed.
        first: String,
    },
    /// The collection holds documents that are not in the set.
    #[error("collection {collection:?} holds {stored} documents and the set has {expected}")]
    ForeignDocuments {
        /// Its name.
        collection: String,
        /// Documents in it.
        stored: u64,
        /// Documents of the set.
        expected: u64,
    },
    /// A service failed.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// An ask failed for a reason that is no measure of quality.
    #[error("asking {question:?} failed")]
    Ask {
        /// Name of the question.
        question: String,
        /// Why.
        source: Box<AskError>,
    },
}

/// How far an evaluation has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Items done.
    pub done: usize,
    /// Items in all.
    pub of: usize,
}

/// Is told of progress.
pub type Observer<'a> = &'a (dyn Fn(Progress) + Send + Sync);

/// The use case.
#[derive(Clone)]
pub struct EvaluationService {
    tenant: TenantId,
    collections: CollectionService,
    ingest: IngestService,
    search: SearchService,
    ask: AskService,
}

impl EvaluationService {
    /// Evaluation of these services.
    #[must_use]
    pub const fn new(
        tenant: TenantId,
        collections: CollectionService,
        ingest: IngestService,
        search: SearchService,
        ask: AskService,
    ) -> Self {
        Self { tenant, collections, ingest, search, ask }
    }
}
