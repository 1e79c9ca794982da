//! The dense half of retrieval: the union of the searches of each collection, merged by similarity.
//!
//! A large collection has a graph over its own vectors, which is walked; all vectors of the others are compared. So no
//! vector is lost among those of another collection, and a graph that does not exist yet is missed by no search. A walk
//! through a graph of bits finds candidates, which are compared by their vectors.

use sqlx::{Postgres, QueryBuilder, Row, postgres::PgRow};
use uuid::Uuid;

use crate::domain::identity::{ChunkKey, TenantId};
use crate::store::{
    GraphKind, Scope, Search, SearchedCollection, Selection, StoreError,
    documents::chunk,
    search::filter::{push_document_filter, push_page_test},
    search::read_connection::Reading,
};

/// Largest `hnsw.ef_search` that pgvector accepts.
const LONGEST_LIST: i64 = 1_000;

/// Largest collection, in vectors, of which all are compared where a walk has missed some: a few times as long as a walk
/// takes.
const MOST_COMPARED: u64 = 200_000;

/// A chunk and its cosine similarity to the query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DenseHit {
    /// The chunk.
    pub(crate) key: ChunkKey,
    /// Cosine similarity, -1 to 1.
    pub(crate) similarity: f32,
}

/// Method of a vector search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VectorScan {
    /// Every vector that passes the filter was compared.
    Exact,
    /// The graphs of large collections were walked, until enough vectors passed the filter.
    Iterative,
}

/// Input of a dense search.
#[derive(Clone, Debug)]
pub(crate) struct DenseQuery<'a> {
    /// Collections and indexes to search.
    pub(crate) scope: &'a Scope,
    /// The same collections, with their sizes and graphs.
    pub(crate) collections: &'a [SearchedCollection],
    /// The query's vector, unit length.
    pub(crate) vector: &'a [f32],
    /// Filter that chunks must pass.
    pub(crate) selection: &'a Selection<'a>,
    /// Maximum number of hits.
    pub(crate) limit: i64,
    /// How much is compared.
    pub(crate) care: Care,
}

/// How much of a large collection is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Care {
    /// The vectors that a walk through its graph comes by.
    Usual,
    /// All vectors, or, of a very large collection, those that the longest walk comes by: an earlier walk is known to have
    /// missed some that are near.
    Thorough,
}

impl Search<'_> {
    /// Returns the nearest chunks that pass the filter, nearest first, ties in key order.
    ///
    /// # Errors
    /// Any [`StoreError`].
    #[tracing::instrument(target = "cited::trace", skip_all, fields(otel.kind = "client", db.system.name = "postgresql"))]
    pub(crate) async fn dense_search(
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
        hits.dedup_by_key(|hit| hit.key);
        hits.truncate(usize::try_from(query.limit).unwrap_or_default());
        Ok((hits, scan))
    }

    /// Returns the similarity of these chunks to a query's vector. Chunks that have no vector in these indexes are left out.
    ///
    /// # Errors
    /// Any [`StoreError`].
    #[tracing::instrument(target = "cited::trace", skip_all, fields(otel.kind = "client", db.system.name = "postgresql"))]
    pub(crate) async fn similarities(
        &self,
        tenant: TenantId,
        scope: &Scope,
        chunks: &[ChunkKey],
        vector: &[f32],
    ) -> Result<Vec<DenseHit>, StoreError> {
        let ordinals: Vec<i32> = chunks.iter().map(|key| i32::try_from(key.ordinal).unwrap_or(i32::MAX)).collect();
        let mut reading = self.store.reading(tenant).await?;
        let rows = sqlx::query("SELECT document_id, ordinal, similarity FROM chunk_similarities($1, $2, $3, $4, $5)")
            .bind(tenant.0)
            .bind(&scope.indexes)
            .bind(chunks.iter().map(|key| key.document_id).collect::<Vec<Uuid>>())
            .bind(ordinals)
            .bind(chunk::half(vector))
            .fetch_all(&mut *reading)
            .await?;
        reading.end().await?;
        read_hits(rows)
    }

    async fn nearest_of_all(
        &self,
        tenant: TenantId,
        query: &DenseQuery<'_>,
    ) -> Result<(Vec<DenseHit>, VectorScan), StoreError> {
        let (walked, compared) = query.by_method();
        let mut reading = self.store.reading(tenant).await?;
        let rows =
            sqlx::query("SELECT document_id, ordinal, similarity FROM nearest_chunks($1, $2, $3, $4, $5, $6, $7)")
                .bind(tenant.0)
                .bind(walked.iter().map(|walk| walk.index).collect::<Vec<_>>())
                .bind(walked.iter().map(|walk| walk.kind.name()).collect::<Vec<_>>())
                .bind(walked.iter().map(|walk| walk.ef_search).collect::<Vec<_>>())
                .bind(compared)
                .bind(chunk::half(query.vector))
                .bind(i32::try_from(query.limit).unwrap_or(i32::MAX))
                .fetch_all(&mut *reading)
                .await?;
        reading.end().await?;
        Ok((read_hits(rows)?, VectorScan::of(&walked)))
    }

    async fn nearest_filtered(
        &self,
        tenant: TenantId,
        query: &DenseQuery<'_>,
    ) -> Result<(Vec<DenseHit>, VectorScan), StoreError> {
        if query.selection.is_narrow() {
            return Ok((self.nearest_within(tenant, query).await?, VectorScan::Exact));
        }
        let mut reading = self.store.begin_read(tenant).await?;
        let (walked, compared) = query.by_method();
        let mut hits = Vec::new();
        for walk in &walked {
            let found = walk_filtered(&mut reading, tenant, query, walk).await?;
            // A walk stops after a bounded number of vectors. If it finds too few, all that pass are compared.
            if (found.len() as u64) < query.limit.unsigned_abs() {
                reading.end().await?;
                return Ok((self.nearest_within(tenant, query).await?, VectorScan::Exact));
            }
            hits.extend(found);
        }
        if !compared.is_empty() {
            hits.extend(compare_filtered(&mut reading, tenant, query, &compared).await?);
        }
        reading.end().await?;
        Ok((hits, VectorScan::of(&walked)))
    }
}

