//! Builds the next index: reads stored documents with the inputs they were made from, and stores the chunks made from
//! them.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{fingerprint::Hash, identity::TenantId};
use crate::store::{
    BatchOutcome, ClaimHandle, Collection, Collections, CommitBatch, FetchRecord, FilledItem, ItemKey, ReadDocument,
    StoreError, Tx,
    collections::lock,
    collections::statistics::StatisticChanges,
    documents::chunk::delete_chunks,
    documents::write::{self, Stored},
    jobs::settle,
};

/// A stored document with the inputs that it was made from.
#[derive(Clone, Debug)]
pub(crate) struct StoredDocument {
    /// Identity.
    pub(crate) id: Uuid,
    /// Its version.
    pub(crate) version: i32,
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
    /// Hash of all inputs that determine its chunks in the next index; `None` unless the next index has the document in
    /// its current version.
    pub(crate) fingerprint: Option<Hash>,
    /// Media type, detected from the content.
    pub(crate) media_type: String,
    /// Caller's own metadata object.
    pub(crate) metadata: Value,
    /// Extracted text.
    pub(crate) text: String,
    /// Layout data that the splitter needs in addition to the text.
    pub(crate) layout: Value,
}

impl Collections<'_> {
    /// Returns the documents of these sources of a collection, with their state in the next index.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn stored_documents(
        &self,
        tenant: TenantId,
        collection: &Collection,
        sources: &[String],
    ) -> Result<Vec<StoredDocument>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let rows = sqlx::query!(
            r#"SELECT d.document_id, d.version, d.source, d.uri, d.loader, d.fetched_at, d.etag, d.last_modified,
                      d.request_hash, d.content_hash, d.media_type, d.metadata, d.text, d.layout, o.fingerprint AS "fingerprint?"
               FROM document d
               -- By its primary key: a planner that does not know the index yet would go by that, once for each document.
               LEFT JOIN document_index o ON o.tenant_id = d.tenant_id AND o.document_id = d.document_id
                   AND (o.index_id = $4) IS TRUE AND o.version = d.version
               WHERE d.tenant_id = $1 AND d.collection_id = $2 AND d.source = ANY ($3)"#,
            tenant.0,
            collection.id,
            sources,
            collection.index
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        let hash = |bytes: Vec<u8>| {
            Hash::try_from(bytes).map_err(|_| StoreError::Inconsistent("a hash of a document is no SHA-256".to_owned()))
        };
        rows.into_iter()
            .map(|row| {
                let fetched =
                    |request_hash| FetchRecord { etag: row.etag, last_modified: row.last_modified, request_hash };
                Ok(StoredDocument {
                    id: row.document_id,
                    version: row.version,
                    source: row.source,
                    uri: row.uri,
                    loader: row.loader,
                    fetched_at: row.fetched_at,
                    fetch: row.request_hash.map(hash).transpose()?.map(fetched),
                    content_hash: hash(row.content_hash)?,
                    fingerprint: row.fingerprint.map(hash).transpose()?,
                    media_type: row.media_type,
                    metadata: row.metadata,
                    text: row.text,
                    layout: row.layout,
                })
            })
            .collect()
    }
}

/// The documents of one claim, with their state in the next index.
#[derive(Debug)]
pub(crate) struct BuildBatch<'a> {
    /// The batch to store; `collection` names the next index.
    pub(crate) batch: CommitBatch<'a>,
    /// The documents as they were read, keyed by item.
    pub(crate) read: &'a HashMap<ItemKey, ReadDocument>,
}

impl Collections<'_> {
    /// Stores the chunks of documents in the next index, and settles their items, all of which the claim must hold.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is written then.
    pub(crate) async fn commit_build(
        &self,
        claim: ClaimHandle,
        build: &BuildBatch<'_>,
    ) -> Result<BatchOutcome, StoreError> {
        let BuildBatch { batch, read } = build;
        let (tenant, index) = (batch.tenant, batch.collection.index);
        let items = batch.items();
        let mut transaction = self.store.begin(tenant).await?;
        if !settle::holds_lease(&mut transaction, claim, &items).await? {
            return Ok(BatchOutcome::LeaseLost);
        }
        let active = lock::lock_shared(&mut transaction, tenant, batch.collection.id).await?;
        if active.is_none_or(|active| active == index) {
            return Ok(BatchOutcome::IndexChanged);
        }
        if !exists(&mut transaction, tenant, index).await? {
            return Ok(BatchOutcome::IndexChanged);
        }
        let as_read = as_read(&mut transaction, tenant, read, &items).await?;
        let stored: HashMap<String, Stored> = batch
            .documents
            .iter()
            .filter_map(|document| read.get(&document.item).filter(|read| as_read.contains(&read.id)))
            .map(|read| (read.source.clone(), Stored { document_id: read.id, version: read.version }))
            .collect();
        let mut changes = StatisticChanges::default();
        replace_documents(&mut transaction, batch, &stored, &mut changes).await?;
        write::insert_chunks(&mut transaction, batch, &stored, &mut changes).await?;
        settle::settle(&mut transaction, tenant, &done(batch, &stored, read), batch.now).await?;
        changes.apply(&mut transaction, tenant, index).await?;
        transaction.commit().await?;
        Ok(BatchOutcome::Settled)
    }
}

