//! Resolves a citation after the answer was given.

use super::ServiceError;
pub(crate) use crate::store::{CitedPassage, CitedState};
use crate::{
    domain::{citation::Urn, identity::TenantId},
    store::{CitedChunks, Store},
};

/// The use case.
#[derive(Clone)]
pub(crate) struct CitationService {
    store: Store,
}

impl CitationService {
    /// Citations of this store.
    #[must_use]
    pub(crate) const fn new(store: Store) -> Self {
        Self { store }
    }

    /// The current state of a cited passage.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] when no passage of this name ever existed.
    pub(crate) async fn get(&self, tenant: TenantId, urn: &Urn) -> Result<CitedState, ServiceError> {
        let missing = || ServiceError::NotFound { what: "citation", name: urn.to_string() };
        let cited = CitedChunks {
            collection: urn.collection(),
            document_id: urn.document().parse().map_err(|_| missing())?,
            version: urn.version(),
            chunks: urn.chunks(),
        };
        self.store.documents().cited(tenant, &cited).await?.ok_or_else(missing)
    }
}
