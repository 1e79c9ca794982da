//! The answer cache: answers that may be returned again for the same question.

use std::time::Duration;

use serde_json::Value;
use sqlx::postgres::types::PgInterval;
use uuid::Uuid;

use crate::domain::{fingerprint::Hash, identity::TenantId};
use crate::store::{Asks, StoreError, Tx, turns::Progress};

/// Result of a cache look-up.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CachedState {
    /// The answer is cached and all its documents are unchanged.
    Ready(Value),
    /// Nothing is cached; the caller now holds the claim and is expected to write the answer.
    Claimed,
    /// Nothing is cached; another ask holds the claim and is about to write the answer.
    Pending,
    /// Nothing is cached.
    Missing,
}

/// An answer to store in the cache.
#[derive(Debug)]
pub(crate) struct NewCachedAnswer<'a> {
    /// SHA-256 of all inputs that determine the answer.
    pub(crate) key: Hash,
    /// Draft and sources.
    pub(crate) answer: &'a Value,
    /// How long the entry is valid.
    pub(crate) life: Duration,
    /// Documents that the answer was written from, each once, with their versions.
    pub(crate) documents: Vec<(Uuid, u32)>,
    /// Maximum number of cached answers per tenant.
    pub(crate) most: u32,
}

impl Asks<'_> {
    /// Looks an answer up for a caller who is these principals and may see all that it was written from. If none is cached
    /// and a lease is given, the ask claims the right to write it.
    ///
    /// # Errors
    /// Any [`StoreError`].
    #[tracing::instrument(target = "cited::trace", skip_all, fields(otel.kind = "client", db.system.name = "postgresql"))]
    pub(crate) async fn cached_answer(
        &self,
        tenant: TenantId,
        key: &Hash,
        (ask, caller): (Uuid, Option<&[i32]>),
        lease: Option<Duration>,
    ) -> Result<CachedState, StoreError> {
        let _turn = self.store.turn(tenant, Progress::Begun).await?;
        let row = sqlx::query!(
            r#"SELECT state AS "state!", answer FROM claim_answer($1, $2, $3, $4, $5)"#,
            tenant.0,
            &key[..],
            lease.map(interval) as Option<PgInterval>,
            ask,
            caller,
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

    /// Stores an answer, unless a document that it was written from has changed.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is stored then.
    pub(crate) async fn keep_cached_answer(
        &self,
        tenant: TenantId,
        new: &NewCachedAnswer<'_>,
    ) -> Result<(), StoreError> {
        let (documents, versions): (Vec<Uuid>, Vec<i32>) = new
            .documents
            .iter()
            .map(|(document, version)| (*document, i32::try_from(*version).unwrap_or(i32::MAX)))
            .unzip();
        let _turn = self.store.turn(tenant, Progress::Begun).await?;
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

    /// Releases this ask's claim on an answer, so that another ask can write it; a claim of another ask is left alone.
    ///
    /// # Errors
    /// Any [`StoreError`]; other asks then wait until the lease expires.
    pub(crate) async fn release_cached_answer(
        &self,
        tenant: TenantId,
        key: &Hash,
        ask: Uuid,
    ) -> Result<(), StoreError> {
        let _turn = self.store.turn(tenant, Progress::Begun).await?;
        sqlx::query!("SELECT release_answer($1, $2, $3)", tenant.0, &key[..], ask).execute(self.store.writer()).await?;
        Ok(())
    }

    /// Deletes expired entries of every tenant and returns how many.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn forget_cached_answers(&self) -> Result<u64, StoreError> {
        let mut transaction = self.store.begin_queue().await?;
        let forgotten =
            sqlx::query!("DELETE FROM answer_cache WHERE expires_at < now()").execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(forgotten.rows_affected())
    }
}

/// Deletes the cached answers that were written from these documents and returns how many.
pub(in crate::store) async fn forget_written_from(
    transaction: &mut Tx,
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
