//! Looking a citation up later.

use super::ServiceError;
pub use crate::store::{CitedPassage, CitedState};
use crate::{
    domain::{citation::Urn, identity::TenantId},
    store::{CitedChunks, Store},
};

/// The use case.
#[derive(Clone)]
pub struct CitationService {
    store: Store,
}

impl CitationService {
    /// Citations of this store.
    #[must_use]
    pub const fn new(store: Store) -> Self {
        Self { store }
    }

    /// What became of a cited passage.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] when there never was a passage of this name.
    pub async fn get(&self, tenant: TenantId, urn: &Urn) -> Result<CitedState, ServiceError> {
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
