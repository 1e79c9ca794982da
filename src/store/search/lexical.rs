//! The lexical half of retrieval: reads term statistics and returns the best chunks by BM25.

use std::collections::{HashMap, HashSet};

use sqlx::PgConnection;
use uuid::Uuid;

use crate::domain::{
    filter::Filter,
    identity::{ChunkKey, TenantId},
    lexical::candidates::{GROUPS_AT_ONCE, grouped_pairs},
};
use crate::store::{Scope, Search, Selection, StoreError, documents::chunk, search::passages::LexicalHit};

/// Number of chunks of an index that contain a term; terms in no chunk are missing.
pub(crate) type DocumentFrequencies = HashMap<i32, u64>;

/// The query side of BM25 in the form that the database function takes.
#[derive(Clone, Debug, Default)]
pub(crate) struct LexicalQuery {
    /// Chunks that contain any of these terms are scored.
    pub(crate) rare_terms: Vec<i32>,
    /// Chunks that contain both terms of one of these pairs are scored as well.
    pub(crate) term_pairs: Vec<(i32, i32)>,
    /// Terms whose chunks are also scored if the others find fewer chunks than requested.
    pub(crate) spare_terms: Vec<i32>,
    /// Weight of every term, ascending by id.
    pub(crate) weights: Vec<(i32, f32)>,
}

impl LexicalQuery {
    /// Returns whether every chunk that contains one of its terms is scored.
    #[must_use]
    pub(crate) fn looks_at_all(&self) -> bool {
        let rare: HashSet<&i32> = self.rare_terms.iter().collect();
        self.weights.iter().all(|(term, _)| rare.contains(term))
    }

    /// Returns the query with its spare terms among the terms whose chunks are scored.
    fn with_spare_terms(&self) -> Self {
        let rare_terms = [self.rare_terms.as_slice(), &self.spare_terms].concat();
        Self { rare_terms, spare_terms: Vec::new(), ..self.clone() }
    }
}

