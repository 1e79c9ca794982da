//! Stores a batch of documents in one transaction, from the check of the claim's fencing token to the settlement of its
//! items.
//!
//! A reader sees each document either in its old or in its new version, never in between. An item is settled in the
//! transaction that stores its document, so a document cannot be stored twice, and an item cannot be settled without
//! its document being stored. Locks are taken in the order items, collection, its indexes, documents (by source),
//! statistics (by term).

use std::collections::{HashMap, HashSet};

use pgvector::SparseVector;
use serde_json::Value;
use sqlx::{Connection as _, types::Json};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{
    fingerprint::Hash, job::ReadingNotes, lexical::bm25::Weigher, split::embedding_text, storage::Growth,
};
use crate::store::{
    AttachedTo, ClaimHandle, Collection, Documents, FetchRecord, ItemKey, NewChunk, NewJobItem, StoreError, Tx,
    access::storage::{own_quotas, settle_growth},
    collections::index,
    collections::lock,
    collections::statistics::StatisticChanges,
    documents::acl,
    documents::attached,
    documents::chunk::{ChunkColumns, delete_chunks},
    documents::document_columns::{DocumentColumns, count},
    documents::metadata_index,
    documents::storage::{StorageChanges, trim},
    documents::upload_order,
    documents::vectors,
    jobs::settle,
};

/// Chunks that one statement inserts: a statement is held in memory several times while it is sent.
const CHUNKS_OF_A_STATEMENT: usize = 1_024;

/// A document that is ready to be stored.
#[derive(Clone, Debug)]
pub struct NewDocument {
    /// Item that it belongs to.
    pub(crate) item: ItemKey,
    /// Position in the queue: a newer upload of the same source wins.
    pub(crate) position: i64,
    /// Identity to use if the source is new.
    pub(crate) new_id: Uuid,
    /// Source: the caller's own name for the document.
    pub(crate) source: String,
    /// URI that it was read from.
    pub(crate) uri: String,
    /// Loader that read it.
    pub(crate) loader: String,
    /// When it was uploaded or fetched.
    pub(crate) fetched_at: OffsetDateTime,
    /// Fetch record, if it was fetched.
    pub(crate) fetch: Option<FetchRecord>,
    /// SHA-256 of its bytes.
    pub(crate) content_hash: Hash,
    /// Hash of all inputs that determine the stored result.
    pub(crate) fingerprint: Hash,
    /// Title.
    pub(crate) title: String,
    /// Media type.
    pub(crate) media_type: String,
    /// Caller's own metadata object.
    pub(crate) metadata: Value,
    /// Extracted text.
    pub(crate) text: String,
    /// Layout data that a later split needs in addition to the text.
    pub(crate) layout: Value,
    /// Splitter with its settings.
    pub(crate) splitter: String,
    /// Number of texts that had to be sent to the embedding model.
    pub(crate) embedding_calls: i32,
    /// Its chunks, at least one.
    pub(crate) chunks: Vec<NewChunk>,
    /// Weighs their terms.
    pub(crate) weigher: Weigher,
    /// Whether some of its chunks still lack a vector: its item then goes on to its second phase.
    pub(crate) awaits_vectors: bool,
    /// Remarks on its reading.
    pub(crate) reading: ReadingNotes,
    /// The message that it was found in, if it was.
    pub(crate) attached_to: Option<AttachedTo>,
    /// Documents that were found in it, to be queued once it is stored.
    pub(crate) attachments: Vec<NewJobItem>,
}

impl NewDocument {
    /// The text of one of its chunks.
    #[must_use]
    pub(crate) fn text_of(&self, chunk: &NewChunk) -> &str {
        self.text.get(chunk.bytes.clone()).unwrap_or_default()
    }

    /// BM25 weights of one of its chunks, by ascending term id.
    fn weights_of(&self, chunk: &NewChunk) -> Vec<(i32, f32)> {
        let sentence = chunk.context.as_ref().map(|(sentence, _)| sentence.as_str());
        self.weigher.weigh(&embedding_text(&chunk.indexed_front, sentence, self.text_of(chunk)))
    }

    /// Returns the number of its chunks without a vector.
    pub(in crate::store) fn unembedded_chunks(&self) -> usize {
        self.chunks.iter().filter(|chunk| chunk.embedding.is_none()).count()
    }
}

