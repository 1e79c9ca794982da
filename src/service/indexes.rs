//! The indexes of a collection in use: builds the next one, activates it, drops one.

use std::sync::Arc;

use uuid::Uuid;

use super::{
    ServiceError,
    collections::no_context_model,
    context::Context,
    embedders::Embedders,
    ingest::{Signal, build_work},
    run_detached,
    security_record::things,
};
pub(crate) use crate::store::{CollectionIndex, DroppedIndex};
use crate::{
    domain::{
        contextual::Contextual,
        identity::TenantId,
        security_event::{Change, SecurityEvent},
        split::SplitterSettings,
    },
    store::{ActivationOutcome, BuildOutcome, Collection, IndexChange, IndexDrop, NewIndex, ProfileId, Store},
};

/// The use case.
#[derive(Clone)]
pub(crate) struct IndexService {
    store: Store,
    embedders: Embedders,
    /// Whether a chat model is configured that can describe how chunks relate to their document.
    can_write_contexts: bool,
    context: Context,
    signal: Arc<Signal>,
}

/// The settings in which the next index differs from the active one.
#[derive(Clone, Debug, Default)]
pub(crate) struct WantedIndex {
    /// Splitter settings for its documents.
    pub(crate) splitter: Option<SplitterSettings>,
    /// Settings of the sentences that describe how a chunk relates to its document; `Some(None)` turns them off.
    #[expect(clippy::option_option, reason = "kept, turned off, or set: the form of a change to any optional setting")]
    pub(crate) context: Option<Option<Contextual>>,
    /// The model that computes its vectors.
    pub(crate) embedding_model: Option<String>,
}

impl IndexService {
    /// Indexes that are embedded by these models, and built by the workers that `signal` notifies.
    #[must_use]
    pub(crate) const fn new(
        store: Store,
        embedders: Embedders,
        can_write_contexts: bool,
        context: Context,
        signal: Arc<Signal>,
    ) -> Self {
        Self { store, embedders, can_write_contexts, context, signal }
    }

    /// Queues a job that builds the next index of a collection from its stored documents; returns the index and the
    /// job. Until that index is activated, queries use the active one; uploads go into both.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Invalid`] for a model that the service does not have, or contexts
    /// that no model can write; [`ServiceError::Conflict`] when a job is building the index, or the index has other
    /// settings.
    pub(crate) async fn build(
        &self,
        tenant: TenantId,
        name: &str,
        wanted: WantedIndex,
        event: impl FnOnce(Uuid, Uuid) -> SecurityEvent + Send,
    ) -> Result<(CollectionIndex, Uuid), ServiceError> {
        let collection = self.collection(tenant, name).await?;
        let WantedIndex { splitter, context, embedding_model } = wanted;
        if context.flatten().is_some() && !self.can_write_contexts {
            return Err(no_context_model());
        }
        let profile = embedding_model.map(|model| self.profile(&model)).transpose()?;
        let job = self.context.ids.next();
        let new = NewIndex {
            id: self.context.ids.next(),
            collection: collection.id,
            collection_name: name,
            change: IndexChange { splitter, context, profile },
            job,
            payload: &build_work(),
            now: self.context.clock.now(),
        };
        match self.store.collections().build_index(tenant, &new, |index| event(index, job)).await? {
            BuildOutcome::Queued(index) => {
                self.signal.queued();
                Ok((self.index(tenant, &collection, index).await?, job))
            }
            BuildOutcome::IsBuilding(job) => Err(ServiceError::Conflict {
                code: "index_building",
                detail: format!("job {job} is building the next index; follow it, or cancel it first"),
            }),
            BuildOutcome::HasAnother(next) => Err(ServiceError::Conflict {
                code: "index_exists",
                detail: format!(
                    "collection {name:?} has index {next} with other settings next to the active one; drop it (DELETE \
                     /v1/collections/{name}/indexes/{next}), or activate it and drop the one that is active now"
                ),
            }),
            BuildOutcome::CollectionGone => Err(ServiceError::no_collection(name)),
        }
    }

