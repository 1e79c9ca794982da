//! Keeping BM25 weights true to a collection's average length, and the lexical index in order.

use pgvector::SparseVector;
use uuid::Uuid;

use super::{Store, StoreError};
use crate::domain::identity::{ChunkKey, TenantId};

/// A collection's lengths: those that stored weights were made with, and those of today.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CollectionLengths {
    /// Average length behind the stored weights; zero before the first chunk.
    pub reference: f32,
    /// Chunks there were when it was taken.
    pub chunks_at_reference: u64,
    /// Chunks there are.
    pub chunks: u64,
    /// Sum of their lengths.
    pub total_length: u64,
}

/// Chunks that are rewritten in one statement.
const PAGE: i64 = 500;

impl Store {
    /// Sets the first reference length of a collection; returns the one that is in force, which may
    /// be another worker's.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn first_reference_length(
        &self,
        tenant: TenantId,
        collection: Uuid,
        average_length: f32,
        chunks: i64,
    ) -> Result<Option<f32>, StoreError> {
        let mut transaction = self.begin(tenant).await?;
        sqlx::query!(
            "UPDATE collection SET average_length = $3, chunks_at_reference = $4
             WHERE tenant_id = $1 AND collection_id = $2 AND average_length = 0",
            tenant.0,
            collection,
            average_length,
            chunks,
        )
        .execute(&mut *transaction)
        .await?;
        let reference = sqlx::query_scalar!(
            "SELECT average_length FROM collection WHERE tenant_id = $1 AND collection_id = $2",
            tenant.0,
            collection
        )
        .fetch_optional(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(reference)
    }

    /// Empties the pending list of the lexical index, which every search reads whole.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn settle_lexical_index(&self) -> Result<(), StoreError> {
        sqlx::query!("SELECT settle_lexical_index()").fetch_one(self.writer()).await?;
        Ok(())
    }

    /// The lengths of a collection.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn collection_lengths(
        &self,
        tenant: TenantId,
        collection: Uuid,
    ) -> Result<CollectionLengths, StoreError> {
        let mut transaction = self.begin(tenant).await?;
        let row = sqlx::query!(
            "SELECT c.average_length, c.chunks_at_reference, s.chunks, s.total_length
             FROM collection c JOIN collection_statistic s USING (tenant_id, collection_id)
             WHERE c.tenant_id = $1 AND c.collection_id = $2",
            tenant.0,
            collection
        )
        .fetch_optional(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(row.map_or_else(CollectionLengths::default, |row| CollectionLengths {
            reference: row.average_length,
            chunks_at_reference: row.chunks_at_reference.unsigned_abs(),
            chunks: row.chunks.unsigned_abs(),
            total_length: row.total_length.unsigned_abs(),
        }))
    }

    /// Makes all weights of a collection again for its average length of now. `reweigh` turns the
    /// weights of one chunk (term id and weight, with the chunk's length) from the old to the new
    /// average. Ingest into the collection waits meanwhile; queries do not.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing changed then.
    pub async fn reweigh(
        &self,
        tenant: TenantId,
        collection: Uuid,
        reweigh: impl Fn(&mut [(i32, f32)], i32, f32, f32) + Send,
    ) -> Result<(), StoreError> {
        let mut transaction = self.begin(tenant).await?;
        let Some(row) = sqlx::query!(
            r#"SELECT c.average_length, s.chunks, (s.total_length::float8 / GREATEST(s.chunks, 1))::real AS "current!"
               FROM collection c JOIN collection_statistic s USING (tenant_id, collection_id)
               WHERE c.tenant_id = $1 AND c.collection_id = $2 FOR UPDATE OF c"#,
            tenant.0,
            collection
        )
        .fetch_optional(&mut *transaction)
        .await?
        else {
            return Ok(());
        };
        let mut after = ChunkKey { document_id: Uuid::nil(), ordinal: 0 };
        loop {
            let page = sqlx::query!(
                r#"SELECT document_id, ordinal, length, weights AS "weights: SparseVector" FROM chunk
                   WHERE tenant_id = $1 AND collection_id = $2 AND (document_id, ordinal) > ($3, $4)
                   ORDER BY document_id, ordinal LIMIT $5"#,
                tenant.0,
                collection,
                after.document_id,
                i32::try_from(after.ordinal).unwrap_or(i32::MAX),
                PAGE,
            )
            .fetch_all(&mut *transaction)
            .await?;
            let Some(last) = page.last() else { break };
            after = ChunkKey { document_id: last.document_id, ordinal: last.ordinal.unsigned_abs() };
            let (mut documents, mut ordinals, mut weights) = (Vec::new(), Vec::new(), Vec::new());
            for row_of_page in &page {
                let mut terms: Vec<(i32, f32)> = row_of_page
                    .weights
                    .indices()
                    .iter()
                    .zip(row_of_page.weights.values())
                    .map(|(index, weight)| (index + 1, *weight))
                    .collect();
                reweigh(&mut terms, row_of_page.length, row.average_length, row.current);
                documents.push(row_of_page.document_id);
                ordinals.push(row_of_page.ordinal);
                weights.push(super::chunk::sparse(&terms));
            }
            sqlx::query!(
                "UPDATE chunk c SET weights = new.weights
                 FROM UNNEST($2::uuid[], $3::int[], $4::sparsevec[]) AS new (document_id, ordinal, weights)
                 WHERE c.tenant_id = $1 AND c.document_id = new.document_id AND c.ordinal = new.ordinal",
                tenant.0,
                &documents,
                &ordinals,
                &weights as &[SparseVector],
            )
            .execute(&mut *transaction)
            .await?;
        }
        sqlx::query!(
            "UPDATE collection SET average_length = $3, chunks_at_reference = $4
             WHERE tenant_id = $1 AND collection_id = $2",
            tenant.0,
            collection,
            row.current,
            row.chunks,
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }
}