/// A walk through the graph of an index.
struct Walk {
    index: Uuid,
    kind: GraphKind,
    /// Size of its candidate list (`hnsw.ef_search`).
    ef_search: i32,
}

impl DenseQuery<'_> {
    /// The walks through graphs, and the indexes whose vectors are compared.
    fn by_method(&self) -> (Vec<Walk>, Vec<Uuid>) {
        let (mut walked, mut compared) = (Vec::new(), Vec::new());
        for searched in self.collections {
            let index = searched.collection.index;
            let vectors = match self.care {
                Care::Usual => searched.embedded_chunks,
                Care::Thorough => u64::MAX,
            };
            match searched.graph {
                Some(kind) if self.care == Care::Usual || searched.embedded_chunks > MOST_COMPARED => {
                    walked.push(Walk { index, kind, ef_search: ef_search(kind, vectors, self.limit) });
                }
                _ => compared.push(index),
            }
        }
        (walked, compared)
    }
}

impl VectorScan {
    /// The method of a search with these walks.
    const fn of(walked: &[Walk]) -> Self {
        if walked.is_empty() { Self::Exact } else { Self::Iterative }
    }
}

/// Returns the nearest chunks of an index by a walk through its graph, until enough have passed the filter.
async fn walk_filtered(
    reading: &mut Reading,
    tenant: TenantId,
    query: &DenseQuery<'_>,
    walk: &Walk,
) -> Result<Vec<DenseHit>, StoreError> {
    let bits: Option<String> = match walk.kind {
        GraphKind::Vectors => None,
        GraphKind::Bits => {
            let expression = sqlx::query_scalar("SELECT vector_bits_expression($1)").bind(walk.index);
            let Some(expression) = expression.fetch_one(&mut **reading).await? else {
                // Dropped since the collection was looked up. Too few hits make the search a comparison.
                return Ok(Vec::new());
            };
            Some(expression)
        }
    };
    sqlx::query("SELECT set_config('hnsw.ef_search', $1, true)")
        .bind(walk.ef_search.to_string())
        .execute(&mut **reading)
        .await?;
    let candidates = if bits.is_some() { query.limit.max(walk.ef_search.into()) } else { query.limit };
    let mut builder = QueryBuilder::new("SELECT n.document_id, n.ordinal, 1 - (n.embedding <=> ");
    builder.push_bind(chunk::half(query.vector));
    // Literals, not parameters: the planner uses the graph only if it sees the values.
    builder.push(format!(
        ") AS similarity FROM (SELECT e.document_id, e.ordinal, e.embedding FROM chunk_embedding e
          WHERE e.tenant_id = '{}' AND e.index_id = '{}'",
        tenant.0, walk.index
    ));
    push_filter(&mut builder, query);
    match bits {
        None => {
            builder.push(format!(" ORDER BY (e.embedding::halfvec({})) <=> ", query.vector.len()));
            builder.push_bind(chunk::half(query.vector));
        }
        Some(expression) => {
            builder.push(format!(" ORDER BY {expression} <~> "));
            // The same of the query's vector.
            let mut parts = expression.split("embedding");
            builder.push(parts.next().unwrap_or_default());
            for part in parts {
                builder.push_bind(chunk::half(query.vector)).push(part);
            }
        }
    }
    builder.push(" LIMIT ").push_bind(candidates);
    builder.push(") n ORDER BY similarity DESC LIMIT ").push_bind(query.limit);
    read_hits(builder.build().fetch_all(&mut **reading).await?)
}

