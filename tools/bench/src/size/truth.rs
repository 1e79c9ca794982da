//! Results of exact search, and how many of them the service finds.

use std::path::Path;

use domain::lexical::term_id::MAX_TERM_ID;
use hyper::Method;
use pgvector::{HalfVector, SparseVector};
use serde_json::{Value, json};
use sqlx::PgConnection;

use super::{
    curve::profile_of,
    facts::{Exact, Facts},
    indexes::run as run_sql,
    superuser,
};
use crate::{client::Client, ingest::COLLECTION, service::Service, vectors::Vectors};

/// Results that recall is counted over.
pub const RESULTS: usize = 10;
/// Scores of equal rank differ by less.
const TIE: f64 = 1e-4;

/// Share of the ten best that are found.
#[derive(Clone, Copy, Debug)]
pub struct Recall {
    pub lexical: f64,
    pub dense: f64,
}

/// Scores every chunk for the first questions.
pub async fn find(data_dir: &Path, facts: &mut Facts, measured: usize) -> anyhow::Result<()> {
    let mut connection = superuser(data_dir).await?;
    run_sql(&mut connection, "SET enable_indexscan = off; SET work_mem = '256MB'".to_owned()).await?;
    let vectors = Vectors::new();
    let mut exact = Vec::new();
    for question in facts.questions.iter().take(measured) {
        let profile = profile_of(&mut connection, facts.collection, question).await?;
        let lexical = tenth_bm25(&mut connection, &profile.weights()).await?;
        let vector = HalfVector::from_f32_slice(&vectors.unit(question));
        let dense: Vec<f64> =
            sqlx::query_scalar("SELECT 1 - (embedding <=> $1) FROM chunk_embedding ORDER BY embedding <=> $1 LIMIT 10")
                .bind(vector)
                .fetch_all(&mut connection)
                .await?;
        exact.push(Exact { lexical, dense: dense.last().copied().unwrap_or_default() });
    }
    facts.exact = exact;
    Ok(())
}

async fn tenth_bm25(connection: &mut PgConnection, weights: &[(i32, f32)]) -> anyhow::Result<f32> {
    let terms: Vec<i32> = weights.iter().map(|(term, _)| *term).collect();
    let scores: Vec<f32> =
        sqlx::query_scalar("SELECT (-(weights <#> $2))::real FROM chunk WHERE terms && $1 ORDER BY 1 DESC LIMIT 10")
            .bind(terms)
            .bind(sparse(weights))
            .fetch_all(connection)
            .await?;
    Ok(scores.last().copied().unwrap_or_default())
}

/// Term ids count from 1, the vector's indices in this constructor from 0.
pub fn sparse(weights: &[(i32, f32)]) -> SparseVector {
    let entries: Vec<(i32, f32)> = weights.iter().map(|(term, weight)| (term - 1, *weight)).collect();
    SparseVector::from_map(entries.iter().map(|(index, weight)| (index, weight)), MAX_TERM_ID)
}

/// Asks the service the same questions.
pub async fn recall(service: &Service, facts: &Facts) -> anyhow::Result<Recall> {
    let mut client = Client::connect(service.address).await?;
    let (mut lexical, mut dense) = (0, 0);
    for (question, exact) in facts.questions.iter().zip(&facts.exact) {
        let scores = scores(&mut client, question, "lexical").await?;
        lexical += reaching(&scores, f64::from(exact.lexical));
        let scores = self::scores(&mut client, question, "dense").await?;
        dense += reaching(&scores, exact.dense);
    }
    let questions = facts.exact.len();
    Ok(Recall { lexical: recall_of(lexical, questions), dense: recall_of(dense, questions) })
}

/// The share of all results of so many questions that were found.
#[expect(clippy::cast_precision_loss, reason = "a share for a table")]
pub fn recall_of(found: usize, questions: usize) -> f64 {
    found as f64 / (questions * RESULTS).max(1) as f64
}

/// How many scores are as good as that of the tenth of the exact ranking.
pub fn reaching(scores: &[f64], tenth: f64) -> usize {
    scores.iter().take(RESULTS).filter(|score| **score >= tenth - TIE).count()
}

async fn scores(client: &mut Client, question: &str, mode: &str) -> anyhow::Result<Vec<f64>> {
    let reply = client.json(Method::POST, "/v1/search", Some(&half_alone(question, mode))).await?;
    Ok(scores_of(&reply, mode))
}

/// A search by one half, without what reorders or merges its results.
pub fn half_alone(question: &str, mode: &str) -> Value {
    json!({
        "query": question, "collections": [COLLECTION], "mode": mode, "top_k": RESULTS,
        "stages": {"rerank": false, "collapse_duplicates": false, "merge_neighbours": false}
    })
}

/// The scores of that half in a reply, best first.
pub fn scores_of(reply: &Value, mode: &str) -> Vec<f64> {
    let results = reply["results"].as_array().map_or(&[] as &[Value], Vec::as_slice);
    results.iter().filter_map(|result| result["scores"][mode].as_f64()).collect()
}
