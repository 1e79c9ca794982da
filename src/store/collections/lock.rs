//! The lock of a collection: shared by transactions that store into it, exclusive for one that changes its indexes.
//!
//! Postgres lets transactions that share a row lock pass those that wait for it exclusively, so that an activation
//! would wait forever under steady ingest. Advisory locks are granted in the order of the requests. They are taken
//! before the row of the collection, which is locked together with them, and released with the transaction.

use uuid::Uuid;

use crate::domain::identity::TenantId;
use crate::store::{StoreError, Tx};

/// Locks a collection for storing into it, after all earlier requests to change it. Returns its active index, which
/// stays active until the transaction ends; `None` if the collection does not exist any more.
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

/// Locks a collection for changing it, after all transactions that store into it or change it; later requests wait.
/// Returns its active index; `None` if the collection does not exist any more.
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

/// Returns the lock key: the random end of a version 7 UUID. Two collections with the same key wait for each other,
/// which is harmless.
fn key(collection: Uuid) -> i64 {
    let (_, end) = collection.as_u64_pair();
    end.cast_signed()
}
