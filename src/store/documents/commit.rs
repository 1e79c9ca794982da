//! Storing a batch of documents: one transaction from the claim's proof to its settlement.
//!
//! A reader sees each document as it was or as it is, never in between, and an item is settled in the
//! transaction that stores its document: it cannot be stored twice or settled without being stored.
//! Locks are taken in the order items, collection, its indexes, documents (by source), statistics (by term).

use std::collections::HashMap;

use pgvector::SparseVector;
use serde_json::Value;
use sqlx::{Postgres, Transaction, types::Json};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{fingerprint::Hash, identity::TenantId};
use crate::store::{
    Collection, Documents, FetchRecord, NewChunk, StoreError,
    collections::index,
    collections::lock,
    collections::statistics::StatisticChanges,
    documents::chunk::{ChunkColumns, delete_chunks},
    documents::metadata_index,
    documents::upload_order,
    documents::vectors,
    jobs::settle,
};

type Tx = Transaction<'static, Postgres>;

/// A document that is ready to be stored.
#[derive(Clone, Debug)]
pub struct NewDocument {
    /// Item of the job that it came as.
    pub item: i32,
    /// Place in the queue: a newer upload of the same source wins.
    pub position: i64,
    /// Identity if the source is new.
    pub new_id: Uuid,
    /// Caller's own name.
    pub source: String,
    /// Where it was read from.
    pub uri: String,
    /// How it came.
    pub loader: String,
    /// When it was handed in or fetched.
    pub fetched_at: OffsetDateTime,
    /// If it was fetched.
    pub fetch: Option<FetchRecord>,
    /// SHA-256 of its bytes.
    pub content_hash: Hash,
    /// Everything that decides the stored result.
    pub fingerprint: Hash,
    /// Title.
    pub title: String,
    /// Media type.
    pub media_type: String,
    /// Caller's own object.
    pub metadata: Value,
    /// Extracted text.
    pub text: String,
    /// What splitting it again needs beside the text.
    pub layout: Value,
    /// Splitter with its settings.
    pub splitter: String,
    /// Texts that had to be sent to the embedding model.
    pub embedding_calls: i32,
    /// Its chunks, at least one.
    pub chunks: Vec<NewChunk>,
    /// Whether vectors of them are yet to be made: its item then goes on to its second phase.
    pub awaits_vectors: bool,
}

/// An item whose document is stored already just as it would be stored.
#[derive(Clone, Copy, Debug)]
pub struct UnchangedItem {
    /// Item of the job.
    pub item: i32,
    /// The document.
    pub document_id: Uuid,
    /// The version that was looked at.
    pub version: i32,
    /// Place of the item in the queue: the document is as the newest of its uploads wanted it.
    pub position: i64,
}

/// Documents of one claim.
#[derive(Debug)]
pub struct CommitBatch<'a> {
    /// Owner.
    pub tenant: TenantId,
    /// The claim's job.
    pub job_id: Uuid,
    /// The claim's proof.
    pub fence: i64,
    /// Where to; its average length must be the one that the weights were made with.
    pub collection: &'a Collection,
    /// What to store; sources are distinct.
    pub documents: &'a [NewDocument],
    /// Items whose document is stored already just as it would be stored.
    pub unchanged: &'a [UnchangedItem],
    /// Payload of an item from then on whose document is stored and awaits vectors.
    pub embed_work: &'a Value,
    /// The job that has the stored documents built into the next index, should there be one.
    pub follow_up: FollowUp<'a>,
    /// Time of the settlement.
    pub now: OffsetDateTime,
}

/// A job that is queued together with what it works on.
#[derive(Clone, Copy, Debug)]
pub struct FollowUp<'a> {
    /// Its identity.
    pub job: Uuid,
    /// Payload of its items.
    pub payload: &'a Value,
}

impl CommitBatch<'_> {
    /// Items of the job that it settles.
    pub(in crate::store) fn items(&self) -> Vec<i32> {
        let unchanged = self.unchanged.iter().map(|unchanged| unchanged.item);
        self.documents.iter().map(|document| document.item).chain(unchanged).collect()
    }
}

/// How a batch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchOutcome {
    /// Stored and settled.
    Settled,
    /// The claim is no longer held; nothing was written.
    LeaseLost,
    /// The average length of the index moved; nothing was written, the weights must be made again.
    WeightsStale,
    /// Another index of the collection is active by now, or the index is gone; nothing was written, the documents must be
    /// made for what there is.
    IndexChanged,
    /// A document that was unchanged is another one by now; nothing was written, its item must be looked at again.
    DocumentsChanged,
    /// The collection is gone; nothing was written.
    CollectionGone,
}

