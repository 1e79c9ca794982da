//! The durable queue: claim, heartbeat, give up.
//!
//! A claim commits before work starts. It hands out a fencing token that every later write of the
//! worker must present; a worker that lost its lease holds an old token and changes nothing
//! (Kleppmann, "How to do distributed locking", 2016).

use serde_json::Value;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::{Store, StoreError, job_control::cancel_page};
use crate::domain::{identity::TenantId, job::Stage};

/// How long a claim lasts and how much it takes.
#[derive(Clone, Copy, Debug)]
pub struct Lease {
    /// Validity without a heartbeat.
    pub duration: Duration,
    /// Most items of one claim.
    pub max_items: i64,
    /// Most bytes of one claim, unless its first item alone has more.
    pub max_bytes: i64,
    /// Workers lost in the midst of work on an item alone, after which it is given up.
    pub max_losses: i32,
}

/// Lost workers after which an item is claimed alone, which tells the one that ends its worker from its neighbours.
pub(super) const LOSSES_IN_COMPANY: i32 = 2;

/// Claims after which an item is given up, whatever the reason: of itself no reason lasts so long.
pub const MAX_CLAIMS: i32 = 20;

/// Items of one job, claimed together.
#[derive(Debug)]
pub struct Claim {
    /// Owner of the job.
    pub tenant: TenantId,
    /// The job.
    pub job_id: Uuid,
    /// Where its documents go.
    pub collection_id: Uuid,
    /// Proof of the claim; larger than that of any earlier claim.
    pub fence: i64,
    /// The items, in request order.
    pub items: Vec<ClaimedItem>,
}

/// One document to ingest.
#[derive(Debug)]
pub struct ClaimedItem {
    /// Place in the request, from 0.
    pub ordinal: i32,
    /// Place in the queue.
    pub position: i64,
    /// Caller's name of the document.
    pub source: String,
    /// Versioned description.
    pub payload: Value,
    /// Bytes as handed in.
    pub content: Vec<u8>,
    /// Claims so far, this one included.
    pub attempts: i32,
    /// Claims so far that ended in a failure of its own that may pass.
    pub failures: i32,
    /// Whether it may be what ends its workers: it is alone in its claim.
    pub is_suspected: bool,
}

/// Why an item was given up.
#[derive(Clone, Debug)]
pub struct ItemFailure {
    /// Place in the request, from 0.
    pub ordinal: i32,
    /// Where.
    pub stage: Stage,
    /// Typed cause, stable.
    pub cause: &'static str,
    /// What to do about it.
    pub message: String,
}

enum Attempt {
    Claimed(Claim),
    NothingWaits,
    JobWasCancelled,
}

