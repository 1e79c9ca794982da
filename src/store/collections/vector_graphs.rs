//! Maintenance of vector graphs: a large index gets an HNSW graph over its own vectors, which is dropped when the index
//! has shrunk or is gone.
//!
//! Graphs are built and dropped concurrently: neither waits for ingest or questions, nor lets them wait. Until a graph is
//! ready its vectors are compared whole. One process at a time does this, on a connection of the database's owner that
//! holds a lock for as long as it lives; if the process is killed, the interrupted graph is marked invalid, is not used,
//! and is dropped and built anew by the next round.

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use uuid::Uuid;

use crate::store::{Collections, StoreError};

/// Key of the lock that one process at a time holds.
const MAINTENANCE_LOCK: i64 = 20_000;

/// Settings of the connection. A build takes one process and no shared memory for parallel workers, which containers
/// often have too little of: it is in no hurry. It ends when its client is gone.
const SESSION: &str = "SET statement_timeout = 0; SET lock_timeout = 0; SET max_parallel_maintenance_workers = 0; \
     SET client_min_messages = error; \
     SELECT set_config('client_connection_check_interval', '500ms', false) WHERE version() !~ 'Visual C|mingw'";

/// Most memory, in megabytes, that a build asks for; beyond it pgvector builds on disk, more slowly.
const MOST_BUILD_MB: u64 = 1_024;

/// Changes that one round of maintenance made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphChanges {
    /// Graphs that were built.
    pub built: usize,
    /// Graphs that were dropped.
    pub dropped: usize,
}

/// An index that is large enough to have or keep a graph.
struct LargeIndex {
    id: Uuid,
    dimension: i32,
    vectors: u64,
}

impl LargeIndex {
    /// Memory for a build, in megabytes: the vectors and their lists of neighbours.
    fn build_mb(&self) -> u64 {
        let bytes = self.vectors * (2 * u64::from(self.dimension.unsigned_abs()) + 512);
        (bytes / 1_000_000 + 64).min(MOST_BUILD_MB)
    }
}

/// A graph that exists.
struct Graph {
    name: String,
    is_valid: bool,
}

impl Collections<'_> {
    /// Builds the graphs of indexes with at least `from` vectors that are not growing, by their number of vectors, and drops
    /// those of indexes with fewer than half as many. Does nothing while another process does so.
    ///
    /// # Errors
    /// Any [`StoreError`]. Searches stay correct.
    pub async fn maintain_vector_graphs(
        &self,
        from: u64,
        is_growing: &mut (dyn FnMut(Uuid, u64) -> bool + Send),
    ) -> Result<GraphChanges, StoreError> {
        let large = self.large_indexes(from / 2).await?;
        let mut owner = PgConnection::connect_with(&self.store.owner).await?;
        owner.execute(sqlx::raw_sql(SESSION)).await?;
        let is_ours = sqlx::query_scalar!(r#"SELECT pg_try_advisory_lock($1) AS "is_ours!""#, MAINTENANCE_LOCK)
            .fetch_one(&mut owner)
            .await?;
        let mut changes = GraphChanges::default();
        if is_ours {
            let mut graphs = graphs(&mut owner).await?;
            for graph in graphs.extract_if(.., |graph| {
                !graph.is_valid || !large.iter().any(|index| graph_name(index.id) == graph.name)
            }) {
                tracing::info!(graph = graph.name, valid = graph.is_valid, "dropping a vector graph");
                run(&mut owner, format!("DROP INDEX CONCURRENTLY IF EXISTS {}", graph.name)).await?;
                changes.dropped += 1;
            }
            let is_missing = |index: &&LargeIndex| {
                index.vectors >= from && !graphs.iter().any(|graph| graph.name == graph_name(index.id))
            };
            for index in large.iter().filter(is_missing) {
                if is_growing(index.id, index.vectors) {
                    continue;
                }
                tracing::info!(index_id = %index.id, vectors = index.vectors, "building a vector graph");
                build(&mut owner, index).await?;
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
            r#"SELECT i.index_id, p.dimension, s.chunks - s.unembedded_chunks AS "vectors!"
               FROM collection_index i JOIN index_statistic s USING (tenant_id, index_id)
               JOIN embedding_profile p USING (profile_id)
               WHERE s.chunks - s.unembedded_chunks >= GREATEST($1::bigint, 1)"#,
            i64::try_from(vectors).unwrap_or(i64::MAX),
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        let large = rows.into_iter().map(|row| LargeIndex {
            id: row.index_id,
            dimension: row.dimension,
            vectors: row.vectors.unsigned_abs(),
        });
        Ok(large.collect())
    }
}

/// Returns the name of an index's graph, as the database's `vector_graph_name` does.
fn graph_name(index: Uuid) -> String {
    format!("chunk_embedding_graph_{}", index.simple())
}

async fn graphs(owner: &mut PgConnection) -> Result<Vec<Graph>, StoreError> {
    let rows = sqlx::query!(
        r#"SELECT c.relname::text AS "name!", i.indisvalid AS "is_valid!"
           FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
           WHERE i.indrelid = 'chunk_embedding'::regclass AND starts_with(c.relname::text, 'chunk_embedding_graph_')"#
    )
    .fetch_all(owner)
    .await?;
    Ok(rows.into_iter().map(|row| Graph { name: row.name, is_valid: row.is_valid }).collect())
}

async fn build(owner: &mut PgConnection, index: &LargeIndex) -> Result<(), StoreError> {
    let LargeIndex { id, dimension, .. } = index;
    // Not less than the server is configured to spend.
    let memory = format!(
        "SELECT set_config('maintenance_work_mem', {} || 'MB', false)
         WHERE pg_size_bytes(current_setting('maintenance_work_mem')) < {} * 1000000::bigint",
        index.build_mb(),
        index.build_mb()
    );
    run(owner, memory).await?;
    let statement = format!(
        "CREATE INDEX CONCURRENTLY IF NOT EXISTS {} ON chunk_embedding \
         USING hnsw ((embedding::halfvec({dimension})) halfvec_cosine_ops) WHERE index_id = '{id}'",
        graph_name(*id)
    );
    run(owner, statement).await
}

async fn run(owner: &mut PgConnection, statement: String) -> Result<(), StoreError> {
    owner.execute(sqlx::raw_sql(AssertSqlSafe(statement))).await?;
    Ok(())
}
