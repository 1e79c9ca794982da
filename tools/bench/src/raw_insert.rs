//! Measures the database alone on single documents: the finished rows of each by multi-row `INSERT`s, one transaction a
//! document, from several connections, into the same tables with the same indexes, constraints and triggers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use sqlx::{AssertSqlSafe, Connection, PgConnection, Row};

use crate::{
    process,
    raw_copy::{self, Target},
    service::Setup,
};

/// Written by each transaction, in the order that their references need.
const TABLES: [&str; 3] = ["document", "chunk", "chunk_embedding"];
/// Copied beforehand, because those refer to them.
const OWNERS: [&str; 3] = ["embedding_profile", "collection", "collection_index"];

/// How it went.
#[derive(Clone, Debug)]
pub struct Inserted {
    pub documents: usize,
    pub elapsed: Duration,
    pub database_cpu_s: f64,
    /// Ascending.
    pub latencies: Vec<Duration>,
}

/// The finished rows of a document, in the text form of each table.
type Document = [Vec<String>; TABLES.len()];

/// Inserts everything that the service has stored, as superuser, from so many connections.
pub async fn run(setup: &Setup, connections: usize) -> anyhow::Result<Inserted> {
    let mut source = PgConnection::connect_with(&raw_copy::superuser(&setup.data_dir)?).await?;
    let documents = Arc::new(read(&mut source).await?);
    let target = Target::create(&setup.binary, &setup.data_dir, &mut source).await?;
    target.copy(&mut source, &OWNERS).await?;
    raw_copy::run_sql(&mut source, "CHECKPOINT".to_owned()).await?;
    let cpu = || process::tree_cpu_seconds(process::postmaster(&setup.data_dir.join("cluster"))?);
    let mut opened = Vec::new();
    for _ in 0..connections {
        opened.push(PgConnection::connect_with(&target.options).await?);
    }
    let statements = Arc::new(statements(&mut source).await?);
    let (cpu_before, started) = (cpu()?, Instant::now());
    let next = Arc::new(AtomicUsize::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for connection in opened {
        tasks.spawn(insert_all(connection, Arc::clone(&documents), Arc::clone(&statements), Arc::clone(&next)));
    }
    let mut latencies = Vec::new();
    for done in tasks.join_all().await {
        latencies.extend(done?);
    }
    let elapsed = started.elapsed();
    let database_cpu_s = cpu()? - cpu_before;
    latencies.sort_unstable();
    target.drop(&mut source).await?;
    source.close().await?;
    Ok(Inserted { documents: documents.len(), elapsed, database_cpu_s, latencies })
}

/// All rows, document by document, as the text that a driver would send.
async fn read(source: &mut PgConnection) -> anyhow::Result<Vec<Document>> {
    let rows = sqlx::query(
        "SELECT ARRAY[d::text],
                ARRAY(SELECT c::text FROM chunk c WHERE c.document_id = d.document_id ORDER BY c.ordinal),
                ARRAY(SELECT e::text FROM chunk_embedding e WHERE e.document_id = d.document_id ORDER BY e.ordinal)
         FROM document d ORDER BY d.document_id",
    )
    .fetch_all(source)
    .await?;
    rows.iter().map(|row| Ok([row.try_get(0)?, row.try_get(1)?, row.try_get(2)?])).collect()
}

/// The statement that inserts rows of each table, without the columns that the database computes.
async fn statements(source: &mut PgConnection) -> anyhow::Result<Vec<String>> {
    let mut statements = Vec::new();
    for table in TABLES {
        let columns: Vec<String> = sqlx::query_scalar(
            "SELECT quote_ident(attname) FROM pg_attribute
             WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum",
        )
        .bind(table)
        .fetch_all(&mut *source)
        .await?;
        let values: Vec<String> = columns.iter().map(|column| format!("(r.new).{column}")).collect();
        // Each text becomes a row once; without the barrier it would for each of its columns.
        statements.push(format!(
            "INSERT INTO {table} ({}) SELECT {} FROM (SELECT t::{table} AS new FROM UNNEST($1::text[]) t OFFSET 0) r",
            columns.join(", "),
            values.join(", "),
        ));
    }
    Ok(statements)
}

async fn insert_all(
    mut connection: PgConnection,
    documents: Arc<Vec<Document>>,
    statements: Arc<Vec<String>>,
    next: Arc<AtomicUsize>,
) -> anyhow::Result<Vec<Duration>> {
    let mut latencies = Vec::new();
    while let Some(document) = documents.get(next.fetch_add(1, Ordering::Relaxed)) {
        let started = Instant::now();
        let mut transaction = connection.begin().await?;
        for (statement, rows) in statements.iter().zip(document) {
            sqlx::query(AssertSqlSafe(statement.clone())).bind(rows).execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        latencies.push(started.elapsed());
    }
    connection.close().await?;
    Ok(latencies)
}