impl Documents<'_> {
    /// Stores documents and settles their items.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is written then.
    pub async fn commit_batch(&self, batch: &CommitBatch<'_>) -> Result<BatchOutcome, StoreError> {
        let mut transaction = self.store.begin(batch.tenant).await?;
        let items = batch.items();
        if !settle::holds_lease(&mut transaction, batch.tenant, (batch.job_id, batch.fence), &items).await? {
            return Ok(BatchOutcome::LeaseLost);
        }
        let Some(active) = lock::lock_shared(&mut transaction, batch.tenant, batch.collection.id).await? else {
            return Ok(BatchOutcome::CollectionGone);
        };
        let index = batch.collection.index;
        if active != index {
            return Ok(BatchOutcome::IndexChanged);
        }
        if let Some(outdated) = lock_weights(&mut transaction, batch).await? {
            return Ok(outdated);
        }
        if !upload_order::take(&mut transaction, batch).await? {
            return Ok(BatchOutcome::DocumentsChanged);
        }
        let stored = upsert_documents(&mut transaction, batch).await?;
        upload_order::raise(&mut transaction, batch, &stored).await?;
        let mut changes = StatisticChanges::default();
        let replaced: Vec<Uuid> = stored.values().filter(|row| row.version > 1).map(|row| row.document_id).collect();
        if !replaced.is_empty() {
            delete_chunks(&mut transaction, batch.tenant, index, &replaced, &mut changes).await?;
        }
        metadata_index::replace(&mut transaction, batch, &stored).await?;
        changes.documents += i64::try_from(stored.len() - replaced.len()).unwrap_or(0);
        insert_chunks(&mut transaction, batch, &stored, &mut changes).await?;
        settle::settle_items(&mut transaction, batch, &stored).await?;
        let documents: Vec<Uuid> = stored.values().map(|row| row.document_id).collect();
        index::queue_for_next(&mut transaction, batch, &documents).await?;
        changes.apply(&mut transaction, batch.tenant, index).await?;
        transaction.commit().await?;
        Ok(BatchOutcome::Settled)
    }
}

/// Keeps a reweighing out until the batch has landed with the average length that its weights were made with; how it ends
/// if they were made with another one, or the index is gone. A statement of its own, after the lock on the collection:
/// what waits for a lock in a join pairs what the lock's holder has changed with what it read before.
pub(in crate::store) async fn lock_weights(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
) -> Result<Option<BatchOutcome>, StoreError> {
    let average_length = sqlx::query_scalar!(
        "SELECT average_length FROM collection_index WHERE tenant_id = $1 AND collection_id = $2 AND index_id = $3 FOR SHARE",
        batch.tenant.0,
        batch.collection.id,
        batch.collection.index
    )
    .fetch_optional(&mut **transaction)
    .await?;
    let made_with = batch.collection.average_length;
    Ok(match average_length {
        Some(current) if current.to_bits() == made_with.to_bits() => None,
        Some(_) => Some(BatchOutcome::WeightsStale),
        None => Some(BatchOutcome::IndexChanged),
    })
}

/// What a document was stored as.
pub(in crate::store) struct Stored {
    pub(in crate::store) document_id: Uuid,
    pub(in crate::store) version: i32,
}

