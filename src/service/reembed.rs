//! Moving a collection to another embedding model while it is used: fill, cut over, drop.

use std::sync::Arc;

use super::{
    ServiceError,
    context::Context,
    embedders::Embedders,
    ingest::{Signal, reembedding_payload},
    resplit::another_chunking,
    to_its_end,
};
use crate::{
    domain::identity::TenantId,
    store::{Collection, CutOverOutcome, DropOutcome, ProfileId, ReembedOutcome, Store},
};

/// The use case.
#[derive(Clone)]
pub struct ReembedService {
    store: Store,
    embedders: Embedders,
    context: Context,
    signal: Arc<Signal>,
}

impl ReembedService {
    /// Re-embedding by workers that `signal` reaches, with these models.
    #[must_use]
    pub const fn new(store: Store, embedders: Embedders, context: Context, signal: Arc<Signal>) -> Self {
        Self { store, embedders, context, signal }
    }

    /// Queues a job that gives every chunk of a collection a vector of another model. Until a cut-over queries use
    /// the active one; what is ingested gets vectors of both.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Invalid`] for a model that the service does not have;
    /// [`ServiceError::Conflict`] when it is the active one, a job is at it, or a chunking stands beside the active one.
    pub async fn begin(&self, tenant: TenantId, name: &str, model: &str) -> Result<uuid::Uuid, ServiceError> {
        let collection = self.collection(tenant, name).await?;
        let profile = self.embedders.named(model).ok_or_else(|| {
            let known: Vec<&str> = self.embedders.models().collect();
            ServiceError::Invalid {
                pointer: "/profile".to_owned(),
                detail: format!(
                    "the service has no embedding model {model:?}, only {}; configure it as a table of [embeddings]",
                    known.join(", ")
                ),
            }
        })?;
        let job = self.context.ids.next();
        let work = (job, reembedding_payload(profile));
        let now = self.context.clock.now();
        match self.store.begin_reembedding(tenant, (collection.id, name), profile, work, now).await? {
            ReembedOutcome::Queued => {
                self.signal.queued();
                Ok(job)
            }
            ReembedOutcome::IsActive => Err(is_active(&collection, model)),
            ReembedOutcome::IsRunning(job) => Err(ServiceError::Conflict {
                code: "reembedding",
                detail: format!("job {job} is at it; follow it, or cancel it first"),
            }),
            ReembedOutcome::HasChunking(beside) => Err(another_chunking(name, beside)),
            ReembedOutcome::CollectionGone => Err(ServiceError::no_collection(name)),
        }
    }

    /// Makes a model whose vectors are complete the active one of a collection; the one before is kept.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Conflict`] when it is active, or chunks have no vector of it.
    pub async fn cut_over(&self, tenant: TenantId, name: &str, model: &str) -> Result<(), ServiceError> {
        let collection = self.collection(tenant, name).await?;
        let Some(profile) = self.profile(tenant, &collection, model).await? else {
            return Err(ServiceError::NotFound { what: "embedding profile", name: model.to_owned() });
        };
        if profile != collection.profile_id && self.embedders.of(profile).is_none() {
            return Err(ServiceError::Conflict {
                code: "embedding_profile_mismatch",
                detail: format!(
                    "the service is not configured for {model:?}, questions could not be embedded; configure it first"
                ),
            });
        }
        let (store, now, id) = (self.store.clone(), self.context.clock.now(), collection.id);
        match to_its_end(async move { store.cut_over(tenant, id, profile, now).await }).await? {
            CutOverOutcome::Done => Ok(()),
            CutOverOutcome::IsActive => Err(is_active(&collection, model)),
            CutOverOutcome::NotThere => {
                Err(ServiceError::NotFound { what: "embedding profile", name: model.to_owned() })
            }
            CutOverOutcome::Incomplete(bare) => Err(ServiceError::Conflict {
                code: "vectors_missing",
                detail: format!(
                    "{} no vector of {model:?} yet; wait for the job, retry what failed of it, or \
                     send POST /v1/collections/{name}/reembed again for what is left",
                    if bare == 1 { "1 chunk has".to_owned() } else { format!("{bare} chunks have") }
                ),
            }),
        }
    }

    /// Drops the vectors of a model that is not the active one; how many that were. A job that fills it is stopped.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Conflict`] when it is the active one.
    pub async fn drop_profile(&self, tenant: TenantId, name: &str, model: &str) -> Result<u64, ServiceError> {
        let collection = self.collection(tenant, name).await?;
        let missing = || ServiceError::NotFound { what: "embedding profile", name: model.to_owned() };
        let profile = self.profile(tenant, &collection, model).await?.ok_or_else(missing)?;
        let (store, now, id) = (self.store.clone(), self.context.clock.now(), collection.id);
        let drop = async move {
            let outcome = store.drop_companion(tenant, id, profile).await?;
            if let DropOutcome::Dropped(_, Some(job)) = &outcome {
                store.stop_job(tenant, *job, now).await?;
            }
            Ok(outcome)
        };
        match to_its_end(drop).await? {
            DropOutcome::Dropped(vectors, _) => Ok(vectors),
            DropOutcome::IsActive => Err(is_active(&collection, model)),
            DropOutcome::NotThere => Err(missing()),
        }
    }

    async fn collection(&self, tenant: TenantId, name: &str) -> Result<Collection, ServiceError> {
        self.store.collection(tenant, name).await?.ok_or_else(|| ServiceError::no_collection(name))
    }

    /// The space of a collection that a model makes, also one that the service does not have any more.
    async fn profile(
        &self,
        tenant: TenantId,
        collection: &Collection,
        model: &str,
    ) -> Result<Option<ProfileId>, ServiceError> {
        if collection.profile.model == model {
            return Ok(Some(collection.profile_id));
        }
        let spaces = self.store.describe_companions(tenant, &[collection.id]).await?;
        Ok(spaces.iter().find(|space| space.profile.model == model).map(|space| space.profile_id))
    }
}

fn is_active(collection: &Collection, model: &str) -> ServiceError {
    ServiceError::Conflict {
        code: "profile_active",
        detail: format!(
            "{model:?} is the active embedding model of collection {:?}; it needs no cut-over, and cannot be dropped before a \
             cut-over to another one",
            collection.name
        ),
    }
}
