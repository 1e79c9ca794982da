//! The lexical half of retrieval: statistics in, best chunks out, in one transaction.

use std::collections::HashMap;

use uuid::Uuid;

use super::{Store, StoreError, chunk, search::LexicalHit};
use crate::domain::{
    filter::Filter,
    identity::{ChunkKey, TenantId},
};

/// What BM25 needs to know of one collection for one query.
#[derive(Clone, Debug, Default)]
pub struct QueryStatistics {
    /// Chunks in the collection.
    pub chunks: u64,
    /// Chunks that hold a term; a term that none holds is missing.
    pub document_frequencies: HashMap<i32, u64>,
}

/// The query side of BM25, ready for the database.
#[derive(Clone, Debug, Default)]
pub struct LexicalQuery {
    /// Terms that find candidates, over all collections.
    pub candidate_terms: Vec<i32>,
    /// Weight of every term, ascending by id.
    pub weights: Vec<(i32, f32)>,
}

impl Store {
    /// Statistics of these collections for these (salted) terms.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn query_statistics(
        &self,
        tenant: TenantId,
        collections: &[Uuid],
        terms: &[i32],
    ) -> Result<HashMap<Uuid, QueryStatistics>, StoreError> {
        let mut transaction = self.begin_read(tenant).await?;
        let rows = sqlx::query!(
            r#"SELECT collection_id AS "collection_id!", NULL::int AS term_id, chunks AS "count!"
               FROM collection_statistic WHERE tenant_id = $1 AND collection_id = ANY ($2)
               UNION ALL
               SELECT collection_id, term_id, document_frequency::bigint
               FROM term_statistic WHERE tenant_id = $1 AND collection_id = ANY ($2) AND term_id = ANY ($3)"#,
            tenant.0,
            collections,
            terms,
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        let mut statistics: HashMap<Uuid, QueryStatistics> = HashMap::new();
        for row in rows {
            let entry = statistics.entry(row.collection_id).or_default();
            let count = u64::try_from(row.count).unwrap_or(0);
            match row.term_id {
                None => entry.chunks = count,
                Some(term) if count > 0 => {
                    entry.document_frequencies.insert(term, count);
                }
                Some(_) => {}
            }
        }
        Ok(statistics)
    }

    /// Best chunks by BM25 that pass the filter, best first, ties in key order; at most `limit`.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn lexical_search(
        &self,
        tenant: TenantId,
        collections: &[Uuid],
        query: &LexicalQuery,
        filter: &Filter,
        limit: i32,
    ) -> Result<Vec<LexicalHit>, StoreError> {
        if query.candidate_terms.is_empty() {
            return Ok(Vec::new());
        }
        let documents = (!filter.document_ids.is_empty()).then_some(filter.document_ids.as_slice());
        let pages = (!filter.pages.is_empty()).then_some(filter.pages.as_slice());
        let mut transaction = self.begin_read(tenant).await?;
        let rows = sqlx::query!(
            r#"SELECT document_id AS "document_id!", ordinal AS "ordinal!", score AS "score!"
               FROM lexical_search($1, $2, $3, $4, $5, $6, $7, $8)"#,
            collections,
            &query.candidate_terms,
            chunk::sparse(&query.weights) as _,
            filter.metadata_path(),
            filter.source_prefix.as_deref(),
            documents,
            pages,
            limit,
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(rows
            .into_iter()
            .map(|row| LexicalHit {
                key: ChunkKey { document_id: row.document_id, ordinal: row.ordinal.unsigned_abs() },
                score: row.score,
            })
            .collect())
    }
}
