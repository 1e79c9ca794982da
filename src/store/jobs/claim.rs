//! Claims items of the durable queue.

use serde_json::Value;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{identity::TenantId, job::Indexing};
use crate::store::{Jobs, Lease, StoreError, Tx, jobs::control::cancel_page, jobs::lease::LOSSES_IN_COMPANY};

/// Phase of an item. Items of different phases are claimed separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The document is still to be fetched by its URL, and to be stored.
    Fetch,
    /// The document is still to be stored.
    Store,
    /// The document is stored and found by its words; its vectors are still to be made.
    Embed,
}

impl Phase {
    /// Returns the phase's value in the database.
    pub(in crate::store) const fn as_str(self) -> &'static str {
        match self {
            Self::Fetch => "fetch",
            Self::Store => "store",
            Self::Embed => "embed",
        }
    }
}

/// Identifies a claim. Every write of its worker presents it, and is refused once the claim is lost.
#[derive(Clone, Copy, Debug)]
pub struct ClaimHandle {
    /// Owner of the job.
    pub tenant: TenantId,
    /// The job.
    pub job_id: Uuid,
    /// Fencing token; larger than that of any earlier claim.
    pub fence: i64,
}

/// Items of one job, claimed together.
#[derive(Debug)]
pub struct Claim {
    /// Identity of the claim.
    pub handle: ClaimHandle,
    /// Collection that the documents are stored in.
    pub collection_id: Uuid,
    /// The phase of all its items.
    pub(crate) phase: Phase,
    /// When the documents become searchable.
    pub(crate) indexing: Indexing,
    /// The items, in request order.
    pub items: Vec<ClaimedItem>,
}

/// One document to ingest.
#[derive(Debug)]
pub struct ClaimedItem {
    /// Ordinal in the request, from 0.
    pub ordinal: i32,
    /// Position in the queue.
    pub(crate) position: i64,
    /// Caller's name of the document.
    pub(crate) source: String,
    /// Versioned description of the document.
    pub(crate) payload: Value,
    /// Bytes as uploaded.
    pub(crate) content: Vec<u8>,
    /// Version of its document that is stored and lacks vectors; `None` while no version is stored.
    pub(crate) stored_version: Option<i32>,
    /// Number of claims so far, including this one.
    pub attempts: i32,
    /// Number of claims so far that ended in a temporary failure of the item itself.
    pub(crate) failures: i32,
    /// Whether the item is suspected of crashing its workers; it is then the only one in its claim.
    pub is_suspected: bool,
}

/// Advisory lock of claims that are limited in number.
const COUNTED_CLAIMS: i64 = 0x6369_7465_645f_636c;

enum Attempt {
    Claimed(Claim),
    NothingWaits,
    JobWasCancelled,
    /// The selected item no longer waits: another claim or a delete was faster.
    ItemIsGone,
}

impl Jobs<'_> {
    /// Claims the oldest waiting items of one job in this phase, of the tenant that has the fewest claims in it; among
    /// equals chance decides, so that the oldest queue is not always first. Returns `None` if there are none, or only of
    /// tenants that have as many claims as the lease allows.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn claim(&self, phase: Phase, lease: &Lease, now: OffsetDateTime) -> Result<Option<Claim>, StoreError> {
        loop {
            match self.claim_once(phase, lease, now).await? {
                Attempt::Claimed(claim) => return Ok(Some(claim)),
                Attempt::NothingWaits => return Ok(None),
                Attempt::JobWasCancelled | Attempt::ItemIsGone => {}
            }
        }
    }

    async fn claim_once(&self, phase: Phase, lease: &Lease, now: OffsetDateTime) -> Result<Attempt, StoreError> {
        let mut transaction = self.store.begin_claim().await?;
        if lease.max_claims.is_some() {
            // Two claims at once would not count each other.
            sqlx::query!("SELECT pg_advisory_xact_lock($1)", COUNTED_CLAIMS).fetch_one(&mut *transaction).await?;
        }
        let Some(first) = first_waiting(&mut transaction, phase, lease, now).await? else {
            return Ok(Attempt::NothingWaits);
        };
        if lock_job(&mut transaction, &first).await? == JobState::Cancelled {
            // Continues without the job's lock: a transaction that stores a running item holds that item, and may need
            // the job.
            transaction.commit().await?;
            let mut transaction = self.store.begin_queue().await?;
            cancel_page(&mut transaction, first.tenant, first.job, now).await?;
            transaction.commit().await?;
            return Ok(Attempt::JobWasCancelled);
        }
        let Some((fence, items)) = take_items(&mut transaction, &first, phase, lease, now).await? else {
            // Another transaction, such as a delete, holds the item: an immediate retry would only find it again.
            let still_waits = waits(&mut transaction, &first, phase, now).await?;
            return Ok(if still_waits { Attempt::NothingWaits } else { Attempt::ItemIsGone });
        };
        let (collection_id, indexing) = start(&mut transaction, first.tenant, first.job, now).await?;
        transaction.commit().await?;
        let handle = ClaimHandle { tenant: first.tenant, job_id: first.job, fence };
        Ok(Attempt::Claimed(Claim { handle, collection_id, phase, indexing, items }))
    }
}

