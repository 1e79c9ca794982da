//! Accepts documents, either all at once or as they arrive. Accepted documents survive any crash.

use serde_json::Value;
use sqlx::{Postgres, Transaction};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{fingerprint::Hash, identity::TenantId, job::Indexing};
use crate::store::{
    Jobs, QueueFull, QueueLimits, StoreError, Work, jobs::idempotency, jobs::limits::QueueSlot, jobs::webhook,
};

type Tx = Transaction<'static, Postgres>;

/// One document of a request, stored until it is settled.
#[derive(Debug)]
pub struct NewJobItem {
    /// Caller's name of the document.
    pub source: String,
    /// Versioned description of the document.
    pub payload: Value,
    /// Its bytes.
    pub content: Vec<u8>,
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

/// Contents that a job is created with.
#[derive(Debug)]
pub(in crate::store) struct NewItems {
    /// Documents.
    pub(in crate::store) items: Vec<NewJobItem>,
    /// Parts of the request that are not documents.
    pub(in crate::store) refused: Vec<RefusedItem>,
    /// Until when more may be appended; `None` for a job that is complete.
    pub(in crate::store) receiving_until: Option<OffsetDateTime>,
}

/// A job to create.
#[derive(Clone, Debug)]
pub struct NewJob<'a> {
    /// Its identity.
    pub id: Uuid,
    /// Identity and name of the collection.
    pub collection: (Uuid, &'a str),
    /// When its documents become searchable.
    pub indexing: Indexing,
    /// The client's name for the request.
    pub key: Option<RequestKey<'a>>,
    /// URL that is notified when the job ends.
    pub webhook: Option<&'a str>,
    /// Limits on the tenant's waiting documents.
    pub limits: QueueLimits,
    /// Current time.
    pub now: OffsetDateTime,
}

/// A client's name for a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestKey<'a> {
    /// As the client chose it.
    pub(crate) key: &'a str,
    /// Hash of the request; `None` while the request is still arriving.
    pub(crate) request_hash: Option<Hash>,
}

/// The first response to a request.
#[derive(Clone, Debug)]
pub struct FirstAnswer {
    /// The job that was created for the request.
    pub(crate) job: Uuid,
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
}

/// Documents, and parts that are not documents, that arrived together.
pub(crate) type Part = (Vec<NewJobItem>, Vec<RefusedItem>);

/// Result of appending a part to a job.
#[derive(Debug)]
pub(crate) enum AppendOutcome {
    /// Accepted.
    Queued,
    /// The job accepts nothing more: it was cancelled, or closed because its sender was silent for too long.
    JobClosed,
    /// The queue is full; nothing was accepted, and the part is returned.
    Full(QueueFull, Part),
}

impl Jobs<'_> {
    /// Accepts a complete job.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is accepted then.
    pub async fn enqueue(
        &self,
        tenant: TenantId,
        job: &NewJob<'_>,
        items: Vec<NewJobItem>,
    ) -> Result<EnqueueOutcome, StoreError> {
        self.open(tenant, job, items, Vec::new(), None).await
    }

    /// Accepts the first part of a job; more may be appended until `receiving_until`.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is accepted then.
    pub(crate) async fn open_job(
        &self,
        tenant: TenantId,
        job: &NewJob<'_>,
        items: Vec<NewJobItem>,
        refused: Vec<RefusedItem>,
        receiving_until: OffsetDateTime,
    ) -> Result<EnqueueOutcome, StoreError> {
        self.open(tenant, job, items, refused, Some(receiving_until)).await
    }

    async fn open(
        &self,
        tenant: TenantId,
        job: &NewJob<'_>,
        items: Vec<NewJobItem>,
        refused: Vec<RefusedItem>,
        receiving_until: Option<OffsetDateTime>,
    ) -> Result<EnqueueOutcome, StoreError> {
        let transaction = self.store.begin(tenant).await?;
        insert_job(transaction, tenant, job, NewItems { items, refused, receiving_until }).await
    }

    /// Appends to a job that is open for more, and keeps it open until `receiving_until`. An empty part only keeps it
    /// open.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is accepted then.
    pub(crate) async fn append_to_job(
        &self,
        tenant: TenantId,
        job: Uuid,
        limits: QueueLimits,
        (items, refused): Part,
        receiving_until: OffsetDateTime,
        now: OffsetDateTime,
    ) -> Result<AppendOutcome, StoreError> {
        let (count, bytes) = size_of(&items)?;
        let added = count + int(refused.len())?;
        let mut transaction = self.store.begin(tenant).await?;
        let slot = slot_for(tenant, limits, count, bytes);
        if let Some(full) = slot.look(&mut transaction).await? {
            return Ok(AppendOutcome::Full(full, (items, refused)));
        }
        // A job has a single sender, so no other transaction changes this number.
        let first = sqlx::query_scalar!("SELECT items FROM job WHERE tenant_id = $1 AND job_id = $2", tenant.0, job)
            .fetch_optional(&mut *transaction)
            .await?;
        let Some(first) = first else { return Ok(AppendOutcome::JobClosed) };
        insert_items(&mut transaction, tenant, job, first, &items, now).await?;
        // Runs before the job counts any item of this part.
        if let Some(full) = slot.take(&mut transaction, None).await? {
            return Ok(AppendOutcome::Full(full, (items, refused)));
        }
        insert_refused(&mut transaction, tenant, job, first + count, &refused, now).await?;
        // Runs last: from here to the commit the job is locked, and its workers cannot claim.
        let open = sqlx::query!(
            "UPDATE job SET items = items + $3, bytes = bytes + $4, receiving_until = $5, revision = revision + 1
             WHERE tenant_id = $1 AND job_id = $2 AND receiving_until IS NOT NULL AND finished_at IS NULL",
            tenant.0,
            job,
            added,
            bytes,
            receiving_until,
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
        self.finish_job(tenant, job, &Work::default(), now).await?;
        Ok(())
    }
}