    /// The indexes of a collection, the active one first.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn list(&self, tenant: TenantId, name: &str) -> Result<Vec<CollectionIndex>, ServiceError> {
        let collection = self.collection(tenant, name).await?;
        Ok(self.store.collections().indexes(tenant, collection.id).await?)
    }

    /// The same, with how much a caller with these numbers may see in the place of how much there is, if the collection has
    /// restricted documents.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn list_seen_by(
        &self,
        tenant: TenantId,
        name: &str,
        caller: &[i32],
    ) -> Result<Vec<CollectionIndex>, ServiceError> {
        let collection = self.collection(tenant, name).await?;
        let mut indexes = self.store.collections().indexes(tenant, collection.id).await?;
        if collection.is_restricted {
            let seen = self.store.collections().seen_counts(tenant, &[collection.id], caller).await?;
            for index in &mut indexes {
                let counts = seen.get(&index.id).copied().unwrap_or_default();
                (index.documents, index.chunks, index.unembedded_chunks) =
                    (counts.documents, counts.chunks, counts.unembedded_chunks);
            }
        }
        Ok(indexes)
    }

    /// Makes a complete index the active one of a collection; the previous one is kept.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Conflict`] when it is active, lacks documents, or is embedded by a
    /// model that the service does not have.
    pub(crate) async fn activate(
        &self,
        tenant: TenantId,
        name: &str,
        index: Uuid,
        event: SecurityEvent,
    ) -> Result<(), ServiceError> {
        let collection = self.collection(tenant, name).await?;
        let wanted = self.index(tenant, &collection, index).await?;
        if !wanted.is_active && self.embedders.of(wanted.profile_id).is_none() {
            return Err(ServiceError::Conflict {
                code: "embedding_profile_mismatch",
                detail: format!(
                    "the service is not configured for {:?}, questions could not be embedded; configure it first",
                    wanted.profile.model
                ),
            });
        }
        let (store, now) = (self.store.clone(), self.context.clock.now());
        let activation =
            async move { store.collections().activate_index(tenant, (collection.id, index), &event, now).await };
        match run_detached(activation).await? {
            ActivationOutcome::Done => Ok(()),
            ActivationOutcome::IsActive => Err(is_active(name, index)),
            ActivationOutcome::NotThere => Err(not_there(index)),
            ActivationOutcome::Incomplete(documents) => Err(ServiceError::Conflict {
                code: "index_incomplete",
                detail: format!(
                    "{} not in index {index} as they are now; wait for the jobs of kind index, retry what failed, or send POST \
                     /v1/collections/{name}/indexes with {{}} for what is left",
                    if documents == 1 { "1 document is".to_owned() } else { format!("{documents} documents are") }
                ),
            }),
        }
    }

    /// Drops an index that is not the active one; returns a summary of its content. Jobs that build it are stopped.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Conflict`] when it is the active one.
    pub(crate) async fn drop_index(
        &self,
        tenant: TenantId,
        name: &str,
        index: Uuid,
        event: SecurityEvent,
    ) -> Result<DroppedIndex, ServiceError> {
        let collection = self.collection(tenant, name).await?;
        let (store, now, ids) = (self.store.clone(), self.context.clock.now(), self.context.ids.clone());
        let drop = async move {
            let outcome = store.collections().drop_index(tenant, collection.id, index, &event).await?;
            if let IndexDrop::Dropped(_, jobs) = &outcome {
                for job in jobs {
                    let stopped = event.beside(ids.next(), Change::CancelJob, vec![things::job(*job)]);
                    store.jobs().stop_job(tenant, *job, &stopped, now).await?;
                }
            }
            Ok(outcome)
        };
        match run_detached(drop).await? {
            IndexDrop::Dropped(dropped, _) => Ok(dropped),
            IndexDrop::IsActive => Err(is_active(name, index)),
            IndexDrop::NotThere => Err(not_there(index)),
        }
    }

    async fn collection(&self, tenant: TenantId, name: &str) -> Result<Collection, ServiceError> {
        self.store.collections().collection(tenant, name).await?.ok_or_else(|| ServiceError::no_collection(name))
    }

    async fn index(
        &self,
        tenant: TenantId,
        collection: &Collection,
        index: Uuid,
    ) -> Result<CollectionIndex, ServiceError> {
        let indexes = self.store.collections().indexes(tenant, collection.id).await?;
        indexes.into_iter().find(|found| found.id == index).ok_or_else(|| not_there(index))
    }

    fn profile(&self, model: &str) -> Result<ProfileId, ServiceError> {
        self.embedders.named(model).ok_or_else(|| {
            let known: Vec<&str> = self.embedders.models().collect();
            ServiceError::Invalid {
                pointer: "/embedding_model".to_owned(),
                detail: format!(
                    "the service has no embedding model {model:?}, only {}; configure it as a table of [embeddings]",
                    known.join(", ")
                ),
            }
        })
    }
}

fn not_there(index: Uuid) -> ServiceError {
    ServiceError::NotFound { what: "index", name: index.to_string() }
}

fn is_active(name: &str, index: Uuid) -> ServiceError {
    ServiceError::Conflict {
        code: "index_active",
        detail: format!(
            "{index} is the active index of collection {name:?}; it needs no activation, and cannot be dropped before \
             another one is active"
        ),
    }
}
