//! Accepts documents, either all at once or as they arrive. Accepted documents survive any crash.

use serde_json::Value;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{
    access::Acl, fingerprint::Hash, identity::TenantId, job::Indexing, security_event::SecurityEvent,
    storage::OverQuota,
};
use crate::store::{
    Jobs, Phase, QueueFull, QueueLimits, StoreError, Tx,
    access::storage::refuse_arrivals,
    jobs::content::QueuedContent,
    jobs::idempotency,
    jobs::insertion::{Insertion, insert_jobs, size_of, slot_for, sources_of},
    jobs::items::{self, insert_refused, int, numbered},
};

/// One document of a request, stored until it is settled.
#[derive(Clone, Debug)]
pub struct NewJobItem {
    /// Caller's name of the document.
    pub source: String,
    /// Versioned description of the document.
    pub payload: Value,
    /// Its bytes.
    pub content: QueuedContent,
    /// First phase of its processing.
    pub phase: Phase,
    /// The access control list that it brings, if it does.
    pub acl: Option<Acl>,
}

/// A part of a request that is not a document: the job lists it as failed.
#[derive(Debug)]
pub(crate) struct RefusedItem {
    /// Name of the part, as far as it has one.
    pub(crate) source: String,
    /// Typed cause.
    pub(crate) cause: &'static str,
    /// Description of the problem.
    pub(crate) message: String,
}

/// Items of a job that arrived together.
#[derive(Debug, Default)]
pub(crate) struct NewItems {
    /// Documents.
    pub(crate) items: Vec<NewJobItem>,
    /// Parts of the request that are not documents.
    pub(crate) refused: Vec<RefusedItem>,
}

/// A job to create.
#[derive(Clone, Debug)]
pub struct NewJob<'a> {
    /// Its identity.
    pub id: Uuid,
    /// The collection.
    pub collection: Uuid,
    /// Its name, which the job keeps when the collection is deleted.
    pub collection_name: &'a str,
    /// When its documents become searchable.
    pub indexing: Indexing,
    /// The client's name for the request.
    pub key: Option<RequestKey<'a>>,
    /// URL that is notified when the job ends.
    pub webhook: Option<&'a str>,
    /// Name of the key that made it; `None` where no key is required.
    pub created_by: Option<&'a str>,
    /// Numbers of its maker's users and groups; `None` where nothing is hidden from it.
    pub maker_principals: Option<&'a [i32]>,
    /// Limits on the tenant's waiting documents.
    pub limits: QueueLimits,
    /// Current time.
    pub now: OffsetDateTime,
    /// The event that records it.
    pub event: &'a SecurityEvent,
}

/// A client's name for a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestKey<'a> {
    /// As the client chose it.
    pub key: &'a str,
    /// Hash of the request; `None` while the request is still arriving.
    pub request_hash: Option<Hash>,
}

/// The first response to a request.
#[derive(Clone, Debug)]
pub struct FirstAnswer {
    /// The job that was created for the request.
    pub job: Uuid,
    /// Its content; `None` if the response was not sent yet.
    pub(crate) answer: Option<ReplyContent>,
}

/// Content of a response.
#[derive(Clone, Debug)]
pub(crate) struct ReplyContent {
    /// HTTP status.
    pub(crate) status: u16,
    /// Body, in the format of the client's protocol.
    pub(crate) body: Vec<u8>,
}

/// Result of a request.
#[derive(Clone, Debug)]
pub enum EnqueueOutcome {
    /// Accepted.
    Queued,
    /// The request was accepted before, with this response.
    Repeated(FirstAnswer),
    /// Another request with that name is still arriving.
    KeyInProgress,
    /// A different request has used that name.
    KeyReused,
    /// The queue is full; nothing was accepted.
    Full(QueueFull),
    /// The tenant keeps all that it may; nothing was accepted.
    OverQuota(OverQuota),
}

/// A job that accepts more items.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenJob {
    /// Its identity.
    pub(crate) id: Uuid,
    /// Limits on the tenant's waiting documents.
    pub(crate) limits: QueueLimits,
    /// Until when it is kept open.
    pub(crate) receiving_until: OffsetDateTime,
    /// Current time.
    pub(crate) now: OffsetDateTime,
}

/// Result of appending a part to a job.
#[derive(Debug)]
pub(crate) enum AppendOutcome {
    /// Accepted.
    Queued,
    /// The job accepts nothing more: it was cancelled, or closed because its sender was silent for too long.
    JobClosed,
    /// The queue is full; nothing was accepted.
    Full(QueueFull),
    /// The tenant keeps all that it may; nothing was accepted.
    OverQuota(OverQuota),
}

