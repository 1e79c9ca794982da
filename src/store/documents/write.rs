//! Writes documents with their chunks and vectors.

use std::collections::{HashMap, HashSet};

use pgvector::SparseVector;
use serde_json::Value;
use sqlx::{Connection as _, types::Json};
use uuid::Uuid;

use crate::store::{
    BatchOutcome, CommitBatch, StoreError, Tx,
    collections::lock,
    collections::statistics::StatisticChanges,
    documents::acl::NumberedAcl,
    documents::attached::{self, Messages},
    documents::chunk::{ChunkColumns, array_literal, delete_chunks},
    documents::document_columns::{DocumentColumns, count},
    documents::metadata_index,
    documents::upload_order,
    documents::vectors,
};

/// Chunks that one statement inserts: a statement is held in memory several times while it is sent.
const CHUNKS_OF_A_STATEMENT: usize = 1_024;

/// Documents that a transaction has written.
pub(in crate::store) struct Written {
    /// Those that changed, by source.
    pub(in crate::store) stored: HashMap<String, Stored>,
    /// Sources of those that were left out, because the message that they were found in is not stored any more.
    pub(in crate::store) outdated: HashSet<String>,
    /// Bytes of those that changed.
    pub(in crate::store) bytes: i64,
    /// Changes of the counters, not written yet.
    pub(in crate::store) changes: StatisticChanges,
}

impl Written {
    pub(in crate::store) fn new_documents(&self) -> Vec<Uuid> {
        self.stored.values().filter(|row| row.version == 1).map(|row| row.document_id).collect()
    }

    pub(in crate::store) fn replaced_documents(&self) -> Vec<Uuid> {
        self.stored.values().filter(|row| row.version > 1).map(|row| row.document_id).collect()
    }
}

/// Writes documents with their chunks and vectors, or returns the reason why none may be written. From here on the collection
/// is locked, and so are the documents.
pub(in crate::store) async fn write_documents(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
) -> Result<Result<Written, BatchOutcome>, StoreError> {
    let Some(active) = lock::lock_shared(transaction, batch.tenant, batch.collection.id).await? else {
        return Ok(Err(BatchOutcome::CollectionGone));
    };
    let index = batch.collection.index;
    if active != index {
        return Ok(Err(BatchOutcome::IndexChanged));
    }
    let messages = attached::messages(transaction, batch).await?;
    if !upload_order::take(transaction, batch).await? {
        return Ok(Err(BatchOutcome::DocumentsChanged));
    }
    let (stored, bytes) = upsert_documents(transaction, batch, &messages).await?;
    let mut written = Written { stored, outdated: messages.outdated, bytes, changes: StatisticChanges::default() };
    upload_order::raise(transaction, batch, &written.stored).await?;
    let replaced = written.replaced_documents();
    let Written { stored, changes, .. } = &mut written;
    if !replaced.is_empty() {
        delete_chunks(transaction, batch.tenant, index, &replaced, changes).await?;
    }
    metadata_index::replace(transaction, batch, stored).await?;
    changes.documents += i64::try_from(stored.len() - replaced.len()).unwrap_or(0);
    insert_chunks(transaction, batch, stored, changes).await?;
    Ok(Ok(written))
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
    messages: &Messages,
) -> Result<(HashMap<String, Stored>, i64), StoreError> {
    let current = || batch.documents.iter().filter(|document| !messages.outdated.contains(&document.source));
    let columns = DocumentColumns::of(current());
    // Documents found in a message have its list.
    let lists: Vec<Option<&NumberedAcl>> =
        current().map(|document| messages.lists.get(&document.attached_to.as_ref()?.source)).collect();
    let allowed = |list: &NumberedAcl| Some(array_literal(list.allowed.as_ref()?.iter().copied()));
    let are_given: Vec<bool> = lists.iter().map(Option::is_some).collect();
    let allowed: Vec<Option<String>> = lists.iter().map(|list| list.and_then(allowed)).collect();
    let denied: Vec<Option<String>> =
        lists.iter().map(|list| list.map(|list| array_literal(list.denied.iter().copied()))).collect();
    let rows = sqlx::query!(
        "INSERT INTO document (tenant_id, collection_id, document_id, position, source, uri, loader, fetched_at,
             content_hash, fingerprint, title, media_type, metadata, text, characters, chunks, etag, last_modified, request_hash,
             unembedded_chunks, layout, attached_to, version, created_at, updated_at, allowed, denied)
         SELECT c.tenant_id, c.collection_id, new.document_id, new.position, new.source, new.uri, new.loader, new.fetched_at,
                new.content_hash, new.fingerprint, new.title, new.media_type, new.metadata, new.text, new.characters, new.chunks,
                new.etag, new.last_modified, new.request_hash, new.unembedded_chunks, new.layout, new.attached_to, 1, $3, $3,
                CASE WHEN new.has_list THEN new.allowed::int[] ELSE c.allowed END,
                CASE WHEN new.has_list THEN new.denied::int[] ELSE c.denied END
         FROM UNNEST($4::uuid[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::timestamptz[], $10::bytea[],
                     $11::bytea[], $12::text[], $13::text[], $14::jsonb[], $15::text[], $16::int[], $17::int[],
                     $18::text[], $19::text[], $20::bytea[], $21::int[], $22::jsonb[], $23::text[],
                     $24::bool[], $25::text[], $26::text[])
              AS new (document_id, position, source, uri, loader, fetched_at, content_hash, fingerprint, title,
                      media_type, metadata, text, characters, chunks, etag, last_modified, request_hash, unembedded_chunks,
                      layout, attached_to, has_list, allowed, denied)
         JOIN collection c ON c.tenant_id = $1 AND c.collection_id = $2
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
        batch.tenant.0,
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
        &are_given,
        &allowed as &[Option<String>],
        &denied as &[Option<String>],
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
        batch.tenant.0,
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
