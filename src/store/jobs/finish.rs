//! Ends jobs: with their last item, or after their workers were lost.

use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{
    identity::TenantId,
    job::{ItemCounts, JobState},
};
use crate::store::{
    Jobs, Lease, MAX_CLAIMS, StoreError, Tx, Work, jobs::enqueue::close, jobs::lease::LOSSES_IN_COMPANY,
    jobs::metrics::record, jobs::webhook,
};

/// Jobs that one round of the reaper processes.
const JOBS_PER_ROUND: i64 = 1_000;

impl Jobs<'_> {
    /// Records work on jobs and the heartbeat of their worker; returns `false` when all of them have to stop.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn note_work(
        &self,
        tenant: TenantId,
        works: &[(Uuid, Work)],
        now: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.store.begin_keyed(tenant).await?;
        let locked = lock(&mut transaction, tenant, works).await?;
        record(&mut transaction, tenant, works).await?;
        let jobs: Vec<Uuid> = works.iter().map(|(job, _)| *job).collect();
        sqlx::query!(
            "UPDATE job SET heartbeat_at = $3, revision = revision + 1 WHERE tenant_id = $1 AND job_id = ANY ($2)",
            tenant.0,
            &jobs,
            now
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(locked.iter().any(|job| job.goes_on))
    }

    /// Records work on jobs, and ends those whose items are all settled; returns which of them are over. Called after each
    /// settlement has committed, so that the worker that settles last sees all other settlements. Its commit flushes
    /// theirs, before anybody is told.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn finish_jobs(
        &self,
        tenant: TenantId,
        works: &[(Uuid, Work)],
        now: OffsetDateTime,
    ) -> Result<Vec<Uuid>, StoreError> {
        let mut transaction = self.store.begin_keyed(tenant).await?;
        let over = finish(&mut transaction, tenant, works, now).await?;
        transaction.commit().await?;
        Ok(over)
    }

    /// Ends a job if all its items are settled.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn finish_job(&self, tenant: TenantId, job: Uuid, now: OffsetDateTime) -> Result<(), StoreError> {
        self.finish_jobs(tenant, &[(job, Work::default())], now).await?;
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
            finish(&mut transaction, tenant, &[(id, Work::default())], now).await?;
            transaction.commit().await?;
        }
        Ok(())
    }
}

/// A job whose row is locked.
struct LockedJob {
    job_id: Uuid,
    /// Whether it has neither ended nor been cancelled.
    goes_on: bool,
    is_over: bool,
}

/// Locks jobs, in the order that everybody locks them in: what is read of them from then on is what ends them.
async fn lock(transaction: &mut Tx, tenant: TenantId, works: &[(Uuid, Work)]) -> Result<Vec<LockedJob>, StoreError> {
    let jobs: Vec<Uuid> = works.iter().map(|(job, _)| *job).collect();
    Ok(sqlx::query_as!(
        LockedJob,
        r#"SELECT job_id, cancelled_at IS NULL AND finished_at IS NULL AS "goes_on!", finished_at IS NOT NULL AS "is_over!"
           FROM job WHERE tenant_id = $1 AND job_id = ANY ($2) ORDER BY job_id FOR UPDATE"#,
        tenant.0,
        &jobs,
    )
    .fetch_all(&mut **transaction)
    .await?)
}

async fn finish(
    transaction: &mut Tx,
    tenant: TenantId,
    works: &[(Uuid, Work)],
    now: OffsetDateTime,
) -> Result<Vec<Uuid>, StoreError> {
    let locked = lock(transaction, tenant, works).await?;
    record(transaction, tenant, works).await?;
    let open: Vec<Uuid> = locked.iter().filter(|job| !job.is_over).map(|job| job.job_id).collect();
    let ends = ends(transaction, tenant, &open).await?;
    let ended: Vec<Uuid> = ends.iter().map(|(job, _)| *job).collect();
    let worked: Vec<Uuid> = works.iter().filter(|(_, work)| !work.is_empty()).map(|(job, _)| *job).collect();
    if !ended.is_empty() || !worked.is_empty() {
        let states: Vec<&str> = ends.iter().map(|(_, state)| state.as_str()).collect();
        sqlx::query!(
            "UPDATE job j SET revision = revision + 1, state = COALESCE(ending.state, j.state),
                    heartbeat_at = CASE WHEN j.job_id = ANY ($5) THEN $4 ELSE heartbeat_at END,
                    finished_at = CASE WHEN ending.state IS NULL THEN finished_at ELSE $4 END
             FROM UNNEST($2::uuid[] || $5::uuid[]) AS changed (job_id)
             LEFT JOIN UNNEST($2::uuid[], $3::text[]) AS ending (job_id, state) USING (job_id)
             WHERE j.tenant_id = $1 AND j.job_id = changed.job_id AND j.job_id = ANY ($2::uuid[] || $5::uuid[])",
            tenant.0,
            &ended,
            &states as &[&str],
            now,
            &worked,
        )
        .execute(&mut **transaction)
        .await?;
    }
    if !ended.is_empty() {
        webhook::jobs_ended(transaction, tenant, &ended, now).await?;
    }
    let before = locked.iter().filter(|job| job.is_over).map(|job| job.job_id);
    Ok(before.chain(ended.iter().copied()).collect())
}

/// Returns those of these jobs whose items are all settled, with the states that they end in.
async fn ends(transaction: &mut Tx, tenant: TenantId, jobs: &[Uuid]) -> Result<Vec<(Uuid, JobState)>, StoreError> {
    // The stopped items are looked up only at the end: a job may have a million.
    let rows = sqlx::query!(
        r#"SELECT job_id, items, succeeded, unchanged, failed, cancelled, searchable, cancelled_at IS NOT NULL AS "is_cancelled!",
                  CASE WHEN cancelled > 0 AND succeeded + unchanged + failed + cancelled >= items THEN
                      (SELECT count(*) FROM job_item i WHERE i.tenant_id = $1 AND i.job_id = j.job_id AND i.state = 'cancelled' AND i.cause = 'cancelled')
                  ELSE 0 END AS "stopped!"
           FROM job j JOIN job_tally USING (tenant_id, job_id)
           WHERE tenant_id = $1 AND job_id = ANY ($2) AND receiving_until IS NULL"#,
        tenant.0,
        jobs
    )
    .fetch_all(&mut **transaction)
    .await?;
    let ends = rows.into_iter().filter_map(|row| {
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
        Some((row.job_id, counts.terminal_state(row.is_cancelled)?))
    });
    Ok(ends.collect())
}