impl Search<'_> {
    /// Returns document frequencies of these (salted) terms, each in the index at its place in `indexes`, by index.
    ///
    /// # Errors
    /// Any [`StoreError`].
    #[tracing::instrument(target = "cited::trace", skip_all, fields(otel.kind = "client", db.system.name = "postgresql"))]
    pub(crate) async fn document_frequencies(
        &self,
        tenant: TenantId,
        indexes: &[Uuid],
        terms: &[i32],
    ) -> Result<HashMap<Uuid, DocumentFrequencies>, StoreError> {
        let mut reading = self.store.reading(tenant).await?;
        let rows = sqlx::query!(
            r#"SELECT index_id AS "index_id!", term_id AS "term_id!", document_frequency AS "document_frequency!"
               FROM term_frequencies($1, $2, $3)"#,
            tenant.0,
            indexes,
            terms,
        )
        .fetch_all(&mut *reading)
        .await?;
        reading.end().await?;
        let mut frequencies: HashMap<Uuid, DocumentFrequencies> = HashMap::new();
        for row in rows {
            if let Some(count) = u64::try_from(row.document_frequency).ok().filter(|count| *count > 0) {
                frequencies.entry(row.index_id).or_default().insert(row.term_id, count);
            }
        }
        Ok(frequencies)
    }

    /// Returns in how many chunks that a caller who is these principals may see each of these (salted) terms stands, each in the
    /// index at its place in `indexes`. Not from a replica: it is kept under a revision that a replica may not have reached.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn seen_frequencies(
        &self,
        tenant: TenantId,
        indexes: &[Uuid],
        terms: &[i32],
        caller: &[i32],
    ) -> Result<Vec<(Uuid, i32, u64)>, StoreError> {
        // A database that is split up by tenants has no replicas, and sends a function to a node outside of transactions only.
        if self.store.is_split {
            let mut reading = self.store.reading(tenant).await?;
            let seen = seen_frequencies(&mut reading, tenant, (indexes, terms), caller).await?;
            reading.end().await?;
            return Ok(seen);
        }
        let mut transaction = self.store.begin(tenant).await?;
        let seen = seen_frequencies(&mut transaction, tenant, (indexes, terms), caller).await?;
        transaction.commit().await?;
        Ok(seen)
    }

    /// Returns at most `limit` chunks that pass the filter, best BM25 score first, ties in key order. If the filter
    /// lets many chunks pass, only chunks with the query's candidate terms are found.
    ///
    /// # Errors
    /// Any [`StoreError`].
    #[tracing::instrument(target = "cited::trace", skip_all, fields(otel.kind = "client", db.system.name = "postgresql"))]
    pub(crate) async fn lexical_search(
        &self,
        tenant: TenantId,
        scope: &Scope,
        query: &LexicalQuery,
        selection: &Selection<'_>,
        limit: i32,
    ) -> Result<Vec<LexicalHit>, StoreError> {
        if query.rare_terms.is_empty() && query.term_pairs.is_empty() {
            return Ok(Vec::new());
        }
        if selection.is_narrow() {
            return self.lexical_within(tenant, scope, query, selection, limit).await;
        }
        let hits = self.lexical_candidates(tenant, scope, query, selection.filter, limit).await?;
        if i32::try_from(hits.len()).is_ok_and(|found| found >= limit) || query.spare_terms.is_empty() {
            return Ok(hits);
        }
        self.lexical_candidates(tenant, scope, &query.with_spare_terms(), selection.filter, limit).await
    }

    async fn lexical_candidates(
        &self,
        tenant: TenantId,
        scope: &Scope,
        query: &LexicalQuery,
        filter: &Filter,
        limit: i32,
    ) -> Result<Vec<LexicalHit>, StoreError> {
        let (heads, others) = grouped_pairs(&query.term_pairs);
        let documents = (!filter.document_ids.is_empty()).then_some(filter.document_ids.as_slice());
        let pages = (!filter.pages.is_empty()).then_some(filter.pages.as_slice());
        let mut reading = self.store.reading(tenant).await?;
        let rows = sqlx::query!(
            r#"SELECT document_id AS "document_id!", ordinal AS "ordinal!", score AS "score!"
               FROM lexical_search($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"#,
            tenant.0,
            &scope.indexes,
            &query.rare_terms,
            &heads,
            &others,
            chunk::sparse(&query.weights) as _,
            filter.metadata_path(),
            filter.source_prefix.as_deref(),
            documents,
            pages,
            filter.caller.as_deref(),
            limit,
        )
        .fetch_all(&mut *reading)
        .await?;
        reading.end().await?;
        let mut hits: Vec<LexicalHit> = rows
            .into_iter()
            .map(|row| LexicalHit {
                key: ChunkKey { document_id: row.document_id, ordinal: row.ordinal.unsigned_abs() },
                score: row.score,
            })
            .collect();
        // A query that needs several statements in the function may get the same chunk from each of them.
        if heads.len() > GROUPS_AT_ONCE {
            hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
            hits.dedup_by_key(|hit| hit.key);
            hits.truncate(usize::try_from(limit).unwrap_or_default());
        }
        Ok(hits)
    }
}

async fn seen_frequencies(
    connection: &mut PgConnection,
    tenant: TenantId,
    (indexes, terms): (&[Uuid], &[i32]),
    caller: &[i32],
) -> Result<Vec<(Uuid, i32, u64)>, StoreError> {
    let rows = sqlx::query!(
        r#"SELECT index_id AS "index_id!", term_id AS "term_id!", document_frequency AS "document_frequency!"
               FROM seen_frequencies($1, $2, $3, $4)"#,
        tenant.0,
        indexes,
        terms,
        caller,
    )
    .fetch_all(connection)
    .await?;
    let seen = rows.into_iter().map(|row| (row.index_id, row.term_id, row.document_frequency.unsigned_abs().into()));
    Ok(seen.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_whose_known_terms_are_all_rare_looks_at_all() {
        let query = |rare: &[i32]| LexicalQuery {
            rare_terms: rare.to_vec(),
            weights: vec![(3, 1.5), (7, 0.5)],
            ..LexicalQuery::default()
        };
        assert!(query(&[7, 3]).looks_at_all());
        assert!(!query(&[3]).looks_at_all());
        assert!(LexicalQuery::default().looks_at_all(), "nothing is known, so nothing holds it");
    }
}
