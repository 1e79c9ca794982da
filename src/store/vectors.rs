//! Vectors of chunks that are stored already.

use pgvector::HalfVector;
use sqlx::{Postgres, Transaction, types::Json};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{
    CommitBatch, ProfileId, Store, StoreError, StoredDocument,
    chunk::{ChunkColumns, half},
    reembed, settle,
    statistics::StatisticChanges,
    turn::{self, Active},
};
use crate::domain::{
    fingerprint::Hash,
    identity::{ChunkKey, TenantId},
};

type Tx = Transaction<'static, Postgres>;

/// A document, as its chunks were read.
#[derive(Clone, Debug)]
pub struct ReadDocument {
    /// Identity.
    pub id: Uuid,
    /// Caller's name.
    pub source: String,
    /// Its version then.
    pub version: i32,
}

impl ReadDocument {
    /// A document that was read whole.
    #[must_use]
    pub fn of(stored: &StoredDocument) -> Self {
        Self { id: stored.id, source: stored.source.clone(), version: stored.version }
    }
}

/// A chunk that has no vector in one space or another.
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
    /// The space.
    pub profile: ProfileId,
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
    /// The spaces of the collection that are filled.
    pub spaces: &'a [ProfileId],
    /// Whether those must be all the spaces that it has.
    pub fills_all: bool,
    /// The vectors.
    pub vectors: &'a [NewVector],
    /// What they are made for; the claim must hold it.
    pub items: &'a [FilledItem],
    /// Whether nothing more follows: the items are settled.
    pub is_last: bool,
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
    /// A space was dropped, or the collection deleted; nothing was written.
    SpaceGone,
    /// All spaces were to be filled, and by now there are others; nothing was written.
    SpacesChanged,
}

