//! Maintenance of vector graphs: a large index gets an HNSW graph over its own vectors, which is dropped when the index
//! has shrunk or is gone. A very large index has a graph of bits in its place: of each number of a vector, whether it is low,
//! middling or high among those of its place.
//!
//! Graphs are built and dropped concurrently: neither waits for ingest or questions, nor lets them wait. Until a graph is
//! ready its vectors are compared whole, or walked through its graph of the other kind, which is dropped afterwards. One
//! process at a time does this, on a connection of the database's owner that holds a lock for as long as it lives; if the
//! process is killed, the interrupted graph is marked invalid, is not used, and is dropped and built anew by the next round.

use pgvector::Vector;
use serde::Serialize;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};
use uuid::Uuid;

use crate::domain::identity::TenantId;
use crate::store::{Collections, StoreError};

/// Key of the lock that one process at a time holds.
const MAINTENANCE_LOCK: i64 = 20_000;

/// Settings of the connection. A build takes one process and no shared memory for parallel workers, which containers
/// often have too little of: it is in no hurry. It ends when its client is gone.
const SESSION: &str = "SET statement_timeout = 0; SET lock_timeout = 0; SET max_parallel_maintenance_workers = 0; \
     SET client_min_messages = error; \
     SELECT set_config('client_connection_check_interval', '500ms', false) WHERE version() !~ 'Visual C|mingw'";

/// Vectors whose numbers tell what is low and what is high.
const SAMPLE: i64 = 20_000;

/// Standard deviations from the mean to what is low and what is high: a third of a normal distribution lies below, and a third
/// above.
const THIRD: f32 = 0.43;

/// Bytes that a build needs for each node beside its value, as measured.
const NEIGHBOURS: u64 = 720;

/// Numbers of vectors from which an index has a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphSizes {
    /// From so many on it has one.
    pub from: u64,
    /// From so many on that is one of bits.
    pub bits_from: u64,
}

/// The kind of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum GraphKind {
    /// Its nodes hold vectors, so that a walk ranks by the cosine itself.
    Vectors,
    /// Its nodes hold two bits for each number of a vector. A walk finds candidates, which are compared exactly.
    Bits,
}

/// Changes that one round of maintenance made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphChanges {
    /// Graphs that were built.
    pub built: usize,
    /// Graphs that were dropped.
    pub dropped: usize,
}

impl GraphKind {
    const ALL: [Self; 2] = [Self::Vectors, Self::Bits];

    /// The kind of this name in the database.
    pub(super) fn of_name(name: &str) -> Self {
        if name == Self::Bits.name() { Self::Bits } else { Self::Vectors }
    }

    /// Its name in the database.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Vectors => "vectors",
            Self::Bits => "bits",
        }
    }

    /// Returns the name of an index's graph, as `vector_graph_name` and `vector_bits_name` of the database do.
    fn graph_name(self, index: Uuid) -> String {
        let prefix = match self {
            Self::Vectors => "chunk_embedding_graph",
            Self::Bits => "chunk_embedding_bits",
        };
        format!("{prefix}_{}", index.simple())
    }

    /// Most memory, in megabytes, that a build asks for; beyond it pgvector builds on disk, more slowly.
    const fn most_build_mb(self) -> u64 {
        match self {
            Self::Vectors => 1_024,
            Self::Bits => 4_096,
        }
    }
}

/// An index that is large enough to have or keep a graph.
struct LargeIndex {
    tenant: TenantId,
    id: Uuid,
    dimension: i32,
    vectors: u64,
}

impl LargeIndex {
    /// The kind of graph that fits its size. One of bits is kept until it has fewer than half as many vectors as one is built
    /// of.
    fn fitting(&self, sizes: GraphSizes, graphs: &[Graph]) -> GraphKind {
        let is_of_bits =
            self.vectors >= sizes.bits_from || self.vectors >= sizes.bits_from / 2 && self.has(GraphKind::Bits, graphs);
        if is_of_bits { GraphKind::Bits } else { GraphKind::Vectors }
    }

    /// Whether it has a graph of this kind that can be used.
    fn has(&self, kind: GraphKind, graphs: &[Graph]) -> bool {
        let name = kind.graph_name(self.id);
        graphs.iter().any(|graph| graph.is_valid && graph.name == name)
    }

