//! Claims items of the durable queue.

use std::collections::BTreeSet;

use serde_json::Value;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{identity::TenantId, job::Indexing};
use crate::store::{
    Jobs, Lease, StoreError, Tx, jobs::content::unpacked, jobs::control::cancel_page, jobs::lease::LOSSES_IN_COMPANY,
};

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

/// Identifies an item: a document of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemKey {
    /// The job.
    pub job: Uuid,
    /// Ordinal in the request, from 0.
    pub ordinal: i32,
}

/// Keys of items as columns.
///
/// Statements look items up by `job_id = ANY (jobs) AND ordinal = ANY (ordinals)`, besides comparing the pairs: a planner
/// without statistics assumes that a job has one item, and would compare each of its items with each row of a join's other
/// side.
pub(in crate::store) struct ItemColumns {
    pub(in crate::store) jobs: Vec<Uuid>,
    pub(in crate::store) ordinals: Vec<i32>,
}

impl FromIterator<ItemKey> for ItemColumns {
    fn from_iter<I: IntoIterator<Item = ItemKey>>(keys: I) -> Self {
        let (jobs, ordinals) = keys.into_iter().map(|key| (key.job, key.ordinal)).unzip();
        Self { jobs, ordinals }
    }
}

/// Identifies a claim. Every write of its worker presents it, and is refused once the claim is lost.
#[derive(Clone, Copy, Debug)]
pub struct ClaimHandle {
    /// Owner of the jobs.
    pub tenant: TenantId,
    /// The phase of all its items.
    pub phase: Phase,
    /// Fencing token; larger than that of any earlier claim.
    pub fence: i64,
}

/// Items claimed together: of one job, or small ones of several jobs that are stored alike.
#[derive(Debug)]
pub struct Claim {
    /// Identity of the claim.
    pub handle: ClaimHandle,
    /// Collection that the documents are stored in.
    pub collection_id: Uuid,
    /// When the documents become searchable.
    pub(crate) indexing: Indexing,
    /// The items, in the order of the queue.
    pub items: Vec<ClaimedItem>,
}

impl Claim {
    /// Bytes of its items as they wait to be read.
    pub(crate) fn bytes(&self) -> usize {
        self.items.iter().map(|item| item.content.len()).sum()
    }
}

/// One document to ingest.
#[derive(Debug)]
pub struct ClaimedItem {
    /// Its identity.
    pub key: ItemKey,
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
    /// Claims the oldest waiting items in this phase, of the tenant that has the fewest claims in it; among equals chance
    /// decides, so that the oldest queue is not always first. Returns `None` if there are none, or only of tenants that
    /// have as many claims as the lease allows.
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
        if first.is_cancelled {
            return self.settle_instead(transaction, first.tenant, first.key.job, now).await;
        }
        let Some(Taken { fence, mut items, sizes }) = take_items(&mut transaction, &first, phase, lease, now).await?
        else {
            // Another transaction, such as a delete, holds the item: an immediate retry would only find it again.
            let still_waits = waits(&mut transaction, &first, phase, now).await?;
            return Ok(if still_waits { Attempt::NothingWaits } else { Attempt::ItemIsGone });
        };
        let jobs: BTreeSet<Uuid> = items.iter().map(|item| item.key.job).collect();
        if let Some(cancelled) = start(&mut transaction, first.tenant, jobs, now).await? {
            return self.settle_instead(transaction, first.tenant, cancelled, now).await;
        }
        transaction.commit().await?;
        for (item, bytes) in items.iter_mut().zip(sizes) {
            item.content = unpacked(std::mem::take(&mut item.content), bytes).await?;
        }
        let handle = ClaimHandle { tenant: first.tenant, phase, fence };
        let QueuedItem { collection_id, indexing, .. } = first;
        let indexing =
            Indexing::from_name(&indexing).ok_or_else(|| StoreError::Inconsistent(format!("indexing {indexing}")))?;
        Ok(Attempt::Claimed(Claim { handle, collection_id, indexing, items }))
    }

    /// Gives a claim up, and settles items of a job that was cancelled. Without the locks of the claim: a transaction that
    /// stores a running item holds that item, and may need the job.
    async fn settle_instead(
        &self,
        claim: Tx,
        tenant: TenantId,
        cancelled: Uuid,
        now: OffsetDateTime,
    ) -> Result<Attempt, StoreError> {
        claim.rollback().await?;
        let mut transaction = self.store.begin_queue().await?;
        cancel_page(&mut transaction, tenant, cancelled, now).await?;
        transaction.commit().await?;
        Ok(Attempt::JobWasCancelled)
    }
}