/// Returns whether an index exists; it then exists until the end of the transaction, which holds the collection's lock.
async fn exists(transaction: &mut Tx, tenant: TenantId, index: Uuid) -> Result<bool, StoreError> {
    let found = sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT FROM collection_index WHERE tenant_id = $1 AND index_id = $2) AS "exists!""#,
        tenant.0,
        index
    );
    Ok(found.fetch_one(&mut **transaction).await?)
}

/// Locks the documents of these items and returns those that still have the version that was read. A transaction that
/// stored another version has also queued that version for this index.
async fn as_read(
    transaction: &mut Tx,
    tenant: TenantId,
    read: &HashMap<ItemKey, ReadDocument>,
    items: &[ItemKey],
) -> Result<HashSet<Uuid>, StoreError> {
    let versions: HashMap<Uuid, i32> =
        items.iter().filter_map(|item| read.get(item)).map(|document| (document.id, document.version)).collect();
    let ids: Vec<Uuid> = versions.keys().copied().collect();
    let rows = sqlx::query!(
        "SELECT document_id, version FROM document WHERE tenant_id = $1 AND document_id = ANY ($2) ORDER BY source FOR NO KEY UPDATE",
        tenant.0,
        &ids
    )
    .fetch_all(&mut **transaction)
    .await?;
    let is_as_read = |id: &Uuid, version: i32| versions.get(id) == Some(&version);
    Ok(rows.into_iter().filter(|row| is_as_read(&row.document_id, row.version)).map(|row| row.document_id).collect())
}

/// Deletes the index's rows for the documents, and records their current version in it.
async fn replace_documents(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
    stored: &HashMap<String, Stored>,
    changes: &mut StatisticChanges,
) -> Result<(), StoreError> {
    let documents: Vec<_> =
        batch.documents.iter().filter_map(|document| Some((document, stored.get(&document.source)?))).collect();
    let ids: Vec<Uuid> = documents.iter().map(|(_, row)| row.document_id).collect();
    delete_chunks(transaction, batch.tenant, batch.collection.index, &ids, changes).await?;
    let versions: Vec<i32> = documents.iter().map(|(_, row)| row.version).collect();
    let fingerprints: Vec<Vec<u8>> = documents.iter().map(|(document, _)| document.fingerprint.to_vec()).collect();
    // Without validators the next fetch is unconditional, so a document whose context sentences are incomplete is
    // fetched in full.
    let is_validated = |fetch: &&FetchRecord| fetch.etag.is_some() || fetch.last_modified.is_some();
    let requests: Vec<Option<Vec<u8>>> = documents
        .iter()
        .map(|(document, _)| document.fetch.as_ref().filter(is_validated).map(|fetch| fetch.request_hash.to_vec()))
        .collect();
    let chunks: Vec<i32> =
        documents.iter().map(|(document, _)| i32::try_from(document.chunks.len()).unwrap_or(i32::MAX)).collect();
    let new = sqlx::query_scalar!(
        r#"INSERT INTO document_index (tenant_id, index_id, document_id, version, fingerprint, request_hash, chunks)
           SELECT k.tenant_id, k.index_id, new.* FROM collection_index k CROSS JOIN UNNEST($3::uuid[], $4::int[], $5::bytea[], $6::bytea[], $7::int[])
                AS new (document_id, version, fingerprint, request_hash, chunks)
           WHERE k.tenant_id = $1 AND k.index_id = $2
           ON CONFLICT (tenant_id, document_id, index_id) DO UPDATE SET
               version = EXCLUDED.version, fingerprint = EXCLUDED.fingerprint, request_hash = EXCLUDED.request_hash,
               chunks = EXCLUDED.chunks
           RETURNING xmax = 0 AS "is_new!""#,
        batch.tenant.0,
        batch.collection.index,
        &ids,
        &versions,
        &fingerprints,
        &requests as &[Option<Vec<u8>>],
        &chunks,
    )
    .fetch_all(&mut **transaction)
    .await?;
    changes.documents += i64::try_from(new.into_iter().filter(|is_new| *is_new).count()).unwrap_or(0);
    Ok(())
}

/// Returns the items of a batch as settled. Nothing was stored for a document whose version has changed meanwhile.
fn done(
    batch: &CommitBatch<'_>,
    stored: &HashMap<String, Stored>,
    read: &HashMap<ItemKey, ReadDocument>,
) -> Vec<FilledItem> {
    let filled = batch.documents.iter().map(|document| FilledItem {
        item: document.item,
        document: read.get(&document.item).map(|read| read.id),
        chunks: stored.get(&document.source).map_or(0, |_| i32::try_from(document.chunks.len()).unwrap_or(i32::MAX)),
        embedding_calls: document.embedding_calls,
    });
    let unchanged = batch.unchanged.iter().map(|unchanged| FilledItem {
        item: unchanged.item,
        document: Some(unchanged.document_id),
        chunks: 0,
        embedding_calls: 0,
    });
    filled.chain(unchanged).collect()
}
