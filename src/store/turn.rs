//! Turns with a collection: many store into it together, one changes it alone.
//!
//! Postgres lets those who share a row's lock past those who wait to have it alone, so that under steady ingest a
//! cut-over would wait for ever. Advisory locks are had in the order in which they were asked for. They are taken before
//! the row of the collection, which is locked with them, and given back with the transaction.

use sqlx::{Postgres, Transaction};
use uuid::Uuid;

use super::{ProfileId, StoreError};
use crate::domain::identity::TenantId;

type Tx = Transaction<'static, Postgres>;

/// What queries of a collection use, for as long as its lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Active {
    /// Its active vector space.
    pub(super) profile: ProfileId,
    /// Its active chunking.
    pub(super) chunking: Uuid,
}

/// Waits until nobody changes the collection, and for those who asked before to do so; none if it is gone.
pub(super) async fn share(
    transaction: &mut Tx,
    tenant: TenantId,
    collection: Uuid,
) -> Result<Option<Active>, StoreError> {
    sqlx::query!("SELECT pg_advisory_xact_lock_shared($1)", key(collection)).fetch_one(&mut **transaction).await?;
    let row = sqlx::query!(
        "SELECT profile_id, chunking_id FROM collection WHERE tenant_id = $1 AND collection_id = $2 FOR SHARE",
        tenant.0,
        collection
    )
    .fetch_optional(&mut **transaction)
    .await?;
    Ok(row.map(|row| Active { profile: ProfileId(row.profile_id), chunking: row.chunking_id }))
}

/// Waits until nobody stores into the collection or changes it; who asks later waits. None if it is gone.
pub(super) async fn alone(
    transaction: &mut Tx,
    tenant: TenantId,
    collection: Uuid,
) -> Result<Option<Active>, StoreError> {
    sqlx::query!("SELECT pg_advisory_xact_lock($1)", key(collection)).fetch_one(&mut **transaction).await?;
    let row = sqlx::query!(
        "SELECT profile_id, chunking_id FROM collection WHERE tenant_id = $1 AND collection_id = $2 FOR UPDATE",
        tenant.0,
        collection
    )
    .fetch_optional(&mut **transaction)
    .await?;
    Ok(row.map(|row| Active { profile: ProfileId(row.profile_id), chunking: row.chunking_id }))
}

/// The random end of a version 7 UUID. Two collections with the same wait for each other, and nothing else.
fn key(collection: Uuid) -> i64 {
    let (_, end) = collection.as_u64_pair();
    end.cast_signed()
}
