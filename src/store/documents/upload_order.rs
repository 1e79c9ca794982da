//! Places in the queue that stored documents keep: of uploads of one source the newest wins, also where it found everything
//! as it was.

use std::collections::HashMap;

use sqlx::{Postgres, Transaction};
use uuid::Uuid;

use crate::store::{CommitBatch, StoreError, UnchangedItem, documents::commit::Stored};

type Tx = Transaction<'static, Postgres>;

/// Gives unchanged documents the places of the uploads that found them so: an older one that is still under way then
/// comes too late. False if one was replaced meanwhile by something that is not newer.
pub(in crate::store) async fn take(transaction: &mut Tx, batch: &CommitBatch<'_>) -> Result<bool, StoreError> {
    if batch.unchanged.is_empty() {
        return Ok(true);
    }
    let ids: Vec<Uuid> = batch.unchanged.iter().map(|unchanged| unchanged.document_id).collect();
    let positions: Vec<i64> = batch.unchanged.iter().map(|unchanged| unchanged.position).collect();
    let sources: Vec<String> = batch.documents.iter().map(|document| document.source.clone()).collect();
    // All that the batch touches at once, in order, like everybody else.
    let locked = sqlx::query!(
        "SELECT document_id, version, position FROM document
         WHERE tenant_id = $1 AND collection_id = $2 AND (document_id = ANY ($3) OR source = ANY ($4))
         ORDER BY source FOR NO KEY UPDATE",
        batch.tenant.0,
        batch.collection.id,
        &ids,
        &sources,
    )
    .fetch_all(&mut **transaction)
    .await?;
    let is_replaced = |found: &UnchangedItem| {
        let row = locked.iter().find(|row| row.document_id == found.document_id);
        row.is_some_and(|row| row.version != found.version && row.position <= found.position)
    };
    if batch.unchanged.iter().any(is_replaced) {
        return Ok(false);
    }
    sqlx::query!(
        "UPDATE document d SET position = found.position
         FROM (SELECT document_id, max(position) AS position FROM UNNEST($2::uuid[], $3::bigint[]) AS all_found (document_id, position)
               GROUP BY document_id) AS found
         WHERE d.tenant_id = $1 AND d.document_id = found.document_id AND d.position < found.position",
        batch.tenant.0,
        &ids,
        &positions,
    )
    .execute(&mut **transaction)
    .await?;
    Ok(true)
}

/// Gives documents of the batch the places of their uploads likewise that were not written because they are stored just so
/// by now. What a newer upload wrote keeps its place. Whoever tried to write them has locked them all.
pub(in crate::store) async fn raise(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
    stored: &HashMap<String, Stored>,
) -> Result<(), StoreError> {
    let left = batch.documents.iter().filter(|document| !stored.contains_key(&document.source));
    let (sources, positions): (Vec<String>, Vec<i64>) =
        left.map(|document| (document.source.clone(), document.position)).unzip();
    if sources.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "UPDATE document d SET position = new.position
         FROM UNNEST($3::text[], $4::bigint[]) AS new (source, position)
         WHERE d.tenant_id = $1 AND d.collection_id = $2 AND d.source = new.source AND d.source = ANY ($3)
           AND d.position < new.position",
        batch.tenant.0,
        batch.collection.id,
        &sources,
        &positions,
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}
