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
    /// Host and port in it.
    pub(crate) receiver: String,
    /// Number of the job's end that it reports, from 1.
    pub(crate) run: i32,
    /// Number of attempts, including this one.
    pub(crate) attempts: i32,
}

/// Deliveries that a process has under way, as bounds of its next claim.
#[derive(Clone, Debug)]
pub(crate) struct Sending {
    /// The tenant of each.
    pub(crate) tenants: Vec<Uuid>,
    /// Most deliveries of a tenant.
    pub(crate) most_of_tenant: i64,
    /// Receivers that are sent nothing further.
    pub(crate) full_receivers: Vec<String>,
}

/// Result of an attempt to claim a webhook.
enum Attempt {
    Claimed(DueWebhook),
    NothingIsDue,
    /// Another process has claimed the one that was chosen.
    OthersWereFaster,
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
    /// Claims the oldest due webhook of the tenant with the fewest deliveries under way; among equals chance decides, so that
    /// the oldest backlog is not always first. Returns `None` if nothing is due, or only what `sending` leaves no room for.
    /// The caller has until `until` to record the result; after that the webhook is due again.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn claim_webhook(
        &self,
        now: OffsetDateTime,
        until: OffsetDateTime,
        sending: &Sending,
    ) -> Result<Option<DueWebhook>, StoreError> {
        loop {
            match self.claim_webhook_once(now, until, sending).await? {
                Attempt::Claimed(hook) => return Ok(Some(hook)),
                Attempt::NothingIsDue => return Ok(None),
                Attempt::OthersWereFaster => {}
            }
        }
    }

    async fn claim_webhook_once(
        &self,
        now: OffsetDateTime,
        until: OffsetDateTime,
        sending: &Sending,
    ) -> Result<Attempt, StoreError> {
        let mut transaction = self.store.begin_claim().await?;
        let row = sqlx::query!(
            r#"WITH RECURSIVE waiting AS (
                   (SELECT tenant_id FROM webhook WHERE state = 'waiting' ORDER BY tenant_id LIMIT 1)
                   UNION ALL
                   SELECT (SELECT h.tenant_id FROM webhook h WHERE h.state = 'waiting' AND h.tenant_id > w.tenant_id
                           ORDER BY h.tenant_id LIMIT 1)
                   FROM waiting w WHERE w.tenant_id IS NOT NULL
               ), served AS (
                   SELECT tenant_id, count(*) AS deliveries FROM unnest($3::uuid[]) AS sent (tenant_id) GROUP BY tenant_id
               ), first AS MATERIALIZED (
                   SELECT oldest.tenant_id, oldest.job_id
                   FROM waiting w
                   LEFT JOIN served s ON s.tenant_id = w.tenant_id
                   CROSS JOIN LATERAL (
                       -- The oldest alone are looked at, however many wait for a receiver that is full.
                       SELECT tenant_id, job_id FROM (
                           SELECT h.tenant_id, h.job_id, h.url, h.due_at FROM webhook h
                           WHERE h.state = 'waiting' AND h.tenant_id = w.tenant_id AND h.due_at <= $1
                           ORDER BY h.tenant_id, h.due_at LIMIT 100) due
                       WHERE substring(url FROM '://([^/?#]*)') <> ALL ($5)
                       ORDER BY due_at LIMIT 1) AS oldest
                   WHERE COALESCE(s.deliveries, 0) < $4
                   ORDER BY COALESCE(s.deliveries, 0), random() LIMIT 1
               ), claimed AS (
                   -- Of two processes that chose it the second waits here, and finds that it is not due any more.
                   UPDATE webhook w SET due_at = $2, attempts = attempts + 1
                   FROM first WHERE w.tenant_id = first.tenant_id AND w.job_id = first.job_id
                     AND w.state = 'waiting' AND w.due_at <= $1
                   RETURNING w.url, w.run, w.attempts)
               SELECT first.tenant_id AS "tenant_id!", first.job_id AS "job_id!", claimed.url AS "url?",
                      substring(claimed.url FROM '://([^/?#]*)') AS "receiver?", claimed.run AS "run?",
                      claimed.attempts AS "attempts?"
               FROM first LEFT JOIN claimed ON true"#,
            now,
            until,
            &sending.tenants,
            sending.most_of_tenant,
            &sending.full_receivers,
        )
        .fetch_optional(&mut *transaction)
        .await?;
        transaction.commit().await?;
        let Some(row) = row else { return Ok(Attempt::NothingIsDue) };
        let (Some(url), Some(receiver), Some(run), Some(attempts)) = (row.url, row.receiver, row.run, row.attempts)
        else {
            return Ok(Attempt::OthersWereFaster);
        };
        Ok(Attempt::Claimed(DueWebhook {
            tenant: TenantId(row.tenant_id),
            job: row.job_id,
            url,
            receiver,
            run,
            attempts,
        }))
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
