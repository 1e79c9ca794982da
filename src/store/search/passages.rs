//! The dense half of retrieval, and the passages of dense and lexical hits.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::{AssertSqlSafe, Postgres, Row, postgres::PgRow};
use uuid::Uuid;

use crate::domain::{
    identity::{ChunkKey, TenantId},
    origin::Origin,
};
use crate::store::{
    ProfileId, Search, Selection, StoreError,
    collections::profile::{NEAREST_LIMIT, nearest_chunks_name},
    documents::chunk,
    search::filter::{push_document_filter, push_page_test},
    search::read_connection::Reading,
};

/// Up to this many vectors of a collection, comparing all of them is as fast as walking the index.
const EXACT_SCAN_LIMIT: u64 = 3_000;

/// The collections to search, with their active indexes.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The collections.
    pub collections: Vec<Uuid>,
    /// The active index of each collection.
    pub indexes: Vec<Uuid>,
}

/// A chunk and its BM25 score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LexicalHit {
    /// The chunk.
    pub key: ChunkKey,
    /// BM25 score.
    pub score: f32,
}

/// A chunk and its cosine similarity to the query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DenseHit {
    /// The chunk.
    pub key: ChunkKey,
    /// Cosine similarity, -1 to 1.
    pub similarity: f32,
}

/// Method of a vector search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorScan {
    /// Every vector of the documents that pass the filter was compared.
    Exact,
    /// HNSW, continued until enough vectors passed the filter.
    Iterative,
}

/// Input of a dense search.
#[derive(Clone, Debug)]
pub struct DenseQuery<'a> {
    /// Collections and indexes to search.
    pub scope: &'a Scope,
    /// Vector space to search.
    pub profile: ProfileId,
    /// The query's vector, unit length.
    pub vector: &'a [f32],
    /// Number of vectors of these collections in that space.
    pub vectors: u64,
    /// Filter that chunks must pass.
    pub selection: &'a Selection<'a>,
    /// Maximum number of hits.
    pub limit: i64,
}

/// A chunk with the fields that a source shows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Passage {
    /// The chunk.
    pub key: ChunkKey,
    /// Origin of the passage.
    #[serde(default)]
    pub origin: Origin,
    /// Name of its collection; empty for the web.
    pub collection: String,
    /// Document's version.
    pub version: u32,
    /// Document's source.
    pub source: String,
    /// Document's URI.
    pub uri: String,
    /// Document's title.
    pub title: String,
    /// Document's metadata.
    pub metadata: Value,
    /// SHA-256 of the document's bytes.
    pub content_hash: Vec<u8>,
    /// Page, where known.
    pub page: Option<i32>,
    /// Heading path, outermost first.
    pub heading: Vec<String>,
    /// Text of the chunk.
    pub text: String,
    /// Range in the document's text, code points.
    pub start_char: u32,
    /// End of the range, exclusive.
    pub end_char: u32,
    /// Sentence by a model that relates the chunk to its document, if it has one. It is not part of the source: only
    /// the code that judges the topic of the passage may read it.
    #[serde(skip)]
    pub context: Option<String>,
}

