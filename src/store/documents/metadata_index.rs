//! The look-up rows of document metadata.

use std::collections::HashMap;

use serde_json::Value;
use uuid::Uuid;

use crate::store::{CommitBatch, StoreError, Tx, documents::write::Stored};

/// Replaces the metadata rows of a batch's documents by rows of their current metadata.
pub(in crate::store) async fn replace(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
    stored: &HashMap<String, Stored>,
) -> Result<(), StoreError> {
    let written = batch.documents.iter().filter_map(|document| Some((document, stored.get(&document.source)?)));
    let is_bare = |metadata: &Value| metadata.as_object().is_some_and(serde_json::Map::is_empty);
    let ids = |(_, row): (_, &Stored)| row.document_id;
    let replaced: Vec<Uuid> = written.clone().filter(|(_, row)| row.version > 1).map(ids).collect();
    if !replaced.is_empty() {
        sqlx::query!(
            "DELETE FROM document_field WHERE tenant_id = $1 AND document_id = ANY ($2)",
            batch.tenant.0,
            &replaced,
        )
        .execute(&mut **transaction)
        .await?;
    }
    let documents: Vec<Uuid> = written.filter(|(document, _)| !is_bare(&document.metadata)).map(ids).collect();
    if documents.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "INSERT INTO document_field (tenant_id, collection_id, document_id, key, number, text)
         SELECT d.tenant_id, d.collection_id, d.document_id, f.key, f.number, f.text
         FROM document d CROSS JOIN LATERAL metadata_fields(d.metadata) f
         WHERE d.tenant_id = $1 AND d.document_id = ANY ($2)",
        batch.tenant.0,
        &documents,
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}