/// An item whose document is already stored with the same result.
#[derive(Clone, Copy, Debug)]
pub struct UnchangedItem {
    /// The item.
    pub item: ItemKey,
    /// The document.
    pub document_id: Uuid,
    /// The version that was compared.
    pub version: i32,
    /// Position of the item in the queue. The document takes it over, because this upload is the newest one that asked
    /// for its content.
    pub position: i64,
}

/// Documents of one claim, ready to be committed.
#[derive(Debug)]
pub struct CommitBatch<'a> {
    /// The claim; it must hold all items.
    pub claim: ClaimHandle,
    /// Collection to store in; its average length must be the one that the weights were computed with.
    pub collection: &'a Collection,
    /// Documents to store; their sources are distinct.
    pub documents: &'a [NewDocument],
    /// Items whose document is already stored with the same result.
    pub unchanged: &'a [UnchangedItem],
    /// New payload of an item whose document is stored and still lacks vectors.
    pub embed_work: &'a Value,
    /// The job that builds the stored documents into the next index, if there is one.
    pub follow_up: FollowUp<'a>,
    /// Time of the settlement.
    pub now: OffsetDateTime,
}

/// A job that is queued in the same transaction as the documents it processes.
#[derive(Clone, Copy, Debug)]
pub struct FollowUp<'a> {
    /// Its identity.
    pub job: Uuid,
    /// Payload of its items.
    pub payload: &'a Value,
}

impl CommitBatch<'_> {
    /// Returns the items that the batch settles.
    pub(in crate::store) fn items(&self) -> Vec<ItemKey> {
        let unchanged = self.unchanged.iter().map(|unchanged| unchanged.item);
        self.documents.iter().map(|document| document.item).chain(unchanged).collect()
    }
}

/// Result of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchOutcome {
    /// Stored and settled.
    Settled,
    /// The claim is no longer held; nothing was written.
    LeaseLost,
    /// Another index of the collection is active now, or the index does not exist any more; nothing was written, the
    /// documents must be processed again for the current index.
    IndexChanged,
    /// A document that was unchanged has been replaced; nothing was written, its item must be checked again.
    DocumentsChanged,
    /// The collection does not exist any more; nothing was written.
    CollectionGone,
}

impl Documents<'_> {
    /// Stores documents and settles their items. Writers of one index wait for each other until the commit, so it is not
    /// flushed: the end of the claim, which is recorded next, flushes it for all.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is written then.
    #[tracing::instrument(target = "cited::trace", skip_all, fields(otel.kind = "client", db.system.name = "postgresql"))]
    pub async fn commit_batch(&self, batch: &CommitBatch<'_>) -> Result<BatchOutcome, StoreError> {
        let mut transaction = self.store.begin_unflushed(batch.claim.tenant).await?;
        let items = batch.items();
        if !settle::holds_lease(&mut transaction, batch.claim, &items).await? {
            return Ok(BatchOutcome::LeaseLost);
        }
        let Some(active) = lock::lock_shared(&mut transaction, batch.claim.tenant, batch.collection.id).await? else {
            return Ok(BatchOutcome::CollectionGone);
        };
        let index = batch.collection.index;
        if active != index {
            return Ok(BatchOutcome::IndexChanged);
        }
        let outdated = attached::outdated(&mut transaction, batch).await?;
        if !upload_order::take(&mut transaction, batch).await? {
            return Ok(BatchOutcome::DocumentsChanged);
        }
        let (stored, bytes) = upsert_documents(&mut transaction, batch, &outdated).await?;
        upload_order::raise(&mut transaction, batch, &stored).await?;
        let new: Vec<Uuid> = stored.values().filter(|row| row.version == 1).map(|row| row.document_id).collect();
        acl::take_over(&mut transaction, batch, &new).await?;
        let mut changes = StatisticChanges::default();
        let replaced: Vec<Uuid> = stored.values().filter(|row| row.version > 1).map(|row| row.document_id).collect();
        if !replaced.is_empty() {
            delete_chunks(&mut transaction, batch.claim.tenant, index, &replaced, &mut changes).await?;
        }
        metadata_index::replace(&mut transaction, batch, &stored).await?;
        changes.documents += i64::try_from(stored.len() - replaced.len()).unwrap_or(0);
        insert_chunks(&mut transaction, batch, &stored, &mut changes).await?;
        settle::settle_items(&mut transaction, batch, &stored).await?;
        let documents: Vec<Uuid> = stored.values().map(|row| row.document_id).collect();
        index::queue_for_next(&mut transaction, batch, &documents).await?;
        attached::follow(&mut transaction, batch, &stored).await?;
        let documents = changes.documents.max(0).unsigned_abs();
        changes.apply(&mut transaction, batch.claim.tenant, index).await?;
        self.count_storage(&mut transaction, batch, &replaced, (documents, bytes)).await?;
        transaction.commit().await?;
        Ok(BatchOutcome::Settled)
    }
}

