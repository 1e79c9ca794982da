//! Looks up and lists jobs.

use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{
    cost::NanoUsd,
    identity::TenantId,
    job::{Indexing, ItemState, JobKind, JobState, ReadingNotes, Stage},
};
use crate::store::{ContextGaps, ContextWork, Jobs, StoreError, WebhookRow, Work};

/// A job with its counts.
#[derive(Clone, Debug)]
pub struct JobRow {
    /// Identity.
    pub(crate) id: Uuid,
    /// Name of its collection, as requested.
    pub(crate) collection: String,
    /// Kind of work.
    pub(crate) kind: JobKind,
    /// When its documents become searchable.
    pub(crate) indexing: Indexing,
    /// State.
    pub state: JobState,
    /// Whether documents of it are still arriving.
    pub(crate) is_receiving: bool,
    /// Whether its sender broke off before the end of the request.
    pub(crate) is_incomplete: bool,
    /// Sums over its items.
    pub counts: JobCounts,
    /// When it was accepted.
    pub(crate) created_at: OffsetDateTime,
    /// Time of the first claim; after a retry, of the first claim since then.
    pub(crate) started_at: Option<OffsetDateTime>,
    /// When it ended.
    pub(crate) finished_at: Option<OffsetDateTime>,
    /// Last heartbeat of a worker on it.
    pub(crate) heartbeat_at: Option<OffsetDateTime>,
    /// Bytes of the content of all its items.
    pub(crate) bytes: u64,
    /// Bytes of the content of its settled items.
    pub(crate) settled_bytes: u64,
    /// Part of `settled_bytes` that was settled before the job was last started.
    pub(crate) bytes_before: u64,
    /// Number of items that were settled before the job was last started.
    pub(crate) items_before: u64,
    /// Counter that grows with each change that followers want to see, apart from settled items.
    pub(crate) revision: u64,
}

/// Sums over a job's items.
#[derive(Clone, Copy, Debug, Default)]
pub struct JobCounts {
    /// Documents of the request.
    pub(crate) items: u64,
    /// Documents that are stored and found by their words but lack vectors, temporarily or permanently.
    pub(crate) found_by_words: u64,
    /// Documents stored.
    pub(crate) documents: u64,
    /// Chunks stored.
    pub(crate) chunks: u64,
    /// Documents that were already stored.
    pub(crate) unchanged: u64,
    /// Documents that failed.
    pub failed: u64,
    /// Documents that were cancelled.
    pub(crate) cancelled: u64,
    /// Chunk texts that were sent to the embedding model.
    pub(crate) embedding_calls: u64,
    /// Chunks stored whose vector already existed.
    pub(crate) reused_vectors: u64,
}

impl JobCounts {
    /// Returns the number of documents that are in a final state.
    #[must_use]
    pub(crate) const fn settled(&self) -> u64 {
        self.complete() + self.failed + self.cancelled
    }

    /// Returns the number of documents that are found by their words.
    #[must_use]
    pub(crate) const fn searchable(&self) -> u64 {
        self.complete() + self.found_by_words
    }

    /// Returns the number of documents that are found by their words and by their meaning.
    #[must_use]
    pub(crate) const fn complete(&self) -> u64 {
        self.documents + self.unchanged
    }
}

/// Filter for jobs.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobFilter {
    /// Only the job with this id.
    pub(crate) id: Option<Uuid>,
    /// Only jobs that sort before this one, that is, older ones.
    pub(crate) before: Option<Uuid>,
    /// Only jobs in this state.
    pub(crate) state: Option<JobState>,
    /// Only jobs of this kind.
    pub(crate) kind: Option<JobKind>,
    /// Only jobs of collections with these names.
    pub(crate) among: Option<Vec<String>>,
    /// Only jobs whose names this key may know: those that it made, and those of collections in which no document ever was
    /// restricted.
    pub(crate) seen_by: Option<String>,
    /// Only jobs accepted at this time or later.
    pub(crate) created_from: Option<OffsetDateTime>,
    /// Only jobs accepted before this time.
    pub(crate) created_before: Option<OffsetDateTime>,
}

