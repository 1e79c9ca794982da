//! What becomes of items once their documents are stored: settled, or handed on to their second half.

use std::collections::HashMap;

use sqlx::{Postgres, Transaction};
use uuid::Uuid;

use super::{CommitBatch, StoreError, commit::Stored};

type Tx = Transaction<'static, Postgres>;

/// An item whose document is stored.
struct Landed {
    item: i32,
    /// None if the document was deleted in this moment.
    document: Option<Uuid>,
    /// Chunks of a document that was stored now; none of one that was there.
    chunks: i32,
    embedding_calls: i32,
    /// Version that awaits vectors.
    awaiting: Option<i32>,
}

/// Settles the items of a batch. Those whose document lacks vectors wait for them instead, also where the document was
/// there before: what an earlier upload could not finish is finished.
pub(super) async fn settle_items(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
    stored: &HashMap<String, Stored>,
) -> Result<(), StoreError> {
    let present = documents_present(transaction, batch, stored).await?;
    let mut landed = Vec::with_capacity(batch.documents.len() + batch.unchanged.len());
    for document in batch.documents {
        let (item, embedding_calls) = (document.item, document.embedding_calls);
        landed.push(match stored.get(&document.source) {
            Some(row) => Landed {
                item,
                document: Some(row.document_id),
                chunks: i32::try_from(document.chunks.len()).unwrap_or(i32::MAX),
                embedding_calls,
                awaiting: document.awaits_vectors.then_some(row.version),
            },
            None => unchanged(item, present.iter().find(|row| row.source == document.source), embedding_calls),
        });
    }
    for (item, document) in batch.unchanged {
        landed.push(unchanged(*item, present.iter().find(|row| row.document == *document), 0));
    }
    let (awaiting, done): (Vec<Landed>, Vec<Landed>) = landed.into_iter().partition(|row| row.awaiting.is_some());
    settle(transaction, batch, &done).await?;
    hand_on(transaction, batch, &awaiting).await
}

/// A document that was there before.
struct Present {
    source: String,
    document: Uuid,
    /// Its version, if it lacks vectors.
    awaiting: Option<i32>,
}

fn unchanged(item: i32, document: Option<&Present>, embedding_calls: i32) -> Landed {
    let awaiting = document.and_then(|row| row.awaiting);
    Landed { item, document: document.map(|row| row.document), chunks: 0, embedding_calls, awaiting }
}

/// The documents of a batch that were there before.
async fn documents_present(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
    stored: &HashMap<String, Stored>,
) -> Result<Vec<Present>, StoreError> {
    let left = batch.documents.iter().filter(|document| !stored.contains_key(&document.source));
    let sources: Vec<String> = left.map(|document| document.source.clone()).collect();
    let documents: Vec<Uuid> = batch.unchanged.iter().map(|(_, document)| *document).collect();
    if sources.is_empty() && documents.is_empty() {
        return Ok(Vec::new());
    }
    let rows = sqlx::query!(
        r#"SELECT source AS "source!", document_id AS "document_id!", version AS "version!", bare_chunks AS "bare_chunks!" FROM document
           WHERE tenant_id = $1 AND collection_id = $2 AND source = ANY ($3)
           UNION
           SELECT source, document_id, version, bare_chunks FROM document
           WHERE tenant_id = $1 AND collection_id = $2 AND document_id = ANY ($4)"#,
        batch.tenant.0,
        batch.collection.id,
        &sources,
        &documents,
    )
    .fetch_all(&mut **transaction)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Present {
            source: row.source,
            document: row.document_id,
            awaiting: (row.bare_chunks > 0).then_some(row.version),
        })
        .collect())
}

async fn settle(transaction: &mut Tx, batch: &CommitBatch<'_>, rows: &[Landed]) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    let ordinals: Vec<i32> = rows.iter().map(|row| row.item).collect();
    let documents: Vec<Option<Uuid>> = rows.iter().map(|row| row.document).collect();
    let chunks: Vec<i32> = rows.iter().map(|row| row.chunks).collect();
    let calls: Vec<i32> = rows.iter().map(|row| row.embedding_calls).collect();
    sqlx::query!(
        "UPDATE job_item i SET state = CASE WHEN new.chunks > 0 THEN 'succeeded' ELSE 'unchanged' END,
                document_id = new.document_id, chunks = new.chunks, embedding_calls = new.calls, finished_at = $3,
                payload = NULL, content = NULL, lease_until = NULL
         FROM UNNEST($4::int[], $5::uuid[], $6::int[], $7::int[]) AS new (ordinal, document_id, chunks, calls)
         WHERE i.tenant_id = $1 AND i.job_id = $2 AND i.ordinal = new.ordinal",
        batch.tenant.0,
        batch.job_id,
        batch.now,
        &ordinals,
        &documents as &[Option<Uuid>],
        &chunks,
        &calls,
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

/// Lets items wait for their second half, with all their attempts. Content is empty and not null: what fails can be
/// retried.
async fn hand_on(transaction: &mut Tx, batch: &CommitBatch<'_>, rows: &[Landed]) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    let ordinals: Vec<i32> = rows.iter().map(|row| row.item).collect();
    let documents: Vec<Option<Uuid>> = rows.iter().map(|row| row.document).collect();
    let versions: Vec<i32> = rows.iter().filter_map(|row| row.awaiting).collect();
    let chunks: Vec<i32> = rows.iter().map(|row| row.chunks).collect();
    sqlx::query!(
        "UPDATE job_item i SET state = 'queued', half = 2, stored_version = new.version, document_id = new.document_id, chunks = new.chunks,
                payload = $4, content = '', contexts = NULL, lease_until = NULL, available_at = $3, failures = 0, lost = '{}', at_risk = false
         FROM UNNEST($5::int[], $6::uuid[], $7::int[], $8::int[]) AS new (ordinal, document_id, version, chunks)
         WHERE i.tenant_id = $1 AND i.job_id = $2 AND i.ordinal = new.ordinal",
        batch.tenant.0,
        batch.job_id,
        batch.now,
        batch.second_half,
        &ordinals,
        &documents as &[Option<Uuid>],
        &versions,
        &chunks,
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}
