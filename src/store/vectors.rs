//! Vectors of chunks that are stored already, in a further space.

use pgvector::HalfVector;
use sqlx::{Postgres, Transaction, types::Json};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{
    CommitBatch, ProfileId, Store, StoreError,
    chunk::{ChunkColumns, half},
};
use crate::domain::{
    fingerprint::Hash,
    identity::{ChunkKey, TenantId},
};

type Tx = Transaction<'static, Postgres>;

/// A chunk that has no vector in a space.
#[derive(Clone, Debug)]
pub struct BareChunk {
    /// The chunk.
    pub key: ChunkKey,
    /// Caller's name of its document.
    pub source: String,
    /// Version of its document.
    pub version: i32,
    /// Title of its document.
    pub title: String,
    /// Heading path, outermost first.
    pub heading: Vec<String>,
    /// Its text.
    pub text: String,
    /// Sentence that says how it relates to its document.
    pub context: Option<String>,
}

/// A vector of a stored chunk.
#[derive(Clone, Debug)]
pub struct NewVector {
    /// The chunk.
    pub key: ChunkKey,
    /// Version of the document that the chunk was read from.
    pub version: i32,
    /// Hash of what was embedded.
    pub hash: Hash,
    /// Unit length.
    pub vector: Vec<f32>,
}

/// An item of a job whose document has its vectors.
#[derive(Clone, Copy, Debug)]
pub struct FilledItem {
    /// Place in the job.
    pub ordinal: i32,
    /// The document; none when it is gone.
    pub document: Option<Uuid>,
    /// Chunks that got a vector.
    pub chunks: i32,
    /// Texts that had to be sent to the embedding model.
    pub embedding_calls: i32,
}

/// Vectors of one claim.
#[derive(Debug)]
pub struct VectorBatch<'a> {
    /// Owner.
    pub tenant: TenantId,
    /// The claim's job.
    pub job_id: Uuid,
    /// The claim's proof.
    pub fence: i64,
    /// Where to.
    pub collection: Uuid,
    /// The space.
    pub profile: ProfileId,
    /// The vectors.
    pub vectors: &'a [NewVector],
    /// What is settled with them.
    pub items: &'a [FilledItem],
    /// Time of the settlement.
    pub now: OffsetDateTime,
}

/// How a batch of vectors ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorOutcome {
    /// Stored and settled.
    Settled,
    /// The claim is no longer held; nothing was written.
    LeaseLost,
    /// The space was dropped, or its collection deleted; nothing was written.
    SpaceGone,
}

impl Store {
    /// The documents of these sources, and their chunks that have no vector in a space.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn bare_chunks(
        &self,
        tenant: TenantId,
        collection: Uuid,
        profile: ProfileId,
        sources: &[String],
    ) -> Result<(Vec<(String, Uuid)>, Vec<BareChunk>), StoreError> {
        let mut transaction = self.begin(tenant).await?;
        let documents = sqlx::query!(
            "SELECT source, document_id FROM document WHERE tenant_id = $1 AND collection_id = $2 AND source = ANY ($3)",
            tenant.0,
            collection,
            sources
        )
        .fetch_all(&mut *transaction)
        .await?;
        let ids: Vec<Uuid> = documents.iter().map(|row| row.document_id).collect();
        let chunks = sqlx::query!(
            r#"SELECT d.document_id, d.source, d.version, d.title, c.ordinal, c.heading AS "heading: Json<Vec<String>>", c.text, c.context
               FROM document d JOIN chunk c ON c.tenant_id = d.tenant_id AND c.document_id = d.document_id
               WHERE d.tenant_id = $1 AND d.document_id = ANY ($2)
                 AND NOT EXISTS (SELECT FROM chunk_embedding e WHERE e.tenant_id = c.tenant_id
                     AND e.document_id = c.document_id AND e.ordinal = c.ordinal AND e.profile_id = $3)
               ORDER BY d.source, c.ordinal"#,
            tenant.0,
            &ids,
            profile.0
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        let chunks = chunks
            .into_iter()
            .map(|row| BareChunk {
                key: ChunkKey { document_id: row.document_id, ordinal: row.ordinal.unsigned_abs() },
                source: row.source,
                version: row.version,
                title: row.title,
                heading: row.heading.0,
                text: row.text,
                context: row.context,
            })
            .collect();
        Ok((documents.into_iter().map(|row| (row.source, row.document_id)).collect(), chunks))
    }

    /// Stores vectors of chunks and settles their items. Chunks of documents that were replaced meanwhile are left
    /// out: whoever replaced them stored their vectors.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is written then.
    pub async fn store_vectors(&self, batch: &VectorBatch<'_>) -> Result<VectorOutcome, StoreError> {
        let mut transaction = self.begin(batch.tenant).await?;
        let ordinals: Vec<i32> = batch.items.iter().map(|item| item.ordinal).collect();
        let held = sqlx::query!(
            "SELECT ordinal FROM job_item
             WHERE tenant_id = $1 AND job_id = $2 AND ordinal = ANY ($3) AND fence = $4 AND state = 'running'
             ORDER BY ordinal FOR UPDATE",
            batch.tenant.0,
            batch.job_id,
            &ordinals,
            batch.fence
        )
        .fetch_all(&mut *transaction)
        .await?;
        if held.len() != ordinals.len() {
            return Ok(VectorOutcome::LeaseLost);
        }
        let space = sqlx::query!(
            "SELECT p.profile_id FROM collection c JOIN collection_profile p USING (tenant_id, collection_id)
             WHERE c.tenant_id = $1 AND c.collection_id = $2 AND p.profile_id = $3 FOR SHARE",
            batch.tenant.0,
            batch.collection,
            batch.profile.0
        )
        .fetch_optional(&mut *transaction)
        .await?;
        if space.is_none() {
            return Ok(VectorOutcome::SpaceGone);
        }
        insert_vectors(&mut transaction, batch).await?;
        settle(&mut transaction, batch).await?;
        transaction.commit().await?;
        Ok(VectorOutcome::Settled)
    }
}