impl Documents<'_> {
    /// Counts the bytes that were stored, of which so many documents are new, deletes former versions that are too many, and
    /// refuses all of it if the tenant would keep more than it may.
    async fn count_storage(
        &self,
        transaction: &mut Tx,
        batch: &CommitBatch<'_>,
        replaced: &[Uuid],
        (documents, bytes): (u64, i64),
    ) -> Result<(), StoreError> {
        if bytes == 0 {
            return Ok(());
        }
        let (tenant, deployment) = (batch.claim.tenant, *self.store.quotas);
        let mut storage = StorageChanges { bytes, ..StorageChanges::default() };
        if !replaced.is_empty() {
            storage.count_replaced(transaction, tenant, replaced).await?;
            if let Some(keep) = own_quotas(transaction, tenant).await?.or(deployment).former_versions {
                trim(transaction, tenant, replaced, keep, &mut storage).await?;
            }
        }
        let bytes = (storage.bytes + storage.former_bytes).max(0).unsigned_abs();
        let quotas = storage.apply(transaction, tenant, batch.collection.id).await?.or(deployment);
        settle_growth(transaction, tenant, quotas, Growth { documents, bytes, collections: 0 }).await
    }
}

/// The identity and version under which a document was stored.
pub(in crate::store) struct Stored {
    pub(in crate::store) document_id: Uuid,
    pub(in crate::store) version: i32,
}

