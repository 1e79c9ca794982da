//! Writes of a worker to the items of its claim, short of storing their documents: the lease extended, items failed or
//! returned to the queue, and the notes by which a loss of the worker is attributed to an item.
//!
//! A claim commits before work starts. It hands out a fencing token that every later write of the worker must present;
//! a worker that lost its lease holds an old token and changes nothing (Kleppmann, "How to do distributed locking",
//! 2016).

use time::{Duration, OffsetDateTime};

use crate::domain::job::Stage;
use crate::store::{ClaimHandle, ItemKey, Jobs, StoreError, jobs::claim::ItemColumns, storable};

/// Duration and size of a claim.
#[derive(Clone, Copy, Debug)]
pub struct Lease {
    /// How long a claim is valid without a heartbeat.
    pub duration: Duration,
    /// Most items of one claim.
    pub max_items: i64,
    /// Most bytes of one claim, unless its first item alone has more.
    pub max_bytes: i64,
    /// Bytes of content from which an item is left to later claims; `None` for items of any size.
    pub below_bytes: Option<i64>,
    /// Most bytes of a claim over several jobs: each of them waits for all. `None` for claims of one job only.
    pub max_shared_bytes: Option<i64>,
    /// Number of workers lost while processing an item alone, after which the item fails.
    pub max_losses: i32,
    /// Most claims of one tenant in one phase, over all workers; `None` for any number.
    pub max_claims: Option<i64>,
    /// Whether only tenants are served while others have claims in the phase: a tenant alone is none.
    pub beside_others: bool,
}

/// Number of lost workers after which an item is claimed alone, which separates the item that crashes its worker from
/// others in the claim.
pub(in crate::store) const LOSSES_IN_COMPANY: i32 = 2;

/// Number of claims after which an item fails for whatever reason: no cause that passes by itself lasts that long.
pub const MAX_CLAIMS: i32 = 20;

/// Failure of an item.
#[derive(Clone, Debug)]
pub struct ItemFailure {
    /// Stage of the failure.
    pub stage: Stage,
    /// Typed cause, stable across releases.
    pub cause: &'static str,
    /// Description of the failure and its remedy.
    pub message: String,
}

impl ItemFailure {
    /// Cause for an item whose collection was deleted: none of its content is kept.
    pub(crate) const COLLECTION_DELETED: &str = "collection_deleted";
}

impl Jobs<'_> {
    /// Extends the lease of a claim and returns how many of its items it still holds.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn heartbeat(&self, claim: ClaimHandle, lease_until: OffsetDateTime) -> Result<u64, StoreError> {
        let mut transaction = self.store.begin_queue().await?;
        let held = sqlx::query!(
            "WITH locked AS MATERIALIZED ( -- in order, like everybody else
                 SELECT job_id, ordinal FROM job_item
                 WHERE phase = $2 AND tenant_id = $1 AND fence = $3 AND state = 'running' ORDER BY job_id, ordinal FOR UPDATE)
             UPDATE job_item SET lease_until = $4
             WHERE tenant_id = $1 AND job_id = ANY (ARRAY(SELECT job_id FROM locked))
               AND ordinal = ANY (ARRAY(SELECT ordinal FROM locked)) AND (job_id, ordinal) IN (SELECT * FROM locked)",
            claim.tenant.0,
            claim.phase.as_str(),
            claim.fence,
            lease_until,
        )
        .execute(&mut *transaction)
        .await?
        .rows_affected();
        transaction.commit().await?;
        Ok(held)
    }

    /// Returns the items that a claim still holds, in their order.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn held_items(&self, claim: ClaimHandle) -> Result<Vec<ItemKey>, StoreError> {
        let mut transaction = self.store.begin(claim.tenant).await?;
        let held = sqlx::query_as!(
            ItemKey,
            "SELECT job_id AS job, ordinal FROM job_item
             WHERE phase = $2 AND tenant_id = $1 AND fence = $3 AND state = 'running' ORDER BY position",
            claim.tenant.0,
            claim.phase.as_str(),
            claim.fence,
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(held)
    }

    /// Settles items as failed. Their content is kept for a retry, unless their collection does not exist any more.
    /// Items that the claim no longer holds are left alone.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn fail_items(
        &self,
        claim: ClaimHandle,
        failures: &[(ItemKey, ItemFailure)],
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        if failures.is_empty() {
            return Ok(());
        }
        let mut transaction = self.store.begin(claim.tenant).await?;
        for (item, failure) in failures {
            sqlx::query!(
                "UPDATE job_item SET state = 'failed', stage = $5, cause = $6, message = $7, finished_at = $8,
                        lease_until = NULL, payload = CASE WHEN $9 THEN payload END, content = CASE WHEN $9 THEN content END
                 WHERE tenant_id = $1 AND job_id = $2 AND ordinal = $3 AND fence = $4 AND state = 'running'",
                claim.tenant.0,
                item.job,
                item.ordinal,
                claim.fence,
                failure.stage.as_str(),
                failure.cause,
                storable(&failure.message),
                now,
                failure.cause != ItemFailure::COLLECTION_DELETED,
            )
            .execute(&mut *transaction)
            .await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Returns items of a claim to the queue, not to be claimed before `available_at`; `failed` if the items themselves
    /// failed.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn release_items(
        &self,
        claim: ClaimHandle,
        items: &[ItemKey],
        failed: bool,
        available_at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let items: ItemColumns = items.iter().copied().collect();
        let mut transaction = self.store.begin(claim.tenant).await?;
        sqlx::query!(
            "UPDATE job_item SET state = 'queued', lease_until = NULL, available_at = $5, failures = failures + $6
             WHERE tenant_id = $1 AND job_id = ANY ($2) AND fence = $3 AND ordinal = ANY ($4) AND state = 'running'
               AND (job_id, ordinal) IN (SELECT * FROM UNNEST($2::uuid[], $4::int[]))",
            claim.tenant.0,
            &items.jobs,
            claim.fence,
            &items.ordinals,
            available_at,
            i32::from(failed),
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Records whether the suspected item of a claim is being processed at this moment, so that a loss of the worker
    /// counts.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn note_risk(&self, claim: ClaimHandle, item: ItemKey, at_risk: bool) -> Result<(), StoreError> {
        let mut transaction = self.store.begin(claim.tenant).await?;
        sqlx::query!(
            "UPDATE job_item SET at_risk = $5
             WHERE tenant_id = $1 AND job_id = $2 AND ordinal = $4 AND fence = $3 AND state = 'running'",
            claim.tenant.0,
            item.job,
            claim.fence,
            item.ordinal,
            at_risk,
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Records that the worker of a revoked claim is still alive, so that the revocation does not count as a loss.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn take_back_loss(&self, claim: ClaimHandle, items: &[ItemKey]) -> Result<(), StoreError> {
        let items: ItemColumns = items.iter().copied().collect();
        let mut transaction = self.store.begin(claim.tenant).await?;
        sqlx::query!(
            "WITH locked AS MATERIALIZED ( -- in order, like everybody else
                 SELECT job_id, ordinal FROM job_item
                 WHERE tenant_id = $1 AND job_id = ANY ($2) AND ordinal = ANY ($4) AND $3 = ANY (lost)
                 ORDER BY job_id, ordinal FOR UPDATE)
             UPDATE job_item SET lost = array_remove(lost, $3)
             WHERE tenant_id = $1 AND job_id = ANY ($2) AND ordinal = ANY ($4) AND (job_id, ordinal) IN (SELECT * FROM locked)",
            claim.tenant.0,
            &items.jobs,
            claim.fence,
            &items.ordinals,
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }
}
