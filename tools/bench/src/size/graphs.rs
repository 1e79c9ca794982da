//! Recall and time of vector search by how its graph was built and is walked: the database alone.

use std::{fmt, path::Path, str::FromStr, time::Instant};

use anyhow::Context as _;
use pgvector::HalfVector;
use sqlx::{AssertSqlSafe, PgConnection};

use super::{
    facts::Facts,
    indexes::run as run_sql,
    superuser,
    truth::{RESULTS, reaching, recall_of},
};
use crate::{asks::percentile_ms, progress, vectors::Vectors};

const EF_SEARCH: [u32; 4] = [50, 100, 200, 400];

/// How a graph is built.
#[derive(Clone, Copy, Debug)]
pub struct Graph {
    /// The first so many numbers of each vector.
    pub dimension: usize,
    /// Neighbours of a vector in a layer.
    pub m: u32,
    /// Length of the list that they are chosen from.
    pub ef_construction: u32,
}

impl FromStr for Graph {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let mut numbers = text.split(':').map(str::parse::<u32>);
        let mut next = || numbers.next().and_then(Result::ok).context("a graph is DIMENSIONS:M:EF_CONSTRUCTION");
        Ok(Self { dimension: usize::try_from(next()?)?, m: next()?, ef_construction: next()? })
    }
}

/// A graph and what searches over it found.
pub struct Built {
    pub graph: Graph,
    pub build_s: f64,
    pub bytes: i64,
    pub points: Vec<Point>,
}

impl fmt::Display for Built {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[expect(clippy::cast_precision_loss, reason = "a size for a table")]
        let megabytes = self.bytes as f64 / 1e6;
        write!(formatter, "built in {:.0} s, {megabytes:.0} MB;", self.build_s)?;
        self.points.iter().try_for_each(|point| {
            write!(formatter, " {}: recall {:.4}, p50 {:.1} ms;", point.ef_search, point.recall, point.p50_ms)
        })
    }
}

/// Walks with lists of one length.
pub struct Point {
    pub ef_search: u32,
    pub recall: f64,
    pub p50_ms: f64,
    pub p95_ms: f64,
}

/// Builds each graph over a copy of the vectors and searches it with the questions that are measured.
pub async fn run(data_dir: &Path, facts: &Facts, graphs: &[Graph]) -> anyhow::Result<Vec<Built>> {
    let mut connection = superuser(data_dir).await?;
    let vectors = Vectors::new();
    let mut measured = Vec::new();
    for graph in graphs {
        progress(&format!("a graph over {} dimensions, m = {}", graph.dimension, graph.m));
        let questions = facts.questions.iter().take(facts.exact.len());
        let first = |question: &String| {
            let vector = vectors.unit(question);
            HalfVector::from_f32_slice(&vector[..graph.dimension.min(vector.len())])
        };
        let built = measure(&mut connection, *graph, &questions.map(first).collect::<Vec<_>>()).await?;
        // Hours may go by until the table is printed.
        progress(&built.to_string());
        measured.push(built);
    }
    Ok(measured)
}

async fn measure(connection: &mut PgConnection, graph: Graph, questions: &[HalfVector]) -> anyhow::Result<Built> {
    let Graph { dimension, m, ef_construction } = graph;
    run_sql(
        connection,
        format!(
            "SET maintenance_work_mem = '4GB'; SET max_parallel_maintenance_workers = 2; DROP TABLE IF EXISTS measured;
             CREATE UNLOGGED TABLE measured AS
                 SELECT subvector(embedding, 1, {dimension})::halfvec({dimension}) AS vector FROM chunk_embedding"
        ),
    )
    .await?;
    let mut tenths = Vec::new();
    for question in questions {
        tenths.push(nearest(connection, question).await?.last().copied().unwrap_or_default());
    }
    let started = Instant::now();
    run_sql(
        connection,
        format!(
            "CREATE INDEX measured_graph ON measured USING hnsw (vector halfvec_cosine_ops)
                 WITH (m = {m}, ef_construction = {ef_construction})"
        ),
    )
    .await?;
    let build_s = started.elapsed().as_secs_f64();
    run_sql(connection, "ANALYZE measured; SET enable_seqscan = off".to_owned()).await?;
    let bytes = sqlx::query_scalar("SELECT pg_relation_size('measured_graph')").fetch_one(&mut *connection).await?;
    let mut points = Vec::new();
    for ef_search in EF_SEARCH {
        run_sql(connection, format!("SET hnsw.ef_search = {ef_search}")).await?;
        points.push(walk(connection, ef_search, questions, &tenths).await?);
    }
    run_sql(connection, "RESET enable_seqscan; DROP TABLE measured".to_owned()).await?;
    Ok(Built { graph, build_s, bytes, points })
}

async fn walk(
    connection: &mut PgConnection,
    ef_search: u32,
    questions: &[HalfVector],
    tenths: &[f64],
) -> anyhow::Result<Point> {
    let mut latencies = Vec::new();
    let mut found = 0;
    // The first round only brings the pages into memory.
    for is_timed in [false, true] {
        for (question, tenth) in questions.iter().zip(tenths) {
            let started = Instant::now();
            let scores = nearest(connection, question).await?;
            if is_timed {
                latencies.push(started.elapsed());
                found += reaching(&scores, *tenth);
            }
        }
    }
    latencies.sort_unstable();
    let recall = recall_of(found, questions.len());
    let [p50_ms, p95_ms] = [0.5, 0.95].map(|share| percentile_ms(&latencies, share));
    Ok(Point { ef_search, recall, p50_ms, p95_ms })
}

/// Cosines of the nearest vectors, by the graph if there is one.
async fn nearest(connection: &mut PgConnection, question: &HalfVector) -> anyhow::Result<Vec<f64>> {
    let statement = format!("SELECT 1 - (vector <=> $1) FROM measured ORDER BY vector <=> $1 LIMIT {RESULTS}");
    Ok(sqlx::query_scalar(AssertSqlSafe(statement)).bind(question).fetch_all(connection).await?)
}