/// An item of the queue, with those properties of its job that all items of a claim share.
struct QueuedItem {
    tenant: TenantId,
    key: ItemKey,
    collection_id: Uuid,
    kind: String,
    indexing: String,
    is_cancelled: bool,
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
           ), first AS MATERIALIZED (
               SELECT oldest.tenant_id, oldest.job_id, oldest.ordinal
               FROM waiting w
               LEFT JOIN served s ON s.tenant_id = w.tenant_id
               CROSS JOIN LATERAL (
                   SELECT i.tenant_id, i.job_id, i.ordinal FROM job_item i
                   WHERE i.state = 'queued' AND i.phase = $2 AND i.tenant_id = w.tenant_id AND i.available_at <= $1
                     AND ($5::bigint IS NULL OR i.content_bytes < $5)
                   ORDER BY i.phase, i.tenant_id, i.position LIMIT 1) AS oldest
               WHERE ($3::bigint IS NULL OR COALESCE(s.claims, 0) < $3)
                 AND (NOT $4 OR EXISTS (SELECT FROM served others WHERE others.tenant_id <> w.tenant_id))
               ORDER BY COALESCE(s.claims, 0), random() LIMIT 1)
           SELECT tenant_id AS "tenant_id!", job_id AS "job_id!", f.ordinal AS "ordinal!", j.collection_id, j.kind, j.indexing,
                  j.cancelled_at IS NOT NULL AS "is_cancelled!"
           FROM first f JOIN job j USING (tenant_id, job_id)"#,
        now,
        phase.as_str(),
        lease.max_claims,
        lease.beside_others,
        lease.below_bytes,
    )
    .fetch_optional(&mut **transaction)
    .await?;
    Ok(row.map(|row| QueuedItem {
        tenant: TenantId(row.tenant_id),
        key: ItemKey { job: row.job_id, ordinal: row.ordinal },
        collection_id: row.collection_id,
        kind: row.kind,
        indexing: row.indexing,
        is_cancelled: row.is_cancelled,
    }))
}

/// Items that a claim has marked.
struct Taken {
    fence: i64,
    /// With their contents as they were kept.
    items: Vec<ClaimedItem>,
    /// Sizes of these contents.
    sizes: Vec<i64>,
}

