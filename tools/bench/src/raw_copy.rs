//! Measures the database alone: the finished rows, by `COPY`, into the same tables with the same
//! indexes, constraints and triggers, on the same server.

use std::{
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row, postgres::PgConnectOptions};
use tokio::process::Command;

const SOURCE: &str = "cited";
const TARGET: &str = "cited_raw_copy";
const USER: &str = "postgres";
/// In the order that their references need; what belongs to the queue is left out.
const TABLES: [&str; 8] = [
    "embedding_profile",
    "collection",
    "collection_index",
    "index_statistic",
    "term_statistic",
    "document",
    "chunk",
    "chunk_embedding",
];

/// How it went.
#[derive(Clone, Debug)]
pub struct Copied {
    pub documents: usize,
    pub elapsed: Duration,
    /// Time by table.
    pub tables: Vec<(&'static str, Duration)>,
}

impl Copied {
    pub fn per_second(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a rate for a table")]
        let documents = self.documents as f64;
        documents / self.elapsed.as_secs_f64()
    }
}

/// Copies everything that the service has stored, as superuser, in one session, table by table.
pub async fn run(binary: &Path, data_dir: &Path) -> anyhow::Result<Copied> {
    let mut source = PgConnection::connect_with(&superuser(data_dir)?).await?;
    let copy = Target::create(binary, data_dir, &mut source).await?;
    let mut target = PgConnection::connect_with(&copy.options).await?;
    let folder = dump(&mut source, &TABLES).await?;
    // As for the service: what earlier work left to do must not be done during the measurement.
    run_sql(&mut source, "CHECKPOINT".to_owned()).await?;
    let started = Instant::now();
    let mut tables = Vec::new();
    run_sql(&mut target, "BEGIN".to_owned()).await?;
    for table in TABLES {
        let table_started = Instant::now();
        run_sql(&mut target, format!("COPY {table} FROM '{folder}/{table}' (FORMAT binary)")).await?;
        tables.push((table, table_started.elapsed()));
    }
    run_sql(&mut target, "COMMIT".to_owned()).await?;
    let elapsed = started.elapsed();
    let documents: i64 = sqlx::query_scalar("SELECT count(*) FROM document").fetch_one(&mut target).await?;
    target.close().await?;
    copy.drop(&mut source).await?;
    source.close().await?;
    Ok(Copied { documents: usize::try_from(documents)?, elapsed, tables })
}

/// Another database of the same Postgres, with the same tables and indexes, and nothing in them.
pub struct Target {
    /// A way to it past roles and policies.
    pub options: PgConnectOptions,
}

impl Target {
    /// Makes it, in place of one that an earlier run has left.
    pub async fn create(binary: &Path, data_dir: &Path, source: &mut PgConnection) -> anyhow::Result<Self> {
        run_sql(source, format!("DROP DATABASE IF EXISTS {TARGET}")).await?;
        run_sql(source, format!("CREATE DATABASE {TARGET} TEMPLATE template0")).await?;
        migrate(binary, &data_dir.join("run"), &password(data_dir)?).await?;
        let options = superuser(data_dir)?.database(TARGET);
        let mut target = PgConnection::connect_with(&options).await?;
        create_vector_indexes(source, &mut target).await?;
        target.close().await?;
        Ok(Self { options })
    }

    /// Copies whole tables into it.
    pub async fn copy(&self, source: &mut PgConnection, tables: &[&str]) -> anyhow::Result<()> {
        let folder = dump(source, tables).await?;
        let mut target = PgConnection::connect_with(&self.options).await?;
        run_sql(&mut target, "BEGIN".to_owned()).await?;
        for table in tables {
            run_sql(&mut target, format!("COPY {table} FROM '{folder}/{table}' (FORMAT binary)")).await?;
        }
        run_sql(&mut target, "COMMIT".to_owned()).await?;
        Ok(target.close().await?)
    }

    /// Drops it.
    pub async fn drop(self, source: &mut PgConnection) -> anyhow::Result<()> {
        run_sql(source, format!("DROP DATABASE {TARGET} WITH (FORCE)")).await
    }
}

/// A way to the service's database past its roles and policies.
pub fn superuser(data_dir: &Path) -> anyhow::Result<PgConnectOptions> {
    let options = PgConnectOptions::new().socket(data_dir.join("run")).username(USER).database(SOURCE);
    Ok(options.password(&password(data_dir)?))
}

fn password(data_dir: &Path) -> anyhow::Result<String> {
    let text =
        std::fs::read_to_string(data_dir.join("password")).context("the embedded Postgres has no password file")?;
    Ok(text.trim().to_owned())
}

pub async fn run_sql(connection: &mut PgConnection, statement: String) -> anyhow::Result<()> {
    connection.execute(sqlx::raw_sql(AssertSqlSafe(statement))).await?;
    Ok(())
}

/// The service's own migrations make the tables.
async fn migrate(binary: &Path, socket_dir: &Path, password: &str) -> anyhow::Result<()> {
    let url = format!("postgres://{USER}:{password}@localhost/{TARGET}?host={}", socket_dir.display());
    let output = Command::new(binary).arg("migrate").env("DATABASE_URL", url).stdin(Stdio::null()).output().await?;
    if !output.status.success() {
        bail!("cited migrate failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

/// Vector indexes are made by the service when it first sees a model, so they are made here by hand.
async fn create_vector_indexes(source: &mut PgConnection, target: &mut PgConnection) -> anyhow::Result<()> {
    let wanted = indexes(source).await?;
    for (name, definition) in &wanted {
        if !indexes(target).await?.iter().any(|(known, _)| known == name) {
            run_sql(target, definition.clone()).await?;
        }
    }
    if indexes(target).await? != wanted {
        bail!("the copy does not have the same indexes");
    }
    Ok(())
}

/// Names and definitions of all indexes of the tables that are copied.
async fn indexes(connection: &mut PgConnection) -> anyhow::Result<Vec<(String, String)>> {
    let rows = sqlx::query(
        "SELECT indexname::text, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename = ANY ($1) ORDER BY indexname",
    )
    .bind(TABLES.map(str::to_owned).to_vec())
    .fetch_all(connection)
    .await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

/// Writes every table to a file in the server's own folder, which is one that it can write to.
async fn dump(source: &mut PgConnection, tables: &[&str]) -> anyhow::Result<String> {
    let folder: String = sqlx::query_scalar("SHOW data_directory").fetch_one(&mut *source).await?;
    for table in tables {
        run_sql(source, format!("COPY {table} TO '{folder}/{table}' (FORMAT binary)")).await?;
    }
    Ok(folder)
}
