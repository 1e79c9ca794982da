//! Collections as a use case.

use super::{ServiceError, context::Context, to_its_end};
pub use crate::store::{Chunking, CollectionSettings, CollectionSummary, Companion, DeleteReceipt};
use crate::{
    domain::identity::TenantId,
    store::{NewCollection, ProfileId, Store},
};

/// Create, list, count, delete.
#[derive(Clone)]
pub struct CollectionService {
    store: Store,
    profile: ProfileId,
    defaults: CollectionSettings,
    /// Whether a chat model can say how chunks relate to their document.
    can_write_contexts: bool,
    context: Context,
}

/// A collection, and what stands beside what is active of it.
#[derive(Clone, Debug)]
pub struct CollectionReport {
    /// The collection with its counts.
    pub summary: CollectionSummary,
    /// Spaces that are being filled, or kept from before a cut-over.
    pub companions: Vec<Companion>,
    /// Chunkings that are being filled, or kept from before a cut-over.
    pub chunkings: Vec<Chunking>,
}

impl CollectionService {
    /// Collections made here live in `profile`, and have the `defaults` unless they say otherwise. They may want
    /// contexts if those can be written.
    #[must_use]
    pub const fn new(
        store: Store,
        profile: ProfileId,
        defaults: CollectionSettings,
        can_write_contexts: bool,
        context: Context,
    ) -> Self {
        Self { store, profile, defaults, can_write_contexts, context }
    }

    /// The settings of a collection that says nothing about them.
    #[must_use]
    pub const fn defaults(&self) -> CollectionSettings {
        self.defaults
    }

    /// Makes a collection.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] when the name is taken; [`ServiceError::Invalid`] when it wants contexts and no model
    /// is configured that could write them.
    pub async fn create(
        &self,
        tenant: TenantId,
        name: &str,
        settings: CollectionSettings,
    ) -> Result<CollectionReport, ServiceError> {
        if settings.context.is_some() && !self.can_write_contexts {
            return Err(no_context_model());
        }
        let new = NewCollection { id: self.context.ids.next(), name, profile: self.profile, settings };
        let (collection, made) = self.store.ensure_collection(tenant, new, self.context.clock.now()).await?;
        if !made {
            return Err(ServiceError::Conflict {
                code: "collection_exists",
                detail: format!("there is a collection {name:?} already; use it, or choose another name"),
            });
        }
        let summary = CollectionSummary { collection, documents: 0, chunks: 0, embedded_chunks: 0, settings };
        Ok(CollectionReport { summary, companions: Vec::new(), chunkings: Vec::new() })
    }

    /// One collection.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub async fn get(&self, tenant: TenantId, name: &str) -> Result<CollectionReport, ServiceError> {
        let found = self.store.collection_summaries(tenant, Some(name), None, 1).await?;
        let found = self.with_companions(tenant, found).await?.pop();
        found.ok_or_else(|| ServiceError::no_collection(name))
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
    ) -> Result<Vec<CollectionReport>, ServiceError> {
        let found = self.store.collection_summaries(tenant, None, after, limit).await?;
        self.with_companions(tenant, found).await
    }

    async fn with_companions(
        &self,
        tenant: TenantId,
        summaries: Vec<CollectionSummary>,
    ) -> Result<Vec<CollectionReport>, ServiceError> {
        let ids: Vec<uuid::Uuid> = summaries.iter().map(|summary| summary.collection.id).collect();
        let companions = self.store.describe_companions(tenant, &ids).await?;
        let chunkings = self.store.describe_chunkings(tenant, &ids).await?;
        let report = |summary: CollectionSummary| {
            let id = summary.collection.id;
            CollectionReport {
                companions: companions.iter().filter(|space| space.collection == id).cloned().collect(),
                chunkings: chunkings.iter().filter(|chunking| chunking.collection == id).cloned().collect(),
                summary,
            }
        };
        Ok(summaries.into_iter().map(report).collect())
    }

    /// Deletes a collection and everything in it.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub async fn delete(&self, tenant: TenantId, name: &str) -> Result<DeleteReceipt, ServiceError> {
        let (store, now, owned) = (self.store.clone(), self.context.clock.now(), name.to_owned());
        let receipt = to_its_end(async move { store.delete_collection(tenant, &owned, now).await }).await?;
        receipt.ok_or_else(|| ServiceError::no_collection(name))
    }
}

/// A collection wants contexts that nobody can write.
pub(super) fn no_context_model() -> ServiceError {
    ServiceError::Invalid {
        pointer: "/context".to_owned(),
        detail:
            "this service has no chat model that could write contexts: its operator has to set CITED_CHAT_BASE_URL \
                 and CITED_CHAT_MODEL, or context under [roles] in cited.toml"
                .to_owned(),
    }
}