impl Jobs<'_> {
    /// Accepts complete jobs of a tenant for one collection, all of them or, where the queue or the quotas have no room for all, none; the outcomes are in
    /// their order. Jobs without a name do not wait for the disk: their reply waits for [`Store::flush`](crate::Store), and their
    /// locks are free before. A repetition of a named one is answered by what it finds.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is accepted then.
    pub async fn enqueue(
        &self,
        tenant: TenantId,
        jobs: &[(&NewJob<'_>, &[NewJobItem])],
    ) -> Result<Vec<EnqueueOutcome>, StoreError> {
        let transaction = if jobs.iter().any(|(job, _)| job.key.is_some()) {
            self.store.begin_keyed(tenant).await?
        } else {
            self.store.begin_unflushed(tenant).await?
        };
        insert_jobs(transaction, (tenant, *self.store.quotas), jobs).await
    }

    /// Accepts the first items of a job; more may be appended until `receiving_until`.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is accepted then.
    pub(crate) async fn open_job(
        &self,
        tenant: TenantId,
        job: &NewJob<'_>,
        new: &NewItems,
        receiving_until: OffsetDateTime,
    ) -> Result<EnqueueOutcome, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let mut insertion =
            Insertion { tenant, quotas: *self.store.quotas, receiving_until: Some(receiving_until), jobs: Vec::new() };
        let outcome = insertion.add(&mut transaction, job, &new.items, &new.refused).await?;
        Ok(insertion.commit(transaction).await?.unwrap_or(outcome))
    }

    /// Appends to a job that is open for more, and keeps it open. No items only keep it open.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is accepted then.
    pub(crate) async fn append_to_job(
        &self,
        tenant: TenantId,
        job: &OpenJob,
        new: &NewItems,
    ) -> Result<AppendOutcome, StoreError> {
        let (count, bytes) = size_of(&new.items)?;
        let added = count + int(new.refused.len())?;
        let mut transaction = self.store.begin(tenant).await?;
        let slot = slot_for(tenant, job.limits, count, bytes);
        if let Some(full) = slot.look(&mut transaction).await? {
            return Ok(AppendOutcome::Full(full));
        }
        // A job has a single sender, so no other transaction changes this number.
        let found =
            sqlx::query!("SELECT items, collection_id FROM job WHERE tenant_id = $1 AND job_id = $2", tenant.0, job.id)
                .fetch_optional(&mut *transaction)
                .await?;
        let Some(found) = found else { return Ok(AppendOutcome::JobClosed) };
        let place = (tenant, found.collection_id);
        if let Err(over) = refuse_arrivals(&mut transaction, place, *self.store.quotas, sources_of(&new.items)).await? {
            return Ok(AppendOutcome::OverQuota(over));
        }
        let numbered_items: Vec<_> = numbered(job.id, found.items, &new.items).collect();
        items::insert(&mut transaction, tenant, &numbered_items, job.now).await?;
        // Runs before the job counts any of these items.
        if let Some(full) = slot.take(&mut transaction, &[]).await? {
            return Ok(AppendOutcome::Full(full));
        }
        insert_refused(&mut transaction, tenant, job.id, found.items + count, &new.refused, job.now).await?;
        // Runs last: from here to the commit the job is locked, and its workers cannot claim.
        let open = sqlx::query!(
            "UPDATE job SET items = items + $3, bytes = bytes + $4, receiving_until = $5, revision = revision + 1
             WHERE tenant_id = $1 AND job_id = $2 AND receiving_until IS NOT NULL AND finished_at IS NULL",
            tenant.0,
            job.id,
            added,
            bytes,
            job.receiving_until,
        )
        .execute(&mut *transaction)
        .await?
        .rows_affected();
        if open == 0 {
            return Ok(AppendOutcome::JobClosed);
        }
        transaction.commit().await?;
        Ok(AppendOutcome::Queued)
    }

    /// Whether a part was appended to a job by a transaction that was to keep it open for as long, though its outcome was not
    /// learned of. Waits for that transaction if it has not ended.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn was_appended(&self, tenant: TenantId, job: &OpenJob) -> Result<bool, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let kept_open = sqlx::query_scalar!(
            "SELECT receiving_until FROM job WHERE tenant_id = $1 AND job_id = $2 FOR UPDATE",
            tenant.0,
            job.id,
        )
        .fetch_optional(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(kept_open.flatten() == Some(job.receiving_until))
    }

    /// Closes a job, complete or broken off; it then ends with its last item. A complete job keeps its name with the
    /// hash of the request; a broken-off one releases it.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn close_job(
        &self,
        tenant: TenantId,
        job: Uuid,
        request_hash: Option<Hash>,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        close(&mut transaction, tenant, job, request_hash).await?;
        transaction.commit().await?;
        self.finish_job(tenant, job, now).await?;
        Ok(())
    }
}

/// Closes a job to further parts; no hash of the whole request means that the request broke off.
pub(in crate::store) async fn close(
    transaction: &mut Tx,
    tenant: TenantId,
    job: Uuid,
    request_hash: Option<Hash>,
) -> Result<(), StoreError> {
    sqlx::query!(
        "UPDATE job SET receiving_until = NULL, is_incomplete = $3, revision = revision + 1
         WHERE tenant_id = $1 AND job_id = $2 AND receiving_until IS NOT NULL",
        tenant.0,
        job,
        request_hash.is_none(),
    )
    .execute(&mut **transaction)
    .await?;
    idempotency::settle(transaction, tenant, job, request_hash).await
}
