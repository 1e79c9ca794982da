//! The dense half of retrieval, and the passages behind the hits of both.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::{AssertSqlSafe, Postgres, Row, Transaction, postgres::PgRow};
use uuid::Uuid;

use super::{
    ProfileId, Store, StoreError, chunk,
    filter::push_filter,
    profile::{NEAREST_LIMIT, nearest_chunks_name},
};
use crate::domain::{
    filter::Filter,
    identity::{ChunkKey, TenantId},
    origin::Origin,
};

/// Up to this many vectors an exact scan costs no more than walking the index.
const EXACT_SCAN_LIMIT: u64 = 3_000;

/// A chunk and its BM25 score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LexicalHit {
    /// The chunk.
    pub key: ChunkKey,
    /// BM25.
    pub score: f32,
}

/// A chunk and its cosine similarity to the query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DenseHit {
    /// The chunk.
    pub key: ChunkKey,
    /// Cosine, -1 to 1.
    pub similarity: f32,
}

/// How vectors were searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorScan {
    /// Every vector that passes the filter was compared.
    Exact,
    /// HNSW, going on until enough rows passed the filter.
    Iterative,
}

/// What a dense search looks for.
#[derive(Clone, Debug)]
pub struct DenseQuery<'a> {
    /// Where.
    pub collections: &'a [Uuid],
    /// In which space.
    pub profile: ProfileId,
    /// The query's vector, unit length.
    pub vector: &'a [f32],
    /// Chunks in these collections.
    pub chunks: u64,
    /// What may be found.
    pub filter: &'a Filter,
    /// At most this many.
    pub limit: i64,
}

/// A chunk with what a source needs to show.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Passage {
    /// The chunk.
    pub key: ChunkKey,
    /// Where it comes from.
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
}

impl Store {
    /// Nearest chunks that pass the filter, nearest first, ties in key order.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn dense_search(
        &self,
        tenant: TenantId,
        query: &DenseQuery<'_>,
    ) -> Result<(Vec<DenseHit>, VectorScan), StoreError> {
        let (mut hits, scan) = match self.nearest_unfiltered(tenant, query).await? {
            Some(hits) => (hits, VectorScan::Iterative),
            None => self.nearest_filtered(tenant, query).await?,
        };
        hits.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.key.cmp(&b.key)));
        Ok((hits, scan))
    }

    /// The usual search in one round trip; `None` when it is not the usual one, or found too little.
    async fn nearest_unfiltered(
        &self,
        tenant: TenantId,
        query: &DenseQuery<'_>,
    ) -> Result<Option<Vec<DenseHit>>, StoreError> {
        if !query.filter.is_empty() || query.chunks <= EXACT_SCAN_LIMIT || query.limit > NEAREST_LIMIT {
            return Ok(None);
        }
        let statement = format!(
            "SELECT document_id, ordinal, similarity FROM {}($1, $2, $3, $4)",
            nearest_chunks_name(query.profile)
        );
        let rows = sqlx::query(AssertSqlSafe(statement))
            .bind(tenant.0)
            .bind(query.collections)
            .bind(chunk::half(query.vector))
            .bind(i32::try_from(query.limit).unwrap_or(i32::MAX))
            .fetch_all(self.reader())
            .await?;
        let hits = read_hits(rows)?;
        let is_enough = hits.len() as u64 >= query.limit.unsigned_abs().min(query.chunks);
        Ok(is_enough.then_some(hits))
    }

    async fn nearest_filtered(
        &self,
        tenant: TenantId,
        query: &DenseQuery<'_>,
    ) -> Result<(Vec<DenseHit>, VectorScan), StoreError> {
        let mut transaction = self.begin_read(tenant).await?;
        let eligible = eligible_chunks(&mut transaction, tenant, query).await?;
        let mut scan = if eligible <= EXACT_SCAN_LIMIT { VectorScan::Exact } else { VectorScan::Iterative };
        let mut hits = nearest(&mut transaction, query, scan).await?;
        // The index gives up after a bounded number of rows; what it then misses is there to be found.
        let expected = eligible.min(query.limit.unsigned_abs());
        if scan == VectorScan::Iterative && (hits.len() as u64) < expected {
            scan = VectorScan::Exact;
            hits = nearest(&mut transaction, query, scan).await?;
        }
        transaction.commit().await?;
        Ok((hits, scan))
    }

    /// The passages with these keys. Chunks that are gone by now are missing; order is not kept.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn passages(&self, tenant: TenantId, keys: &[ChunkKey]) -> Result<Vec<Passage>, StoreError> {
        let documents: Vec<Uuid> = keys.iter().map(|key| key.document_id).collect();
        let ordinals: Vec<i32> = keys.iter().map(|key| i32::try_from(key.ordinal).unwrap_or(i32::MAX)).collect();
        let rows = sqlx::query!(
            r#"SELECT document_id AS "document_id!", ordinal AS "ordinal!", page,
                      heading AS "heading!: sqlx::types::Json<Vec<String>>", text AS "text!", start_char AS "start_char!",
                      end_char AS "end_char!", version AS "version!", source AS "source!", uri AS "uri!",
                      title AS "title!", metadata AS "metadata!", content_hash AS "content_hash!",
                      collection AS "collection!"
               FROM find_passages($1, $2, $3)"#,
            tenant.0,
            &documents,
            &ordinals,
        )
        .fetch_all(self.reader())
        .await?;
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
            })
            .collect())
    }
}