/// An item of the queue.
struct QueuedItem {
    tenant: TenantId,
    job: Uuid,
    ordinal: i32,
}

/// Returns the oldest waiting item in this phase of the tenant whose turn it is. The tenants that wait are found by one
/// look into the index each.
async fn first_waiting(
    transaction: &mut Tx,
    phase: Phase,
    lease: &Lease,
    now: OffsetDateTime,
) -> Result<Option<QueuedItem>, StoreError> {
    let row = sqlx::query!(
        r#"WITH RECURSIVE waiting AS (
               (SELECT tenant_id FROM job_item WHERE state = 'queued' AND phase = $2 ORDER BY phase, tenant_id LIMIT 1)
               UNION ALL
               SELECT (SELECT i.tenant_id FROM job_item i
                       WHERE i.state = 'queued' AND i.phase = $2 AND i.tenant_id > w.tenant_id
                       ORDER BY i.phase, i.tenant_id LIMIT 1)
               FROM waiting w WHERE w.tenant_id IS NOT NULL
           ), served AS (
               SELECT tenant_id, count(DISTINCT fence) AS claims FROM job_item
               WHERE state = 'running' AND phase = $2 GROUP BY tenant_id
           )
           SELECT oldest.tenant_id AS "tenant_id!", oldest.job_id AS "job_id!", oldest.ordinal AS "ordinal!"
           FROM waiting w
           LEFT JOIN served s ON s.tenant_id = w.tenant_id
           CROSS JOIN LATERAL (
               SELECT i.tenant_id, i.job_id, i.ordinal FROM job_item i
               WHERE i.state = 'queued' AND i.phase = $2 AND i.tenant_id = w.tenant_id AND i.available_at <= $1
               ORDER BY i.phase, i.tenant_id, i.position LIMIT 1) AS oldest
           WHERE $3::bigint IS NULL OR COALESCE(s.claims, 0) < $3
           ORDER BY COALESCE(s.claims, 0), random() LIMIT 1"#,
        now,
        phase.as_str(),
        lease.max_claims,
    )
    .fetch_optional(&mut **transaction)
    .await?;
    Ok(row.map(|row| QueuedItem { tenant: TenantId(row.tenant_id), job: row.job_id, ordinal: row.ordinal }))
}

#[derive(PartialEq, Eq)]
enum JobState {
    Claimable,
    Cancelled,
}

/// Locks the job of an item, so that there is one claim at a time per job: concurrent claims would each get some of the
/// other's items and would both be small.
async fn lock_job(transaction: &mut Tx, item: &QueuedItem) -> Result<JobState, StoreError> {
    let row = sqlx::query!(
        r#"SELECT cancelled_at IS NOT NULL AS "is_cancelled!" FROM job
           WHERE tenant_id = $1 AND job_id = $2 FOR UPDATE"#,
        item.tenant.0,
        item.job
    )
    .fetch_optional(&mut **transaction)
    .await?;
    let is_cancelled = row.is_some_and(|row| row.is_cancelled);
    Ok(if is_cancelled { JobState::Cancelled } else { JobState::Claimable })
}

