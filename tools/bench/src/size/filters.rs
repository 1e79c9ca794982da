//! Filtered searches, from one matching chunk to all of them, against exact search of what matches.

use std::{path::Path, time::Instant};

use hyper::Method;
use pgvector::HalfVector;
use serde_json::{Value, json};
use sqlx::PgConnection;

use super::{
    curve::profile_of,
    facts::Facts,
    indexes::run as run_sql,
    superuser,
    truth::{RESULTS, half_alone, reaching, scores_of, sparse},
};
use crate::{asks::percentile_ms, client::Client, ingest::COLLECTION, progress, service::Service, vectors::Vectors};

/// Questions that are asked of each filter: exact search of a million takes about a second.
const QUESTIONS: usize = 50;

/// Searches with a filter that lets so many chunks pass.
pub struct Filtered {
    pub matching: u64,
    /// Share of the results that are there to be found: ten, or as many as match.
    pub dense_results: f64,
    pub dense_recall: f64,
    pub lexical_recall: f64,
    /// "documents" or "indexes".
    pub starts_from: String,
    pub p50_ms: f64,
    pub p95_ms: f64,
}

/// Searches with filters of every order of magnitude.
pub async fn run(service: &Service, data_dir: &Path, facts: &Facts) -> anyhow::Result<Vec<Filtered>> {
    progress("filters");
    let mut connection = superuser(data_dir).await?;
    run_sql(
        &mut connection,
        "SET work_mem = '256MB'; DROP TABLE IF EXISTS ranked;
         CREATE UNLOGGED TABLE ranked AS
             SELECT (d.metadata->>'rank')::integer AS rank, c.terms, c.weights, e.embedding
             FROM document d JOIN chunk c USING (tenant_id, document_id)
             JOIN chunk_embedding e USING (tenant_id, document_id, ordinal) WHERE d.metadata ? 'rank';
         CREATE INDEX ON ranked (rank); ANALYZE ranked"
            .to_owned(),
    )
    .await?;
    let ranked: i64 = sqlx::query_scalar("SELECT count(*) FROM ranked").fetch_one(&mut connection).await?;
    let powers = (0..).map(|power| 10_i64.pow(power)).take_while(|matching| *matching < ranked);
    let mut measured = Vec::new();
    for matching in powers.chain([ranked]) {
        measured.push(measure(service, &mut connection, facts, matching).await?);
    }
    run_sql(&mut connection, "DROP TABLE ranked".to_owned()).await?;
    Ok(measured)
}

async fn measure(
    service: &Service,
    connection: &mut PgConnection,
    facts: &Facts,
    matching: i64,
) -> anyhow::Result<Filtered> {
    let vectors = Vectors::new();
    let mut client = Client::connect(service.address).await?;
    let (mut dense, mut lexical, mut latencies) = (Share::default(), Share::default(), Vec::new());
    let mut results = Share::default();
    let mut starts_from = String::new();
    for question in facts.questions.iter().take(QUESTIONS) {
        let vector = HalfVector::from_f32_slice(&vectors.unit(question));
        let exact = nearest(connection, matching, &vector).await?;
        let reply = search(&mut client, half_alone(question, "dense"), matching).await?;
        reply["trace"]["filter"]["starts_from"].as_str().unwrap_or_default().clone_into(&mut starts_from);
        let found = scores_of(&reply, "dense");
        results.add(found.len(), exact.len());
        dense.add(reached(&found, &exact), exact.len());

        let profile = profile_of(connection, facts.collection, question).await?;
        let exact = best(connection, matching, &profile.weights()).await?;
        let reply = search(&mut client, half_alone(question, "lexical"), matching).await?;
        let found = scores_of(&reply, "lexical");
        lexical.add(reached(&found, &exact), exact.len());
    }
    // Another round, in which every page is in memory.
    for question in facts.questions.iter().take(QUESTIONS) {
        let started = Instant::now();
        let body = json!({"query": question, "collections": [COLLECTION], "mode": "hybrid", "top_k": RESULTS});
        search(&mut client, body, matching).await?;
        latencies.push(started.elapsed());
    }
    latencies.sort_unstable();
    let [p50_ms, p95_ms] = [0.5, 0.95].map(|share| percentile_ms(&latencies, share));
    Ok(Filtered {
        matching: matching.unsigned_abs(),
        dense_results: results.value(),
        dense_recall: dense.value(),
        lexical_recall: lexical.value(),
        starts_from,
        p50_ms,
        p95_ms,
    })
}

/// So many of so many.
#[derive(Default)]
struct Share {
    found: usize,
    there: usize,
}

impl Share {
    fn add(&mut self, found: usize, there: usize) {
        self.found += found;
        self.there += there;
    }

    #[expect(clippy::cast_precision_loss, reason = "a share for a table")]
    fn value(&self) -> f64 {
        if self.there == 0 { 1.0 } else { self.found as f64 / self.there as f64 }
    }
}

/// How many of the exact results were found: so many scores are as good as that of the last of them.
fn reached(found: &[f64], exact: &[f64]) -> usize {
    reaching(found, exact.last().copied().unwrap_or_default()).min(exact.len())
}

/// Cosines of the nearest of those that match, all of them compared.
async fn nearest(connection: &mut PgConnection, matching: i64, vector: &HalfVector) -> anyhow::Result<Vec<f64>> {
    Ok(sqlx::query_scalar(
        "SELECT 1 - (embedding <=> $1) FROM ranked WHERE rank < $2 ORDER BY embedding <=> $1 LIMIT $3",
    )
    .bind(vector)
    .bind(matching)
    .bind(i64::try_from(RESULTS)?)
    .fetch_all(connection)
    .await?)
}

/// BM25 of the best of those that match, all that hold a word scored.
async fn best(connection: &mut PgConnection, matching: i64, weights: &[(i32, f32)]) -> anyhow::Result<Vec<f64>> {
    let terms: Vec<i32> = weights.iter().map(|(term, _)| *term).collect();
    Ok(sqlx::query_scalar(
        "SELECT -(weights <#> $1) FROM ranked WHERE rank < $2 AND terms && $3 ORDER BY 1 DESC LIMIT $4",
    )
    .bind(sparse(weights))
    .bind(matching)
    .bind(terms)
    .bind(i64::try_from(RESULTS)?)
    .fetch_all(connection)
    .await?)
}

/// A search among those that match.
async fn search(client: &mut Client, mut body: Value, matching: i64) -> anyhow::Result<Value> {
    body["filter"] = json!({"metadata": {"rank": {"lt": matching}}});
    body["include"] = json!(["trace"]);
    client.json(Method::POST, "/v1/search", Some(&body)).await
}
