//! The chunking beside the active one of a collection becomes the active one, or goes.

use sqlx::{Postgres, Transaction};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{CutOverOutcome, Store, StoreError, turn};
use crate::domain::identity::TenantId;

type Tx = Transaction<'static, Postgres>;

/// What became of the wish to drop a chunking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChunkingDrop {
    /// It is gone; these jobs were filling it.
    Dropped(DroppedChunking, Vec<Uuid>),
    /// It is the active one.
    IsActive,
    /// The collection has no such chunking.
    NotThere,
}

/// What a chunking held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DroppedChunking {
    /// Documents that had chunks in it.
    pub documents: u64,
    /// Its chunks.
    pub chunks: u64,
    /// Their vectors.
    pub vectors: u64,
}

impl Store {
    /// Makes the chunking beside the active one of a collection the active one, if it is complete, in one transaction; the
    /// one before is kept beside it. Each document becomes a new version of itself.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing changed then.
    pub async fn cut_over_chunking(
        &self,
        tenant: TenantId,
        collection: Uuid,
        chunking: Uuid,
        now: OffsetDateTime,
    ) -> Result<CutOverOutcome, StoreError> {
        // Asked before everybody is kept waiting, too.
        let mut transaction = self.begin_set_based(tenant).await?;
        if let Some(obstacle) = obstacle(&mut transaction, tenant, (collection, chunking)).await? {
            return Ok(obstacle);
        }
        transaction.commit().await?;
        let mut transaction = self.begin_set_based(tenant).await?;
        turn::alone(&mut transaction, tenant, collection).await?;
        if let Some(obstacle) = obstacle(&mut transaction, tenant, (collection, chunking)).await? {
            return Ok(obstacle);
        }
        exchange(&mut transaction, tenant, (collection, chunking), now).await?;
        transaction.commit().await?;
        Ok(CutOverOutcome::Done)
    }

    /// A transaction whose statements take documents by the thousand. A chunking that was just filled is not in the
    /// statistics, and a planner that takes it for empty would read all of it once for each document.
    async fn begin_set_based(&self, tenant: TenantId) -> Result<Tx, StoreError> {
        let mut transaction = self.begin(tenant).await?;
        sqlx::query!("SET LOCAL enable_nestloop = off").execute(&mut *transaction).await?;
        Ok(transaction)
    }

    /// Drops a chunking that is not the active one, with its chunks and their vectors.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing changed then.
    pub async fn drop_chunking(
        &self,
        tenant: TenantId,
        collection: Uuid,
        chunking: Uuid,
    ) -> Result<ChunkingDrop, StoreError> {
        let mut transaction = self.begin(tenant).await?;
        turn::alone(&mut transaction, tenant, collection).await?;
        match active(&mut transaction, tenant, collection, chunking).await? {
            None => return Ok(ChunkingDrop::NotThere),
            Some(true) => return Ok(ChunkingDrop::IsActive),
            Some(false) => {}
        }
        let vectors =
            sqlx::query!("DELETE FROM chunk_embedding WHERE tenant_id = $1 AND chunking_id = $2", tenant.0, chunking)
                .execute(&mut *transaction)
                .await?
                .rows_affected();
        // By document: chunks have no index by chunking alone.
        let chunks = sqlx::query!(
            "DELETE FROM chunk WHERE tenant_id = $1 AND chunking_id = $2
                 AND document_id IN (SELECT document_id FROM document_chunking WHERE tenant_id = $1 AND chunking_id = $2)",
            tenant.0,
            chunking
        )
        .execute(&mut *transaction)
        .await?
        .rows_affected();
        let documents =
            sqlx::query!("DELETE FROM document_chunking WHERE tenant_id = $1 AND chunking_id = $2", tenant.0, chunking)
                .execute(&mut *transaction)
                .await?
                .rows_affected();
        sqlx::query!("DELETE FROM chunking WHERE tenant_id = $1 AND chunking_id = $2", tenant.0, chunking)
            .execute(&mut *transaction)
            .await?;
        let jobs = sqlx::query_scalar!(
            "SELECT job_id FROM job WHERE tenant_id = $1 AND collection_id = $2 AND kind = 'resplit' AND finished_at IS NULL",
            tenant.0,
            collection
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(ChunkingDrop::Dropped(DroppedChunking { documents, chunks, vectors }, jobs))
    }
}

/// Whether a chunking is the active one of the collection; none if it is not one of its chunkings.
async fn active(
    transaction: &mut Tx,
    tenant: TenantId,
    collection: Uuid,
    chunking: Uuid,
) -> Result<Option<bool>, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"SELECT c.chunking_id = k.chunking_id AS "is_active!" FROM chunking k JOIN collection c USING (tenant_id, collection_id)
           WHERE k.tenant_id = $1 AND k.collection_id = $2 AND k.chunking_id = $3"#,
        tenant.0,
        collection,
        chunking
    )
    .fetch_optional(&mut **transaction)
    .await?)
}

