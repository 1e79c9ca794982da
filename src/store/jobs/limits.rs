//! What a tenant may have waiting, held exactly.

use sqlx::{Postgres, Transaction};
use uuid::Uuid;

use crate::domain::identity::TenantId;
use crate::store::StoreError;

type Tx = Transaction<'static, Postgres>;

/// Beside the tenant in the name of its lock, so that other locks have other names.
const LOCK: i64 = 0x0063_6974_6564_7131;

/// What a tenant may have waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimits {
    /// Documents.
    pub items: u64,
    /// Bytes of their contents.
    pub bytes: u64,
}

/// More than may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueFull {
    /// `queue_items` or `queue_bytes`.
    pub limit: &'static str,
    /// The limit.
    pub value: u64,
    /// What waits already.
    pub waiting: u64,
    /// What was to be added.
    pub asked: u64,
}

/// What is to wait, and what it may fill.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) struct Room {
    pub(in crate::store) tenant: TenantId,
    pub(in crate::store) limits: QueueLimits,
    /// Documents.
    pub(in crate::store) items: u64,
    /// Bytes of their contents.
    pub(in crate::store) bytes: u64,
}

impl Room {
    /// What stands against it as far as can be told without waiting for others. What is refused here would be refused
    /// in the end.
    pub(in crate::store) async fn look(&self, transaction: &mut Tx) -> Result<Option<QueueFull>, StoreError> {
        self.compare(transaction, None).await
    }

    /// Takes the room, or says what stands against it. Until the transaction ends nobody else of the tenant takes any,
    /// so that it is called when everything else is written: what is left is the commit. `besides` is the job that was
    /// just written.
    pub(in crate::store) async fn take(
        &self,
        transaction: &mut Tx,
        besides: Option<Uuid>,
    ) -> Result<Option<QueueFull>, StoreError> {
        if self.items == 0 {
            return Ok(None);
        }
        // A statement of its own: the one that counts must see what the holder before has committed.
        sqlx::query!("SELECT pg_advisory_xact_lock(hashtextextended($1::uuid::text, $2))", self.tenant.0, LOCK)
            .fetch_one(&mut **transaction)
            .await?;
        self.compare(transaction, besides).await
    }

    async fn compare(&self, transaction: &mut Tx, besides: Option<Uuid>) -> Result<Option<QueueFull>, StoreError> {
        let waiting = sqlx::query!(
            r#"SELECT COALESCE(sum(items - (succeeded + unchanged + failed + cancelled)), 0)::bigint AS "items!",
                      COALESCE(sum(j.bytes - t.bytes - searchable_bytes), 0)::bigint AS "bytes!"
               FROM job j JOIN job_tally t USING (tenant_id, job_id)
               WHERE tenant_id = $1 AND finished_at IS NULL AND kind = 'ingest' AND job_id IS DISTINCT FROM $2"#,
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
