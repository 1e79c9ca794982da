//! Jobs that are over when they are written: one document each.

use sqlx::types::Json;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::job::{Indexing, ItemState, JobKind, JobState, ReadingNotes};
use crate::store::{
    CommitBatch, DirectUpload, FilledItem, JobCounts, JobDetail, JobItemRow, JobRow, ReportedJob, StoreError, Tx, Work,
    documents::chunk::array_literal, jobs::metrics, signed,
};

/// A job whose document is stored.
pub(in crate::store) struct FinishedJob<'a> {
    pub(in crate::store) upload: &'a DirectUpload<'a>,
    /// The document, its chunks, and the texts that were embedded for it.
    pub(in crate::store) filled: FilledItem,
    pub(in crate::store) position: i64,
    pub(in crate::store) work: Work,
    /// Remarks on the reading of its document, if there are any.
    pub(in crate::store) reading: Option<&'a ReadingNotes>,
}

/// Writes jobs of documents of a batch, with their items, counts and work.
pub(in crate::store) async fn insert(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
    jobs: &[FinishedJob<'_>],
) -> Result<(), StoreError> {
    let mut rows = Columns::default();
    for job in jobs {
        rows.push(job);
    }
    sqlx::query!(
        "WITH new AS MATERIALIZED (
             SELECT * FROM UNNEST($6::uuid[], $7::bigint[], $8::timestamptz[], $9::text[], $10::text[], $11::bigint[], $12::text[],
                                  $13::uuid[], $14::int[], $15::int[], $16::jsonb[])
                 AS new (job_id, bytes, created_at, created_by, maker_principals, position, source, document_id, chunks, calls, reading)),
         job AS (
             INSERT INTO job (tenant_id, job_id, collection_id, collection_name, state, items, bytes, created_at, started_at, heartbeat_at,
                              finished_at, indexing, created_by, maker_principals)
             SELECT $1, job_id, $2, $3, 'succeeded', 1, bytes, created_at, created_at, $4, $4, $5, created_by, maker_principals::int[]
             FROM new),
         item AS (
             INSERT INTO job_item (tenant_id, job_id, ordinal, position, source, content_bytes, state, available_at, attempts,
                                   document_id, chunks, embedding_calls, reading, finished_at)
             SELECT $1, job_id, 0, position, source, bytes, CASE WHEN chunks > 0 THEN 'succeeded' ELSE 'unchanged' END, created_at, 1,
                    document_id, chunks, calls, reading, $4 FROM new)
         INSERT INTO job_tally (tenant_id, job_id, succeeded, unchanged, bytes, chunks, embedding_calls, reused_vectors)
         SELECT $1, job_id, (chunks > 0)::int, (chunks = 0)::int, bytes, chunks, calls, greatest(chunks - calls, 0) FROM new",
        batch.tenant.0,
        batch.collection.id,
        &batch.collection.name,
        batch.now,
        Indexing::Complete.as_str(),
        &rows.jobs,
        &rows.bytes,
        &rows.created_at,
        &rows.makers as &[Option<&str>],
        &rows.principals as &[Option<String>],
        &rows.positions,
        &rows.sources as &[&str],
        &rows.documents as &[Option<Uuid>],
        &rows.chunks,
        &rows.calls,
        &rows.readings as &[Option<Json<&ReadingNotes>>],
    )
    .execute(&mut **transaction)
    .await?;
    let works: Vec<_> = jobs.iter().map(|job| (job.upload.job, job.work.clone())).collect();
    metrics::record(transaction, batch.tenant, &works).await
}

/// Finished jobs as columns.
#[derive(Default)]
struct Columns<'a> {
    jobs: Vec<Uuid>,
    bytes: Vec<i64>,
    created_at: Vec<OffsetDateTime>,
    makers: Vec<Option<&'a str>>,
    /// In the text form of arrays, which cannot be unnested.
    principals: Vec<Option<String>>,
    positions: Vec<i64>,
    sources: Vec<&'a str>,
    documents: Vec<Option<Uuid>>,
    chunks: Vec<i32>,
    calls: Vec<i32>,
    readings: Vec<Option<Json<&'a ReadingNotes>>>,
}

impl<'a> Columns<'a> {
    fn push(&mut self, job: &FinishedJob<'a>) {
        let FinishedJob { upload, filled, position, reading, .. } = job;
        self.jobs.push(upload.job);
        self.bytes.push(signed(upload.bytes));
        self.created_at.push(upload.created_at);
        self.makers.push(upload.created_by);
        self.principals.push(upload.maker_principals.map(|numbers| array_literal(numbers.iter().copied())));
        self.positions.push(*position);
        self.sources.push(upload.source);
        self.documents.push(filled.document);
        self.chunks.push(filled.chunks);
        self.calls.push(filled.embedding_calls);
        self.readings.push(reading.map(Json));
    }
}

impl FinishedJob<'_> {
    /// The job as it was written.
    pub(in crate::store) fn report(self, collection: &str, now: OffsetDateTime) -> ReportedJob {
        let Self { upload, filled, work, reading, .. } = self;
        let is_new = filled.chunks > 0;
        let embedding_calls = u64::from(filled.embedding_calls.unsigned_abs());
        let chunks = u64::from(filled.chunks.unsigned_abs());
        let counts = JobCounts {
            items: 1,
            documents: u64::from(is_new),
            unchanged: u64::from(!is_new),
            chunks,
            embedding_calls,
            reused_vectors: chunks.saturating_sub(embedding_calls),
            ..JobCounts::default()
        };
        let row = JobRow {
            id: upload.job,
            collection: collection.to_owned(),
            kind: JobKind::Ingest,
            indexing: Indexing::Complete,
            state: JobState::Succeeded,
            is_receiving: false,
            is_incomplete: false,
            counts,
            created_at: upload.created_at,
            started_at: Some(upload.created_at),
            finished_at: Some(now),
            heartbeat_at: Some(now),
            bytes: upload.bytes,
            settled_bytes: upload.bytes,
            bytes_before: 0,
            items_before: 0,
            revision: 0,
        };
        let item = JobItemRow {
            ordinal: 0,
            source: upload.source.to_owned(),
            state: if is_new { ItemState::Succeeded } else { ItemState::Unchanged },
            document_id: filled.document,
            stage: None,
            cause: None,
            message: None,
            attempts: 1,
            context_gaps: None,
            reading: reading.cloned(),
        };
        ReportedJob { job: row, detail: JobDetail { work, ..JobDetail::default() }, items: vec![item] }
    }
}
