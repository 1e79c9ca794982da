//! The use case of collections.

use super::{ServiceError, context::Context, run_detached};
pub(crate) use crate::store::CollectionSettings;
pub(crate) use crate::store::{CollectionSummary, DeleteReceipt};
use crate::{
    domain::identity::TenantId,
    store::{NewCollection, ProfileId, Store},
};

/// Creates, lists, counts and deletes collections.
#[derive(Clone)]
pub(crate) struct CollectionService {
    store: Store,
    profile: ProfileId,
    defaults: CollectionSettings,
    /// Whether a chat model is configured that can describe how chunks relate to their document.
    can_write_contexts: bool,
    context: Context,
}

impl CollectionService {
    /// Collections created here use `profile`, and the `defaults` for settings they do not specify. They may request
    /// contexts if a model can write them.
    #[must_use]
    pub(crate) const fn new(
        store: Store,
        profile: ProfileId,
        defaults: CollectionSettings,
        can_write_contexts: bool,
        context: Context,
    ) -> Self {
        Self { store, profile, defaults, can_write_contexts, context }
    }

    /// The settings of a collection that specifies none.
    #[must_use]
    pub(crate) const fn defaults(&self) -> CollectionSettings {
        self.defaults
    }

    /// Creates a collection.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] when the name is taken; [`ServiceError::Invalid`] when it requests contexts and no
    /// model is configured that could write them.
    pub(crate) async fn create(
        &self,
        tenant: TenantId,
        name: &str,
        settings: CollectionSettings,
    ) -> Result<CollectionSummary, ServiceError> {
        if settings.context.is_some() && !self.can_write_contexts {
            return Err(no_context_model());
        }
        let new = NewCollection { id: self.context.ids.next(), name, profile: self.profile, settings };
        let (collection, made) =
            self.store.collections().ensure_collection(tenant, new, self.context.clock.now()).await?;
        if !made {
            return Err(ServiceError::Conflict {
                code: "collection_exists",
                detail: format!("there is a collection {name:?} already; use it, or choose another name"),
            });
        }
        Ok(CollectionSummary { collection, documents: 0, chunks: 0, embedded_chunks: 0, settings, next_index: None })
    }

    /// One collection.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn get(&self, tenant: TenantId, name: &str) -> Result<CollectionSummary, ServiceError> {
        let found =
            self.store.collections().collection_summaries(tenant, Some(&[name.to_owned()]), None, 1).await?.pop();
        found.ok_or_else(|| ServiceError::no_collection(name))
    }

    /// Collections with these names, or all of them, whose name sorts after `after`.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn list(
        &self,
        tenant: TenantId,
        among: Option<&[String]>,
        after: Option<&str>,
        limit: i64,
    ) -> Result<Vec<CollectionSummary>, ServiceError> {
        Ok(self.store.collections().collection_summaries(tenant, among, after, limit).await?)
    }

    /// Deletes a collection and everything in it.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn delete(&self, tenant: TenantId, name: &str) -> Result<DeleteReceipt, ServiceError> {
        let (store, now, owned) = (self.store.clone(), self.context.clock.now(), name.to_owned());
        let receipt =
            run_detached(async move { store.documents().delete_collection(tenant, &owned, now).await }).await?;
        receipt.ok_or_else(|| ServiceError::no_collection(name))
    }
}

/// Error: a collection requests contexts, but no model is configured that can write them.
pub(super) fn no_context_model() -> ServiceError {
    ServiceError::Invalid {
        pointer: "/context".to_owned(),
        detail:
            "this service has no chat model that could write contexts: its operator has to set CITED_CHAT_BASE_URL \
                 and CITED_CHAT_MODEL, or context under [roles] in cited.toml"
                .to_owned(),
    }
}
