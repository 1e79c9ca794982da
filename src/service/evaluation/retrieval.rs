//! Queries through search.

use std::collections::HashSet;

use tokio::time::Instant;

use super::{EvaluationError, EvaluationService, Observer, Progress};
use crate::{
    domain::evaluation::{
        dataset::JudgedQuery,
        retrieval::{DEPTH, QueryFigures, RetrievalFigures},
    },
    service::retrieval::Stages,
};

impl EvaluationService {
    /// Searches for each query and measures the rankings; `None` without queries. One after the other, so
    /// that durations are those of a search alone.
    ///
    /// # Errors
    /// Service failures.
    pub async fn measure_retrieval(
        &self,
        collection: &str,
        queries: &[JudgedQuery],
        stages: Stages,
        observe: Observer<'_>,
    ) -> Result<Option<RetrievalFigures>, EvaluationError> {
        let mut measured = Vec::with_capacity(queries.len());
        for (done, query) in queries.iter().enumerate() {
            observe(Progress { done, of: queries.len() });
            let (ranked, duration_ms) = self.rank_documents(collection, &query.text, stages).await?;
            measured.extend(QueryFigures::of(&ranked, &query.judgements, duration_ms));
        }
        Ok(RetrievalFigures::of(&measured))
    }

    /// Documents by their best chunk, best first, repeated for each chunk: as many as are measured, if the
    /// collection has them. Several chunks may belong to one document, so the search goes deeper until
    /// there are enough; the duration is that of the first search alone.
    async fn rank_documents(
        &self,
        collection: &str,
        query: &str,
        stages: Stages,
    ) -> Result<(Vec<String>, f64), EvaluationError> {
        let (mut top_k, most) = (DEPTH, self.target.most_passages());
        let mut duration_ms = None;
        loop {
            let started = Instant::now();
            let ranked = self.target.search(collection, query, stages, top_k).await?;
            let duration_ms = *duration_ms.get_or_insert(started.elapsed().as_secs_f64() * 1_000.0);
            let is_all = ranked.len() < top_k || top_k == most;
            let documents = ranked.iter().collect::<HashSet<_>>().len();
            if is_all || documents >= DEPTH {
                return Ok((ranked, duration_ms));
            }
            top_k = top_k.saturating_mul(2).min(most);
        }
    }
}