impl Search<'_> {
    /// Returns the nearest chunks that pass the filter, nearest first, ties in key order.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn dense_search(
        &self,
        tenant: TenantId,
        query: &DenseQuery<'_>,
    ) -> Result<(Vec<DenseHit>, VectorScan), StoreError> {
        let (mut hits, scan) = if query.selection.filter.is_empty() {
            self.nearest_of_all(tenant, query).await?
        } else {
            self.nearest_filtered(tenant, query).await?
        };
        hits.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.key.cmp(&b.key)));
        Ok((hits, scan))
    }

    async fn nearest_of_all(
        &self,
        tenant: TenantId,
        query: &DenseQuery<'_>,
    ) -> Result<(Vec<DenseHit>, VectorScan), StoreError> {
        if query.vectors > EXACT_SCAN_LIMIT && query.limit <= NEAREST_LIMIT {
            let hits = self.nearest_in_one_round_trip(tenant, query).await?;
            if hits.len() as u64 >= query.limit.unsigned_abs().min(query.vectors) {
                return Ok((hits, VectorScan::Iterative));
            }
        }
        Ok((self.nearest_compared(tenant, query).await?, VectorScan::Exact))
    }

    async fn nearest_in_one_round_trip(
        &self,
        tenant: TenantId,
        query: &DenseQuery<'_>,
    ) -> Result<Vec<DenseHit>, StoreError> {
        let statement = format!(
            "SELECT document_id, ordinal, similarity FROM {}($1, $2, $3, $4, $5)",
            nearest_chunks_name(query.profile)
        );
        let mut reading = self.store.reading().await?;
        let rows = sqlx::query(AssertSqlSafe(statement))
            .bind(tenant.0)
            .bind(query.scope.indexes.as_slice())
            .bind(chunk::half(query.vector))
            .bind(i32::try_from(query.limit).unwrap_or(i32::MAX))
            .bind(ef_search(query.vectors, query.limit))
            .fetch_all(&mut *reading)
            .await?;
        reading.end().await?;
        read_hits(rows)
    }

    async fn nearest_filtered(
        &self,
        tenant: TenantId,
        query: &DenseQuery<'_>,
    ) -> Result<(Vec<DenseHit>, VectorScan), StoreError> {
        if !query.selection.is_narrow() {
            let hits = self.nearest_by_index(tenant, query).await?;
            // The index stops after a bounded number of vectors; if that gives too few hits, all are compared.
            if hits.len() as u64 >= query.limit.unsigned_abs() {
                return Ok((hits, VectorScan::Iterative));
            }
        }
        Ok((self.nearest_within(tenant, query).await?, VectorScan::Exact))
    }

    /// Returns the nearest chunks of the collections by comparing every vector.
    async fn nearest_compared(&self, tenant: TenantId, query: &DenseQuery<'_>) -> Result<Vec<DenseHit>, StoreError> {
        let (profile, dimension) = (query.profile.0, query.vector.len());
        let mut builder = sqlx::QueryBuilder::new(format!(
            "WITH near AS MATERIALIZED (SELECT e.document_id, e.ordinal, 1 - ((e.embedding::halfvec({dimension})) <=> "
        ));
        builder.push_bind(chunk::half(query.vector));
        builder.push(format!(
            ") AS similarity FROM chunk_embedding e WHERE e.profile_id = {profile} AND e.index_id = ANY ("
        ));
        builder
            .push_bind(query.scope.indexes.as_slice())
            .push(")) SELECT * FROM near ORDER BY similarity DESC, document_id, ordinal LIMIT ");
        builder.push_bind(query.limit);
        fetch_hits(self.store.begin_read(tenant).await?, &mut builder).await
    }

    /// Returns the nearest chunks by a walk through the index, until enough have passed the filter.
    async fn nearest_by_index(&self, tenant: TenantId, query: &DenseQuery<'_>) -> Result<Vec<DenseHit>, StoreError> {
        // Literals, not parameters: the planner uses the partial index of a profile only if it sees the values.
        let (profile, dimension) = (query.profile.0, query.vector.len());
        let distance = format!("(e.embedding::halfvec({dimension})) <=> ");
        let filter = query.selection.filter;
        let mut builder = sqlx::QueryBuilder::new(format!("SELECT e.document_id, e.ordinal, 1 - ({distance}"));
        builder.push_bind(chunk::half(query.vector));
        builder.push(format!(
            ") AS similarity FROM chunk_embedding e WHERE e.profile_id = {profile} AND e.index_id = ANY ("
        ));
        builder.push_bind(query.scope.indexes.as_slice()).push(
            ") AND EXISTS (SELECT FROM document d WHERE d.tenant_id = e.tenant_id AND d.document_id = e.document_id",
        );
        push_document_filter(&mut builder, filter);
        builder.push(")");
        push_page_test(&mut builder, filter);
        builder.push(format!(" ORDER BY {distance}")).push_bind(chunk::half(query.vector)).push(" LIMIT ");
        builder.push_bind(query.limit);
        let settings = format!("; SET LOCAL hnsw.ef_search = {}", ef_search(query.vectors, query.limit));
        fetch_hits(self.store.begin_read_with(tenant, &settings).await?, &mut builder).await
    }

    /// Returns the passages with these keys, in any order. Chunks that do not exist any more are left out.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn passages(&self, tenant: TenantId, keys: &[ChunkKey]) -> Result<Vec<Passage>, StoreError> {
        let documents: Vec<Uuid> = keys.iter().map(|key| key.document_id).collect();
        let ordinals: Vec<i32> = keys.iter().map(|key| i32::try_from(key.ordinal).unwrap_or(i32::MAX)).collect();
        let mut reading = self.store.reading().await?;
        let rows = sqlx::query!(
            r#"SELECT document_id AS "document_id!", ordinal AS "ordinal!", page,
                      heading AS "heading!: sqlx::types::Json<Vec<String>>", text AS "text!", start_char AS "start_char!",
                      end_char AS "end_char!", version AS "version!", source AS "source!", uri AS "uri!",
                      title AS "title!", metadata AS "metadata!", content_hash AS "content_hash!",
                      collection AS "collection!", context
               FROM find_passages($1, $2, $3)"#,
            tenant.0,
            &documents,
            &ordinals,
        )
        .fetch_all(&mut *reading)
        .await?;
        reading.end().await?;
        Ok(rows
            .into_iter()
            .map(|row| Passage {
                key: ChunkKey { document_id: row.document_id, ordinal: row.ordinal.unsigned_abs() },
                origin: Origin::Document,
                collection: row.collection,
                version: row.version.unsigned_abs(),
                source: row.source,
                uri: row.uri,
                title: row.title,
                metadata: row.metadata,
                content_hash: row.content_hash,
                page: row.page,
                heading: row.heading.0,
                text: row.text,
                start_char: row.start_char.unsigned_abs(),
                end_char: row.end_char.unsigned_abs(),
                context: row.context,
            })
            .collect())
    }
}