/// Details that are not in a job's row: the work done for it, its failures by cause, and its webhook.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobDetail {
    /// Work done for the job.
    pub(crate) work: Work,
    /// Cause and number of documents, most frequent first.
    pub(crate) failures: Vec<(String, u64)>,
    /// Its webhook, if it has one.
    pub(crate) webhook: Option<WebhookRow>,
    /// Work that the sentences for its chunks took, if any were requested.
    pub(crate) contexts: Option<ContextWork>,
}

/// Selects items of a job.
#[derive(Clone, Copy, Debug)]
pub struct ItemPage {
    /// First ordinal in the request, from 0.
    pub from: i32,
    /// Maximum number of items.
    pub limit: i64,
    /// Only items in this state.
    pub state: Option<ItemState>,
    /// Only items with remarks on the reading of their document.
    pub is_noted: bool,
}

impl ItemPage {
    /// The first items, whatever their state.
    #[must_use]
    pub const fn first(limit: i64) -> Self {
        Self { from: 0, limit, state: None, is_noted: false }
    }
}

/// One document of a job.
#[derive(Clone, Debug)]
pub struct JobItemRow {
    /// Ordinal in the request, from 0.
    pub(crate) ordinal: u32,
    /// Caller's name of the document.
    pub(crate) source: String,
    /// State.
    pub(crate) state: ItemState,
    /// The document that it was stored as.
    pub(crate) document_id: Option<Uuid>,
    /// Stage at which it failed.
    pub(crate) stage: Option<Stage>,
    /// Typed cause.
    pub cause: Option<String>,
    /// Description of the failure and its remedy.
    pub(crate) message: Option<String>,
    /// Number of claims since it was accepted or last retried.
    pub attempts: u32,
    /// Chunks of the stored document that should have a sentence but have none.
    pub(crate) context_gaps: Option<ContextGaps>,
    /// Remarks on the reading of the document.
    pub(crate) reading: Option<ReadingNotes>,
}

/// A row of a query for jobs.
pub(in crate::store) struct StoredJob {
    pub(in crate::store) job_id: Uuid,
    pub(in crate::store) collection_name: String,
    pub(in crate::store) state: String,
    pub(in crate::store) kind: String,
    pub(in crate::store) indexing: String,
    pub(in crate::store) is_receiving: bool,
    pub(in crate::store) is_incomplete: bool,
    pub(in crate::store) items: i32,
    pub(in crate::store) created_at: OffsetDateTime,
    pub(in crate::store) started_at: Option<OffsetDateTime>,
    pub(in crate::store) finished_at: Option<OffsetDateTime>,
    pub(in crate::store) heartbeat_at: Option<OffsetDateTime>,
    pub(in crate::store) bytes: i64,
    pub(in crate::store) bytes_before: i64,
    pub(in crate::store) items_before: i64,
    pub(in crate::store) revision: i64,
    pub(in crate::store) settled_bytes: i64,
    pub(in crate::store) succeeded: i64,
    pub(in crate::store) unchanged: i64,
    pub(in crate::store) failed: i64,
    pub(in crate::store) cancelled: i64,
    pub(in crate::store) chunks: i64,
    pub(in crate::store) embedding_calls: i64,
    pub(in crate::store) reused_vectors: i64,
    pub(in crate::store) searchable: i64,
}

impl TryFrom<StoredJob> for JobRow {
    type Error = StoreError;

