//! Maintenance: recomputes BM25 weights when an index's average length moves, and keeps the lexical index in order.

use pgvector::SparseVector;
use sqlx::{Postgres, Transaction};
use uuid::Uuid;

use crate::domain::identity::{ChunkKey, TenantId};
use crate::store::{Collections, StoreError, collections::lock};

/// Chunk length statistics of an index: at the time of the stored weights, and now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IndexLengths {
    /// Average length behind the stored weights; zero before the first chunk.
    pub reference: f32,
    /// Number of chunks when the reference was taken.
    pub chunks_at_reference: u64,
    /// Current number of chunks.
    pub chunks: u64,
    /// Current sum of the chunk lengths.
    pub total_length: u64,
}

/// Chunks that one statement rewrites.
const PAGE: i64 = 500;

impl Collections<'_> {
    /// Sets the first reference length of an index. Returns the length that is in force, which another worker may have
    /// set.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn first_reference_length(
        &self,
        tenant: TenantId,
        index: Uuid,
        average_length: f32,
        chunks: i64,
    ) -> Result<Option<f32>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        sqlx::query!(
            "UPDATE collection_index SET average_length = $3, chunks_at_reference = $4
             WHERE tenant_id = $1 AND index_id = $2 AND average_length = 0",
            tenant.0,
            index,
            average_length,
            chunks,
        )
        .execute(&mut *transaction)
        .await?;
        let reference = reference_length(&mut transaction, tenant, index).await?;
        transaction.commit().await?;
        Ok(reference)
    }

    /// Returns the average length that an index's weights are computed with; `None` if the index does not exist any
    /// more.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn reference_length(&self, tenant: TenantId, index: Uuid) -> Result<Option<f32>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let reference = reference_length(&mut transaction, tenant, index).await?;
        transaction.commit().await?;
        Ok(reference)
    }

    /// Flushes the pending list of the lexical index, which every search has to read in full.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn settle_lexical_index(&self) -> Result<(), StoreError> {
        sqlx::query!("SELECT settle_lexical_index()").fetch_one(self.store.writer()).await?;
        Ok(())
    }

    /// Returns the chunk length statistics of each index of a collection.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn index_lengths(
        &self,
        tenant: TenantId,
        collection: Uuid,
    ) -> Result<Vec<(Uuid, IndexLengths)>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let rows = sqlx::query!(
            "SELECT c.index_id, c.average_length, c.chunks_at_reference, s.chunks, s.total_length
             FROM collection_index c JOIN index_statistic s USING (tenant_id, index_id)
             WHERE c.tenant_id = $1 AND c.collection_id = $2",
            tenant.0,
            collection
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        let lengths = rows.into_iter().map(|row| {
            let lengths = IndexLengths {
                reference: row.average_length,
                chunks_at_reference: row.chunks_at_reference.unsigned_abs(),
                chunks: row.chunks.unsigned_abs(),
                total_length: row.total_length.unsigned_abs(),
            };
            (row.index_id, lengths)
        });
        Ok(lengths.collect())
    }

    /// Recomputes all weights of an index for its current average length. `reweigh` converts the weights of one chunk
    /// (term id and weight, with the chunk's length) from the old to the new average. Transactions that store into the
    /// collection or delete from it wait meanwhile; queries do not.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing changed then.
    pub async fn reweigh(
        &self,
        tenant: TenantId,
        index: Uuid,
        reweigh: impl Fn(&mut [(i32, f32)], i32, f32, f32) + Send,
    ) -> Result<(), StoreError> {
        let transaction = self.store.begin(tenant).await?;
        let Some(mut reweighing) = Reweighing::begin(transaction, tenant, index).await? else { return Ok(()) };
        reweighing.rewrite(reweigh).await?;
        reweighing.end().await
    }
}

/// An index whose weights are being recomputed, in one transaction.
struct Reweighing {
    transaction: Transaction<'static, Postgres>,
    tenant: TenantId,
    index: Uuid,
    /// Average length behind the stored weights.
    reference: f32,
    /// Current average length.
    current: f32,
    /// Current number of chunks.
    chunks: i64,
}

