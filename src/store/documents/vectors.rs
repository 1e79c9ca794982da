//! Vectors of chunks that are already stored.

use pgvector::HalfVector;
use sqlx::types::Json;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{
    fingerprint::Hash,
    identity::{ChunkKey, TenantId},
};
use crate::store::{
    ClaimHandle, Collection, CommitBatch, Documents, ItemKey, StoreError, StoredDocument, StoredVector, Tx,
    collections::lock, collections::statistics::StatisticChanges, documents::chunk::ChunkColumns, jobs::settle,
};

/// A document in the version from which its chunks were read.
#[derive(Clone, Debug)]
pub(crate) struct ReadDocument {
    /// Identity.
    pub(crate) id: Uuid,
    /// Source: the caller's name for the document.
    pub(crate) source: String,
    /// Version at the time of reading.
    pub(crate) version: i32,
}

impl ReadDocument {
    /// Returns the entry for a document that was read as a whole.
    #[must_use]
    pub(crate) fn of(stored: &StoredDocument) -> Self {
        Self { id: stored.id, source: stored.source.clone(), version: stored.version }
    }
}

/// A chunk of the active index that has no vector yet.
#[derive(Clone, Debug)]
pub(crate) struct UnembeddedChunk {
    /// The chunk.
    pub(crate) key: ChunkKey,
    /// Source of its document.
    pub(crate) source: String,
    /// Version of its document.
    pub(crate) version: i32,
    /// Title of its document.
    pub(crate) title: String,
    /// Heading path, outermost first.
    pub(crate) heading: Vec<String>,
    /// Caption and header of the table that it begins in, if they stand in an earlier chunk.
    pub(crate) table_header: Option<String>,
    /// Its text.
    pub(crate) text: String,
    /// Sentence that relates it to its document.
    pub(crate) context: Option<String>,
}

/// A vector of a stored chunk.
#[derive(Clone, Debug)]
pub(crate) struct NewVector {
    /// The chunk.
    pub(crate) key: ChunkKey,
    /// Version of the document that the chunk was read from.
    pub(crate) version: i32,
    /// Hash of the text that was embedded.
    pub(crate) hash: Hash,
    /// The vector.
    pub(crate) vector: StoredVector,
}

/// An item of a job whose document has all its vectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilledItem {
    /// The item.
    pub(crate) item: ItemKey,
    /// The document; `None` if it does not exist any more.
    pub(crate) document: Option<Uuid>,
    /// Number of chunks that got a vector.
    pub(crate) chunks: i32,
    /// Number of texts that had to be sent to the embedding model.
    pub(crate) embedding_calls: i32,
}

/// Vectors of one claim.
#[derive(Debug)]
pub(crate) struct VectorBatch<'a> {
    /// The claim; it must hold all items.
    pub(crate) claim: ClaimHandle,
    /// Collection to store in: the index that the chunks were read from, and its vector space.
    pub(crate) collection: &'a Collection,
    /// The vectors.
    pub(crate) vectors: &'a [NewVector],
    /// Items that the vectors are for.
    pub(crate) items: &'a [FilledItem],
    /// Whether this is the last batch of the items, which are then settled.
    pub(crate) is_last: bool,
    /// Time of the settlement.
    pub(crate) now: OffsetDateTime,
}

/// Result of a batch of vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VectorOutcome {
    /// Stored and settled.
    Settled,
    /// The claim is no longer held; nothing was written.
    LeaseLost,
    /// Another index is active now; nothing was written.
    IndexChanged,
    /// The collection was deleted; nothing was written.
    CollectionGone,
}

impl Documents<'_> {
    /// Returns the documents of these sources, and those of their chunks in the active index that have no vector yet.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn unembedded_chunks(
        &self,
        tenant: TenantId,
        collection: &Collection,
        sources: &[String],
    ) -> Result<(Vec<ReadDocument>, Vec<UnembeddedChunk>), StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let documents = sqlx::query!(
            "SELECT source, document_id, version FROM document WHERE tenant_id = $1 AND collection_id = $2 AND source = ANY ($3)",
            tenant.0,
            collection.id,
            sources
        )
        .fetch_all(&mut *transaction)
        .await?;
        let ids: Vec<Uuid> = documents.iter().map(|row| row.document_id).collect();
        let chunks = sqlx::query!(
            r#"SELECT d.document_id, d.source, d.version, d.title, c.ordinal, c.heading AS "heading: Json<Vec<String>>",
                      c.table_header, c.text, c.context
               FROM document d
               JOIN chunk c ON c.tenant_id = d.tenant_id AND c.document_id = d.document_id AND (c.index_id = $3) IS TRUE
               WHERE d.tenant_id = $1 AND d.document_id = ANY ($2)
                 AND NOT EXISTS (SELECT FROM chunk_embedding e WHERE e.tenant_id = c.tenant_id AND e.document_id = c.document_id
                     AND (e.index_id = c.index_id) IS TRUE AND e.ordinal = c.ordinal)
               ORDER BY d.source, c.ordinal"#,
            tenant.0,
            &ids,
            collection.index
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        let chunks = chunks
            .into_iter()
            .map(|row| UnembeddedChunk {
                key: ChunkKey { document_id: row.document_id, ordinal: row.ordinal.unsigned_abs() },
                source: row.source,
                version: row.version,
                title: row.title,
                heading: row.heading.0,
                table_header: row.table_header,
                text: row.text,
                context: row.context,
            })
            .collect();
        let documents = documents
            .into_iter()
            .map(|row| ReadDocument { id: row.document_id, source: row.source, version: row.version })
            .collect();
        Ok((documents, chunks))
    }

    /// Stores vectors of chunks, and settles their items with the last batch. Chunks of documents that were replaced
    /// meanwhile are left out: the job that replaced them also makes their vectors.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is written then.
    #[tracing::instrument(target = "cited::trace", skip_all, fields(otel.kind = "client", db.system.name = "postgresql"))]
    pub(crate) async fn store_vectors(&self, batch: &VectorBatch<'_>) -> Result<VectorOutcome, StoreError> {
        let mut transaction = self.store.begin(batch.claim.tenant).await?;
        let items: Vec<ItemKey> = batch.items.iter().map(|filled| filled.item).collect();
        if !settle::holds_lease(&mut transaction, batch.claim, &items).await? {
            return Ok(VectorOutcome::LeaseLost);
        }
        match lock::lock_shared(&mut transaction, batch.claim.tenant, batch.collection.id).await? {
            None => return Ok(VectorOutcome::CollectionGone),
            Some(active) if active != batch.collection.index => return Ok(VectorOutcome::IndexChanged),
            Some(_) => {}
        }
        insert_vectors(&mut transaction, batch).await?;
        if batch.is_last {
            settle::settle(&mut transaction, batch.claim.tenant, batch.items, batch.now).await?;
        }
        transaction.commit().await?;
        Ok(VectorOutcome::Settled)
    }
}

