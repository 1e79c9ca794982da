//! Another way to split the documents of a collection that is in use: fill, cut over, drop.

use std::sync::Arc;

use uuid::Uuid;

use super::{
    ServiceError,
    collections::no_context_model,
    context::Context,
    ingest::{Signal, resplitting_payload},
    to_its_end,
};
pub use crate::store::{DroppedChunking, SettingsChange};
use crate::{
    domain::identity::TenantId,
    store::{ChunkingDrop, Collection, CutOverOutcome, ResplitOutcome, Store},
};

/// The use case.
#[derive(Clone)]
pub struct ResplitService {
    store: Store,
    /// Whether a chat model can say how chunks relate to their document.
    can_write_contexts: bool,
    context: Context,
    signal: Arc<Signal>,
}

impl ResplitService {
    /// Splitting by workers that `signal` reaches.
    #[must_use]
    pub const fn new(store: Store, can_write_contexts: bool, context: Context, signal: Arc<Signal>) -> Self {
        Self { store, can_write_contexts, context, signal }
    }

    /// Queues a job that splits the stored documents of a collection by changed settings, into a chunking beside the active
    /// one. Until a cut-over queries use that; what is ingested is split by both.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Invalid`] when contexts are wanted that no model can write;
    /// [`ServiceError::Conflict`] when a job is at it, or something else stands beside.
    pub async fn begin(&self, tenant: TenantId, name: &str, change: SettingsChange) -> Result<Uuid, ServiceError> {
        let collection = self.collection(tenant, name).await?;
        if change.context.flatten().is_some() && !self.can_write_contexts {
            return Err(no_context_model());
        }
        let (chunking, job) = (self.context.ids.next(), self.context.ids.next());
        let (work, now) = ((job, resplitting_payload()), self.context.clock.now());
        let of = (collection.id, name);
        match self.store.begin_resplitting(tenant, of, (chunking, change), work, now).await? {
            ResplitOutcome::Queued => {
                self.signal.queued();
                Ok(job)
            }
            ResplitOutcome::IsRunning(job) => Err(ServiceError::Conflict {
                code: "resplitting",
                detail: format!("job {job} is at it; follow it, or cancel it first"),
            }),
            ResplitOutcome::HasAnother(beside) => Err(another_chunking(name, beside)),
            ResplitOutcome::HasProfiles => Err(ServiceError::Conflict {
                code: "companion_exists",
                detail: format!(
                    "collection {name:?} has vectors of another model beside the active ones (profiles of \
                     GET /v1/collections/{name}); cut over to them if they are wanted, then drop those that are not: \
                     DELETE /v1/collections/{name}/profiles/{{model}}"
                ),
            }),
            ResplitOutcome::CollectionGone => Err(ServiceError::no_collection(name)),
        }
    }

    /// Makes a chunking that is complete the active one of a collection; the one before is kept.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Conflict`] when it is active, or documents are not in it.
    pub async fn cut_over(&self, tenant: TenantId, name: &str, chunking: Uuid) -> Result<(), ServiceError> {
        let collection = self.collection(tenant, name).await?;
        let (store, now) = (self.store.clone(), self.context.clock.now());
        let exchange = async move { store.cut_over_chunking(tenant, collection.id, chunking, now).await };
        match to_its_end(exchange).await? {
            CutOverOutcome::Done => Ok(()),
            CutOverOutcome::IsActive => Err(is_active(name, chunking)),
            CutOverOutcome::NotThere => Err(not_there(chunking)),
            CutOverOutcome::Incomplete(documents) => Err(ServiceError::Conflict {
                code: "chunks_missing",
                detail: format!(
                    "{} not split by chunking {chunking} in the present version; wait for the resplit jobs, retry what failed, or send \
                     POST /v1/collections/{name}/resplit with {{}} for what is left",
                    if documents == 1 { "1 document is".to_owned() } else { format!("{documents} documents are") }
                ),
            }),
        }
    }

    /// Drops a chunking that is not the active one; what was in it. Jobs that fill it are stopped.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Conflict`] when it is the active one.
    pub async fn drop_chunking(
        &self,
        tenant: TenantId,
        name: &str,
        chunking: Uuid,
    ) -> Result<DroppedChunking, ServiceError> {
        let collection = self.collection(tenant, name).await?;
        let (store, now) = (self.store.clone(), self.context.clock.now());
        let drop = async move {
            let outcome = store.drop_chunking(tenant, collection.id, chunking).await?;
            if let ChunkingDrop::Dropped(_, jobs) = &outcome {
                for job in jobs {
                    store.stop_job(tenant, *job, now).await?;
                }
            }
            Ok(outcome)
        };
        match to_its_end(drop).await? {
            ChunkingDrop::Dropped(dropped, _) => Ok(dropped),
            ChunkingDrop::IsActive => Err(is_active(name, chunking)),
            ChunkingDrop::NotThere => Err(not_there(chunking)),
        }
    }

    async fn collection(&self, tenant: TenantId, name: &str) -> Result<Collection, ServiceError> {
        self.store.collection(tenant, name).await?.ok_or_else(|| ServiceError::no_collection(name))
    }
}

/// A second chunking is in the way.
pub(super) fn another_chunking(name: &str, beside: Uuid) -> ServiceError {
    ServiceError::Conflict {
        code: "companion_exists",
        detail: format!(
            "collection {name:?} has chunking {beside} beside the active one; drop it (DELETE \
             /v1/collections/{name}/chunkings/{beside}), or cut over to it and drop the one that is active now"
        ),
    }
}

fn not_there(chunking: Uuid) -> ServiceError {
    ServiceError::NotFound { what: "chunking", name: chunking.to_string() }
}

fn is_active(name: &str, chunking: Uuid) -> ServiceError {
    ServiceError::Conflict {
        code: "chunking_active",
        detail: format!(
            "{chunking} is the active chunking of collection {name:?}; it needs no cut-over, and cannot be dropped before a \
             cut-over to the other one"
        ),
    }
}
