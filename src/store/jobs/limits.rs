//! Limits on a tenant's waiting documents, enforced exactly.

use uuid::Uuid;

use crate::domain::identity::TenantId;
use crate::store::{StoreError, Tx};

/// Seed of the hash that names the tenant's advisory lock; it keeps this lock apart from others.
const LOCK: i64 = 0x0063_6974_6564_7131;

/// Limits on the documents of a tenant that wait in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimits {
    /// Maximum number of documents.
    pub items: u64,
    /// Maximum bytes of their contents.
    pub bytes: u64,
}

/// Error: a request exceeds a limit of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueFull {
    /// Name of the limit, `queue_items` or `queue_bytes`.
    pub(crate) limit: &'static str,
    /// Value of the limit.
    pub(crate) value: u64,
    /// Amount that waits already.
    pub(crate) waiting: u64,
    /// Amount that was to be added.
    pub(crate) asked: u64,
}

/// A request for a place in the queue, with the limits that apply.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) struct QueueSlot {
    pub(in crate::store) tenant: TenantId,
    pub(in crate::store) limits: QueueLimits,
    /// Documents to add.
    pub(in crate::store) items: u64,
    /// Bytes of their contents.
    pub(in crate::store) bytes: u64,
}

impl QueueSlot {
    /// Returns the limit that the request exceeds, as far as that is known without waiting for other transactions. A
    /// request that is refused here would be refused in the end.
    pub(in crate::store) async fn look(&self, transaction: &mut Tx) -> Result<Option<QueueFull>, StoreError> {
        self.compare(transaction, &[]).await
    }

    /// Takes the place, or returns the limit that the request exceeds. No other transaction of the tenant can take one
    /// until this one ends, so call it when everything else is written and only the commit is left. `besides` are the
    /// jobs that were just written.
    pub(in crate::store) async fn take(
        &self,
        transaction: &mut Tx,
        besides: &[Uuid],
    ) -> Result<Option<QueueFull>, StoreError> {
        if self.items == 0 {
            return Ok(None);
        }
        // A statement of its own: the one that counts must see the commit of the previous lock holder.
        sqlx::query!("SELECT pg_advisory_xact_lock(hashtextextended($1::uuid::text, $2))", self.tenant.0, LOCK)
            .fetch_one(&mut **transaction)
            .await?;
        self.compare(transaction, besides).await
    }

    async fn compare(&self, transaction: &mut Tx, besides: &[Uuid]) -> Result<Option<QueueFull>, StoreError> {
        let waiting = sqlx::query!(
            // Each tally is looked up, whatever the planner knows of the tables.
            r#"SELECT COALESCE(sum(items - (succeeded + unchanged + failed + cancelled)), 0)::bigint AS "items!",
                      COALESCE(sum(j.bytes - t.bytes - searchable_bytes), 0)::bigint AS "bytes!"
               FROM job j CROSS JOIN LATERAL
                    (SELECT * FROM job_tally t WHERE t.tenant_id = $1 AND t.job_id = j.job_id OFFSET 0) t
               WHERE j.tenant_id = $1 AND finished_at IS NULL AND kind = 'ingest' AND j.job_id <> ALL ($2)"#,
            self.tenant.0,
            besides
        )
        .fetch_one(&mut **transaction)
        .await?;
        let asked = [
            ("queue_items", self.limits.items, waiting.items.unsigned_abs(), self.items),
            ("queue_bytes", self.limits.bytes, waiting.bytes.unsigned_abs(), self.bytes),
        ];
        Ok(asked
            .into_iter()
            .find(|(_, value, waiting, asked)| *asked > 0 && waiting.saturating_add(*asked) > *value)
            .map(|(limit, value, waiting, asked)| QueueFull { limit, value, waiting, asked }))
    }
}