    /// Whether this graph is its own, and one that it keeps: that of the kind that fits, and another one until that is there.
    fn keeps(&self, graph: &Graph, sizes: GraphSizes, graphs: &[Graph]) -> bool {
        let fitting = self.fitting(sizes, graphs);
        GraphKind::ALL
            .into_iter()
            .any(|kind| kind.graph_name(self.id) == graph.name && (kind == fitting || !self.has(fitting, graphs)))
    }

    /// Memory for a build, in megabytes: the nodes and their lists of neighbours.
    fn build_mb(&self, kind: GraphKind) -> u64 {
        let dimension = u64::from(self.dimension.unsigned_abs());
        let node = match kind {
            GraphKind::Vectors => 2 * dimension,
            GraphKind::Bits => dimension / 4,
        };
        (self.vectors * (node + NEIGHBOURS) / 1_000_000 + 64).min(kind.most_build_mb())
    }
}

/// A graph that exists.
struct Graph {
    name: String,
    is_valid: bool,
}

impl Collections<'_> {
    /// Builds the graphs that indexes of these sizes lack and that are not growing, by their number of vectors. Drops those of
    /// indexes with fewer than half as many vectors, and those in whose place there is one of the other kind. Does nothing
    /// while another process does so.
    ///
    /// # Errors
    /// Any [`StoreError`]. Searches stay correct.
    pub async fn maintain_vector_graphs(
        &self,
        sizes: GraphSizes,
        is_growing: &mut (dyn FnMut(Uuid, u64) -> bool + Send),
    ) -> Result<GraphChanges, StoreError> {
        let large = self.large_indexes(sizes.from / 2).await?;
        let mut owner = PgConnection::connect_with(&self.store.owner).await?;
        owner.execute(sqlx::raw_sql(SESSION)).await?;
        let is_ours = sqlx::query_scalar!(r#"SELECT pg_try_advisory_lock($1) AS "is_ours!""#, MAINTENANCE_LOCK)
            .fetch_one(&mut owner)
            .await?;
        let mut changes = GraphChanges::default();
        if is_ours {
            let graphs = graphs(&mut owner).await?;
            let is_kept =
                |graph: &&Graph| graph.is_valid && large.iter().any(|index| index.keeps(graph, sizes, &graphs));
            for graph in graphs.iter().filter(|graph| !is_kept(graph)) {
                tracing::info!(graph = graph.name, valid = graph.is_valid, "dropping a vector graph");
                run(&mut owner, format!("DROP INDEX CONCURRENTLY IF EXISTS {}", graph.name)).await?;
                changes.dropped += 1;
            }
            for index in large.iter().filter(|index| index.vectors >= sizes.from) {
                let kind = index.fitting(sizes, &graphs);
                if index.has(kind, &graphs) || is_growing(index.id, index.vectors) {
                    continue;
                }
                tracing::info!(index_id = %index.id, vectors = index.vectors, kind = kind.name(), "building a vector graph");
                self.build(&mut owner, index, kind).await?;
                changes.built += 1;
            }
        }
        owner.close().await?;
        Ok(changes)
    }

    /// Returns the indexes of all tenants with at least this many vectors.
    async fn large_indexes(&self, vectors: u64) -> Result<Vec<LargeIndex>, StoreError> {
        let mut transaction = self.store.begin_queue().await?;
        let rows = sqlx::query!(
            r#"SELECT i.tenant_id, i.index_id, p.dimension, s.chunks - s.unembedded_chunks AS "vectors!"
               FROM collection_index i JOIN index_statistic s USING (tenant_id, index_id)
               JOIN embedding_profile p USING (profile_id)
               WHERE s.chunks - s.unembedded_chunks >= GREATEST($1::bigint, 1)"#,
            i64::try_from(vectors).unwrap_or(i64::MAX),
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        let large = rows.into_iter().map(|row| LargeIndex {
            tenant: TenantId(row.tenant_id),
            id: row.index_id,
            dimension: row.dimension,
            vectors: row.vectors.unsigned_abs(),
        });
        Ok(large.collect())
    }

    async fn build(&self, owner: &mut PgConnection, index: &LargeIndex, kind: GraphKind) -> Result<(), StoreError> {
        let megabytes = index.build_mb(kind);
        // Not less than the server is configured to spend.
        let memory = format!(
            "SELECT set_config('maintenance_work_mem', {megabytes} || 'MB', false)
             WHERE pg_size_bytes(current_setting('maintenance_work_mem')) < {megabytes} * 1000000::bigint"
        );
        run(owner, memory).await?;
        let LargeIndex { id, dimension, .. } = index;
        let vector = format!("embedding::halfvec({dimension})");
        let key = match kind {
            GraphKind::Vectors => format!("({vector}) halfvec_cosine_ops"),
            GraphKind::Bits => {
                let [low, high] = self.thirds(index).await?.map(|numbers| {
                    format!("binary_quantize({vector} - '{}'::halfvec({dimension}))", literal(&numbers))
                });
                format!("(({low} || {high})::bit({})) bit_hamming_ops", 2 * dimension)
            }
        };
        let name = kind.graph_name(*id);
        run(
            owner,
            format!(
                "CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON chunk_embedding USING hnsw ({key}) WHERE index_id = '{id}'"
            ),
        )
        .await
    }

    /// Returns for each number of an index's vectors below which value a third of them are, and above which a third, by the
    /// first of them. Signs would say little of vectors that all point one way, as those of many models do.
    async fn thirds(&self, index: &LargeIndex) -> Result<[Vec<f32>; 2], StoreError> {
        let mut transaction = self.store.begin(index.tenant).await?;
        let row = sqlx::query(
            "SELECT avg(e.embedding) AS mean, avg(e.embedding * e.embedding) AS mean_square
             FROM (SELECT embedding::vector FROM chunk_embedding WHERE tenant_id = $1 AND index_id = $2 LIMIT $3) e",
        )
        .bind(index.tenant.0)
        .bind(index.id)
        .bind(SAMPLE)
        .fetch_one(&mut *transaction)
        .await?;
        transaction.commit().await?;
        let (means, mean_squares): (Vector, Vector) = (row.try_get("mean")?, row.try_get("mean_square")?);
        let (means, mean_squares) = (means.as_slice(), mean_squares.as_slice());
        Ok([-THIRD, THIRD].map(|deviations| {
            let third = |(mean, square): (&f32, &f32)| mean + deviations * (square - mean * mean).max(0.0).sqrt();
            means.iter().zip(mean_squares).map(third).collect()
        }))
    }
}

async fn graphs(owner: &mut PgConnection) -> Result<Vec<Graph>, StoreError> {
    let rows = sqlx::query!(
        r#"SELECT c.relname::text AS "name!", i.indisvalid AS "is_valid!"
           FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
           WHERE i.indrelid = 'chunk_embedding'::regclass AND c.relname ~ '^chunk_embedding_(graph|bits)_'"#
    )
    .fetch_all(owner)
    .await?;
    Ok(rows.into_iter().map(|row| Graph { name: row.name, is_valid: row.is_valid }).collect())
}

/// A vector as the database reads it.
fn literal(numbers: &[f32]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!("[{}]", numbers.join(","))
}

async fn run(owner: &mut PgConnection, statement: String) -> Result<(), StoreError> {
    owner.execute(sqlx::raw_sql(AssertSqlSafe(statement))).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Graph, GraphKind, GraphSizes, LargeIndex};
    use crate::domain::identity::TenantId;

    const SIZES: GraphSizes = GraphSizes { from: 20_000, bits_from: 700_000 };

    fn index(vectors: u64) -> LargeIndex {
        LargeIndex { tenant: TenantId::DEFAULT, id: uuid::Uuid::from_u128(7), dimension: 384, vectors }
    }

    fn graph(kind: GraphKind, is_valid: bool) -> Graph {
        Graph { name: kind.graph_name(index(0).id), is_valid }
    }

    #[test]
    fn a_graph_is_kept_until_the_one_that_fits_is_there() {
        let (of_vectors, of_bits) = (graph(GraphKind::Vectors, true), graph(GraphKind::Bits, true));
        assert!(index(900_000).keeps(&of_vectors, SIZES, &[graph(GraphKind::Vectors, true)]));
        assert!(index(900_000).keeps(&of_vectors, SIZES, &[graph(GraphKind::Bits, false)]), "an interrupted one");
        assert!(!index(900_000).keeps(&of_vectors, SIZES, &[graph(GraphKind::Bits, true)]));
        let both = [of_vectors, of_bits];
        let kept = |vectors| both.each_ref().map(|graph| index(vectors).keeps(graph, SIZES, &both));
        assert_eq!([900_000, 350_000, 349_999].map(kept), [[false, true], [false, true], [true, false]]);
    }

    #[test]
    fn a_build_gets_what_it_needs_up_to_a_bound() {
        let needed = |vectors| [GraphKind::Vectors, GraphKind::Bits].map(|kind| index(vectors).build_mb(kind));
        assert_eq!([20_000, 600_000, 5_000_000].map(needed), [[93, 80], [956, 553], [1_024, 4_096]]);
    }
}
