//! Answers that may be given again.

use std::time::Duration;

use serde_json::Value;
use sqlx::{Postgres, Transaction, postgres::types::PgInterval};
use uuid::Uuid;

use crate::domain::{fingerprint::Hash, identity::TenantId};
use crate::store::{Asks, StoreError};

/// What a look-up came to.
#[derive(Clone, Debug, PartialEq)]
pub enum CachedState {
    /// There is an answer, and all its documents are as they were.
    Ready(Value),
    /// There is none, and the caller is to write it.
    Claimed,
    /// Somebody else is about to write it.
    Pending,
    /// There is none.
    Missing,
}

/// An answer to be kept.
#[derive(Debug)]
pub struct NewCachedAnswer<'a> {
    /// SHA-256 of all that decides it.
    pub key: Hash,
    /// Draft and sources.
    pub answer: &'a Value,
    /// How long it is good.
    pub life: Duration,
    /// Documents that it was written from, each once, with their versions.
    pub documents: Vec<(Uuid, u32)>,
    /// Most answers of a tenant.
    pub most: u32,
}

impl Asks<'_> {
    /// Looks an answer up. With a lease the ask takes it upon itself to write it if there is none.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn cached_answer(
        &self,
        tenant: TenantId,
        key: &Hash,
        ask: Uuid,
        lease: Option<Duration>,
    ) -> Result<CachedState, StoreError> {
        let row = sqlx::query!(
            r#"SELECT state AS "state!", answer FROM claim_answer($1, $2, $3, $4)"#,
            tenant.0,
            &key[..],
            lease.map(interval) as Option<PgInterval>,
            ask,
        )
        .fetch_one(self.store.writer())
        .await?;
        match (row.state.as_str(), row.answer) {
            ("ready", Some(answer)) => Ok(CachedState::Ready(answer)),
            ("claimed", _) => Ok(CachedState::Claimed),
            ("pending", _) => Ok(CachedState::Pending),
            ("missing", _) => Ok(CachedState::Missing),
            (other, _) => Err(StoreError::Inconsistent(format!("a cached answer is {other:?}"))),
        }
    }

    /// Keeps an answer, unless a document that it was written from has changed.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is kept then.
    pub async fn keep_cached_answer(&self, tenant: TenantId, new: &NewCachedAnswer<'_>) -> Result<(), StoreError> {
        let (documents, versions): (Vec<Uuid>, Vec<i32>) = new
            .documents
            .iter()
            .map(|(document, version)| (*document, i32::try_from(*version).unwrap_or(i32::MAX)))
            .unzip();
        sqlx::query!(
            "SELECT keep_answer($1, $2, $3, $4, $5, $6, $7)",
            tenant.0,
            &new.key[..],
            new.answer,
            interval(new.life) as PgInterval,
            &documents,
            &versions,
            i32::try_from(new.most).unwrap_or(i32::MAX),
        )
        .execute(self.store.writer())
        .await?;
        Ok(())
    }

    /// Lets others write an answer that this ask took upon itself; a claim of another stays.
    ///
    /// # Errors
    /// Any [`StoreError`]; they then wait until the lease is over.
    pub async fn release_cached_answer(&self, tenant: TenantId, key: &Hash, ask: Uuid) -> Result<(), StoreError> {
        sqlx::query!("SELECT release_answer($1, $2, $3)", tenant.0, &key[..], ask).execute(self.store.writer()).await?;
        Ok(())
    }

    /// Deletes entries whose time is over, of every tenant; how many.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn forget_cached_answers(&self) -> Result<u64, StoreError> {
        let mut transaction = self.store.begin_queue().await?;
        let forgotten =
            sqlx::query!("DELETE FROM answer_cache WHERE expires_at < now()").execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(forgotten.rows_affected())
    }
}

/// Deletes what was written from these documents; how many answers that was.
pub(in crate::store) async fn forget_written_from(
    transaction: &mut Transaction<'static, Postgres>,
    tenant: TenantId,
    documents: &[Uuid],
) -> Result<u64, StoreError> {
    let forgotten = sqlx::query!(
        "DELETE FROM answer_cache a WHERE a.tenant_id = $1 AND a.key IN
             (SELECT s.key FROM answer_source s WHERE s.tenant_id = $1 AND s.document_id = ANY ($2))",
        tenant.0,
        documents,
    )
    .execute(&mut **transaction)
    .await?;
    Ok(forgotten.rows_affected())
}

fn interval(duration: Duration) -> PgInterval {
    PgInterval { months: 0, days: 0, microseconds: i64::try_from(duration.as_micros()).unwrap_or(i64::MAX) }
}