/// Why a chunking cannot be made the active one, if it cannot.
async fn obstacle(
    transaction: &mut Tx,
    tenant: TenantId,
    (collection, chunking): (Uuid, Uuid),
) -> Result<Option<CutOverOutcome>, StoreError> {
    match active(transaction, tenant, collection, chunking).await? {
        None => return Ok(Some(CutOverOutcome::NotThere)),
        Some(true) => return Ok(Some(CutOverOutcome::IsActive)),
        Some(false) => {}
    }
    let missing = sqlx::query_scalar!(
        r#"SELECT count(*) AS "missing!" FROM document d WHERE d.tenant_id = $1 AND d.collection_id = $2
             AND NOT EXISTS (SELECT FROM document_chunking o WHERE o.tenant_id = d.tenant_id AND o.document_id = d.document_id
                 AND o.chunking_id = $3 AND o.version = d.version)"#,
        tenant.0,
        collection,
        chunking
    )
    .fetch_one(&mut **transaction)
    .await?;
    Ok((missing > 0).then(|| CutOverOutcome::Incomplete(missing.unsigned_abs())))
}

/// Exchanges the active chunking of a collection for another one, and what its documents know of the two.
async fn exchange(
    transaction: &mut Tx,
    tenant: TenantId,
    (collection, chunking): (Uuid, Uuid),
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    // In the order in which others lock them.
    sqlx::query!(
        "SELECT count(*) FROM (
             SELECT FROM document WHERE tenant_id = $1 AND collection_id = $2 ORDER BY source FOR NO KEY UPDATE) locked",
        tenant.0,
        collection
    )
    .fetch_one(&mut **transaction)
    .await?;
    // What lacks vectors in the one before is out of date there: nobody makes them any more.
    sqlx::query!(
        "INSERT INTO document_chunking (tenant_id, chunking_id, document_id, version, fingerprint, request_hash, chunks)
         SELECT d.tenant_id, c.chunking_id, d.document_id, CASE WHEN d.bare_chunks = 0 THEN d.version + 1 ELSE 0 END,
                d.fingerprint, d.request_hash, d.chunks
         FROM collection c JOIN document d USING (tenant_id, collection_id)
         WHERE c.tenant_id = $1 AND c.collection_id = $2",
        tenant.0,
        collection
    )
    .execute(&mut **transaction)
    .await?;
    // A trigger keeps the chunks of each version that is replaced: those of what is still the active chunking.
    sqlx::query!(
        "UPDATE document d SET version = d.version + 1, updated_at = $4, fingerprint = o.fingerprint,
                request_hash = o.request_hash, chunks = o.chunks, bare_chunks = 0
         FROM document_chunking o
         WHERE d.tenant_id = $1 AND d.collection_id = $2
           AND o.tenant_id = d.tenant_id AND o.document_id = d.document_id AND o.chunking_id = $3",
        tenant.0,
        collection,
        chunking,
        now
    )
    .execute(&mut **transaction)
    .await?;
    sqlx::query!("DELETE FROM document_chunking WHERE tenant_id = $1 AND chunking_id = $2", tenant.0, chunking)
        .execute(&mut **transaction)
        .await?;
    sqlx::query!(
        "UPDATE collection SET chunking_id = $3 WHERE tenant_id = $1 AND collection_id = $2",
        tenant.0,
        collection,
        chunking
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}