async fn fetch_hits(
    mut reading: Reading,
    query: &mut sqlx::QueryBuilder<Postgres>,
) -> Result<Vec<DenseHit>, StoreError> {
    let rows = query.build().fetch_all(&mut *reading).await?;
    reading.end().await?;
    read_hits(rows)
}

/// Returns the size of the candidate list of a walk through an index of this many vectors (`hnsw.ef_search`): 50 for
/// 10,000, and twice as many for ten times as many vectors, which finds the ten nearest with a recall of .99 at each
/// size (docs/performance.md). Never less than the number of requested hits.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a length, bounded")]
fn ef_search(vectors: u64, limit: i64) -> i32 {
    let by_size = 50.0 * (vectors as f64 / 10_000.0).powf(2.0_f64.log10());
    (by_size as i64).clamp(50, NEAREST_LIMIT).max(limit.min(NEAREST_LIMIT)) as i32
}

pub(in crate::store) fn read_hits(rows: Vec<PgRow>) -> Result<Vec<DenseHit>, StoreError> {
    rows.into_iter()
        .map(|row| {
            let ordinal: i32 = row.try_get("ordinal")?;
            let similarity: f64 = row.try_get("similarity")?;
            #[expect(clippy::cast_possible_truncation, reason = "a cosine of half-precision vectors")]
            let similarity = similarity as f32;
            Ok(DenseHit {
                key: ChunkKey { document_id: row.try_get("document_id")?, ordinal: ordinal.unsigned_abs() },
                similarity,
            })
        })
        .collect::<Result<_, sqlx::Error>>()
        .map_err(StoreError::from)
}

pub(in crate::store) fn read_lexical_hits(rows: Vec<PgRow>) -> Result<Vec<LexicalHit>, StoreError> {
    rows.into_iter()
        .map(|row| {
            let ordinal: i32 = row.try_get("ordinal")?;
            let key = ChunkKey { document_id: row.try_get("document_id")?, ordinal: ordinal.unsigned_abs() };
            Ok(LexicalHit { key, score: row.try_get("score")? })
        })
        .collect::<Result<_, sqlx::Error>>()
        .map_err(StoreError::from)
}

#[cfg(test)]
mod tests {
    use super::ef_search;

    #[test]
    fn walks_keep_more_in_view_the_more_there_is() {
        assert_eq!([0, 10_000, 100_000, 1_000_000].map(|vectors| ef_search(vectors, 10)), [50, 50, 100, 200]);
        assert_eq!(ef_search(u64::MAX, 10), 1_000, "pgvector takes no more");
        assert_eq!([ef_search(10_000, 120), ef_search(10_000, 5_000)], [120, 1_000], "a list is not cut short");
    }
}
