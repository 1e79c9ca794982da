//! Cancels jobs, and retries their failed items.
//!
//! A cancellation first marks the job, which keeps workers from claiming more of it, and then settles its items in
//! pages: a job may have a million. Any worker that finds a marked job with waiting items continues the settlement, in
//! case the process that received the request has died.

use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{identity::TenantId, security_event::SecurityEvent};
use crate::store::{
    Jobs, QueueFull, QueueLimits, StoreError, Tx, jobs::limits::QueueSlot, jobs::webhook, security_events::record,
};

/// Items that one transaction settles.
const PAGE: i64 = 500;
/// Ended jobs that one transaction deletes.
const FORGOTTEN_JOBS: i64 = 100;

/// Result of a request to stop a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CancelOutcome {
    /// There is no such job.
    NotFound,
    /// The job had ended before.
    AlreadyOver,
    /// The job is stopped; nothing more of it is stored.
    Stopped,
}

/// Result of a request to retry a job's failed items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryOutcome {
    /// There is no such job.
    NotFound,
    /// It has not ended yet.
    NotOver,
    /// No item failed, or the content of the failed items is no longer kept.
    NothingToRetry,
    /// This many documents are queued again.
    Queued(u64),
    /// The queue has no room for them now.
    Full(QueueFull),
}

impl Jobs<'_> {
    /// Stops a job: once this returns, nothing more of it is stored. Its waiting items are still to be settled, see
    /// [`Store::settle_cancelled`].
    ///
    /// # Errors
    /// Any [`StoreError`]. The job may be marked by then; in that case it still stops, a little later.
    pub(crate) async fn cancel_job(
        &self,
        tenant: TenantId,
        job: Uuid,
        event: &SecurityEvent,
        now: OffsetDateTime,
    ) -> Result<CancelOutcome, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let row = sqlx::query!(
            r#"UPDATE job SET cancelled_at = COALESCE(cancelled_at, $3), receiving_until = NULL, revision = revision + 1
               WHERE tenant_id = $1 AND job_id = $2 AND finished_at IS NULL RETURNING job_id"#,
            tenant.0,
            job,
            now
        )
        .fetch_optional(&mut *transaction)
        .await?;
        if row.is_none() {
            let exists = sqlx::query!("SELECT job_id FROM job WHERE tenant_id = $1 AND job_id = $2", tenant.0, job)
                .fetch_optional(&mut *transaction)
                .await?;
            return Ok(if exists.is_some() { CancelOutcome::AlreadyOver } else { CancelOutcome::NotFound });
        }
        record(&mut transaction, event).await?;
        transaction.commit().await?;
        let mut transaction = self.store.begin(tenant).await?;
        cancel_items(&mut transaction, tenant, job, "running", now).await?;
        transaction.commit().await?;
        Ok(CancelOutcome::Stopped)
    }

    /// Settles the items of a job that was stopped, and ends it. The call may be dropped at any point: workers and the
    /// reaper settle the remaining items.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn settle_cancelled(
        &self,
        tenant: TenantId,
        job: Uuid,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        loop {
            let mut transaction = self.store.begin(tenant).await?;
            let settled = cancel_page(&mut transaction, tenant, job, now).await?;
            transaction.commit().await?;
            if settled == 0 {
                break;
            }
        }
        self.finish_job(tenant, job, now).await?;
        Ok(())
    }

    /// Stops a job and settles all its items; does nothing if the job has ended.
    ///
    /// # Errors
    /// Any [`StoreError`], as of [`Self::cancel_job`].
    pub(crate) async fn stop_job(
        &self,
        tenant: TenantId,
        job: Uuid,
        event: &SecurityEvent,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        self.cancel_job(tenant, job, event, now).await?;
        self.settle_cancelled(tenant, job, now).await
    }

    /// Puts the failed items of a job that has ended back into the queue, with all their attempts. A streamed job may
    /// have more failed items than the queue accepts: they are accepted when nothing else waits.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing changed then.
    pub(crate) async fn retry_job(
        &self,
        tenant: TenantId,
        job: Uuid,
        limits: QueueLimits,
        event: &SecurityEvent,
        now: OffsetDateTime,
    ) -> Result<RetryOutcome, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let row = sqlx::query!(
            r#"SELECT finished_at, kind = 'ingest' AS "is_limited!" FROM job
               WHERE tenant_id = $1 AND job_id = $2 FOR UPDATE"#,
            tenant.0,
            job
        )
        .fetch_optional(&mut *transaction)
        .await?;
        let is_limited = match row {
            None => return Ok(RetryOutcome::NotFound),
            Some(row) if row.finished_at.is_none() => return Ok(RetryOutcome::NotOver),
            Some(row) => row.is_limited,
        };
        let requeued = requeue_failed(&mut transaction, tenant, job, now).await?;
        if requeued.items == 0 {
            return Ok(RetryOutcome::NothingToRetry);
        }
        let Requeued { items, bytes } = requeued;
        // Items that exceed the limits on their own are accepted once nothing else waits.
        let slot = QueueSlot { tenant, limits, items: items.min(limits.items), bytes: bytes.min(limits.bytes) };
        if is_limited && let Some(full) = slot.take(&mut transaction, &[job]).await? {
            return Ok(RetryOutcome::Full(full));
        }
        reopen(&mut transaction, tenant, job).await?;
        webhook::job_retried(&mut transaction, tenant, job).await?;
        record(&mut transaction, event).await?;
        transaction.commit().await?;
        Ok(RetryOutcome::Queued(items))
    }

    /// Deletes the content of items that failed before `before`: they can no longer be retried. Returns how many.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn forget_failed_content(&self, before: OffsetDateTime) -> Result<u64, StoreError> {
        let mut transaction = self.store.begin_queue().await?;
        let forgotten = sqlx::query!(
            "WITH old AS MATERIALIZED ( -- what a delete or a retry holds is left to it
                 SELECT tenant_id, job_id, ordinal FROM job_item
                 WHERE state = 'failed' AND content IS NOT NULL AND finished_at < $1 FOR UPDATE SKIP LOCKED)
             UPDATE job_item i SET payload = NULL, content = NULL
             FROM old WHERE i.tenant_id = old.tenant_id AND i.job_id = old.job_id AND i.ordinal = old.ordinal",
            before
        )
        .execute(&mut *transaction)
        .await?
        .rows_affected();
        transaction.commit().await?;
        Ok(forgotten)
    }
}