/// Inserts or replaces the rows of the documents; returns those that changed, by source, and their bytes. A row that already has the
/// fingerprint, or that a newer upload wrote, is left alone; so are those that are outdated before they are stored.
async fn upsert_documents(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
    outdated: &HashSet<String>,
) -> Result<(HashMap<String, Stored>, i64), StoreError> {
    let current = batch.documents.iter().filter(|document| !outdated.contains(&document.source));
    let columns = DocumentColumns::of(current);
    let rows = sqlx::query!(
        "INSERT INTO document (tenant_id, collection_id, document_id, position, source, uri, loader, fetched_at,
             content_hash, fingerprint, title, media_type, metadata, text, characters, chunks, etag, last_modified, request_hash,
             unembedded_chunks, layout, attached_to, version, created_at, updated_at, allowed, denied)
         SELECT c.tenant_id, c.collection_id, new.*, 1, $3, $3, CASE WHEN m.source IS NULL THEN c.allowed ELSE m.allowed END, COALESCE(m.denied, c.denied)
         FROM UNNEST($4::uuid[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::timestamptz[], $10::bytea[],
                     $11::bytea[], $12::text[], $13::text[], $14::jsonb[], $15::text[], $16::int[], $17::int[],
                     $18::text[], $19::text[], $20::bytea[], $21::int[], $22::jsonb[], $23::text[])
              AS new (document_id, position, source, uri, loader, fetched_at, content_hash, fingerprint, title,
                      media_type, metadata, text, characters, chunks, etag, last_modified, request_hash, unembedded_chunks,
                      layout, attached_to)
         JOIN collection c ON c.tenant_id = $1 AND c.collection_id = $2
         LEFT JOIN document m ON m.tenant_id = $1 AND m.collection_id = $2 AND m.source = new.attached_to
         ORDER BY new.source
         ON CONFLICT ON CONSTRAINT document_source_unique DO UPDATE SET
             position = EXCLUDED.position, uri = EXCLUDED.uri, loader = EXCLUDED.loader, fetched_at = EXCLUDED.fetched_at,
             content_hash = EXCLUDED.content_hash, fingerprint = EXCLUDED.fingerprint, title = EXCLUDED.title,
             media_type = EXCLUDED.media_type, metadata = EXCLUDED.metadata, text = EXCLUDED.text,
             characters = EXCLUDED.characters, chunks = EXCLUDED.chunks, etag = EXCLUDED.etag,
             last_modified = EXCLUDED.last_modified, request_hash = EXCLUDED.request_hash,
             unembedded_chunks = EXCLUDED.unembedded_chunks, layout = EXCLUDED.layout,
             attached_to = EXCLUDED.attached_to, version = document.version + 1,
             updated_at = EXCLUDED.updated_at
         WHERE document.position < EXCLUDED.position AND document.fingerprint <> EXCLUDED.fingerprint
         RETURNING source, document_id, version, bytes",
        batch.claim.tenant.0,
        batch.collection.id,
        batch.now,
        &columns.ids,
        &columns.positions,
        &columns.sources,
        &columns.uris,
        &columns.loaders,
        &columns.fetched_at,
        &columns.content_hashes,
        &columns.fingerprints,
        &columns.titles,
        &columns.media_types,
        &columns.metadata as &[&Value],
        &columns.texts as &[&str],
        &columns.characters,
        &columns.chunks,
        &columns.etags as &[Option<String>],
        &columns.last_modified as &[Option<String>],
        &columns.request_hashes as &[Option<Vec<u8>>],
        &columns.unembedded_chunks,
        &columns.layouts as &[&Value],
        &columns.attached_to as &[Option<String>],
    )
    .fetch_all(&mut **transaction)
    .await?;
    // The connection would keep the texts of the statement until the end of the transaction.
    transaction.shrink_buffers();
    let bytes = rows.iter().map(|row| i64::from(row.bytes)).sum();
    let stored =
        rows.into_iter().map(|row| (row.source, Stored { document_id: row.document_id, version: row.version }));
    Ok((stored.collect(), bytes))
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
        changes.unembedded_chunks += i64::try_from(document.unembedded_chunks()).unwrap_or(i64::MAX);
        for (ordinal, chunk) in document.chunks.iter().enumerate() {
            let weights = document.weights_of(chunk);
            rows.push((row.document_id, document), (count(ordinal), chunk), &weights);
            changes.count(weights.into_iter().map(|(term, _)| term), 1);
            if rows.documents.len() == CHUNKS_OF_A_STATEMENT {
                write_chunks(transaction, batch, std::mem::take(&mut rows)).await?;
            }
        }
    }
    write_chunks(transaction, batch, rows).await
}

async fn write_chunks(transaction: &mut Tx, batch: &CommitBatch<'_>, rows: ChunkColumns<'_>) -> Result<(), StoreError> {
    if rows.documents.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "INSERT INTO chunk (tenant_id, index_id, document_id, ordinal, start_char, end_char, page, heading,
             table_header, splitter, chunkers, tokens, text, context, context_key, terms, weights)
         SELECT k.tenant_id, k.index_id, document_id, ordinal, start_char, end_char, page, heading,
             table_header, new.splitter, ARRAY[split_part(new.splitter, ' ', 1)] || CASE WHEN new.context IS NULL THEN '{}' ELSE ARRAY['context'] END,
             tokens, text, new.context, context_key, terms::int[], weights
         FROM collection_index k CROSS JOIN UNNEST($3::uuid[], $4::int[], $5::int[], $6::int[], $7::int[], $8::jsonb[], $9::text[], $10::int[],
                     $11::text[], $12::text[], $13::sparsevec[], $14::text[], $15::bytea[],
                     $16::text[])
              AS new (document_id, ordinal, start_char, end_char, page, heading, splitter, tokens, text, terms, weights, context, context_key,
                      table_header)
         WHERE k.tenant_id = $1 AND k.index_id = $2",
        batch.claim.tenant.0,
        batch.collection.index,
        &rows.documents,
        &rows.ordinals,
        &rows.starts,
        &rows.ends,
        &rows.pages as &[Option<i32>],
        &rows.headings as &[Json<&[String]>],
        &rows.splitters as &[&str],
        &rows.tokens,
        &rows.texts as &[&str],
        &rows.terms,
        &rows.weights as &[SparseVector],
        &rows.contexts as &[Option<&str>],
        &rows.context_keys as &[Option<&[u8]>],
        &rows.table_headers as &[Option<&str>],
    )
    .execute(&mut **transaction)
    .await?;
    vectors::insert_of_chunks(transaction, batch, &rows).await
}
