//! Ends jobs: with their last item, or after their workers were lost.

use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{identity::TenantId, job::ItemCounts};
use crate::store::{
    Jobs, Lease, MAX_CLAIMS, StoreError, Tx, Work, jobs::enqueue::close, jobs::lease::LOSSES_IN_COMPANY,
    jobs::metrics::record, jobs::webhook,
};

/// Jobs that one round of the reaper processes.
const JOBS_PER_ROUND: i64 = 1_000;

impl Jobs<'_> {
    /// Records work on a job and the heartbeat of its worker; returns `false` when the job has to stop.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn note_work(
        &self,
        tenant: TenantId,
        job: Uuid,
        work: &Work,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let goes_on = record(&mut transaction, tenant, job, work, now).await?;
        transaction.commit().await?;
        Ok(goes_on)
    }

    /// Records the last work of a claim, and ends the job if all its items are settled. Called after each settlement
    /// has committed, so that the worker that settles last sees all other settlements. Its commit flushes theirs, before
    /// anybody is told.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn finish_job(
        &self,
        tenant: TenantId,
        job: Uuid,
        work: &Work,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        if !work.is_empty() {
            record(&mut transaction, tenant, job, work, now).await?;
        }
        finish_if_settled(&mut transaction, tenant, job, now).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Requeues the items of lost workers: items whose lease ran out wait again, or fail after too many workers were
    /// lost with them. Then closes jobs whose sender is gone, stops those that have to stop, and ends those whose items
    /// are all settled. Returns the number of items taken back.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn reap(&self, lease: &Lease, now: OffsetDateTime) -> Result<u64, StoreError> {
        let mut transaction = self.store.begin_queue().await?;
        let given_up = sqlx::query!(
            "UPDATE job_item SET state = 'failed', stage = CASE phase WHEN 'embed' THEN 'embed' ELSE 'load' END, cause = 'worker_lost', finished_at = $2, lease_until = NULL,
                    lost = lost || fence,
                    message = 'A worker was lost each of the last times that it worked on this document, and on nothing else. Split the document, or give the service more memory, and send it again.'
             WHERE state = 'running' AND lease_until < $2
               AND ((at_risk AND cardinality(lost) + 1 >= $1) OR attempts >= $3)",
            LOSSES_IN_COMPANY + lease.max_losses,
            now,
            MAX_CLAIMS,
        )
        .execute(&mut *transaction)
        .await?
        .rows_affected();
        let requeued = sqlx::query!(
            "UPDATE job_item SET state = 'queued', lease_until = NULL,
                    lost = CASE WHEN at_risk OR cardinality(lost) < $2 THEN lost || fence ELSE lost END
             WHERE state = 'running' AND lease_until < $1",
            now,
            LOSSES_IN_COMPANY,
        )
        .execute(&mut *transaction)
        .await?
        .rows_affected();
        transaction.commit().await?;
        self.end_jobs(now).await?;
        Ok(given_up + requeued)
    }

    async fn end_jobs(&self, now: OffsetDateTime) -> Result<(), StoreError> {
        let mut transaction = self.store.begin_queue().await?;
        let due = sqlx::query!(
            r#"SELECT tenant_id, job_id, receiving_until < $1 AS "is_abandoned", cancelled_at IS NOT NULL AS "is_cancelled!"
               FROM job j JOIN job_tally t USING (tenant_id, job_id)
               WHERE finished_at IS NULL
                 AND (receiving_until < $1 OR cancelled_at IS NOT NULL
                      OR (receiving_until IS NULL AND succeeded + unchanged + failed + cancelled >= items))
               ORDER BY created_at LIMIT $2"#,
            now,
            JOBS_PER_ROUND,
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        for job in due {
            let (tenant, id) = (TenantId(job.tenant_id), job.job_id);
            let mut transaction = self.store.begin(tenant).await?;
            if job.is_abandoned == Some(true) {
                close(&mut transaction, tenant, id, None).await?;
                transaction.commit().await?;
                transaction = self.store.begin(tenant).await?;
            }
            if job.is_cancelled {
                transaction.commit().await?;
                self.settle_cancelled(tenant, id, now).await?;
                continue;
            }
            finish_if_settled(&mut transaction, tenant, id, now).await?;
            transaction.commit().await?;
        }
        Ok(())
    }
}

async fn finish_if_settled(
    transaction: &mut Tx,
    tenant: TenantId,
    job: Uuid,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    // The stopped items are looked up only at the end: a job may have a million.
    let Some(row) = sqlx::query!(
        r#"SELECT items, revision, succeeded, unchanged, failed, cancelled, searchable, cancelled_at IS NOT NULL AS "is_cancelled!",
                  CASE WHEN cancelled > 0 AND succeeded + unchanged + failed + cancelled >= items THEN
                      (SELECT count(*) FROM job_item i WHERE i.tenant_id = $1 AND i.job_id = $2 AND i.state = 'cancelled' AND i.cause = 'cancelled')
                  ELSE 0 END AS "stopped!"
           FROM job JOIN job_tally USING (tenant_id, job_id)
           WHERE tenant_id = $1 AND job_id = $2 AND finished_at IS NULL AND receiving_until IS NULL"#,
        tenant.0,
        job
    )
    .fetch_optional(&mut **transaction)
    .await?
    else {
        return Ok(());
    };
    let settled = row.succeeded + row.unchanged + row.failed + row.cancelled;
    let counts = ItemCounts {
        unfinished: u64::try_from(i64::from(row.items) - settled).unwrap_or(0),
        succeeded: row.succeeded.unsigned_abs(),
        unchanged: row.unchanged.unsigned_abs(),
        failed: row.failed.unsigned_abs(),
        stopped: row.stopped.unsigned_abs(),
        dropped: (row.cancelled - row.stopped).unsigned_abs(),
        found_by_words: row.searchable.unsigned_abs(),
    };
    let Some(state) = counts.terminal_state(row.is_cancelled) else { return Ok(()) };
    // Compares the revision: the counts must still hold, and not date from before a retry.
    let updated = sqlx::query!(
        "UPDATE job SET state = $3, finished_at = $4, revision = revision + 1
         WHERE tenant_id = $1 AND job_id = $2 AND finished_at IS NULL AND revision = $5",
        tenant.0,
        job,
        state.as_str(),
        now,
        row.revision
    )
    .execute(&mut **transaction)
    .await?
    .rows_affected();
    if updated == 1 {
        webhook::job_ended(transaction, tenant, job, now).await?;
    }
    Ok(())
}