/// Inserts the vectors of chunks that were inserted in the same transaction, for those chunks that have one.
pub(in crate::store) async fn insert_of_chunks(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
    rows: &ChunkColumns<'_>,
) -> Result<(), StoreError> {
    sqlx::query!(
        "INSERT INTO chunk_embedding (tenant_id, index_id, profile_id, document_id, ordinal, embedding_hash, embedding)
         SELECT k.tenant_id, k.index_id, $3, new.* FROM collection_index k CROSS JOIN UNNEST($4::uuid[], $5::int[], $6::bytea[], $7::halfvec[])
              AS new (document_id, ordinal, embedding_hash, embedding)
         WHERE k.tenant_id = $1 AND k.index_id = $2 AND new.embedding IS NOT NULL",
        batch.tenant.0,
        batch.collection.index,
        batch.collection.profile_id.0,
        &rows.documents,
        &rows.ordinals,
        &rows.hashes as &[&[u8]],
        &rows.vectors as &[Option<&HalfVector>],
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

async fn insert_vectors(transaction: &mut Tx, batch: &VectorBatch<'_>) -> Result<(), StoreError> {
    if batch.vectors.is_empty() {
        return Ok(());
    }
    let documents: Vec<Uuid> = batch.vectors.iter().map(|new| new.key.document_id).collect();
    // Keeps the documents from being replaced or deleted until the commit. Locked in the same order as in other
    // transactions.
    sqlx::query!(
        "SELECT document_id FROM document WHERE tenant_id = $1 AND document_id = ANY ($2) ORDER BY source FOR NO KEY UPDATE",
        batch.claim.tenant.0,
        &documents
    )
    .fetch_all(&mut **transaction)
    .await?;
    let versions: Vec<i32> = batch.vectors.iter().map(|new| new.version).collect();
    let ordinals: Vec<i32> =
        batch.vectors.iter().map(|new| i32::try_from(new.key.ordinal).unwrap_or(i32::MAX)).collect();
    let hashes: Vec<Vec<u8>> = batch.vectors.iter().map(|new| new.hash.to_vec()).collect();
    let vectors: Vec<&HalfVector> = batch.vectors.iter().map(|new| &new.vector.0).collect();
    let embedded = sqlx::query_scalar!(
        "INSERT INTO chunk_embedding (tenant_id, index_id, profile_id, document_id, ordinal, embedding_hash, embedding)
         SELECT d.tenant_id, $2, $3, new.document_id, new.ordinal, new.hash, new.vector
         FROM UNNEST($4::uuid[], $5::int[], $6::int[], $7::bytea[], $8::halfvec[])
              AS new (document_id, version, ordinal, hash, vector)
         JOIN document d ON d.tenant_id = $1 AND d.document_id = new.document_id AND d.version = new.version
         ON CONFLICT DO NOTHING RETURNING document_id",
        batch.claim.tenant.0,
        batch.collection.index,
        batch.collection.profile_id.0,
        &documents,
        &versions,
        &ordinals,
        &hashes,
        &vectors as &[&HalfVector],
    )
    .fetch_all(&mut **transaction)
    .await?;
    mark_embedded(transaction, batch.claim.tenant, batch.collection.index, &embedded).await
}

/// Records that chunks of these documents have a vector now; a document is listed once per chunk.
async fn mark_embedded(
    transaction: &mut Tx,
    tenant: TenantId,
    index: Uuid,
    documents: &[Uuid],
) -> Result<(), StoreError> {
    if documents.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "UPDATE document d SET unembedded_chunks = unembedded_chunks - embedded.chunks
         FROM (SELECT document_id, count(*)::int AS chunks FROM UNNEST($2::uuid[]) AS new (document_id) GROUP BY 1) AS embedded
         WHERE d.tenant_id = $1 AND d.document_id = embedded.document_id",
        tenant.0,
        documents
    )
    .execute(&mut **transaction)
    .await?;
    let mut changes = StatisticChanges::default();
    changes.unembedded_chunks -= i64::try_from(documents.len()).unwrap_or(i64::MAX);
    changes.apply(transaction, tenant, index).await?;
    Ok(())
}