/// How many chunks may be found at all.
async fn eligible_chunks(
    transaction: &mut Transaction<'static, Postgres>,
    tenant: TenantId,
    query: &DenseQuery<'_>,
) -> Result<u64, StoreError> {
    if query.filter.is_empty() {
        return Ok(query.chunks);
    }
    let mut builder = sqlx::QueryBuilder::new(
        "SELECT COALESCE(sum(d.chunks), 0)::bigint AS count FROM document d WHERE d.tenant_id = ",
    );
    builder.push_bind(tenant.0).push(" AND d.collection_id = ANY (").push_bind(query.collections).push(")");
    // Pages are not counted: the number may be too high, and the search then falls back to exact.
    push_filter(&mut builder, &Filter { pages: Vec::new(), ..query.filter.clone() });
    Ok(builder.build_query_scalar::<i64>().fetch_one(&mut **transaction).await?.unsigned_abs())
}

async fn nearest(
    transaction: &mut Transaction<'static, Postgres>,
    query: &DenseQuery<'_>,
    scan: VectorScan,
) -> Result<Vec<DenseHit>, StoreError> {
    let (profile, dimension) = (query.profile.0, query.vector.len());
    // Numbers, not parameters: the partial index of a profile is used only if the planner sees them.
    let distance = format!("(e.embedding::halfvec({dimension})) <=> ");
    let exact = scan == VectorScan::Exact;
    let mut builder = sqlx::QueryBuilder::new(if exact { "WITH e AS MATERIALIZED (SELECT " } else { "SELECT " });
    builder.push("e.document_id, e.ordinal, ");
    if exact {
        builder.push("e.embedding");
    } else {
        builder.push(format!("1 - ({distance}")).push_bind(chunk::half(query.vector)).push(") AS similarity");
    }
    builder.push(format!(" FROM chunk_embedding e WHERE e.profile_id = {profile} AND e.collection_id = ANY ("));
    builder.push_bind(query.collections).push(")");
    if !query.filter.is_empty() {
        builder.push(
            " AND EXISTS (SELECT FROM document d JOIN chunk c ON c.tenant_id = d.tenant_id AND c.document_id = d.document_id \
             WHERE d.tenant_id = e.tenant_id AND d.document_id = e.document_id AND c.ordinal = e.ordinal",
        );
        push_filter(&mut builder, query.filter);
        builder.push(")");
    }
    if exact {
        builder.push(format!(") SELECT e.document_id, e.ordinal, 1 - ({distance}"));
        builder.push_bind(chunk::half(query.vector)).push(") AS similarity FROM e");
    }
    builder.push(format!(" ORDER BY {distance}")).push_bind(chunk::half(query.vector));
    builder.push(" LIMIT ").push_bind(query.limit);
    read_hits(builder.build().fetch_all(&mut **transaction).await?)
}

fn read_hits(rows: Vec<PgRow>) -> Result<Vec<DenseHit>, StoreError> {
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
