//! Deletes documents and collections: one transaction removes everything that they left anywhere, including items that
//! wait in the queue or for a retry, so that nothing reappears afterwards.
//!
//! Locks are taken in the same order as in a commit: items, collection, documents (by source), statistics.

use sqlx::{Acquire as _, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{identity::TenantId, security_event::SecurityEvent};
use crate::store::{
    Documents, StoreError, Tx, asks::cache::forget_written_from, collections::lock, documents::removal::Removal,
    security_events::record, signed,
};

/// Documents whose chunks one statement deletes.
const PAGE: i64 = 200;

/// Numbers of rows that a delete removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeleteReceipt {
    /// Documents.
    pub(crate) documents: u64,
    /// Chunks.
    pub(crate) chunks: u64,
    /// Vectors.
    pub(crate) vectors: u64,
    /// Lexical statistics entries that were lowered or removed.
    pub(crate) terms: u64,
    /// Cached answers that were written from these documents.
    pub(crate) answers: u64,
    /// Waiting or running items that will not be indexed any more.
    pub(crate) queue_items: u64,
    /// Failed items whose content was kept for a retry.
    pub(crate) failed_items: u64,
}

impl DeleteReceipt {
    fn add(&mut self, other: &Self) {
        let Self { documents, chunks, vectors, terms, answers, queue_items, failed_items } = other;
        self.documents += documents;
        self.chunks += chunks;
        self.vectors += vectors;
        self.terms += terms;
        self.answers += answers;
        self.queue_items += queue_items;
        self.failed_items += failed_items;
    }
}

/// Items that a delete removed from the queue.
#[derive(Debug, Default)]
struct Dropped {
    /// Jobs that lost unfinished items.
    jobs: Vec<Uuid>,
    /// Items that were waiting or running.
    waiting: u64,
    /// Failed items that had kept their content.
    failed: u64,
}

/// Documents by the beginning of their sources.
#[derive(Clone, Debug)]
pub(crate) struct SourcePrefix {
    /// The beginning.
    pub(crate) prefix: String,
    /// Only documents that a caller who is these principals may see.
    pub(crate) caller: Option<Vec<i32>>,
}

/// Selects documents of a collection.
#[derive(Clone, Copy, Debug)]
enum Matching<'a> {
    /// One document, with what was found in it.
    Source(&'a str),
    Prefix(&'a SourcePrefix),
    All,
}

impl<'a> Matching<'a> {
    fn source(self) -> Option<&'a str> {
        if let Self::Source(source) = self { Some(source) } else { None }
    }

    fn prefix(self) -> Option<&'a str> {
        if let Self::Prefix(SourcePrefix { prefix, .. }) = self { Some(prefix) } else { None }
    }

    fn caller(self) -> Option<&'a [i32]> {
        if let Self::Prefix(SourcePrefix { caller, .. }) = self { caller.as_deref() } else { None }
    }
}

