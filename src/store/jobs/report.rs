//! Reports on jobs: the work done for them, their failures and their items.

use std::collections::HashMap;

use sqlx::types::Json;
use uuid::Uuid;

use crate::domain::{
    identity::TenantId,
    job::{ItemState, ReadingNotes, Stage},
};
use crate::store::{
    ContextGaps, ItemPage, JobDetail, JobItemRow, JobRow, Jobs, StoreError, Tx,
    documents::chunk_context,
    jobs::{job::StoredJob, metrics, webhook},
};

/// A job with its details and a page of its items.
#[derive(Clone, Debug)]
pub(crate) struct ReportedJob {
    pub(crate) job: JobRow,
    pub(crate) detail: JobDetail,
    pub(crate) items: Vec<JobItemRow>,
}

impl Jobs<'_> {
    /// Returns a job.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn job(&self, tenant: TenantId, id: Uuid) -> Result<Option<JobRow>, StoreError> {
        let mut transaction = self.store.begin_keyed(tenant).await?;
        let job = jobs_of(&mut transaction, tenant, &[id]).await?.pop();
        transaction.commit().await?;
        Ok(job)
    }

    /// Returns the work done for a job, and its failures by cause.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn job_detail(&self, tenant: TenantId, job: Uuid) -> Result<JobDetail, StoreError> {
        let mut transaction = self.store.begin_keyed(tenant).await?;
        let detail = details_of(&mut transaction, tenant, &[job]).await?.remove(&job);
        transaction.commit().await?;
        Ok(detail.unwrap_or_default())
    }

    /// Returns items of a job in request order.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn job_items(&self, tenant: TenantId, job: Uuid, page: ItemPage) -> Result<Vec<JobItemRow>, StoreError> {
        let mut transaction = self.store.begin_keyed(tenant).await?;
        let items = items_of(&mut transaction, tenant, &[job], page).await?.remove(&job);
        transaction.commit().await?;
        Ok(items.unwrap_or_default())
    }

    /// Returns jobs; those that are wanted with details and items, and the others without.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn job_reports(
        &self,
        tenant: TenantId,
        jobs: &[Uuid],
        page: ItemPage,
        is_wanted: impl Fn(&JobRow) -> bool + Send,
    ) -> Result<Vec<ReportedJob>, StoreError> {
        let mut transaction = self.store.begin_keyed(tenant).await?;
        let rows = jobs_of(&mut transaction, tenant, jobs).await?;
        let wanted: Vec<Uuid> = rows.iter().filter(|row| is_wanted(row)).map(|row| row.id).collect();
        let (mut details, mut items) = (HashMap::new(), HashMap::new());
        if !wanted.is_empty() {
            details = details_of(&mut transaction, tenant, &wanted).await?;
            items = items_of(&mut transaction, tenant, &wanted, page).await?;
        }
        transaction.commit().await?;
        let reported = |job: JobRow| ReportedJob {
            detail: details.remove(&job.id).unwrap_or_default(),
            items: items.remove(&job.id).unwrap_or_default(),
            job,
        };
        Ok(rows.into_iter().map(reported).collect())
    }
}

async fn jobs_of(transaction: &mut Tx, tenant: TenantId, jobs: &[Uuid]) -> Result<Vec<JobRow>, StoreError> {
    let rows = sqlx::query_as!(
        StoredJob,
        r#"SELECT job_id, collection_name, state, kind, indexing, receiving_until IS NOT NULL AS "is_receiving!", is_incomplete, items,
                  created_at, started_at, finished_at, heartbeat_at, j.bytes, bytes_before, items_before, revision, t.bytes AS settled_bytes,
                  succeeded, unchanged, failed, cancelled, chunks, embedding_calls, reused_vectors, searchable
           FROM job j JOIN job_tally t USING (tenant_id, job_id)
           WHERE tenant_id = $1 AND job_id = ANY ($2)"#,
        tenant.0,
        jobs,
    )
    .fetch_all(&mut **transaction)
    .await?;
    rows.into_iter().map(JobRow::try_from).collect()
}

async fn details_of(
    transaction: &mut Tx,
    tenant: TenantId,
    jobs: &[Uuid],
) -> Result<HashMap<Uuid, JobDetail>, StoreError> {
    let mut details: HashMap<Uuid, JobDetail> = jobs.iter().map(|job| (*job, JobDetail::default())).collect();
    for (job, work) in metrics::of_jobs(transaction, tenant, jobs).await? {
        details.entry(job).or_default().work = work;
    }
    let failures = sqlx::query!(
        r#"SELECT job_id, COALESCE(cause, 'unknown') AS "cause!", count(*) AS "documents!" FROM job_item
           WHERE tenant_id = $1 AND job_id = ANY ($2) AND state = 'failed' GROUP BY 1, 2 ORDER BY 3 DESC, 2"#,
        tenant.0,
        jobs
    )
    .fetch_all(&mut **transaction)
    .await?;
    for row in failures {
        details.entry(row.job_id).or_default().failures.push((row.cause, row.documents.unsigned_abs()));
    }
    for (job, webhook) in webhook::of_jobs(transaction, tenant, jobs).await? {
        details.entry(job).or_default().webhook = Some(webhook);
    }
    for (job, contexts) in chunk_context::of_jobs(transaction, tenant, jobs).await? {
        details.entry(job).or_default().contexts = Some(contexts);
    }
    Ok(details)
}

async fn items_of(
    transaction: &mut Tx,
    tenant: TenantId,
    jobs: &[Uuid],
    page: ItemPage,
) -> Result<HashMap<Uuid, Vec<JobItemRow>>, StoreError> {
    let rows = sqlx::query!(
        r#"SELECT of_job.job_id AS "job_id!", i.ordinal, i.source, shown AS "state!", i.document_id, i.stage, i.cause, i.message, i.attempts,
                  CASE WHEN i.state = 'succeeded' THEN i.context_gaps END AS "context_gaps: Json<ContextGaps>",
                  i.reading AS "reading: Json<ReadingNotes>"
           FROM UNNEST($2::uuid[]) AS of_job (job_id)
           CROSS JOIN LATERAL (
               SELECT i.*, shown FROM job_item i CROSS JOIN LATERAL (SELECT CASE WHEN state IN ('queued', 'running') AND phase = 'embed'
                   THEN 'searchable' ELSE state END AS shown) AS as_shown
               WHERE tenant_id = $1 AND i.job_id = of_job.job_id AND ordinal >= $3 AND ($4::text IS NULL OR shown = $4)
                 AND (NOT $6::bool OR reading IS NOT NULL)
               ORDER BY ordinal LIMIT $5) AS i
           ORDER BY i.job_id, i.ordinal"#,
        tenant.0,
        jobs,
        page.from,
        page.state.map(ItemState::as_str),
        page.limit,
        page.is_noted,
    )
    .fetch_all(&mut **transaction)
    .await?;
    let mut items: HashMap<Uuid, Vec<JobItemRow>> = HashMap::new();
    for row in rows {
        items.entry(row.job_id).or_default().push(JobItemRow {
            ordinal: row.ordinal.unsigned_abs(),
            source: row.source,
            state: ItemState::from_name(&row.state)
                .ok_or_else(|| StoreError::Inconsistent(format!("item state {}", row.state)))?,
            document_id: row.document_id,
            stage: row.stage.as_deref().and_then(Stage::from_name),
            cause: row.cause,
            message: row.message,
            attempts: row.attempts.unsigned_abs(),
            context_gaps: row.context_gaps.map(|gaps| gaps.0),
            reading: row.reading.map(|reading| reading.0),
        });
    }
    Ok(items)
}
