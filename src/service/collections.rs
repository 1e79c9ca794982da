//! Collections as a use case.

use super::{ServiceError, context::Context};
use crate::{
    domain::identity::TenantId,
    store::{CollectionSettings, CollectionSummary, DeleteReceipt, NewCollection, ProfileId, Store},
};

/// Create, list, count, delete.
#[derive(Clone)]
pub struct CollectionService {
    store: Store,
    profile: ProfileId,
    defaults: CollectionSettings,
    context: Context,
}

impl CollectionService {
    /// Collections made here live in `profile`, and have the `defaults` unless they say otherwise.
    #[must_use]
    pub const fn new(store: Store, profile: ProfileId, defaults: CollectionSettings, context: Context) -> Self {
        Self { store, profile, defaults, context }
    }

    /// The settings of a collection that says nothing about them.
    #[must_use]
    pub const fn defaults(&self) -> CollectionSettings {
        self.defaults
    }

    /// Makes a collection.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] when the name is taken.
    pub async fn create(
        &self,
        tenant: TenantId,
        name: &str,
        settings: CollectionSettings,
    ) -> Result<CollectionSummary, ServiceError> {
        let new = NewCollection { id: self.context.ids.next(), name, profile: self.profile, settings };
        let (collection, made) = self.store.ensure_collection(tenant, new, self.context.clock.now()).await?;
        if !made {
            return Err(ServiceError::Conflict {
                code: "collection_exists",
                detail: format!("there is a collection {name:?} already; use it, or choose another name"),
            });
        }
        Ok(CollectionSummary { collection, documents: 0, chunks: 0, splitter: settings.splitter })
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