/// Inserts or replaces the documents' rows; returns those that changed, by source. A row that already
/// has the fingerprint, or that a newer upload wrote, is left alone.
async fn upsert_documents(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
) -> Result<HashMap<String, Stored>, StoreError> {
    let documents = batch.documents;
    let column =
        |read: fn(&NewDocument) -> &str| -> Vec<String> { documents.iter().map(|d| read(d).to_owned()).collect() };
    let ids: Vec<Uuid> = documents.iter().map(|d| d.new_id).collect();
    let positions: Vec<i64> = documents.iter().map(|d| d.position).collect();
    let fetched: Vec<OffsetDateTime> = documents.iter().map(|d| d.fetched_at).collect();
    let hashes: Vec<Vec<u8>> = documents.iter().map(|d| d.content_hash.to_vec()).collect();
    let fingerprints: Vec<Vec<u8>> = documents.iter().map(|d| d.fingerprint.to_vec()).collect();
    let records: Vec<Option<&FetchRecord>> = documents.iter().map(|d| d.fetch.as_ref()).collect();
    let etags: Vec<Option<String>> = records.iter().map(|fetch| fetch.and_then(|fetch| fetch.etag.clone())).collect();
    let modified: Vec<Option<String>> =
        records.iter().map(|fetch| fetch.and_then(|fetch| fetch.last_modified.clone())).collect();
    let requests: Vec<Option<Vec<u8>>> =
        records.iter().map(|fetch| fetch.map(|fetch| fetch.request_hash.to_vec())).collect();
    let layouts: Vec<Value> = documents.iter().map(|d| d.layout.clone()).collect();
    let metadata: Vec<Value> = documents.iter().map(|d| d.metadata.clone()).collect();
    let characters: Vec<i32> = documents.iter().map(|d| int(d.text.chars().count())).collect();
    let chunks: Vec<i32> = documents.iter().map(|d| int(d.chunks.len())).collect();
    let bare: Vec<i32> = documents.iter().map(|d| int(unembedded_chunks(d))).collect();
    let rows = sqlx::query!(
        "INSERT INTO document (tenant_id, collection_id, document_id, position, source, uri, loader, fetched_at,
             content_hash, fingerprint, title, media_type, metadata, text, characters, chunks, etag, last_modified, request_hash,
             unembedded_chunks, layout, version, created_at, updated_at)
         SELECT $1, $2, new.*, 1, $3, $3
         FROM UNNEST($4::uuid[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::timestamptz[], $10::bytea[],
                     $11::bytea[], $12::text[], $13::text[], $14::jsonb[], $15::text[], $16::int[], $17::int[],
                     $18::text[], $19::text[], $20::bytea[], $21::int[], $22::jsonb[])
              AS new (document_id, position, source, uri, loader, fetched_at, content_hash, fingerprint, title,
                      media_type, metadata, text, characters, chunks, etag, last_modified, request_hash, unembedded_chunks,
                      layout)
         ORDER BY new.source
         ON CONFLICT ON CONSTRAINT document_source_unique DO UPDATE SET
             position = EXCLUDED.position, uri = EXCLUDED.uri, loader = EXCLUDED.loader, fetched_at = EXCLUDED.fetched_at,
             content_hash = EXCLUDED.content_hash, fingerprint = EXCLUDED.fingerprint, title = EXCLUDED.title,
             media_type = EXCLUDED.media_type, metadata = EXCLUDED.metadata, text = EXCLUDED.text,
             characters = EXCLUDED.characters, chunks = EXCLUDED.chunks, etag = EXCLUDED.etag,
             last_modified = EXCLUDED.last_modified, request_hash = EXCLUDED.request_hash,
             unembedded_chunks = EXCLUDED.unembedded_chunks, layout = EXCLUDED.layout, version = document.version + 1,
             updated_at = EXCLUDED.updated_at
         WHERE document.position < EXCLUDED.position AND document.fingerprint <> EXCLUDED.fingerprint
         RETURNING source, document_id, version",
        batch.tenant.0,
        batch.collection.id,
        batch.now,
        &ids,
        &positions,
        &column(|d| &d.source),
        &column(|d| &d.uri),
        &column(|d| &d.loader),
        &fetched,
        &hashes,
        &fingerprints,
        &column(|d| &d.title),
        &column(|d| &d.media_type),
        &metadata,
        &column(|d| &d.text),
        &characters,
        &chunks,
        &etags as &[Option<String>],
        &modified as &[Option<String>],
        &requests as &[Option<Vec<u8>>],
        &bare,
        &layouts,
    )
    .fetch_all(&mut **transaction)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| (row.source, Stored { document_id: row.document_id, version: row.version }))
        .collect())
}

/// Chunks that have no vector.
fn unembedded_chunks(document: &NewDocument) -> usize {
    document.chunks.iter().filter(|chunk| chunk.embedding.is_none()).count()
}

pub(in crate::store) async fn insert_chunks(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
    stored: &HashMap<String, Stored>,
    changes: &mut StatisticChanges,
) -> Result<(), StoreError> {
    let mut rows = ChunkColumns::default();
    for document in batch.documents {
        let Some(row) = stored.get(&document.source) else { continue };
        changes.unembedded_chunks += i64::try_from(unembedded_chunks(document)).unwrap_or(i64::MAX);
        for (ordinal, chunk) in document.chunks.iter().enumerate() {
            rows.push(row.document_id, int(ordinal), &document.splitter, chunk);
            changes.count(chunk.weights.iter().map(|(term, _)| *term), chunk.length, 1);
        }
    }
    if rows.documents.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "INSERT INTO chunk (tenant_id, index_id, document_id, ordinal, start_char, end_char, page, heading, splitter,
             chunkers, tokens, text, context, context_key, length, terms, weights)
         SELECT $1, $2, document_id, ordinal, start_char, end_char, page, heading, splitter,
             ARRAY[split_part(splitter, ' ', 1)] || CASE WHEN context IS NULL THEN '{}' ELSE ARRAY['context'] END, tokens, text, context,
             context_key, length, terms::int[], weights
         FROM UNNEST($3::uuid[], $4::int[], $5::int[], $6::int[], $7::int[], $8::jsonb[], $9::text[], $10::int[],
                     $11::text[], $12::int[], $13::text[], $14::sparsevec[], $15::text[], $16::bytea[])
              AS new (document_id, ordinal, start_char, end_char, page, heading, splitter, tokens, text, length, terms, weights, context, context_key)",
        batch.tenant.0,
        batch.collection.index,
        &rows.documents,
        &rows.ordinals,
        &rows.starts,
        &rows.ends,
        &rows.pages as &[Option<i32>],
        &rows.headings as &[Json<Vec<String>>],
        &rows.splitters,
        &rows.tokens,
        &rows.texts,
        &rows.lengths,
        &rows.terms,
        &rows.weights as &[SparseVector],
        &rows.contexts as &[Option<String>],
        &rows.context_keys as &[Option<Vec<u8>>],
    )
    .execute(&mut **transaction)
    .await?;
    vectors::insert_of_chunks(transaction, batch, &rows).await
}

fn int(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
