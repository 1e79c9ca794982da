//! Settles items whose documents are stored, or requeues them for their vectors.

use std::collections::HashMap;

use sqlx::types::Json;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{identity::TenantId, job::ReadingNotes};
use crate::store::{
    ClaimHandle, CommitBatch, FilledItem, ItemKey, StoreError, Tx,
    documents::write::{Stored, Written},
    jobs::claim::ItemColumns,
};

/// An item whose document is stored, and the version that lacks vectors, if it does.
pub(in crate::store) type Landed = (FilledItem, Option<i32>);

/// Settles the items of a batch. Items whose document lacks vectors are requeued for them instead, even if the document
/// was stored before: so the vectors that an earlier upload could not finish are completed. Returns false if a document is not
/// there after all, as [`landed`] says.
pub(in crate::store) async fn settle_items(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
    written: &Written,
) -> Result<bool, StoreError> {
    note_readings(transaction, batch).await?;
    let Some(landed) = landed(transaction, batch, written).await? else { return Ok(false) };
    let (awaiting, done): (Vec<Landed>, Vec<Landed>) = landed.into_iter().partition(|(_, awaiting)| awaiting.is_some());
    let done: Vec<FilledItem> = done.into_iter().map(|(item, _)| item).collect();
    settle(transaction, batch.tenant, &done, batch.now).await?;
    requeue_for_vectors(transaction, batch, &awaiting).await?;
    Ok(true)
}

/// Returns what became of the items of a batch, or `None` if a document is neither written nor there, although it was not left
/// out: a cluster whose shards are split up at this moment writes nothing, and says that all went well. On a plain Postgres this
/// does not occur: a row that is there is locked by the attempt to write it, and one that is deleted before is inserted.
pub(in crate::store) async fn landed(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
    written: &Written,
) -> Result<Option<Vec<Landed>>, StoreError> {
    let Written { stored, outdated, .. } = written;
    let present = documents_present(transaction, batch, stored).await?;
    let mut landed = Vec::with_capacity(batch.documents.len() + batch.unchanged.len());
    for document in batch.documents {
        let (item, embedding_calls) = (document.item, document.embedding_calls);
        if let Some(row) = stored.get(&document.source) {
            let chunks = i32::try_from(document.chunks.len()).unwrap_or(i32::MAX);
            let filled = FilledItem { item, document: Some(row.document_id), chunks, embedding_calls };
            landed.push((filled, document.awaits_vectors.then_some(row.version)));
            continue;
        }
        let row = present.iter().find(|row| row.source == document.source);
        if row.is_none() && !outdated.contains(&document.source) {
            return Ok(None);
        }
        landed.push(unchanged(item, row, embedding_calls));
    }
    for found in batch.unchanged {
        landed.push(unchanged(found.item, present.iter().find(|row| row.document == found.document_id), 0));
    }
    Ok(Some(landed))
}

/// Stores the remarks on the reading of documents with their items.
async fn note_readings(transaction: &mut Tx, batch: &CommitBatch<'_>) -> Result<(), StoreError> {
    let noted = batch.documents.iter().filter(|document| !document.reading.is_empty());
    let (items, readings): (Vec<ItemKey>, Vec<Json<&ReadingNotes>>) =
        noted.map(|document| (document.item, Json(&document.reading))).unzip();
    if items.is_empty() {
        return Ok(());
    }
    let ItemColumns { jobs, ordinals } = items.into_iter().collect();
    sqlx::query!(
        "UPDATE job_item i SET reading = new.reading
         FROM UNNEST($2::uuid[], $3::int[], $4::jsonb[]) AS new (job_id, ordinal, reading)
         WHERE i.tenant_id = $1 AND i.job_id = new.job_id AND i.ordinal = new.ordinal
           AND i.job_id = ANY ($2) AND i.ordinal = ANY ($3)",
        batch.tenant.0,
        &jobs,
        &ordinals,
        &readings as &[Json<&ReadingNotes>],
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

/// A document that was stored before.
struct Present {
    source: String,
    document: Uuid,
    /// Its version, if it lacks vectors.
    awaiting: Option<i32>,
}

fn unchanged(item: ItemKey, document: Option<&Present>, embedding_calls: i32) -> Landed {
    let id = document.map(|row| row.document);
    (FilledItem { item, document: id, chunks: 0, embedding_calls }, document.and_then(|row| row.awaiting))
}

/// Returns the documents of a batch that were stored before.
async fn documents_present(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
    stored: &HashMap<String, Stored>,
) -> Result<Vec<Present>, StoreError> {
    let left = batch.documents.iter().filter(|document| !stored.contains_key(&document.source));
    let sources: Vec<String> = left.map(|document| document.source.clone()).collect();
    let documents: Vec<Uuid> = batch.unchanged.iter().map(|unchanged| unchanged.document_id).collect();
    if sources.is_empty() && documents.is_empty() {
        return Ok(Vec::new());
    }
    let rows = sqlx::query!(
        r#"SELECT source AS "source!", document_id AS "document_id!", version AS "version!", unembedded_chunks AS "unembedded_chunks!" FROM document
           WHERE tenant_id = $1 AND collection_id = $2 AND source = ANY ($3)
           UNION
           SELECT source, document_id, version, unembedded_chunks FROM document
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
            awaiting: (row.unembedded_chunks > 0).then_some(row.version),
        })
        .collect())
}

