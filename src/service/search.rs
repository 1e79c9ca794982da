//! Search: retrieval alone, with every score.

use super::{
    ServiceError,
    retrieval::{RetrievalQuery, Retrieved, Retriever, Stages},
};
use crate::domain::{
    access::Grant,
    budget::{Budget, Limits},
    filter::Filter,
};

/// A search request.
#[derive(Clone, Debug)]
pub(crate) struct SearchRequest {
    /// Collections, at least one.
    pub(crate) collections: Vec<String>,
    /// The query text.
    pub(crate) query: String,
    /// Which stages run.
    pub(crate) stages: Stages,
    /// At most this many results.
    pub(crate) top_k: usize,
    /// Results below this score are left out.
    pub(crate) min_score: Option<f64>,
    /// Restricts the passages that may be found.
    pub(crate) filter: Filter,
}

/// The use case.
#[derive(Clone)]
pub(crate) struct SearchService {
    retriever: Retriever,
}

impl SearchService {
    /// A search that uses this retriever.
    #[must_use]
    pub(crate) const fn new(retriever: Retriever) -> Self {
        Self { retriever }
    }

    /// Returns the best passages for the query.
    ///
    /// # Errors
    /// [`ServiceError`]: unknown collection, provider or store failure.
    pub(crate) async fn search(&self, grant: &Grant, request: &SearchRequest) -> Result<Retrieved, ServiceError> {
        let (collections, filter) = self.retriever.bind(grant, &request.collections, &request.filter).await?;
        let query = RetrievalQuery {
            tenant: grant.tenant(),
            collections: &collections,
            text: &request.query,
            other_wording: None,
            stages: request.stages,
            top_k: request.top_k,
            min_score: request.min_score,
            filter: &filter,
        };
        self.retriever.retrieve(&query, &Budget::new(Limits::ask())).await
    }
}