/// Marks the oldest waiting items as running that are stored as the first one is. Returns their fencing token with the
/// items in the order of the queue; `None` if all of them are held by other transactions.
///
/// A claim ends before an item that would not fit into a batch of bounded memory, before an item of another job that would
/// make others wait for long, and before an item that has to be claimed alone. The first item always fits.
async fn take_items(
    transaction: &mut Tx,
    first: &QueuedItem,
    phase: Phase,
    lease: &Lease,
    now: OffsetDateTime,
) -> Result<Option<Taken>, StoreError> {
    let mut rows = sqlx::query!(
        r#"WITH oldest AS MATERIALIZED (
               SELECT job_id, ordinal, position, content_bytes, cardinality(lost) >= $7 AS is_alone FROM job_item
               WHERE tenant_id = $1 AND state = 'queued' AND phase = $8 AND available_at <= $3
                 AND ($9::bigint IS NOT NULL OR job_id = $2) AND ($13::bigint IS NULL OR content_bytes < $13)
               ORDER BY phase, tenant_id, position LIMIT $4 FOR UPDATE SKIP LOCKED
           ), fitting AS MATERIALIZED (
               SELECT job_id, ordinal FROM (
                   SELECT job_id, o.ordinal, row_number() OVER in_order AS place, sum(content_bytes) OVER in_order AS bytes,
                          bool_or(is_alone) OVER in_order AS ends, bool_and(job_id = $2) OVER in_order AS is_of_one_job
                   FROM oldest o JOIN job j USING (job_id)
                   WHERE j.tenant_id = $1 AND j.collection_id = $10 AND j.kind = $11 AND j.indexing = $12
                   WINDOW in_order AS (ORDER BY position)
               ) totals WHERE place = 1 OR (NOT ends AND bytes <= CASE WHEN is_of_one_job THEN $5 ELSE $9 END)
           ), token AS MATERIALIZED (SELECT nextval('job_item_fence') AS fence)
           UPDATE job_item i SET state = 'running', at_risk = false, attempts = attempts + 1, fence = token.fence, lease_until = $6
           FROM token
           WHERE i.tenant_id = $1 AND i.job_id = ANY (ARRAY(SELECT job_id FROM fitting))
             AND i.ordinal = ANY (ARRAY(SELECT ordinal FROM fitting))
             AND (i.job_id, i.ordinal) IN (SELECT job_id, ordinal FROM fitting)
           RETURNING i.job_id, i.ordinal, i.position, i.source, i.payload AS "payload!", i.content AS "content!", i.content_bytes, i.attempts,
                     i.stored_version, i.failures, cardinality(i.lost) >= $7 AS "is_suspected!", token.fence AS "fence!""#,
        first.tenant.0,
        first.key.job,
        now,
        lease.max_items,
        lease.max_bytes,
        now + lease.duration,
        LOSSES_IN_COMPANY,
        phase.as_str(),
        lease.max_shared_bytes,
        first.collection_id,
        first.kind,
        first.indexing,
        lease.below_bytes,
    )
    .fetch_all(&mut **transaction)
    .await?;
    let Some(fence) = rows.first().map(|row| row.fence) else { return Ok(None) };
    rows.sort_by_key(|row| row.position);
    let sizes = rows.iter().map(|row| row.content_bytes).collect();
    let items = rows
        .into_iter()
        .map(|row| ClaimedItem {
            key: ItemKey { job: row.job_id, ordinal: row.ordinal },
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
    Ok(Some(Taken { fence, items, sizes }))
}

/// Returns whether an item waits in this phase, and may be claimed by now.
async fn waits(transaction: &mut Tx, item: &QueuedItem, phase: Phase, now: OffsetDateTime) -> Result<bool, StoreError> {
    let row = sqlx::query!(
        "SELECT ordinal FROM job_item
         WHERE tenant_id = $1 AND job_id = $2 AND ordinal = $3 AND state = 'queued' AND phase = $4 AND available_at <= $5",
        item.tenant.0,
        item.key.job,
        item.key.ordinal,
        phase.as_str(),
        now,
    )
    .fetch_optional(&mut **transaction)
    .await?;
    Ok(row.is_some())
}

/// Records that jobs are being processed; returns one of them if it has been cancelled.
async fn start(
    transaction: &mut Tx,
    tenant: TenantId,
    jobs: BTreeSet<Uuid>,
    now: OffsetDateTime,
) -> Result<Option<Uuid>, StoreError> {
    let jobs: Vec<Uuid> = jobs.into_iter().collect();
    let locked = sqlx::query!(
        r#"SELECT job_id, cancelled_at IS NOT NULL AS "is_cancelled!", finished_at IS NOT NULL AS "is_over!" FROM job
           WHERE tenant_id = $1 AND job_id = ANY ($2) ORDER BY job_id FOR UPDATE"#,
        tenant.0,
        &jobs,
    )
    .fetch_all(&mut **transaction)
    .await?;
    if let Some(job) = locked.iter().find(|job| job.is_cancelled) {
        return Ok(Some(job.job_id));
    }
    if let Some(job) = locked.iter().find(|job| job.is_over) {
        return Err(StoreError::Inconsistent(format!("job {} is over but has waiting items", job.job_id)));
    }
    sqlx::query!(
        "UPDATE job SET state = 'running', started_at = COALESCE(started_at, $3), heartbeat_at = $3, revision = revision + 1
         WHERE tenant_id = $1 AND job_id = ANY ($2)",
        tenant.0,
        &jobs,
        now
    )
    .execute(&mut **transaction)
    .await?;
    Ok(None)
}
