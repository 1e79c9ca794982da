//! The lock of a collection: many store into it together, one changes its indexes alone.
//!
//! Postgres lets those who share a row's lock past those who wait to have it alone, so that under steady ingest an
//! activation would wait for ever. Advisory locks are granted in the order in which they were asked for. They are taken
//! before the row of the collection, which is locked with them, and released with the transaction.

use sqlx::{Postgres, Transaction};
use uuid::Uuid;

use crate::domain::identity::TenantId;
use crate::store::StoreError;

type Tx = Transaction<'static, Postgres>;

/// Locks a collection for storing into it, after everybody who asked to change it; returns its active index, which stays
/// so until the transaction ends. `None` if the collection is gone.
pub(in crate::store) async fn lock_shared(
    transaction: &mut Tx,
    tenant: TenantId,
    collection: Uuid,
) -> Result<Option<Uuid>, StoreError> {
    sqlx::query!("SELECT pg_advisory_xact_lock_shared($1)", key(collection)).fetch_one(&mut **transaction).await?;
    Ok(sqlx::query_scalar!(
        "SELECT index_id FROM collection WHERE tenant_id = $1 AND collection_id = $2 FOR SHARE",
        tenant.0,
        collection
    )
    .fetch_optional(&mut **transaction)
    .await?)
}

/// Locks a collection for changing it, after everybody who stores into it or changes it; later requests wait. Returns its
/// active index; `None` if the collection is gone.
pub(in crate::store) async fn lock_exclusive(
    transaction: &mut Tx,
    tenant: TenantId,
    collection: Uuid,
) -> Result<Option<Uuid>, StoreError> {
    sqlx::query!("SELECT pg_advisory_xact_lock($1)", key(collection)).fetch_one(&mut **transaction).await?;
    Ok(sqlx::query_scalar!(
        "SELECT index_id FROM collection WHERE tenant_id = $1 AND collection_id = $2 FOR UPDATE",
        tenant.0,
        collection
    )
    .fetch_optional(&mut **transaction)
    .await?)
}

/// The random end of a version 7 UUID. Two collections with the same one wait for each other, which harms nobody.
fn key(collection: Uuid) -> i64 {
    let (_, end) = collection.as_u64_pair();
    end.cast_signed()
}
