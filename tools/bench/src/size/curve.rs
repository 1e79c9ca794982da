//! Recall and time of lexical search by candidate budget: the database alone, past HTTP and the other half.

use std::{collections::HashMap, path::Path, time::Instant};

use domain::lexical::{
    analyzer::Analyzer,
    bm25::{AskedCollection, QueryProfile, QueryStems},
    candidates::{grouped_pairs, select_candidates},
    term_id::TermSalt,
};
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use super::{
    facts::Facts,
    superuser,
    truth::{reaching, recall_of, sparse},
};
use crate::asks::percentile_ms;

const BUDGETS: [u64; 8] = [150, 300, 600, 1_200, 2_500, 5_000, 10_000, 20_000];
/// As many as fusion reads.
const LIMIT: i32 = 50;

/// One budget.
pub struct Point {
    pub budget: u64,
    pub recall: f64,
    pub p50_ms: f64,
    pub p95_ms: f64,
}

/// Searches with every budget.
pub async fn run(data_dir: &Path, facts: &Facts) -> anyhow::Result<Vec<Point>> {
    let mut connection = superuser(data_dir).await?;
    let tenant: Uuid = sqlx::query_scalar("SELECT tenant_id FROM collection").fetch_one(&mut connection).await?;
    let mut profiles = Vec::new();
    for question in facts.questions.iter().take(facts.exact.len()) {
        profiles.push(profile_of(&mut connection, facts.collection, question).await?);
    }
    let mut points = Vec::new();
    for budget in BUDGETS {
        let mut latencies = Vec::new();
        let mut found = 0;
        for (profile, exact) in profiles.iter().zip(&facts.exact) {
            let candidates = select_candidates(profile, budget);
            let (heads, others) = grouped_pairs(&candidates.pairs);
            let started = Instant::now();
            let scores: Vec<f32> = sqlx::query_scalar(
                "SELECT score FROM lexical_search($1, ARRAY[$2], $3, $4, $5, $6, NULL, NULL, NULL, NULL, $7)",
            )
            .bind(tenant)
            .bind(facts.collection)
            .bind(candidates.rare)
            .bind(heads)
            .bind(others)
            .bind(sparse(&profile.weights()))
            .bind(LIMIT)
            .fetch_all(&mut connection)
            .await?;
            latencies.push(started.elapsed());
            let scores: Vec<f64> = scores.into_iter().map(f64::from).collect();
            found += reaching(&scores, f64::from(exact.lexical));
        }
        latencies.sort_unstable();
        let recall = recall_of(found, facts.exact.len());
        let [p50_ms, p95_ms] = [0.5, 0.95].map(|share| percentile_ms(&latencies, share));
        points.push(Point { budget, recall, p50_ms, p95_ms });
    }
    Ok(points)
}

/// The query side of BM25, as the service makes it.
pub async fn profile_of(
    connection: &mut PgConnection,
    collection: Uuid,
    question: &str,
) -> anyhow::Result<QueryProfile> {
    let (stems, salt) = (QueryStems::of_text(Analyzer::english(), question), TermSalt::new(collection.as_bytes()));
    let rows = sqlx::query("SELECT term_id, document_frequency FROM term_statistic WHERE term_id = ANY ($1)")
        .bind(stems.ids(salt).collect::<Vec<i32>>())
        .fetch_all(&mut *connection)
        .await?;
    let mut frequencies = HashMap::new();
    for row in rows {
        frequencies.insert(row.try_get(0)?, u64::try_from(row.try_get::<i32, _>(1)?)?);
    }
    let chunks: i64 = sqlx::query_scalar("SELECT chunks FROM index_statistic").fetch_one(connection).await?;
    let chunks = u64::try_from(chunks)?;
    let asked = AskedCollection { stems: &stems, salt, chunks, document_frequencies: &frequencies };
    Ok(QueryProfile::new(&[asked]))
}
