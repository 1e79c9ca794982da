//! Indexes that are not keys: dropped before a fill, built after it.

use std::time::Instant;

use sqlx::{AssertSqlSafe, Executor, PgConnection, Row};
use uuid::Uuid;

use crate::vectors::DIMENSION;

/// Vectors from which a collection has a graph by default.
const GRAPH_FROM: usize = 20_000;

/// An index and the statement that makes it.
pub struct Index {
    pub name: String,
    definition: String,
}

/// Drops the indexes of the large tables that serve searches alone.
pub async fn drop_all(connection: &mut PgConnection) -> anyhow::Result<Vec<Index>> {
    let rows = sqlx::query(
        "SELECT i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) FROM pg_index i
         WHERE i.indrelid IN ('document'::regclass, 'chunk'::regclass, 'chunk_embedding'::regclass) AND NOT i.indisunique",
    )
    .fetch_all(&mut *connection)
    .await?;
    let mut indexes = Vec::new();
    for row in rows {
        let index = Index { name: row.try_get(0)?, definition: row.try_get(1)? };
        run(connection, format!("DROP INDEX {}", index.name)).await?;
        indexes.push(index);
    }
    Ok(indexes)
}

/// Builds them again, with all the machine gives; seconds that each took.
pub async fn build_all(connection: &mut PgConnection, indexes: &[Index]) -> anyhow::Result<Vec<(String, f64)>> {
    run(connection, "SET maintenance_work_mem = '4GB'".to_owned()).await?;
    run(connection, "SET max_parallel_maintenance_workers = 2".to_owned()).await?;
    let mut times = Vec::new();
    for index in indexes {
        crate::progress(&format!("building {}", index.name));
        let started = Instant::now();
        run(connection, index.definition.clone()).await?;
        times.push((index.name.clone(), started.elapsed().as_secs_f64()));
    }
    Ok(times)
}

/// Builds the graph of the collection as the service's maintenance does, if the service would; its name and seconds.
pub async fn build_graph(
    connection: &mut PgConnection,
    index: Uuid,
    vectors: usize,
) -> anyhow::Result<Option<(String, f64)>> {
    if vectors < GRAPH_FROM {
        return Ok(None);
    }
    let name: String =
        sqlx::query_scalar("SELECT vector_graph_name($1)::text").bind(index).fetch_one(&mut *connection).await?;
    crate::progress(&format!("building {name}"));
    let started = Instant::now();
    let statement = format!(
        "CREATE INDEX {name} ON chunk_embedding USING hnsw ((embedding::halfvec({DIMENSION})) halfvec_cosine_ops)
         WHERE index_id = '{index}'"
    );
    run(connection, statement).await?;
    Ok(Some((name, started.elapsed().as_secs_f64())))
}

/// Runs a statement that has no parameters.
pub async fn run(connection: &mut PgConnection, statement: String) -> anyhow::Result<()> {
    connection.execute(sqlx::raw_sql(AssertSqlSafe(statement))).await?;
    Ok(())
}