/// Marks the oldest waiting items of the first one's job as running. Returns their fencing token with the items in
/// request order; `None` if all of them are held by other transactions.
///
/// Items are looked up by an array, here and wherever several items of a job are changed: a planner without statistics
/// assumes that a job has one item, and would compare each of its items with each row of a join's other side. A claim
/// ends before an item that would not fit into a batch of bounded memory, and before an item that has to be claimed
/// alone. The first item always fits.
async fn take_items(
    transaction: &mut Tx,
    first: &QueuedItem,
    phase: Phase,
    lease: &Lease,
    now: OffsetDateTime,
) -> Result<Option<(i64, Vec<ClaimedItem>)>, StoreError> {
    let rows = sqlx::query!(
        r#"WITH waiting AS MATERIALIZED (
               SELECT ordinal, position, content_bytes, cardinality(lost) >= $7 AS is_alone FROM job_item
               WHERE tenant_id = $1 AND job_id = $2 AND state = 'queued' AND available_at <= $3
                 AND phase = $8
               ORDER BY position LIMIT $4 FOR UPDATE SKIP LOCKED
           ), fitting AS (
               SELECT ordinal FROM (
                   SELECT ordinal, row_number() OVER in_order AS place, sum(content_bytes) OVER in_order AS bytes,
                          bool_or(is_alone) OVER in_order AS ends
                   FROM waiting WINDOW in_order AS (ORDER BY position)
               ) totals WHERE place = 1 OR (bytes <= $5::bigint AND NOT ends)
           ), token AS MATERIALIZED (SELECT nextval('job_item_fence') AS fence)
           UPDATE job_item i SET state = 'running', at_risk = false, attempts = attempts + 1, fence = token.fence, lease_until = $6
           FROM token
           WHERE i.tenant_id = $1 AND i.job_id = $2 AND i.ordinal = ANY (ARRAY(SELECT ordinal FROM fitting))
           RETURNING i.ordinal, i.position, i.source, i.payload AS "payload!", i.content AS "content!", i.attempts,
                     i.stored_version, i.failures, cardinality(i.lost) >= $7 AS "is_suspected!", token.fence AS "fence!""#,
        first.tenant.0,
        first.job,
        now,
        lease.max_items,
        lease.max_bytes,
        now + lease.duration,
        LOSSES_IN_COMPANY,
        phase.as_str(),
    )
    .fetch_all(&mut **transaction)
    .await?;
    let Some(fence) = rows.first().map(|row| row.fence) else { return Ok(None) };
    let mut items: Vec<ClaimedItem> = rows
        .into_iter()
        .map(|row| ClaimedItem {
            ordinal: row.ordinal,
            position: row.position,
            source: row.source,
            payload: row.payload,
            content: row.content,
            stored_version: row.stored_version,
            attempts: row.attempts,
            failures: row.failures,
            is_suspected: row.is_suspected,
        })
        .collect();
    items.sort_by_key(|item| item.ordinal);
    Ok(Some((fence, items)))
}

/// Returns whether an item waits in this phase, and may be claimed by now.
async fn waits(transaction: &mut Tx, item: &QueuedItem, phase: Phase, now: OffsetDateTime) -> Result<bool, StoreError> {
    let row = sqlx::query!(
        "SELECT ordinal FROM job_item
         WHERE tenant_id = $1 AND job_id = $2 AND ordinal = $3 AND state = 'queued' AND phase = $4 AND available_at <= $5",
        item.tenant.0,
        item.job,
        item.ordinal,
        phase.as_str(),
        now,
    )
    .fetch_optional(&mut **transaction)
    .await?;
    Ok(row.is_some())
}

/// Records that a job is being processed; returns its collection, and when its documents become searchable.
async fn start(
    transaction: &mut Tx,
    tenant: TenantId,
    job: Uuid,
    now: OffsetDateTime,
) -> Result<(Uuid, Indexing), StoreError> {
    let row = sqlx::query!(
        "UPDATE job SET state = 'running', started_at = COALESCE(started_at, $3), heartbeat_at = $3, revision = revision + 1
             WHERE tenant_id = $1 AND job_id = $2 AND finished_at IS NULL RETURNING collection_id, indexing",
        tenant.0,
        job,
        now
    )
    .fetch_optional(&mut **transaction)
    .await?
    .ok_or_else(|| StoreError::Inconsistent(format!("job {job} is over but has waiting items")))?;
    let indexing = Indexing::from_name(&row.indexing)
        .ok_or_else(|| StoreError::Inconsistent(format!("indexing {}", row.indexing)))?;
    Ok((row.collection_id, indexing))
}
