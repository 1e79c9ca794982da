//! Measures the database alone on a question: the ten nearest vectors by SQL, and nothing else. How fast
//! the machine is just now shows in it, and with it what the other numbers of the run are worth.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use sqlx::{AssertSqlSafe, PgPool, postgres::PgPoolOptions};

use crate::{
    raw_copy,
    service::Service,
    vectors::{DIMENSION, Vectors},
};

/// As the service has for two cores.
const CONNECTIONS: u32 = 8;
const WARM_UP: usize = 200;

/// How a run went.
pub struct Searched {
    pub clients: usize,
    pub searches: usize,
    pub elapsed: Duration,
    /// Ascending.
    pub latencies: Vec<Duration>,
    pub database_cpu_s: f64,
}

/// The vectors of the questions, and a way to the database past the service.
pub struct RawSearch {
    pool: PgPool,
    statement: Arc<str>,
    vectors: Arc<Vec<String>>,
}

impl RawSearch {
    /// Connects to the service's own Postgres as superuser, whom no policy binds.
    pub async fn connect(data_dir: &Path, questions: &[String]) -> anyhow::Result<Self> {
        let options = raw_copy::superuser(data_dir)?;
        let pool = PgPoolOptions::new().max_connections(CONNECTIONS).connect_with(options).await?;
        let index: String =
            sqlx::query_scalar("SELECT index_id::text FROM chunk_embedding LIMIT 1").fetch_one(&pool).await?;
        // A literal, not a parameter: the graph of an index is used only if the planner sees which one is searched.
        let statement = format!(
            "SELECT document_id, ordinal FROM chunk_embedding WHERE index_id = '{index}'
             ORDER BY (embedding::halfvec({DIMENSION})) <=> $1::text::halfvec LIMIT 10"
        );
        let vectors = Vectors::new();
        let render = |question: &String| {
            let mut json = String::new();
            vectors.write(question, &mut json);
            json
        };
        let vectors = Arc::new(questions.iter().map(render).collect());
        Ok(Self { pool, statement: statement.into(), vectors })
    }

    /// Searches from so many clients for so long.
    pub async fn run(&self, service: &Service, clients: usize, time: Duration) -> anyhow::Result<Searched> {
        let next = Arc::new(AtomicUsize::new(0));
        for _ in 0..WARM_UP {
            search(&self.pool, &self.statement, &self.vectors, &next).await?;
        }
        let (_, cpu_before) = service.cpu_seconds()?;
        let started = Instant::now();
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..clients {
            let (pool, statement) = (self.pool.clone(), Arc::clone(&self.statement));
            let (vectors, next) = (Arc::clone(&self.vectors), Arc::clone(&next));
            tasks.spawn(async move {
                let mut latencies = Vec::new();
                while started.elapsed() < time {
                    let before = Instant::now();
                    search(&pool, &statement, &vectors, &next).await?;
                    latencies.push(before.elapsed());
                }
                anyhow::Ok(latencies)
            });
        }
        let mut latencies = Vec::new();
        for done in tasks.join_all().await {
            latencies.extend(done?);
        }
        let elapsed = started.elapsed();
        let database_cpu_s = service.cpu_seconds()?.1 - cpu_before;
        latencies.sort_unstable();
        Ok(Searched { clients, searches: latencies.len(), elapsed, latencies, database_cpu_s })
    }
}

async fn search(pool: &PgPool, statement: &str, vectors: &[String], next: &AtomicUsize) -> anyhow::Result<()> {
    let place = next.fetch_add(1, Ordering::Relaxed) % vectors.len();
    sqlx::query(AssertSqlSafe(statement)).bind(&vectors[place]).fetch_all(pool).await?;
    Ok(())
}
