//! The use case of erasures: documents go with their traces, and a receipt tells what is left.

use time::OffsetDateTime;
use uuid::Uuid;

use super::{ServiceError, context::Context, documents::no_document, run_detached, sweep::Retention};
pub(crate) use crate::store::{Erased, ErasureRow, Remainder};
use crate::{
    domain::{identity::TenantId, security_event::SecurityEvent},
    store::{DeleteReceipt, LeftAsks, Store, StoreError, Traces},
};

/// The thing to be erased.
#[derive(Clone, Debug)]
pub(crate) enum Erasable {
    /// A document that is stored.
    Document(Uuid),
    /// All that is or was stored under a source of a collection.
    Source {
        /// Name of the collection.
        collection: String,
        /// The source.
        source: String,
    },
    /// A collection.
    Collection(String),
}

/// A wanted erasure.
#[derive(Clone, Debug)]
pub(crate) struct WantedErasure {
    /// The thing to be erased.
    pub(crate) of: Erasable,
    /// Whether the audit of asks that were answered from it goes too.
    pub(crate) with_asks: bool,
    /// Name of the key that asks for it.
    pub(crate) key_id: Option<String>,
}

/// Erases, and keeps the receipts.
#[derive(Clone)]
pub(crate) struct ErasureService {
    store: Store,
    retention: Retention,
    context: Context,
}

impl ErasureService {
    /// Erasures of this store, whose other rows are kept so long.
    #[must_use]
    pub(crate) const fn new(store: Store, retention: Retention, context: Context) -> Self {
        Self { store, retention, context }
    }

    /// Erases, and keeps a receipt. `event` makes the event that records it, by the receipt.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] when there is no such document or collection; store errors: the request can be sent
    /// again.
    pub(crate) async fn erase(
        &self,
        tenant: TenantId,
        wanted: WantedErasure,
        event: impl FnOnce(Uuid) -> SecurityEvent + Send,
    ) -> Result<ErasureRow, ServiceError> {
        let id = self.context.ids.next();
        let event = event(id);
        let traces = self.find(tenant, &wanted.of).await?;
        let (store, now, with_asks) = (self.store.clone(), self.context.clock.now(), wanted.with_asks);
        // As the database keeps it, so that the receipt is the same when it is read.
        let now = now - time::Duration::nanoseconds(i64::from(now.nanosecond() % 1_000));
        let erasing = async move {
            let deleted = delete(&store, tenant, &traces, event.clone(), now).await?;
            let unrecorded = deleted.is_none().then_some(&event);
            let (gone, left) = store.erasures().erase_traces(tenant, &traces, with_asks, unrecorded).await?;
            Ok((traces, deleted.unwrap_or_default(), gone, left))
        };
        let (traces, deleted, gone, left) = run_detached(erasing).await?;
        let row = ErasureRow {
            id,
            erased_at: now,
            key_id: wanted.key_id,
            subject: subject(&traces),
            erased: Erased {
                documents: deleted.documents,
                versions: traces.versions,
                chunks: deleted.chunks,
                vectors: deleted.vectors,
                answers: deleted.answers,
                uploads: deleted.queue_items + deleted.failed_items,
                ..gone
            },
            remains: self.remains(&left, now),
        };
        self.store.erasures().insert(tenant, &row).await?;
        Ok(row)
    }

    /// Receipts, newest first.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn list(
        &self,
        tenant: TenantId,
        before: Option<Uuid>,
        limit: i64,
    ) -> Result<Vec<ErasureRow>, ServiceError> {
        Ok(self.store.erasures().list(tenant, None, before, limit).await?)
    }

    /// One receipt.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn get(&self, tenant: TenantId, id: Uuid) -> Result<ErasureRow, ServiceError> {
        let found = self.store.erasures().list(tenant, Some(id), None, 1).await?.pop();
        found.ok_or_else(|| ServiceError::NotFound { what: "erasure", name: id.to_string() })
    }

    async fn find(&self, tenant: TenantId, of: &Erasable) -> Result<Traces, ServiceError> {
        let (name, source) = match of {
            Erasable::Document(id) => {
                return self.store.erasures().find_document(tenant, *id).await?.ok_or_else(|| no_document(*id));
            }
            Erasable::Source { collection, source } => (collection, Some(source.clone())),
            Erasable::Collection(collection) => (collection, None),
        };
        let found = self.store.collections().collection(tenant, name).await?;
        let id = found.ok_or_else(|| ServiceError::no_collection(name))?.id;
        Ok(self.store.erasures().find(tenant, id, name.clone(), source).await?)
    }

    /// The remains, with their places, and when they go.
    fn remains(&self, left: &LeftAsks, now: OffsetDateTime) -> Vec<Remainder> {
        let remainder = |place: &str, holds: &str, until: Option<OffsetDateTime>| Remainder {
            place: place.to_owned(),
            holds: holds.to_owned(),
            until,
        };
        let asks = (left.number > 0).then(|| {
            let until = left.latest.zip(self.retention.audit).map(|(latest, retention)| latest + retention);
            let holds = format!("{} asks with their question, that cite or found the documents by id", left.number);
            remainder("audit of asks", &holds, until)
        });
        let record_until = self.retention.security_events.map(|retention| now + retention);
        let always = [
            remainder("security events", "ids of the documents, the collection and the jobs", record_until),
            remainder("deleted documents", "ids, last versions and the time, so that citations say so", None),
            remainder(
                "users and groups",
                "names in access control lists, without the documents that they were of, until the tenant is deleted",
                None,
            ),
            remainder("files of the database", "pages that are not overwritten yet, until it is vacuumed", None),
            remainder(
                "write-ahead log, replicas and their archives",
                "the changes, for as long as you keep them",
                None,
            ),
            remainder("backups", "all of it: after a restore, send the erasures of its receipts again", None),
            remainder("configured model servers", "what they keep of prompts and texts that they were sent", None),
        ];
        asks.into_iter().chain(always).collect()
    }
}

/// Deletes what is stored and what waits, and records it; `None` if that was gone already.
async fn delete(
    store: &Store,
    tenant: TenantId,
    traces: &Traces,
    event: SecurityEvent,
    now: OffsetDateTime,
) -> Result<Option<DeleteReceipt>, StoreError> {
    // The last source is the one that the others were found in.
    match traces.sources.as_deref().map(<[String]>::last) {
        None => store.documents().delete_collection(tenant, &traces.collection_name, event, now).await,
        Some(None) => Ok(None),
        Some(Some(source)) => {
            store.documents().delete_source(tenant, traces.collection, source, event, now).await.map(Some)
        }
    }
}

/// Names what is erased by ids alone.
fn subject(traces: &Traces) -> Vec<String> {
    match traces.sources {
        None => vec![format!("collection:{}", traces.collection)],
        Some(_) => traces.documents.iter().map(|id| format!("document:{id}")).collect(),
    }
}
