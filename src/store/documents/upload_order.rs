//! Queue positions that stored documents keep: of several uploads of one source the newest wins, even if it found the
//! document unchanged.

use std::collections::HashMap;

use uuid::Uuid;

use crate::store::{CommitBatch, StoreError, Tx, UnchangedItem, documents::write::Stored};

/// Sets unchanged documents to the queue positions of the uploads that found them so: an older upload that is still in
/// progress is then rejected as outdated. Returns false if one of the documents was replaced meanwhile by an upload
/// that is not newer.
pub(in crate::store) async fn take(transaction: &mut Tx, batch: &CommitBatch<'_>) -> Result<bool, StoreError> {
    if batch.unchanged.is_empty() {
        return Ok(true);
    }
    let ids: Vec<Uuid> = batch.unchanged.iter().map(|unchanged| unchanged.document_id).collect();
    let positions: Vec<i64> = batch.unchanged.iter().map(|unchanged| unchanged.position).collect();
    let sources: Vec<String> = batch.documents.iter().map(|document| document.source.clone()).collect();
    // Locks all documents that the batch touches at once, in the same order as other transactions.
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

/// Does the same for documents of the batch that were not written because the same result has been stored meanwhile. A
/// document that a newer upload wrote keeps its position. The attempt to write the documents has locked them all.
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