/// Returns the nearest chunks of indexes that have no graph, by comparing all their vectors that pass the filter.
async fn compare_filtered(
    reading: &mut Reading,
    tenant: TenantId,
    query: &DenseQuery<'_>,
    indexes: &[Uuid],
) -> Result<Vec<DenseHit>, StoreError> {
    let mut builder =
        QueryBuilder::new("WITH near AS MATERIALIZED (SELECT e.document_id, e.ordinal, 1 - (e.embedding <=> ");
    builder.push_bind(chunk::half(query.vector));
    builder
        .push(") AS similarity FROM chunk_embedding e WHERE e.tenant_id = ")
        .push_bind(tenant.0)
        .push(" AND e.index_id = ANY (")
        .push_bind(indexes.to_vec())
        .push(")");
    push_filter(&mut builder, query);
    builder.push(") SELECT * FROM near ORDER BY similarity DESC, document_id, ordinal LIMIT ").push_bind(query.limit);
    read_hits(builder.build().fetch_all(&mut **reading).await?)
}

fn push_filter(builder: &mut QueryBuilder<Postgres>, query: &DenseQuery<'_>) {
    builder
        .push(" AND EXISTS (SELECT FROM document d WHERE d.tenant_id = e.tenant_id AND d.document_id = e.document_id");
    push_document_filter(builder, query.selection.filter);
    builder.push(")");
    push_page_test(builder, query.selection.filter);
}

/// Returns the size of the candidate list of a walk through a graph of this many vectors (`hnsw.ef_search`): 50 for
/// 10,000, and twice as many for ten times as many vectors, which finds the ten nearest with a recall of .99 at each size,
/// those of a minority topic as well (docs/performance.md). Of a graph of bits twice as many, and 200 at least. Never less
/// than the number of requested hits.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a length, bounded")]
fn ef_search(kind: GraphKind, vectors: u64, limit: i64) -> i32 {
    let by_size = 50.0 * (vectors as f64 / 10_000.0).powf(2.0_f64.log10());
    let (times, least) = match kind {
        GraphKind::Vectors => (1.0, 50),
        GraphKind::Bits => (2.0, 200),
    };
    ((by_size * times) as i64).clamp(least, LONGEST_LIST).max(limit.min(LONGEST_LIST)) as i32
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

#[cfg(test)]
mod tests {
    use super::{GraphKind, ef_search};

    #[test]
    fn walks_keep_more_in_view_the_more_there_is() {
        let of_vectors = |vectors, limit| ef_search(GraphKind::Vectors, vectors, limit);
        assert_eq!([0, 10_000, 100_000, 1_000_000].map(|vectors| of_vectors(vectors, 10)), [50, 50, 100, 200]);
        assert_eq!(of_vectors(u64::MAX, 10), 1_000, "pgvector takes no more");
        assert_eq!([of_vectors(10_000, 120), of_vectors(10_000, 5_000)], [120, 1_000], "a list is not cut short");
        assert_eq!([10_000, 1_000_000].map(|vectors| ef_search(GraphKind::Bits, vectors, 10)), [200, 400]);
    }
}
