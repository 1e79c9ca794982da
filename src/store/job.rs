//! Jobs: accept, look up, list.

use serde_json::Value;
use time::OffsetDateTime;
use uuid::Uuid;

use super::{Store, StoreError};
use crate::domain::{
    identity::TenantId,
    job::{ItemState, JobState, Stage},
};

/// One document of a request, to be kept until it is settled.
#[derive(Debug)]
pub struct NewJobItem {
    /// Caller's name of the document.
    pub source: String,
    /// Versioned description.
    pub payload: Value,
    /// Its bytes.
    pub content: Vec<u8>,
}

/// A job with its counts.
#[derive(Clone, Debug)]
pub struct JobRow {
    /// Identity.
    pub id: Uuid,
    /// Collection as requested.
    pub collection: String,
    /// State.
    pub state: JobState,
    /// Sums over its items.
    pub counts: JobCounts,
    /// When it was accepted.
    pub created_at: OffsetDateTime,
    /// First claim.
    pub started_at: Option<OffsetDateTime>,
    /// When it ended.
    pub finished_at: Option<OffsetDateTime>,
}

/// Sums over a job's items.
#[derive(Clone, Copy, Debug, Default)]
pub struct JobCounts {
    /// Documents of the request.
    pub items: u64,
    /// Documents stored.
    pub documents: u64,
    /// Chunks stored.
    pub chunks: u64,
    /// Documents that were there already.
    pub unchanged: u64,
    /// Documents given up.
    pub failed: u64,
    /// Chunk texts that were sent to the embedding model.
    pub embedding_calls: u64,
}

/// One document of a job.
#[derive(Clone, Debug)]
pub struct JobItemRow {
    /// Place in the request, from 0.
    pub ordinal: u32,
    /// Caller's name of the document.
    pub source: String,
    /// State.
    pub state: ItemState,
    /// The document it became.
    pub document_id: Option<Uuid>,
    /// Where it failed.
    pub stage: Option<Stage>,
    /// Typed cause.
    pub cause: Option<String>,
    /// What to do about it.
    pub message: Option<String>,
    /// Times it was claimed.
    pub attempts: u32,
}

impl Store {
    /// Accepts a job: once this returns, its documents survive any crash.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn enqueue(
        &self,
        tenant: TenantId,
        job_id: Uuid,
        collection: (Uuid, &str),
        items: Vec<NewJobItem>,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let count = i32::try_from(items.len()).map_err(|_| StoreError::Inconsistent("too many items".to_owned()))?;
        let mut sources = Vec::with_capacity(items.len());
        let mut payloads = Vec::with_capacity(items.len());
        let mut contents = Vec::with_capacity(items.len());
        for item in items {
            sources.push(item.source);
            payloads.push(item.payload);
            contents.push(item.content);
        }
        let mut transaction = self.begin(tenant).await?;
        sqlx::query!(
            "INSERT INTO job (tenant_id, job_id, collection_id, collection_name, state, items, created_at)
             VALUES ($1, $2, $3, $4, 'queued', $5, $6)",
            tenant.0,
            job_id,
            collection.0,
            collection.1,
            count,
            now,
        )
        .execute(&mut *transaction)
        .await?;
        sqlx::query!(
            "INSERT INTO job_item (tenant_id, job_id, ordinal, source, payload, content, content_bytes, state, available_at)
             SELECT $1, $2, ordinality - 1, source, payload, content, length(content), 'queued', $6
             FROM UNNEST($3::text[], $4::jsonb[], $5::bytea[]) WITH ORDINALITY AS item (source, payload, content, ordinality)
             ORDER BY ordinality",
            tenant.0,
            job_id,
            &sources,
            &payloads,
            &contents,
            now,
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// A job by identity.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn job(&self, tenant: TenantId, id: Uuid) -> Result<Option<JobRow>, StoreError> {
        Ok(self.jobs(tenant, Some(id), None, None, 1).await?.pop())
    }

    /// Jobs, newest first: only `id`, or those before `before`, or those in `state`; at most `limit`.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn jobs(
        &self,
        tenant: TenantId,
        id: Option<Uuid>,
        before: Option<Uuid>,
        state: Option<JobState>,
        limit: i64,
    ) -> Result<Vec<JobRow>, StoreError> {
        let mut transaction = self.begin(tenant).await?;
        let rows = sqlx::query!(
            r#"SELECT j.job_id, j.collection_name, j.state, j.items, j.created_at, j.started_at, j.finished_at,
                      c.documents AS "documents!", c.chunks AS "chunks!", c.unchanged AS "unchanged!",
                      c.failed AS "failed!", c.embedding_calls AS "embedding_calls!"
               FROM (SELECT * FROM job
                     WHERE tenant_id = $1 AND ($2::uuid IS NULL OR job_id = $2) AND ($3::uuid IS NULL OR job_id < $3)
                       AND ($4::text IS NULL OR state = $4)
                     ORDER BY job_id DESC LIMIT $5) j
               CROSS JOIN LATERAL (
                   SELECT count(*) FILTER (WHERE state = 'succeeded') AS documents,
                          COALESCE(sum(chunks) FILTER (WHERE state = 'succeeded'), 0) AS chunks,
                          count(*) FILTER (WHERE state = 'unchanged') AS unchanged,
                          count(*) FILTER (WHERE state = 'failed') AS failed,
                          COALESCE(sum(embedding_calls), 0) AS embedding_calls
                   FROM job_item i WHERE i.tenant_id = j.tenant_id AND i.job_id = j.job_id) c
               ORDER BY j.job_id DESC"#,
            tenant.0,
            id,
            before,
            state.map(JobState::as_str),
            limit,
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        rows.into_iter()
            .map(|row| {
                Ok(JobRow {
                    id: row.job_id,
                    collection: row.collection_name,
                    state: JobState::from_name(&row.state)
                        .ok_or_else(|| StoreError::Inconsistent(format!("job state {}", row.state)))?,
                    counts: JobCounts {
                        items: u64::from(row.items.unsigned_abs()),
                        documents: row.documents.unsigned_abs(),
                        chunks: row.chunks.unsigned_abs(),
                        unchanged: row.unchanged.unsigned_abs(),
                        failed: row.failed.unsigned_abs(),
                        embedding_calls: row.embedding_calls.unsigned_abs(),
                    },
                    created_at: row.created_at,
                    started_at: row.started_at,
                    finished_at: row.finished_at,
                })
            })
            .collect()
    }

    /// Items of a job in request order, from place `from` on, at most `limit`.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn job_items(
        &self,
        tenant: TenantId,
        job: Uuid,
        from: i32,
        limit: i64,
    ) -> Result<Vec<JobItemRow>, StoreError> {
        let mut transaction = self.begin(tenant).await?;
        let rows = sqlx::query!(
            "SELECT ordinal, source, state, document_id, stage, cause, message, attempts FROM job_item
             WHERE tenant_id = $1 AND job_id = $2 AND ordinal >= $3 ORDER BY ordinal LIMIT $4",
            tenant.0,
            job,
            from,
            limit,
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        rows.into_iter()
            .map(|row| {
                Ok(JobItemRow {
                    ordinal: row.ordinal.unsigned_abs(),
                    source: row.source,
                    state: ItemState::from_name(&row.state)
                        .ok_or_else(|| StoreError::Inconsistent(format!("item state {}", row.state)))?,
                    document_id: row.document_id,
                    stage: row.stage.as_deref().and_then(Stage::from_name),
                    cause: row.cause,
                    message: row.message,
                    attempts: row.attempts.unsigned_abs(),
                })
            })
            .collect()
    }
}