/// Accepts a job in a transaction, and commits it if no limit or name conflict prevents that.
pub(in crate::store) async fn insert_job(
    mut transaction: Tx,
    tenant: TenantId,
    job: &NewJob<'_>,
    new: NewItems,
) -> Result<EnqueueOutcome, StoreError> {
    let NewItems { items, refused, receiving_until } = new;
    if let Some(key) = job.key
        && let Some(earlier) = idempotency::claim(&mut transaction, tenant, key, job.id, job.now).await?
    {
        return Ok(earlier);
    }
    let (count, bytes) = size_of(&items)?;
    let slot = slot_for(tenant, job.limits, count, bytes);
    if let Some(full) = slot.look(&mut transaction).await? {
        return Ok(EnqueueOutcome::Full(full));
    }
    sqlx::query!(
        "WITH job AS (
             INSERT INTO job (tenant_id, job_id, collection_id, collection_name, state, items, bytes, receiving_until, created_at, indexing)
             VALUES ($1, $2, $3, $4, 'queued', $5, $6, $7, $8, $9) RETURNING tenant_id, job_id)
         INSERT INTO job_tally (tenant_id, job_id) SELECT tenant_id, job_id FROM job",
        tenant.0,
        job.id,
        job.collection.0,
        job.collection.1,
        count + int(refused.len())?,
        bytes,
        receiving_until,
        job.now,
        job.indexing.as_str(),
    )
    .execute(&mut *transaction)
    .await?;
    if let Some(url) = job.webhook {
        webhook::add(&mut transaction, tenant, job.id, url).await?;
    }
    insert_items(&mut transaction, tenant, job.id, 0, &items, job.now).await?;
    insert_refused(&mut transaction, tenant, job.id, count, &refused, job.now).await?;
    if let Some(full) = slot.take(&mut transaction, Some(job.id)).await? {
        return Ok(EnqueueOutcome::Full(full));
    }
    transaction.commit().await?;
    Ok(EnqueueOutcome::Queued)
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

fn slot_for(tenant: TenantId, limits: QueueLimits, items: i32, bytes: i64) -> QueueSlot {
    QueueSlot { tenant, limits, items: items.unsigned_abs().into(), bytes: bytes.unsigned_abs() }
}

fn size_of(items: &[NewJobItem]) -> Result<(i32, i64), StoreError> {
    let bytes: usize = items.iter().map(|item| item.content.len()).sum();
    let bytes = i64::try_from(bytes).map_err(|_| StoreError::Inconsistent("too many bytes".to_owned()))?;
    Ok((int(items.len())?, bytes))
}

fn int(number: usize) -> Result<i32, StoreError> {
    i32::try_from(number).map_err(|_| StoreError::Inconsistent("too many items".to_owned()))
}

async fn insert_items(
    transaction: &mut Tx,
    tenant: TenantId,
    job: Uuid,
    first: i32,
    items: &[NewJobItem],
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    if items.is_empty() {
        return Ok(());
    }
    let sources: Vec<&str> = items.iter().map(|item| item.source.as_str()).collect();
    let payloads: Vec<&Value> = items.iter().map(|item| &item.payload).collect();
    let contents: Vec<&[u8]> = items.iter().map(|item| item.content.as_slice()).collect();
    sqlx::query!(
        "INSERT INTO job_item (tenant_id, job_id, ordinal, source, payload, content, content_bytes, state, available_at)
         SELECT $1, $2, $3 + ordinality - 1, source, payload, content, length(content), 'queued', $4
         FROM UNNEST($5::text[], $6::jsonb[], $7::bytea[]) WITH ORDINALITY AS item (source, payload, content, ordinality)
         ORDER BY ordinality",
        tenant.0,
        job,
        i64::from(first),
        now,
        &sources as &[&str],
        &payloads as &[&Value],
        &contents as &[&[u8]],
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

async fn insert_refused(
    transaction: &mut Tx,
    tenant: TenantId,
    job: Uuid,
    first: i32,
    items: &[RefusedItem],
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    if items.is_empty() {
        return Ok(());
    }
    let sources: Vec<String> = items.iter().map(|item| item.source.clone()).collect();
    let causes: Vec<String> = items.iter().map(|item| item.cause.to_owned()).collect();
    let messages: Vec<String> = items.iter().map(|item| item.message.clone()).collect();
    sqlx::query!(
        "INSERT INTO job_item (tenant_id, job_id, ordinal, source, content_bytes, state, available_at, stage, cause, message, finished_at)
         SELECT $1, $2, $3 + ordinality - 1, source, 0, 'failed', $4, 'load', cause, message, $4
         FROM UNNEST($5::text[], $6::text[], $7::text[]) WITH ORDINALITY AS item (source, cause, message, ordinality)",
        tenant.0,
        job,
        i64::from(first),
        now,
        &sources,
        &causes,
        &messages,
    )
    .execute(&mut **transaction)
    .await?;
    // The trigger counts only items that become settled, and these were settled from the start.
    sqlx::query!(
        "UPDATE job_tally SET failed = failed + $3 WHERE tenant_id = $1 AND job_id = $2",
        tenant.0,
        job,
        i64::try_from(sources.len()).unwrap_or(i64::MAX),
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}