    fn try_from(row: StoredJob) -> Result<Self, StoreError> {
        let unknown = |kind: &str, value: &str| StoreError::Inconsistent(format!("{kind} {value}"));
        Ok(Self {
            id: row.job_id,
            kind: JobKind::from_name(&row.kind).ok_or_else(|| unknown("job kind", &row.kind))?,
            indexing: Indexing::from_name(&row.indexing).ok_or_else(|| unknown("indexing", &row.indexing))?,
            state: JobState::from_name(&row.state).ok_or_else(|| unknown("job state", &row.state))?,
            collection: row.collection_name,
            is_receiving: row.is_receiving,
            is_incomplete: row.is_incomplete,
            counts: JobCounts {
                items: u64::from(row.items.unsigned_abs()),
                found_by_words: row.searchable.unsigned_abs(),
                documents: row.succeeded.unsigned_abs(),
                chunks: row.chunks.unsigned_abs(),
                unchanged: row.unchanged.unsigned_abs(),
                failed: row.failed.unsigned_abs(),
                cancelled: row.cancelled.unsigned_abs(),
                embedding_calls: row.embedding_calls.unsigned_abs(),
                reused_vectors: row.reused_vectors.unsigned_abs(),
            },
            created_at: row.created_at,
            started_at: row.started_at,
            finished_at: row.finished_at,
            heartbeat_at: row.heartbeat_at,
            bytes: row.bytes.unsigned_abs(),
            settled_bytes: row.settled_bytes.unsigned_abs(),
            bytes_before: row.bytes_before.unsigned_abs(),
            items_before: row.items_before.unsigned_abs(),
            revision: row.revision.unsigned_abs(),
        })
    }
}

impl JobDetail {
    /// Returns the cost of all model calls.
    #[must_use]
    pub(crate) fn cost(&self) -> NanoUsd {
        self.contexts.map_or(NanoUsd::ZERO, |work| work.cost).plus(self.work.embedding.cost)
    }
}

impl Jobs<'_> {
    /// Returns at most `limit` jobs that pass the filter, newest first.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn jobs(
        &self,
        tenant: TenantId,
        filter: &JobFilter,
        limit: i64,
    ) -> Result<Vec<JobRow>, StoreError> {
        let mut transaction = self.store.begin_keyed(tenant).await?;
        // By a statement of its own: the other one would look them up for a hidden job alone, and tell it by its time.
        let open = if filter.seen_by.is_some() {
            let open = sqlx::query_scalar!(
                "SELECT collection_id FROM collection WHERE tenant_id = $1 AND NOT is_restricted",
                tenant.0,
            );
            open.fetch_all(&mut *transaction).await?
        } else {
            Vec::new()
        };
        let rows = sqlx::query_as!(
            StoredJob,
            r#"SELECT job_id, collection_name, state, kind, indexing, receiving_until IS NOT NULL AS "is_receiving!", is_incomplete, items,
                      created_at, started_at, finished_at, heartbeat_at, j.bytes, bytes_before, items_before, revision, t.bytes AS settled_bytes,
                      succeeded, unchanged, failed, cancelled, chunks, embedding_calls, reused_vectors, searchable
               FROM job j JOIN job_tally t USING (tenant_id, job_id)
               WHERE tenant_id = $1 AND ($2::uuid IS NULL OR job_id = $2) AND ($3::uuid IS NULL OR job_id < $3)
                 AND ($4::text IS NULL OR state = $4) AND ($5::text[] IS NULL OR collection_name = ANY ($5))
                 AND ($6::timestamptz IS NULL OR created_at >= $6) AND ($7::timestamptz IS NULL OR created_at < $7)
                 AND ($9::text IS NULL OR kind = $9)
                 AND ($10::text IS NULL OR created_by = $10 OR j.collection_id = ANY ($11))
               ORDER BY job_id DESC LIMIT $8"#,
            tenant.0,
            filter.id,
            filter.before,
            filter.state.map(JobState::as_str),
            filter.among.as_deref(),
            filter.created_from,
            filter.created_before,
            limit,
            filter.kind.map(JobKind::as_str),
            filter.seen_by,
            &open,
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        rows.into_iter().map(JobRow::try_from).collect()
    }
}