impl Documents<'_> {
    /// Deletes a document. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is deleted then.
    pub(crate) async fn delete_document(
        &self,
        tenant: TenantId,
        id: Uuid,
        event: SecurityEvent,
        now: OffsetDateTime,
    ) -> Result<Option<DeleteReceipt>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let Some(row) = sqlx::query!(
            "SELECT collection_id, source FROM document WHERE tenant_id = $1 AND document_id = $2",
            tenant.0,
            id
        )
        .fetch_optional(&mut *transaction)
        .await?
        else {
            return Ok(None);
        };
        self.delete(transaction, (tenant, row.collection_id), Matching::Source(&row.source), event, now).await.map(Some)
    }

    /// Deletes the documents of a collection whose source starts with the prefix. For a caller from whom documents may be
    /// hidden, uploads that wait into a collection with restricted documents stay: they may bring hidden ones.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is deleted then.
    pub(crate) async fn delete_by_prefix(
        &self,
        tenant: TenantId,
        collection: Uuid,
        prefix: &SourcePrefix,
        event: SecurityEvent,
        now: OffsetDateTime,
    ) -> Result<DeleteReceipt, StoreError> {
        let transaction = self.store.begin(tenant).await?;
        self.delete(transaction, (tenant, collection), Matching::Prefix(prefix), event, now).await
    }

    /// Deletes what is stored under a source, with what was found in it, and what waits under it.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is deleted then.
    pub(crate) async fn delete_source(
        &self,
        tenant: TenantId,
        collection: Uuid,
        source: &str,
        event: SecurityEvent,
        now: OffsetDateTime,
    ) -> Result<DeleteReceipt, StoreError> {
        let transaction = self.store.begin(tenant).await?;
        self.delete(transaction, (tenant, collection), Matching::Source(source), event, now).await
    }

    async fn delete(
        &self,
        mut transaction: Tx,
        (tenant, collection): (TenantId, Uuid),
        matching: Matching<'_>,
        event: SecurityEvent,
        now: OffsetDateTime,
    ) -> Result<DeleteReceipt, StoreError> {
        let dropped = drop_own_items(&mut transaction, tenant, collection, matching, now).await?;
        let mut receipt =
            DeleteReceipt { queue_items: dropped.waiting, failed_items: dropped.failed, ..DeleteReceipt::default() };
        // A collection that does not exist any more has nothing left to delete.
        if let Some(active) = lock::lock_shared(&mut transaction, tenant, collection).await? {
            let mut removal = Removal::begin(&mut transaction, tenant, collection, active).await?;
            loop {
                let page = lock_documents(&mut transaction, tenant, collection, matching).await?;
                if page.is_empty() {
                    break;
                }
                receipt.add(&removal.remove(&mut transaction, &page).await?);
            }
            if receipt.documents > 0 {
                receipt.terms = removal.settle(&mut transaction).await?;
            }
        }
        record_number(&mut transaction, event, receipt.documents).await?;
        transaction.commit().await?;
        self.finish_all(tenant, &dropped.jobs, now).await?;
        Ok(receipt)
    }

    /// Deletes a collection with everything in it. Returns `None` if there is none of that name.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is deleted then.
    pub(crate) async fn delete_collection(
        &self,
        tenant: TenantId,
        name: &str,
        event: SecurityEvent,
        now: OffsetDateTime,
    ) -> Result<Option<DeleteReceipt>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let Some(id) = sqlx::query_scalar!(
            "SELECT collection_id FROM collection WHERE tenant_id = $1 AND name = $2",
            tenant.0,
            name
        )
        .fetch_optional(&mut *transaction)
        .await?
        else {
            return Ok(None);
        };
        let dropped = drop_items(&mut transaction, tenant, id, Matching::All, now).await?;
        lock::lock_exclusive(&mut transaction, tenant, id).await?;
        let counts = sqlx::query!(
            r#"SELECT (SELECT count(*) FROM document WHERE tenant_id = $1 AND collection_id = $2) AS "documents!",
                      (SELECT COALESCE(sum(s.chunks), 0)::bigint FROM collection_index k JOIN index_statistic s USING (tenant_id, index_id)
                       WHERE k.tenant_id = $1 AND k.collection_id = $2) AS "chunks!",
                      (SELECT count(*) FROM collection_index k JOIN chunk_embedding e USING (tenant_id, index_id)
                       WHERE k.tenant_id = $1 AND k.collection_id = $2) AS "vectors!",
                      (SELECT count(*) FROM collection_index k JOIN term_statistic t USING (tenant_id, index_id)
                       WHERE k.tenant_id = $1 AND k.collection_id = $2) AS "terms!""#,
            tenant.0,
            id
        )
        .fetch_one(&mut *transaction)
        .await?;
        let documents = sqlx::query_scalar!(
            "SELECT document_id FROM document WHERE tenant_id = $1 AND collection_id = $2",
            tenant.0,
            id
        )
        .fetch_all(&mut *transaction)
        .await?;
        let answers = forget_written_from(&mut transaction, tenant, &documents).await?;
        sqlx::query!("DELETE FROM collection WHERE tenant_id = $1 AND collection_id = $2", tenant.0, id)
            .execute(&mut *transaction)
            .await?;
        record_number(&mut transaction, event, counts.documents.unsigned_abs()).await?;
        transaction.commit().await?;
        self.finish_all(tenant, &dropped.jobs, now).await?;
        Ok(Some(DeleteReceipt {
            documents: counts.documents.unsigned_abs(),
            chunks: counts.chunks.unsigned_abs(),
            vectors: counts.vectors.unsigned_abs(),
            terms: counts.terms.unsigned_abs(),
            answers,
            queue_items: dropped.waiting,
            failed_items: dropped.failed,
        }))
    }

    /// Ends jobs that lost their last items. Runs in a transaction apart from the delete, because a job's row comes
    /// before its items in the lock order.
    async fn finish_all(&self, tenant: TenantId, jobs: &[Uuid], now: OffsetDateTime) -> Result<(), StoreError> {
        for job in jobs {
            self.store.jobs().finish_job(tenant, *job, now).await?;
        }
        Ok(())
    }
}

/// Records how many documents were deleted.
async fn record_number(transaction: &mut Tx, event: SecurityEvent, documents: u64) -> Result<(), StoreError> {
    record(transaction, &SecurityEvent { number: signed(documents), ..event }).await
}

/// Drops items as [`drop_items`] does, and none of a collection with restricted documents for a caller from whom documents
/// may be hidden.
async fn drop_own_items(
    transaction: &mut Tx,
    tenant: TenantId,
    collection: Uuid,
    matching: Matching<'_>,
    now: OffsetDateTime,
) -> Result<Dropped, StoreError> {
    if matching.caller().is_none() {
        return drop_items(transaction, tenant, collection, matching, now).await;
    }
    if is_restricted(transaction, tenant, collection).await? {
        return Ok(Dropped::default());
    }
    // Whoever queues the first restricted document says so of the collection in the same transaction: once its item could be
    // dropped, that can be read.
    let mut attempt = transaction.begin().await?;
    let dropped = drop_items(&mut attempt, tenant, collection, matching, now).await?;
    if is_restricted(&mut attempt, tenant, collection).await? {
        attempt.rollback().await?;
        return Ok(Dropped::default());
    }
    attempt.commit().await?;
    Ok(dropped)
}

