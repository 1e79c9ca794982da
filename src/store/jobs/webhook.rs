//! Webhooks that are due, and the results of their deliveries.

use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::identity::TenantId;
use crate::store::{Jobs, StoreError, Tx};

/// A job's webhook as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WebhookRow {
    /// `waiting`, `delivered` or `failed`.
    pub(crate) state: String,
    /// Delivery attempts for the job's latest end.
    pub(crate) attempts: u32,
    /// Error of the latest attempt.
    pub(crate) last_error: Option<String>,
    /// When it was delivered.
    pub(crate) delivered_at: Option<OffsetDateTime>,
}

/// A webhook to be sent now.
#[derive(Clone, Debug)]
pub(crate) struct DueWebhook {
    /// Owner of the job.
    pub(crate) tenant: TenantId,
    /// The job that ended.
    pub(crate) job: Uuid,
    /// URL that it is sent to.
    pub(crate) url: String,
    /// Number of the job's end that it reports, from 1.
    pub(crate) run: i32,
    /// Number of attempts, including this one.
    pub(crate) attempts: i32,
}

/// Result of a delivery attempt.
#[derive(Clone, Debug)]
pub(crate) enum WebhookOutcome {
    /// The receiver accepted it.
    Delivered,
    /// The delivery failed and will be retried.
    Again {
        /// Earliest time of the next attempt.
        due_at: OffsetDateTime,
        /// Error of the attempt.
        error: String,
    },
    /// The delivery failed and will not be retried.
    Failed {
        /// Error of the attempt.
        error: String,
    },
}

impl Jobs<'_> {
    /// Claims webhooks that are due, of any tenant. The caller has until `until` to record the results; after that they
    /// are due again.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn claim_webhooks(
        &self,
        now: OffsetDateTime,
        until: OffsetDateTime,
        limit: i64,
    ) -> Result<Vec<DueWebhook>, StoreError> {
        let mut transaction = self.store.begin_queue().await?;
        let rows = sqlx::query!(
            "WITH due AS MATERIALIZED (
                 SELECT tenant_id, job_id FROM webhook WHERE state = 'waiting' AND due_at <= $1
                 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED)
             UPDATE webhook w SET due_at = $2, attempts = attempts + 1
             FROM due WHERE w.tenant_id = due.tenant_id AND w.job_id = due.job_id
             RETURNING w.tenant_id, w.job_id, w.url, w.run, w.attempts",
            now,
            until,
            limit,
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(rows
            .into_iter()
            .map(|row| DueWebhook {
                tenant: TenantId(row.tenant_id),
                job: row.job_id,
                url: row.url,
                run: row.run,
                attempts: row.attempts,
            })
            .collect())
    }

    /// Records the result of a delivery attempt, unless the job was retried meanwhile.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn settle_webhook(
        &self,
        hook: &DueWebhook,
        outcome: WebhookOutcome,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let (state, due_at, error, delivered_at) = match outcome {
            WebhookOutcome::Delivered => ("delivered", now, None, Some(now)),
            WebhookOutcome::Again { due_at, error } => ("waiting", due_at, Some(error), None),
            WebhookOutcome::Failed { error } => ("failed", now, Some(error), None),
        };
        let mut transaction = self.store.begin(hook.tenant).await?;
        sqlx::query!(
            "UPDATE webhook SET state = $4, due_at = $5, last_error = $6, delivered_at = $7
             WHERE tenant_id = $1 AND job_id = $2 AND run = $3 AND state = 'waiting'",
            hook.tenant.0,
            hook.job,
            hook.run,
            state,
            due_at,
            error,
            delivered_at,
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }
}

/// Adds a webhook to a new job.
pub(in crate::store) async fn add(
    transaction: &mut Tx,
    tenant: TenantId,
    job: Uuid,
    url: &str,
) -> Result<(), StoreError> {
    sqlx::query!("INSERT INTO webhook (tenant_id, job_id, url) VALUES ($1, $2, $3)", tenant.0, job, url)
        .execute(&mut **transaction)
        .await?;
    Ok(())
}

/// Marks the webhooks of jobs that ended as due.
pub(in crate::store) async fn jobs_ended(
    transaction: &mut Tx,
    tenant: TenantId,
    jobs: &[Uuid],
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    sqlx::query!("UPDATE webhook SET due_at = $3 WHERE tenant_id = $1 AND job_id = ANY ($2)", tenant.0, jobs, now)
        .execute(&mut **transaction)
        .await?;
    Ok(())
}

/// Resets the webhook of a job that is retried: it waits for the job's next end.
pub(in crate::store) async fn job_retried(transaction: &mut Tx, tenant: TenantId, job: Uuid) -> Result<(), StoreError> {
    sqlx::query!(
        "UPDATE webhook SET run = run + 1, state = 'waiting', due_at = 'infinity', attempts = 0, last_error = NULL,
                delivered_at = NULL
         WHERE tenant_id = $1 AND job_id = $2",
        tenant.0,
        job
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

/// Returns the webhooks of those of these jobs that have one.
pub(in crate::store) async fn of_jobs(
    transaction: &mut Tx,
    tenant: TenantId,
    jobs: &[Uuid],
) -> Result<Vec<(Uuid, WebhookRow)>, StoreError> {
    let rows = sqlx::query!(
        "SELECT job_id, state, attempts, last_error, delivered_at FROM webhook WHERE tenant_id = $1 AND job_id = ANY ($2)",
        tenant.0,
        jobs
    )
    .fetch_all(&mut **transaction)
    .await?;
    let webhooks = rows.into_iter().map(|row| {
        let attempts = row.attempts.unsigned_abs();
        let (last_error, delivered_at) = (row.last_error, row.delivered_at);
        (row.job_id, WebhookRow { state: row.state, attempts, last_error, delivered_at })
    });
    Ok(webhooks.collect())
}