impl Jobs<'_> {
    /// Deletes some of the jobs that ended before `before`, with their items; not the one that an index was last built by.
    /// Returns how many: call it again until it returns 0.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn forget_jobs(&self, before: OffsetDateTime) -> Result<u64, StoreError> {
        let mut transaction = self.store.begin_queue().await?;
        let built_by =
            sqlx::query_scalar!(r#"SELECT k.job_id AS "job_id!" FROM collection_index k WHERE k.job_id IS NOT NULL"#)
                .fetch_all(&mut *transaction)
                .await?;
        let gone = sqlx::query!(
            "SELECT j.tenant_id, j.job_id FROM job j WHERE j.finished_at < $1 AND j.job_id <> ALL ($3)
             LIMIT $2 FOR UPDATE SKIP LOCKED",
            before,
            FORGOTTEN_JOBS,
            &built_by,
        )
        .fetch_all(&mut *transaction)
        .await?;
        let (tenants, jobs): (Vec<Uuid>, Vec<Uuid>) = gone.iter().map(|row| (row.tenant_id, row.job_id)).unzip();
        sqlx::query!(
            "DELETE FROM job j USING unnest($1::uuid[], $2::uuid[]) AS gone (tenant_id, job_id)
             WHERE j.tenant_id = gone.tenant_id AND j.job_id = gone.job_id",
            &tenants,
            &jobs,
        )
        .execute(&mut *transaction)
        .await?;
        sqlx::query!(
            "DELETE FROM job_item i USING unnest($1::uuid[], $2::uuid[]) AS gone (tenant_id, job_id)
             WHERE i.tenant_id = gone.tenant_id AND i.job_id = gone.job_id",
            &tenants,
            &jobs,
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(u64::try_from(gone.len()).unwrap_or(u64::MAX))
    }
}

