//! Collections as a use case.

use super::{ServiceError, context::Context};
use crate::{
    domain::{identity::TenantId, split::SplitterSettings},
    store::{CollectionSummary, DeleteReceipt, NewCollection, ProfileId, Store},
};

/// Create, list, count, delete.
#[derive(Clone)]
pub struct CollectionService {
    store: Store,
    profile: ProfileId,
    splitter: SplitterSettings,
    context: Context,
}

impl CollectionService {
    /// Collections made here live in `profile`, and are split by `splitter` unless they say otherwise.
    #[must_use]
    pub const fn new(store: Store, profile: ProfileId, splitter: SplitterSettings, context: Context) -> Self {
        Self { store, profile, splitter, context }
    }

    /// How a collection is split that says nothing about it.
    #[must_use]
    pub const fn default_splitter(&self) -> SplitterSettings {
        self.splitter
    }

    /// Makes a collection.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] when the name is taken.
    pub async fn create(
        &self,
        tenant: TenantId,
        name: &str,
        splitter: SplitterSettings,
    ) -> Result<CollectionSummary, ServiceError> {
        let new = NewCollection { id: self.context.ids.next(), name, profile: self.profile, splitter };
        let (collection, made) = self.store.ensure_collection(tenant, new, self.context.clock.now()).await?;
        if !made {
            return Err(ServiceError::Conflict {
                code: "collection_exists",
                detail: format!("there is a collection {name:?} already; use it, or choose another name"),
            });
        }
        Ok(CollectionSummary { collection, documents: 0, chunks: 0, splitter })
    }

    /// One collection.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub async fn get(&self, tenant: TenantId, name: &str) -> Result<CollectionSummary, ServiceError> {
        let found = self.store.collection_summaries(tenant, Some(name), None, 1).await?.pop();
        found.ok_or_else(|| ServiceError::NotFound { what: "collection", name: name.to_owned() })
    }

    /// Collections whose name sorts after `after`.
    ///
    /// # Errors
    /// Store errors.
    pub async fn list(
        &self,
        tenant: TenantId,
        after: Option<&str>,
        limit: i64,
    ) -> Result<Vec<CollectionSummary>, ServiceError> {
        Ok(self.store.collection_summaries(tenant, None, after, limit).await?)
    }

    /// Deletes a collection and everything in it.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub async fn delete(&self, tenant: TenantId, name: &str) -> Result<DeleteReceipt, ServiceError> {
        let receipt = self.store.delete_collection(tenant, name, self.context.clock.now()).await?;
        receipt.ok_or_else(|| ServiceError::NotFound { what: "collection", name: name.to_owned() })
    }
}