impl Reweighing {
    /// Waits until no transaction stores into the collection or deletes from it; `None` if the index does not exist any
    /// more.
    async fn begin(
        mut transaction: Transaction<'static, Postgres>,
        tenant: TenantId,
        index: Uuid,
    ) -> Result<Option<Self>, StoreError> {
        // Locks the collection first, like all other transactions: a drop or a delete then waits, or has ended.
        let collection = sqlx::query_scalar!(
            "SELECT collection_id FROM collection_index WHERE tenant_id = $1 AND index_id = $2",
            tenant.0,
            index
        )
        .fetch_optional(&mut *transaction)
        .await?;
        let Some(collection) = collection else { return Ok(None) };
        lock::lock_exclusive(&mut transaction, tenant, collection).await?;
        let row = sqlx::query!(
            r#"SELECT c.average_length, s.chunks, (s.total_length::float8 / GREATEST(s.chunks, 1))::real AS "current!"
               FROM collection_index c JOIN index_statistic s USING (tenant_id, index_id)
               WHERE c.tenant_id = $1 AND c.index_id = $2 FOR UPDATE OF c"#,
            tenant.0,
            index
        )
        .fetch_optional(&mut *transaction)
        .await?;
        Ok(row.map(|row| Self {
            transaction,
            tenant,
            index,
            reference: row.average_length,
            current: row.current,
            chunks: row.chunks,
        }))
    }

    /// Replaces the weights of every chunk with the result of `reweigh`, page by page.
    async fn rewrite(&mut self, reweigh: impl Fn(&mut [(i32, f32)], i32, f32, f32) + Send) -> Result<(), StoreError> {
        let (tenant, index) = (self.tenant, self.index);
        let mut after = ChunkKey { document_id: Uuid::nil(), ordinal: 0 };
        loop {
            let page = sqlx::query!(
                r#"SELECT document_id, ordinal, length, weights AS "weights: SparseVector" FROM chunk
                   WHERE tenant_id = $1 AND index_id = $2 AND (document_id, ordinal) > ($3, $4)
                   ORDER BY document_id, ordinal LIMIT $5"#,
                tenant.0,
                index,
                after.document_id,
                i32::try_from(after.ordinal).unwrap_or(i32::MAX),
                PAGE,
            )
            .fetch_all(&mut *self.transaction)
            .await?;
            let Some(last) = page.last() else { break };
            after = ChunkKey { document_id: last.document_id, ordinal: last.ordinal.unsigned_abs() };
            let (mut documents, mut ordinals, mut weights) = (Vec::new(), Vec::new(), Vec::new());
            for row in &page {
                let reweighed = |terms: &mut [(i32, f32)]| reweigh(terms, row.length, self.reference, self.current);
                documents.push(row.document_id);
                ordinals.push(row.ordinal);
                weights.push(changed(&row.weights, reweighed));
            }
            sqlx::query!(
                "UPDATE chunk c SET weights = new.weights
                 FROM UNNEST($3::uuid[], $4::int[], $5::sparsevec[]) AS new (document_id, ordinal, weights)
                 WHERE c.tenant_id = $1 AND c.document_id = new.document_id AND c.index_id = $2 AND c.ordinal = new.ordinal",
                tenant.0,
                index,
                &documents,
                &ordinals,
                &weights as &[SparseVector],
            )
            .execute(&mut *self.transaction)
            .await?;
        }
        Ok(())
    }

    /// Records the current average length as the one of the stored weights, and commits.
    async fn end(self) -> Result<(), StoreError> {
        let Self { mut transaction, tenant, index, current, chunks, .. } = self;
        sqlx::query!(
            "UPDATE collection_index SET average_length = $3, chunks_at_reference = $4
             WHERE tenant_id = $1 AND index_id = $2",
            tenant.0,
            index,
            current,
            chunks,
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }
}

/// Returns the weights by term after `change` was applied to them.
fn changed(weights: &SparseVector, change: impl FnOnce(&mut [(i32, f32)])) -> SparseVector {
    let stored = weights.indices().iter().zip(weights.values());
    let mut terms: Vec<(i32, f32)> = stored.map(|(index, weight)| (index + 1, *weight)).collect();
    change(&mut terms);
    crate::store::documents::chunk::sparse(&terms)
}

async fn reference_length(
    transaction: &mut Transaction<'static, Postgres>,
    tenant: TenantId,
    index: Uuid,
) -> Result<Option<f32>, StoreError> {
    let reference = sqlx::query_scalar!(
        "SELECT average_length FROM collection_index WHERE tenant_id = $1 AND index_id = $2",
        tenant.0,
        index
    );
    Ok(reference.fetch_optional(&mut **transaction).await?)
}