/// Locks items of a claim and returns whether the claim still holds all of them.
pub(in crate::store) async fn holds_lease(
    transaction: &mut Tx,
    claim: ClaimHandle,
    items: &[ItemKey],
) -> Result<bool, StoreError> {
    let ItemColumns { jobs, ordinals } = items.iter().copied().collect();
    let held = sqlx::query!(
        "SELECT ordinal FROM job_item
         WHERE tenant_id = $1 AND job_id = ANY ($2) AND ordinal = ANY ($3) AND fence = $4 AND state = 'running'
           AND (job_id, ordinal) IN (SELECT * FROM UNNEST($2::uuid[], $3::int[]))
         ORDER BY job_id, ordinal FOR UPDATE",
        claim.tenant.0,
        &jobs,
        &ordinals,
        claim.fence,
    )
    .fetch_all(&mut **transaction)
    .await?;
    Ok(held.len() == items.len())
}

/// Ends items. If a document was stored before its vectors, the item already has its number of chunks.
pub(in crate::store) async fn settle(
    transaction: &mut Tx,
    tenant: TenantId,
    items: &[FilledItem],
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    if items.is_empty() {
        return Ok(());
    }
    let ItemColumns { jobs, ordinals } = items.iter().map(|filled| filled.item).collect();
    let documents: Vec<Option<Uuid>> = items.iter().map(|item| item.document).collect();
    let chunks: Vec<i32> = items.iter().map(|item| item.chunks).collect();
    let calls: Vec<i32> = items.iter().map(|item| item.embedding_calls).collect();
    sqlx::query!(
        "UPDATE job_item i SET
                state = CASE WHEN (CASE i.phase WHEN 'embed' THEN i.chunks ELSE new.chunks END) > 0
                    THEN 'succeeded' ELSE 'unchanged' END,
                chunks = CASE i.phase WHEN 'embed' THEN i.chunks ELSE new.chunks END,
                document_id = COALESCE(new.document_id, i.document_id), embedding_calls = new.calls, finished_at = $3,
                payload = NULL, content = NULL, lease_until = NULL
         FROM UNNEST($2::uuid[], $4::int[], $5::uuid[], $6::int[], $7::int[]) AS new (job_id, ordinal, document_id, chunks, calls)
         WHERE i.tenant_id = $1 AND i.job_id = new.job_id AND i.ordinal = new.ordinal
           AND i.job_id = ANY ($2) AND i.ordinal = ANY ($4)",
        tenant.0,
        &jobs,
        now,
        &ordinals,
        &documents as &[Option<Uuid>],
        &chunks,
        &calls,
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

/// Queues items for phase embed, with all their attempts. Content is empty rather than null, so that failed items can
/// be retried.
async fn requeue_for_vectors(transaction: &mut Tx, batch: &CommitBatch<'_>, rows: &[Landed]) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    let ItemColumns { jobs, ordinals } = rows.iter().map(|(filled, _)| filled.item).collect();
    let documents: Vec<Option<Uuid>> = rows.iter().map(|(item, _)| item.document).collect();
    let versions: Vec<i32> = rows.iter().filter_map(|(_, version)| *version).collect();
    let chunks: Vec<i32> = rows.iter().map(|(item, _)| item.chunks).collect();
    sqlx::query!(
        "UPDATE job_item i SET state = 'queued', phase = 'embed', stored_version = new.version, document_id = new.document_id, chunks = new.chunks,
                payload = $4, content = '', contexts = NULL, lease_until = NULL, available_at = $3, failures = 0, lost = '{}', at_risk = false
         FROM UNNEST($2::uuid[], $5::int[], $6::uuid[], $7::int[], $8::int[]) AS new (job_id, ordinal, document_id, version, chunks)
         WHERE i.tenant_id = $1 AND i.job_id = new.job_id AND i.ordinal = new.ordinal
           AND i.job_id = ANY ($2) AND i.ordinal = ANY ($5)",
        batch.tenant.0,
        &jobs,
        batch.now,
        batch.embed_work,
        &ordinals,
        &documents as &[Option<Uuid>],
        &versions,
        &chunks,
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}
