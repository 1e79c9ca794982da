//! Reranks the best passages of the fused list.

use tokio::time::Instant;

use super::{Fusion, Hit, Mode, RerankTrace, RerankedBy, RetrievalQuery, Retrieved, Retriever, stages::milliseconds};
use crate::{
    domain::{
        budget::Budget,
        evidence::QuestionTerms,
        fusion::RECIPROCAL_RANK_CONSTANT,
        reranking::{self, features},
    },
    providers::reranker::Reranker,
    service::ServiceError,
};

impl Retriever {
    /// Reorders the first hits by their text; those below keep their order after them.
    pub(super) async fn rerank(
        &self,
        query: &RetrievalQuery<'_>,
        hits: &mut [Hit],
        found: &mut Retrieved,
        budget: &Budget,
    ) -> Result<(), ServiceError> {
        let started = Instant::now();
        let depth = hits.len().min(self.fetch_k);
        let Some(first) = hits.get_mut(..depth).filter(|first| !first.is_empty()) else { return Ok(()) };
        let (by, scores) = match &self.reranker {
            Some(model) => (RerankedBy::Model, scores_of_model(model, query, first, budget).await?),
            None => (RerankedBy::BuiltIn, scores_of_features(query, first, found)),
        };
        for (hit, score) in first.iter_mut().zip(scores) {
            hit.reranked = Some(score);
        }
        // Stable: passages of equal score stay in the fused order.
        first.sort_by(|one, two| two.reranked.unwrap_or_default().total_cmp(&one.reranked.unwrap_or_default()));
        found.stages.rerank = Some(RerankTrace { by, passages: depth, duration_ms: milliseconds(started) });
        Ok(())
    }
}

async fn scores_of_model(
    model: &Reranker,
    query: &RetrievalQuery<'_>,
    hits: &[Hit],
    budget: &Budget,
) -> Result<Vec<f64>, ServiceError> {
    let passages: Vec<String> = hits.iter().map(|hit| format!("{}\n{}", hit.title(), hit.passage.text)).collect();
    Ok(model.score(query.text, &passages, budget.reserve_reranking()?).await?)
}

fn scores_of_features(query: &RetrievalQuery<'_>, hits: &[Hit], found: &Retrieved) -> Vec<f64> {
    let terms = QuestionTerms::new(found.analyzer, query.text, found.chunks, |stem| found.document_frequency(stem));
    let scale = Scale::of(query, hits);
    let titles: Vec<String> = hits.iter().map(Hit::judged_title).collect();
    let passages: Vec<features::Passage<'_>> = hits
        .iter()
        .zip(&titles)
        .map(|(hit, title)| features::Passage {
            title,
            text: &hit.passage.text,
            is_section: !hit.passage.heading.is_empty(),
            fused: scale.apply(hit.fused),
        })
        .collect();
    reranking::score(&features::of_passages(found.analyzer, &terms, &passages), found.dense_weight)
}

/// Maps scores of every kind to the range 0 to 1 with which the weights were learned.
struct Scale {
    lowest: f64,
    range: f64,
}

impl Scale {
    fn of(query: &RetrievalQuery<'_>, hits: &[Hit]) -> Self {
        match (query.stages.mode, query.stages.fusion) {
            (Mode::Hybrid, Fusion::Weighted) => Self { lowest: 0.0, range: 1.0 },
            (Mode::Hybrid, Fusion::ReciprocalRank) => {
                Self { lowest: 0.0, range: 2.0 / (RECIPROCAL_RANK_CONSTANT + 1.0) }
            }
            (Mode::Dense | Mode::Lexical, _) => {
                let score = |hit: Option<&Hit>| hit.map_or(0.0, |hit| hit.fused);
                let lowest = score(hits.last());
                Self { lowest, range: score(hits.first()) - lowest }
            }
        }
    }

    fn apply(&self, score: f64) -> f64 {
        if self.range > 0.0 { ((score - self.lowest) / self.range).clamp(0.0, 1.0) } else { 1.0 }
    }
}