/// Items of a job that were put back into the queue.
struct Requeued {
    items: u64,
    /// Bytes of those that have to be stored again.
    bytes: u64,
}

/// Puts the failed items of a job back into the queue, with all their attempts.
async fn requeue_failed(
    transaction: &mut Tx,
    tenant: TenantId,
    job: Uuid,
    now: OffsetDateTime,
) -> Result<Requeued, StoreError> {
    let row = sqlx::query!(
        r#"WITH locked AS MATERIALIZED ( -- in order, like everybody else
               SELECT ordinal FROM job_item
               WHERE tenant_id = $1 AND job_id = $2 AND state = 'failed' AND content IS NOT NULL
               ORDER BY ordinal FOR UPDATE
           ), requeued AS (
               UPDATE job_item SET state = 'queued', attempts = 0, failures = 0, lost = '{}', available_at = $3, stage = NULL,
                      cause = NULL, message = NULL, finished_at = NULL
               WHERE tenant_id = $1 AND job_id = $2 AND ordinal = ANY (ARRAY(SELECT ordinal FROM locked))
               RETURNING phase, content_bytes)
           SELECT count(*) AS "items!", COALESCE(sum(content_bytes) FILTER (WHERE phase <> 'embed'), 0)::bigint AS "bytes!" FROM requeued"#,
        tenant.0,
        job,
        now
    )
    .fetch_one(&mut **transaction)
    .await?;
    Ok(Requeued { items: row.items.unsigned_abs(), bytes: row.bytes.unsigned_abs() })
}

/// Makes a job that has ended a queued one; its settled items count as settled before this start.
async fn reopen(transaction: &mut Tx, tenant: TenantId, job: Uuid) -> Result<(), StoreError> {
    sqlx::query!(
        "UPDATE job j SET state = 'queued', finished_at = NULL, started_at = NULL, cancelled_at = NULL,
                heartbeat_at = NULL, bytes_before = t.bytes,
                items_before = t.succeeded + t.unchanged + t.failed + t.cancelled, revision = revision + 1
         FROM job_tally t
         WHERE j.tenant_id = $1 AND j.job_id = $2 AND t.tenant_id = j.tenant_id AND t.job_id = j.job_id",
        tenant.0,
        job
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

/// Settles unfinished items of a job as cancelled, running ones first, at most a page, and returns how many. Items are
/// locked in their order, as in a commit, so that the two cannot deadlock.
pub(in crate::store) async fn cancel_page(
    transaction: &mut Tx,
    tenant: TenantId,
    job: Uuid,
    now: OffsetDateTime,
) -> Result<u64, StoreError> {
    let running = cancel_items(transaction, tenant, job, "running", now).await?;
    Ok(running + cancel_items(transaction, tenant, job, "queued", now).await?)
}

async fn cancel_items(
    transaction: &mut Tx,
    tenant: TenantId,
    job: Uuid,
    state: &str,
    now: OffsetDateTime,
) -> Result<u64, StoreError> {
    // Running items are few, and all of them must be settled at once; waiting items cannot be claimed any more.
    let limit = if state == "running" { i64::MAX } else { PAGE };
    let settled = sqlx::query!(
        "WITH locked AS MATERIALIZED (
             SELECT ordinal FROM job_item WHERE tenant_id = $1 AND job_id = $2 AND state = $3
             ORDER BY ordinal LIMIT $4 FOR UPDATE)
         UPDATE job_item SET state = 'cancelled', payload = NULL, content = NULL, lease_until = NULL,
                finished_at = $5, cause = 'cancelled',
                message = CASE phase WHEN 'embed' THEN 'The job was cancelled before the vectors of this document were made: it is found by its words only. Send it again to have them made.'
                    ELSE 'The job was cancelled before this document was indexed.' END
         WHERE tenant_id = $1 AND job_id = $2 AND ordinal = ANY (ARRAY(SELECT ordinal FROM locked))",
        tenant.0,
        job,
        state,
        limit,
        now
    )
    .execute(&mut **transaction)
    .await?
    .rows_affected();
    Ok(settled)
}
