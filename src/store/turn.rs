//! Turns with a collection: many store into it together, one changes it alone.
//!
//! Postgres lets those who share a row's lock past those who wait to have it alone, so that under steady ingest a
//! cut-over would wait for ever. Advisory locks are had in the order in which they were asked for. They are taken before
//! the row of the collection, and given back with the transaction.

use sqlx::{Postgres, Transaction};
use uuid::Uuid;

use super::StoreError;

/// Waits until nobody changes the collection, and for those who asked before to do so.
pub(super) async fn share(
    transaction: &mut Transaction<'static, Postgres>,
    collection: Uuid,
) -> Result<(), StoreError> {
    sqlx::query!("SELECT pg_advisory_xact_lock_shared($1)", key(collection)).fetch_one(&mut **transaction).await?;
    Ok(())
}

/// Waits until nobody stores into the collection or changes it; who asks later waits.
pub(super) async fn alone(
    transaction: &mut Transaction<'static, Postgres>,
    collection: Uuid,
) -> Result<(), StoreError> {
    sqlx::query!("SELECT pg_advisory_xact_lock($1)", key(collection)).fetch_one(&mut **transaction).await?;
    Ok(())
}

/// The random end of a version 7 UUID. Two collections with the same wait for each other, and nothing else.
fn key(collection: Uuid) -> i64 {
    let (_, end) = collection.as_u64_pair();
    end.cast_signed()
}