async fn is_restricted(connection: &mut PgConnection, tenant: TenantId, collection: Uuid) -> Result<bool, StoreError> {
    let restricted = sqlx::query_scalar!(
        "SELECT is_restricted FROM collection WHERE tenant_id = $1 AND collection_id = $2",
        tenant.0,
        collection
    );
    Ok(restricted.fetch_optional(connection).await?.unwrap_or(false))
}

/// Settles waiting and running items as cancelled: a worker that holds one can no longer store it. Failed items stay
/// failed and lose the content that a retry would need.
async fn drop_items(
    connection: &mut PgConnection,
    tenant: TenantId,
    collection: Uuid,
    matching: Matching<'_>,
    now: OffsetDateTime,
) -> Result<Dropped, StoreError> {
    let (cause, message) = match matching {
        Matching::All => ("collection_deleted", "The collection was deleted before this document was indexed."),
        _ => ("deleted", "A delete of this source came before it was indexed."),
    };
    // The rows are found by two indexes and checked again once locked: a retry may have put a failed item back into the
    // queue.
    let rows = sqlx::query!(
        r#"WITH found AS MATERIALIZED (
               SELECT i.job_id, i.ordinal FROM job j JOIN job_item i USING (tenant_id, job_id)
               WHERE j.tenant_id = $1 AND j.collection_id = $2 AND j.finished_at IS NULL
                 AND i.state IN ('queued', 'running')
                 AND ($3::text IS NULL OR i.source = $3 OR i.payload #>> '{attached_to,source}' = $3) AND ($4::text IS NULL OR starts_with(i.source, $4))
               UNION ALL
               SELECT i.job_id, i.ordinal FROM job j JOIN job_item i USING (tenant_id, job_id)
               WHERE j.tenant_id = $1 AND j.collection_id = $2 AND i.state = 'failed' AND i.content IS NOT NULL
                 AND ($3::text IS NULL OR i.source = $3 OR i.payload #>> '{attached_to,source}' = $3) AND ($4::text IS NULL OR starts_with(i.source, $4))
           ), locked AS MATERIALIZED (
               SELECT i.job_id, i.ordinal, i.state FROM found JOIN job_item i ON i.tenant_id = $1
                 AND i.job_id = found.job_id AND i.ordinal = found.ordinal
               WHERE i.state IN ('queued', 'running') OR (i.state = 'failed' AND i.content IS NOT NULL)
               ORDER BY i.job_id, i.ordinal FOR UPDATE OF i
           ), stopped AS (
               UPDATE job_item i SET state = 'cancelled', payload = NULL, content = NULL, lease_until = NULL,
                      phase = 'store', finished_at = $5, cause = $6, message = $7
               FROM locked WHERE locked.state <> 'failed'
                 AND i.tenant_id = $1 AND i.job_id = locked.job_id AND i.ordinal = locked.ordinal
           ), forgotten AS (
               UPDATE job_item i SET payload = NULL, content = NULL
               FROM locked WHERE locked.state = 'failed'
                 AND i.tenant_id = $1 AND i.job_id = locked.job_id AND i.ordinal = locked.ordinal)
           SELECT job_id, count(*) FILTER (WHERE state <> 'failed') AS "waiting!",
                  count(*) FILTER (WHERE state = 'failed') AS "failed!"
           FROM locked GROUP BY job_id"#,
        tenant.0,
        collection,
        matching.source(),
        matching.prefix(),
        now,
        cause,
        message,
    )
    .fetch_all(connection)
    .await?;
    let mut dropped = Dropped::default();
    for row in rows {
        dropped.waiting += row.waiting.unsigned_abs();
        dropped.failed += row.failed.unsigned_abs();
        if row.waiting > 0 {
            dropped.jobs.push(row.job_id);
        }
    }
    Ok(dropped)
}

async fn lock_documents(
    transaction: &mut Tx,
    tenant: TenantId,
    collection: Uuid,
    matching: Matching<'_>,
) -> Result<Vec<Uuid>, StoreError> {
    Ok(sqlx::query_scalar!(
        "SELECT document_id FROM document
         WHERE tenant_id = $1 AND collection_id = $2
           AND ($3::text IS NULL OR source = $3 OR attached_to = $3) AND ($4::text IS NULL OR starts_with(source, $4)) AND may_see(allowed, denied, $6)
         ORDER BY source LIMIT $5 FOR UPDATE",
        tenant.0,
        collection,
        matching.source(),
        matching.prefix(),
        PAGE,
        matching.caller(),
    )
    .fetch_all(&mut **transaction)
    .await?)
}