impl Store {
    /// The documents of these sources, and their chunks that have no vector in one of the spaces or another.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn bare_chunks(
        &self,
        tenant: TenantId,
        collection: Uuid,
        spaces: &[ProfileId],
        sources: &[String],
    ) -> Result<(Vec<ReadDocument>, Vec<BareChunk>), StoreError> {
        let mut transaction = self.begin(tenant).await?;
        let documents = sqlx::query!(
            "SELECT source, document_id, version FROM document WHERE tenant_id = $1 AND collection_id = $2 AND source = ANY ($3)",
            tenant.0,
            collection,
            sources
        )
        .fetch_all(&mut *transaction)
        .await?;
        let spaces: Vec<i32> = spaces.iter().map(|profile| profile.0).collect();
        let ids: Vec<Uuid> = documents.iter().map(|row| row.document_id).collect();
        let chunks = sqlx::query!(
            r#"SELECT d.document_id, d.source, d.version, d.title, c.ordinal, c.heading AS "heading: Json<Vec<String>>", c.text, c.context
               FROM document d JOIN collection l ON l.tenant_id = d.tenant_id AND l.collection_id = d.collection_id
               JOIN chunk c ON c.tenant_id = d.tenant_id AND c.document_id = d.document_id AND c.chunking_id = l.chunking_id
               WHERE d.tenant_id = $1 AND d.document_id = ANY ($2)
                 AND (SELECT count(*) FROM chunk_embedding e WHERE e.tenant_id = c.tenant_id AND e.document_id = c.document_id
                     AND (e.chunking_id = c.chunking_id) IS TRUE AND e.ordinal = c.ordinal AND e.profile_id = ANY ($3)) < cardinality($3::int[])
               ORDER BY d.source, c.ordinal"#,
            tenant.0,
            &ids,
            &spaces
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
        let documents = documents
            .into_iter()
            .map(|row| ReadDocument { id: row.document_id, source: row.source, version: row.version })
            .collect();
        Ok((documents, chunks))
    }

    /// Stores vectors of chunks, and settles their items with the last of them. Chunks of documents that were replaced meanwhile are left
    /// out: whoever replaced them stored their vectors.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is written then.
    pub async fn store_vectors(&self, batch: &VectorBatch<'_>) -> Result<VectorOutcome, StoreError> {
        let mut transaction = self.begin(batch.tenant).await?;
        let ordinals: Vec<i32> = batch.items.iter().map(|item| item.ordinal).collect();
        if !settle::holds_lease(&mut transaction, batch.tenant, (batch.job_id, batch.fence), &ordinals).await? {
            return Ok(VectorOutcome::LeaseLost);
        }
        let Some(Active { profile: active, chunking }) =
            turn::share(&mut transaction, batch.tenant, batch.collection).await?
        else {
            return Ok(VectorOutcome::SpaceGone);
        };
        let companions = reembed::companions(&mut transaction, batch.tenant, batch.collection).await?;
        let is_there = |space: &ProfileId| *space == active || companions.contains(space);
        let is_filled = |space: &ProfileId| batch.spaces.contains(space);
        if batch.fills_all && !(is_filled(&active) && companions.iter().all(is_filled)) {
            return Ok(VectorOutcome::SpacesChanged);
        }
        if !batch.spaces.iter().all(is_there) {
            return Ok(if batch.fills_all { VectorOutcome::SpacesChanged } else { VectorOutcome::SpaceGone });
        }
        insert_vectors(&mut transaction, batch, (active, chunking)).await?;
        if batch.is_last {
            settle::settle(&mut transaction, batch.tenant, batch.job_id, batch.items, batch.now).await?;
        }
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
            "INSERT INTO chunk_embedding (tenant_id, chunking_id, profile_id, document_id, ordinal, embedding_hash, embedding)
             SELECT $1, $2, $3, new.* FROM UNNEST($4::uuid[], $5::int[], $6::bytea[], $7::halfvec[])
                  AS new (document_id, ordinal, embedding_hash, embedding)
             WHERE new.embedding IS NOT NULL",
            batch.tenant.0,
            batch.collection.chunking,
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

async fn insert_vectors(
    transaction: &mut Tx,
    batch: &VectorBatch<'_>,
    (active, chunking): (ProfileId, Uuid),
) -> Result<(), StoreError> {
    if batch.vectors.is_empty() {
        return Ok(());
    }
    let documents: Vec<Uuid> = batch.vectors.iter().map(|new| new.key.document_id).collect();
    // Nobody replaces or deletes the documents until this has landed. In the order in which others lock them.
    sqlx::query!(
        "SELECT document_id FROM document WHERE tenant_id = $1 AND document_id = ANY ($2) ORDER BY source FOR NO KEY UPDATE",
        batch.tenant.0,
        &documents
    )
    .fetch_all(&mut **transaction)
    .await?;
    for space in batch.spaces {
        let inserted = insert_in_space(transaction, batch, *space).await?;
        if *space == active {
            dress(transaction, batch.tenant, chunking, &inserted).await?;
        }
    }
    Ok(())
}

/// Inserts the vectors of one space; returns the document of each that is new.
async fn insert_in_space(
    transaction: &mut Tx,
    batch: &VectorBatch<'_>,
    space: ProfileId,
) -> Result<Vec<Uuid>, StoreError> {
    let vectors: Vec<&NewVector> = batch.vectors.iter().filter(|new| new.profile == space).collect();
    let documents: Vec<Uuid> = vectors.iter().map(|new| new.key.document_id).collect();
    let versions: Vec<i32> = vectors.iter().map(|new| new.version).collect();
    let ordinals: Vec<i32> = vectors.iter().map(|new| i32::try_from(new.key.ordinal).unwrap_or(i32::MAX)).collect();
    let hashes: Vec<Vec<u8>> = vectors.iter().map(|new| new.hash.to_vec()).collect();
    let vectors: Vec<HalfVector> = vectors.iter().map(|new| half(&new.vector)).collect();
    Ok(sqlx::query_scalar!(
        "INSERT INTO chunk_embedding (tenant_id, chunking_id, profile_id, document_id, ordinal, embedding_hash, embedding)
         SELECT $1, l.chunking_id, $3, new.document_id, new.ordinal, new.hash, new.vector
         FROM UNNEST($4::uuid[], $5::int[], $6::int[], $7::bytea[], $8::halfvec[])
              AS new (document_id, version, ordinal, hash, vector)
         JOIN document d ON d.tenant_id = $1 AND d.document_id = new.document_id AND d.version = new.version
         JOIN collection l ON l.tenant_id = $1 AND l.collection_id = $2
         ON CONFLICT DO NOTHING RETURNING document_id",
        batch.tenant.0,
        batch.collection,
        space.0,
        &documents,
        &versions,
        &ordinals,
        &hashes,
        &vectors as &[HalfVector],
    )
    .fetch_all(&mut **transaction)
    .await?)
}

/// Notes that chunks of these documents, one for each time that it is named, are no longer without a vector.
async fn dress(transaction: &mut Tx, tenant: TenantId, chunking: Uuid, documents: &[Uuid]) -> Result<(), StoreError> {
    if documents.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "UPDATE document d SET bare_chunks = bare_chunks - dressed.chunks
         FROM (SELECT document_id, count(*)::int AS chunks FROM UNNEST($2::uuid[]) AS new (document_id) GROUP BY 1) AS dressed
         WHERE d.tenant_id = $1 AND d.document_id = dressed.document_id",
        tenant.0,
        documents
    )
    .execute(&mut **transaction)
    .await?;
    let mut changes = StatisticChanges::default();
    changes.bare_chunks -= i64::try_from(documents.len()).unwrap_or(i64::MAX);
    changes.apply(transaction, tenant, chunking).await?;
    Ok(())
}
