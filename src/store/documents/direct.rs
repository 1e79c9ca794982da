//! Stores documents together with the jobs of their uploads, which are over as soon as they are there.

use std::collections::HashMap;

use serde_json::Value;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{identity::TenantId, security_event::SecurityEvent};
use crate::store::{
    Collection, CommitBatch, Documents, FollowUp, ItemKey, NewDocument, ReportedJob, RequestKey, StoreError, Tx,
    UnchangedItem, Work,
    documents::write::write_documents,
    jobs::finished::{FinishedJob, insert},
    jobs::idempotency,
    jobs::settle,
    security_events::record_all,
};

/// An upload of one document.
#[derive(Debug)]
pub(crate) struct DirectUpload<'a> {
    /// Identity of its job.
    pub(crate) job: Uuid,
    /// Name of the key that made it; `None` where no key is required.
    pub(crate) created_by: Option<&'a str>,
    /// Numbers of its maker's users and groups; `None` where nothing is hidden from it.
    pub(crate) maker_principals: Option<&'a [i32]>,
    /// When it arrived.
    pub(crate) created_at: OffsetDateTime,
    /// The client's name for the request.
    pub(crate) key: Option<RequestKey<'a>>,
    /// The event that records it.
    pub(crate) event: &'a SecurityEvent,
    /// Caller's name of the document.
    pub(crate) source: &'a str,
    /// Bytes of its content as uploaded.
    pub(crate) bytes: u64,
}

impl DirectUpload<'_> {
    /// The only item of its job.
    pub(crate) const fn item(&self) -> ItemKey {
        ItemKey { job: self.job, ordinal: 0 }
    }
}

/// Uploads of a tenant into one collection, whose documents are ready to be stored.
#[derive(Debug)]
pub(crate) struct DirectBatch<'a> {
    /// Owner of the documents.
    pub(crate) tenant: TenantId,
    /// Collection to store in.
    pub(crate) collection: &'a Collection,
    /// The uploads, in their order; their sources are distinct.
    pub(crate) uploads: &'a [DirectUpload<'a>],
    /// Documents to store. Their positions are set here.
    pub(crate) documents: &'a mut [NewDocument],
    /// Uploads whose document is already stored with the same result. Their positions are set here.
    pub(crate) unchanged: &'a mut [UnchangedItem],
    /// The job that builds the stored documents into the next index, if there is one.
    pub(crate) follow_up: FollowUp<'a>,
    /// Current time.
    pub(crate) now: OffsetDateTime,
}

impl Documents<'_> {
    /// Stores documents with the finished jobs of their uploads, all of them or none; returns the jobs in the order of the
    /// uploads. `work` is what was done for each, asked when the documents are written. Returns `None`, with nothing
    /// written, if the collection has changed since it was read, or a document has, or is to wait for vectors, or the name of
    /// an upload is taken.
    ///
    /// The commit does not wait for the disk: whoever is told must be told after [`Store::flush`](crate::Store).
    ///
    /// # Errors
    /// Any [`StoreError`]; unless the database could not be reached, nothing is written then.
    #[tracing::instrument(target = "cited::trace", skip_all, fields(otel.kind = "client", db.system.name = "postgresql"))]
    pub(crate) async fn store_uploads(
        &self,
        batch: DirectBatch<'_>,
        work: impl FnOnce() -> Vec<(Uuid, Work)> + Send,
    ) -> Result<Option<Vec<ReportedJob>>, StoreError> {
        let DirectBatch { tenant, collection, uploads, documents, unchanged, follow_up, now } = batch;
        let mut transaction = self.store.begin_impatient(tenant).await?;
        let names = uploads.iter().map(|upload| (upload.key, upload.job, now));
        if idempotency::claim_all(&mut transaction, tenant, names).await?.iter().any(Option::is_some) {
            return Ok(None);
        }
        let positions = positions(&mut transaction, uploads).await?;
        for document in documents.iter_mut() {
            document.position = position_of(&positions, document.item)?;
        }
        for found in unchanged.iter_mut() {
            found.position = position_of(&positions, found.item)?;
        }
        // Nothing is queued for vectors.
        let batch = CommitBatch { tenant, collection, documents, unchanged, embed_work: &Value::Null, follow_up, now };
        let Ok(written) = write_documents(&mut transaction, &batch).await? else { return Ok(None) };
        let Some(landed) = settle::landed(&mut transaction, &batch, &written).await? else { return Ok(None) };
        if landed.iter().any(|(_, awaiting)| awaiting.is_some()) {
            return Ok(None);
        }
        let mut landed: HashMap<ItemKey, _> = landed.into_iter().map(|(filled, _)| (filled.item, filled)).collect();
        let mut works: HashMap<Uuid, Work> = work().into_iter().collect();
        let mut jobs = Vec::with_capacity(uploads.len());
        for upload in uploads {
            let item = upload.item();
            let document = batch.documents.iter().find(|document| document.item == item);
            jobs.push(FinishedJob {
                upload,
                filled: landed.remove(&item).ok_or_else(|| unknown(item))?,
                position: position_of(&positions, item)?,
                work: works.remove(&item.job).unwrap_or_default(),
                reading: document.map(|document| &document.reading).filter(|reading| !reading.is_empty()),
            });
        }
        insert(&mut transaction, &batch, &jobs).await?;
        let events: Vec<_> = uploads.iter().map(|upload| upload.event).collect();
        record_all(&mut transaction, &events).await?;
        self.complete(&mut transaction, &batch, written).await?;
        transaction.commit().await?;
        Ok(Some(jobs.into_iter().map(|job| job.report(&collection.name, now)).collect()))
    }
}

/// Takes a position in the queue for each upload, in their order.
async fn positions(transaction: &mut Tx, uploads: &[DirectUpload<'_>]) -> Result<HashMap<ItemKey, i64>, StoreError> {
    let count = i32::try_from(uploads.len()).unwrap_or(i32::MAX);
    let positions = sqlx::query_scalar!(
        r#"SELECT nextval('job_item_position') AS "position!" FROM generate_series(1, $1::int)"#,
        count
    )
    .fetch_all(&mut **transaction)
    .await?;
    Ok(uploads.iter().map(DirectUpload::item).zip(positions).collect())
}

fn position_of(positions: &HashMap<ItemKey, i64>, item: ItemKey) -> Result<i64, StoreError> {
    positions.get(&item).copied().ok_or_else(|| unknown(item))
}

fn unknown(item: ItemKey) -> StoreError {
    StoreError::Inconsistent(format!("a document of job {} is of no upload of this transaction", item.job))
}