impl Store {
    /// Takes the oldest waiting items of one job, or nothing.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn claim(&self, lease: &Lease, now: OffsetDateTime) -> Result<Option<Claim>, StoreError> {
        loop {
            match self.claim_once(lease, now).await? {
                Attempt::Claimed(claim) => return Ok(Some(claim)),
                Attempt::NothingWaits => return Ok(None),
                Attempt::JobWasCancelled => {}
            }
        }
    }

    async fn claim_once(&self, lease: &Lease, now: OffsetDateTime) -> Result<Attempt, StoreError> {
        let mut transaction = self.begin_queue().await?;
        let Some(first) = sqlx::query!(
            "SELECT tenant_id, job_id FROM job_item WHERE state = 'queued' AND available_at <= $1
             ORDER BY position LIMIT 1",
            now
        )
        .fetch_optional(&mut *transaction)
        .await?
        else {
            return Ok(Attempt::NothingWaits);
        };
        // One claim at a time for a job: side by side, each would get some of the other's items and
        // both would be small.
        let job = sqlx::query!(
            r#"SELECT cancelled_at IS NOT NULL AS "is_cancelled!" FROM job
               WHERE tenant_id = $1 AND job_id = $2 FOR UPDATE"#,
            first.tenant_id,
            first.job_id
        )
        .fetch_optional(&mut *transaction)
        .await?;
        if job.is_some_and(|job| job.is_cancelled) {
            // Without the job's lock: whoever stores a running item holds that item, and may need the job.
            transaction.commit().await?;
            let mut transaction = self.begin_queue().await?;
            cancel_page(&mut transaction, TenantId(first.tenant_id), first.job_id, now).await?;
            transaction.commit().await?;
            return Ok(Attempt::JobWasCancelled);
        }
        // A claim ends before what a batch of bounded memory cannot hold, and before an item that is to be alone. The
        // first always has its place.
        let rows = sqlx::query!(
            r#"WITH waiting AS MATERIALIZED (
                   SELECT ordinal, position, content_bytes, cardinality(lost) >= $7 AS is_alone FROM job_item
                   WHERE tenant_id = $1 AND job_id = $2 AND state = 'queued' AND available_at <= $3
                   ORDER BY position LIMIT $4 FOR UPDATE SKIP LOCKED
               ), fitting AS (
                   SELECT ordinal FROM (
                       SELECT ordinal, row_number() OVER in_order AS place, sum(content_bytes) OVER in_order AS bytes,
                              bool_or(is_alone) OVER in_order AS ends
                       FROM waiting WINDOW in_order AS (ORDER BY position)
                   ) totals WHERE place = 1 OR (bytes <= $5::bigint AND NOT ends)
               ), token AS MATERIALIZED (SELECT nextval('job_item_fence') AS fence)
               UPDATE job_item i SET state = 'running', at_risk = false, attempts = attempts + 1, fence = token.fence, lease_until = $6
               FROM fitting, token
               WHERE i.tenant_id = $1 AND i.job_id = $2 AND i.ordinal = fitting.ordinal
               RETURNING i.ordinal, i.position, i.source, i.payload AS "payload!", i.content AS "content!", i.attempts,
                         i.failures, cardinality(i.lost) >= $7 AS "is_suspected!", token.fence AS "fence!""#,
            first.tenant_id,
            first.job_id,
            now,
            lease.max_items,
            lease.max_bytes,
            now + lease.duration,
            LOSSES_IN_COMPANY,
        )
        .fetch_all(&mut *transaction)
        .await?;
        if rows.is_empty() {
            return Ok(Attempt::NothingWaits);
        }
        let job = sqlx::query!(
            "UPDATE job SET state = 'running', started_at = COALESCE(started_at, $3), heartbeat_at = $3, revision = revision + 1
             WHERE tenant_id = $1 AND job_id = $2 AND finished_at IS NULL RETURNING collection_id",
            first.tenant_id,
            first.job_id,
            now
        )
        .fetch_optional(&mut *transaction)
        .await?
        .ok_or_else(|| StoreError::Inconsistent(format!("job {} is over but has waiting items", first.job_id)))?;
        transaction.commit().await?;
        let fence = rows.first().map_or(0, |row| row.fence);
        let mut items: Vec<ClaimedItem> = rows
            .into_iter()
            .map(|row| ClaimedItem {
                ordinal: row.ordinal,
                position: row.position,
                source: row.source,
                payload: row.payload,
                content: row.content,
                attempts: row.attempts,
                failures: row.failures,
                is_suspected: row.is_suspected,
            })
            .collect();
        items.sort_by_key(|item| item.ordinal);
        Ok(Attempt::Claimed(Claim {
            tenant: TenantId(first.tenant_id),
            job_id: first.job_id,
            collection_id: job.collection_id,
            fence,
            items,
        }))
    }

    /// Moves the lease of a claim forward; how many of its items are still held.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn heartbeat(
        &self,
        tenant: TenantId,
        job: Uuid,
        fence: i64,
        lease_until: OffsetDateTime,
    ) -> Result<u64, StoreError> {
        let mut transaction = self.begin_queue().await?;
        let held = sqlx::query!(
            "WITH locked AS MATERIALIZED ( -- in order, like everybody else
                 SELECT ordinal FROM job_item
                 WHERE tenant_id = $1 AND job_id = $2 AND fence = $3 AND state = 'running' ORDER BY ordinal FOR UPDATE)
             UPDATE job_item i SET lease_until = $4 FROM locked
             WHERE i.tenant_id = $1 AND i.job_id = $2 AND i.ordinal = locked.ordinal",
            tenant.0,
            job,
            fence,
            lease_until,
        )
        .execute(&mut *transaction)
        .await?
        .rows_affected();
        transaction.commit().await?;
        Ok(held)
    }

    /// The items of a claim that are still held, in their order.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn held_items(&self, tenant: TenantId, job: Uuid, fence: i64) -> Result<Vec<i32>, StoreError> {
        let mut transaction = self.begin(tenant).await?;
        let held = sqlx::query_scalar!(
            "SELECT ordinal FROM job_item
             WHERE tenant_id = $1 AND job_id = $2 AND fence = $3 AND state = 'running' ORDER BY ordinal",
            tenant.0,
            job,
            fence,
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(held)
    }

    /// Settles items as failed; their content is kept for a retry. Items that the claim no longer holds
    /// stay as they are.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn fail_items(
        &self,
        tenant: TenantId,
        job: Uuid,
        fence: i64,
        failures: &[ItemFailure],
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        if failures.is_empty() {
            return Ok(());
        }
        let mut transaction = self.begin(tenant).await?;
        for failure in failures {
            sqlx::query!(
                "UPDATE job_item SET state = 'failed', stage = $5, cause = $6, message = $7, finished_at = $8,
                        lease_until = NULL
                 WHERE tenant_id = $1 AND job_id = $2 AND ordinal = $3 AND fence = $4 AND state = 'running'",
                tenant.0,
                job,
                failure.ordinal,
                fence,
                failure.stage.as_str(),
                failure.cause,
                failure.message,
                now,
            )
            .execute(&mut *transaction)
            .await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Puts items of a claim back, not to be claimed before `available_at`; `failed` if they themselves failed.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn release_items(
        &self,
        tenant: TenantId,
        job: Uuid,
        fence: i64,
        (ordinals, failed): (&[i32], bool),
        available_at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let mut transaction = self.begin(tenant).await?;
        sqlx::query!(
            "UPDATE job_item SET state = 'queued', lease_until = NULL, available_at = $5, failures = failures + $6
             WHERE tenant_id = $1 AND job_id = $2 AND fence = $3 AND ordinal = ANY ($4) AND state = 'running'",
            tenant.0,
            job,
            fence,
            ordinals,
            available_at,
            i32::from(failed),
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Says whether the suspected item of a claim is worked on at this moment, so that a loss of the worker counts.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn note_risk(
        &self,
        tenant: TenantId,
        job: Uuid,
        fence: i64,
        item: i32,
        at_risk: bool,
    ) -> Result<(), StoreError> {
        let mut transaction = self.begin(tenant).await?;
        sqlx::query!(
            "UPDATE job_item SET at_risk = $5
             WHERE tenant_id = $1 AND job_id = $2 AND ordinal = $4 AND fence = $3 AND state = 'running'",
            tenant.0,
            job,
            fence,
            item,
            at_risk,
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Says of a claim that was taken from its worker that the worker lives: it counts as no loss.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn is_not_lost(
        &self,
        tenant: TenantId,
        job: Uuid,
        fence: i64,
        ordinals: &[i32],
    ) -> Result<(), StoreError> {
        let mut transaction = self.begin(tenant).await?;
        sqlx::query!(
            "WITH locked AS MATERIALIZED ( -- in order, like everybody else
                 SELECT ordinal FROM job_item
                 WHERE tenant_id = $1 AND job_id = $2 AND ordinal = ANY ($4) AND $3 = ANY (lost) ORDER BY ordinal FOR UPDATE)
             UPDATE job_item i SET lost = array_remove(lost, $3) FROM locked
             WHERE i.tenant_id = $1 AND i.job_id = $2 AND i.ordinal = locked.ordinal",
            tenant.0,
            job,
            fence,
            ordinals,
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }
}