/// Inserts the vectors of chunks that were inserted in the same transaction, in the active space and those beside it.
pub(super) async fn insert_of_chunks(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
    rows: &ChunkColumns,
) -> Result<(), StoreError> {
    let mut spaces = vec![(batch.collection.profile_id, &rows.vectors)];
    spaces.extend(batch.companions.iter().zip(&rows.companions).map(|(profile, vectors)| (*profile, vectors)));
    for (profile, vectors) in spaces {
        // A vector is left out where a model beside the active one could not make it.
        sqlx::query!(
            "INSERT INTO chunk_embedding (tenant_id, collection_id, profile_id, document_id, ordinal, embedding_hash, embedding)
             SELECT $1, $2, $3, new.* FROM UNNEST($4::uuid[], $5::int[], $6::bytea[], $7::halfvec[])
                  AS new (document_id, ordinal, embedding_hash, embedding)
             WHERE new.embedding IS NOT NULL",
            batch.tenant.0,
            batch.collection.id,
            profile.0,
            &rows.documents,
            &rows.ordinals,
            &rows.hashes,
            vectors as &[Option<HalfVector>],
        )
        .execute(&mut **transaction)
        .await?;
    }
    Ok(())
}

async fn insert_vectors(transaction: &mut Tx, batch: &VectorBatch<'_>) -> Result<(), StoreError> {
    if batch.vectors.is_empty() {
        return Ok(());
    }
    let documents: Vec<Uuid> = batch.vectors.iter().map(|new| new.key.document_id).collect();
    let versions: Vec<i32> = batch.vectors.iter().map(|new| new.version).collect();
    let ordinals: Vec<i32> =
        batch.vectors.iter().map(|new| i32::try_from(new.key.ordinal).unwrap_or(i32::MAX)).collect();
    let hashes: Vec<Vec<u8>> = batch.vectors.iter().map(|new| new.hash.to_vec()).collect();
    let vectors: Vec<HalfVector> = batch.vectors.iter().map(|new| half(&new.vector)).collect();
    // Nobody replaces or deletes the documents until this has landed. In the order in which others lock them.
    sqlx::query!(
        "SELECT document_id FROM document WHERE tenant_id = $1 AND document_id = ANY ($2) ORDER BY source FOR SHARE",
        batch.tenant.0,
        &documents
    )
    .fetch_all(&mut **transaction)
    .await?;
    sqlx::query!(
        "INSERT INTO chunk_embedding (tenant_id, collection_id, profile_id, document_id, ordinal, embedding_hash, embedding)
         SELECT $1, $2, $3, new.document_id, new.ordinal, new.hash, new.vector
         FROM UNNEST($4::uuid[], $5::int[], $6::int[], $7::bytea[], $8::halfvec[])
              AS new (document_id, version, ordinal, hash, vector)
         JOIN document d ON d.tenant_id = $1 AND d.document_id = new.document_id AND d.version = new.version
         ON CONFLICT DO NOTHING",
        batch.tenant.0,
        batch.collection,
        batch.profile.0,
        &documents,
        &versions,
        &ordinals,
        &hashes,
        &vectors as &[HalfVector],
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

async fn settle(transaction: &mut Tx, batch: &VectorBatch<'_>) -> Result<(), StoreError> {
    let ordinals: Vec<i32> = batch.items.iter().map(|item| item.ordinal).collect();
    let documents: Vec<Option<Uuid>> = batch.items.iter().map(|item| item.document).collect();
    let chunks: Vec<i32> = batch.items.iter().map(|item| item.chunks).collect();
    let calls: Vec<i32> = batch.items.iter().map(|item| item.embedding_calls).collect();
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
