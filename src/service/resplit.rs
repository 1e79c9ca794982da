//! Another way to split the documents of a collection that is in use.

use std::sync::Arc;

use super::{
    ServiceError,
    collections::no_context_model,
    context::Context,
    ingest::{Signal, resplitting_payload},
};
pub use crate::store::SettingsChange;
use crate::{
    domain::identity::TenantId,
    store::{ResplitOutcome, Store},
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

    /// Changes settings of a collection, and queues a job that splits its stored documents by them. What is ingested
    /// from now on is split by them too; a document is searched as it was until it is replaced.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Invalid`] when contexts are wanted that no model can write;
    /// [`ServiceError::Conflict`] when a job is at it.
    pub async fn begin(
        &self,
        tenant: TenantId,
        name: &str,
        change: SettingsChange,
    ) -> Result<uuid::Uuid, ServiceError> {
        let missing = || ServiceError::NotFound { what: "collection", name: name.to_owned() };
        let collection = self.store.collection(tenant, name).await?.ok_or_else(missing)?;
        if change.context.flatten().is_some() && !self.can_write_contexts {
            return Err(no_context_model());
        }
        let job = self.context.ids.next();
        let (work, now) = ((job, resplitting_payload()), self.context.clock.now());
        match self.store.begin_resplitting(tenant, (collection.id, name), change, work, now).await? {
            ResplitOutcome::Queued => {
                self.signal.queued();
                Ok(job)
            }
            ResplitOutcome::IsRunning(job) => Err(ServiceError::Conflict {
                code: "resplitting",
                detail: format!("job {job} is at it; follow it, or cancel it first"),
            }),
            ResplitOutcome::CollectionGone => Err(missing()),
        }
    }
}
