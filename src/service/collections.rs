//! The use case of collections.

use uuid::Uuid;

use super::{ServiceError, context::Context, run_detached};
pub(crate) use crate::store::CollectionSettings;
pub(crate) use crate::store::{CollectionSummary, DeleteReceipt};
use crate::{
    domain::{
        access::{Acl, AclChange},
        identity::TenantId,
        security_event::SecurityEvent,
    },
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
        web_search: bool,
        event: &SecurityEvent,
    ) -> Result<CollectionSummary, ServiceError> {
        if settings.context.is_some() && !self.can_write_contexts {
            return Err(no_context_model());
        }
        let new =
            NewCollection { id: self.context.ids.next(), name, profile: self.profile, settings, web_search, event };
        let (collection, made) =
            self.store.collections().ensure_collection(tenant, new, self.context.clock.now()).await?;
        if !made {
            return Err(ServiceError::Conflict {
                code: "collection_exists",
                detail: format!("there is a collection {name:?} already; use it, or choose another name"),
            });
        }
        let [documents, chunks, embedded_chunks] = [0; 3];
        Ok(CollectionSummary { collection, documents, chunks, embedded_chunks, settings, web_search, next_index: None })
    }

    /// Allows or forbids that questions to a collection are sent to a search engine.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn set_web_search(
        &self,
        tenant: TenantId,
        name: &str,
        allowed: bool,
        event: &SecurityEvent,
    ) -> Result<(), ServiceError> {
        let is_there = self.store.collections().set_web_search(tenant, name, allowed, event).await?;
        if is_there { Ok(()) } else { Err(ServiceError::no_collection(name)) }
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

    /// How much a caller with these numbers may see of the collections, in the place of how much there is. Collections without
    /// restricted documents stay as they are.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn seen_by(
        &self,
        tenant: TenantId,
        caller: &[i32],
        mut found: Vec<CollectionSummary>,
    ) -> Result<Vec<CollectionSummary>, ServiceError> {
        let restricted = found.iter().map(|summary| &summary.collection).filter(|one| one.is_restricted);
        let restricted: Vec<Uuid> = restricted.map(|collection| collection.id).collect();
        if restricted.is_empty() {
            return Ok(found);
        }
        let seen = self.store.collections().seen_counts(tenant, &restricted, caller).await?;
        for summary in found.iter_mut().filter(|summary| summary.collection.is_restricted) {
            let counts = seen.get(&summary.collection.index).copied().unwrap_or_default();
            summary.documents = counts.documents;
            summary.chunks = counts.chunks;
            summary.embedded_chunks = counts.chunks.saturating_sub(counts.unembedded_chunks);
        }
        Ok(found)
    }

    /// The access control list that new documents of a collection get.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn acl(&self, tenant: TenantId, name: &str) -> Result<Acl, ServiceError> {
        self.store.collections().acl(tenant, name).await?.ok_or_else(|| ServiceError::no_collection(name))
    }

    /// Changes the access control list that new documents of a collection get.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn change_acl(
        &self,
        tenant: TenantId,
        name: &str,
        change: AclChange,
        event: &SecurityEvent,
    ) -> Result<Acl, ServiceError> {
        let changed = self.store.collections().change_acl(tenant, name, change, event).await?;
        changed.ok_or_else(|| ServiceError::no_collection(name))
    }

    /// Deletes a collection and everything in it.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn delete(
        &self,
        tenant: TenantId,
        name: &str,
        event: SecurityEvent,
    ) -> Result<DeleteReceipt, ServiceError> {
        let (store, now, owned) = (self.store.clone(), self.context.clock.now(), name.to_owned());
        let deletion = async move { store.documents().delete_collection(tenant, &owned, event, now).await };
        let receipt = run_detached(deletion).await?;
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
