//! The second look at the best of the fused list.

use tokio::time::Instant;

use super::{Fusion, Hit, Mode, RerankTrace, RetrievalQuery, Retrieved, Retriever, stages::milliseconds};
use crate::domain::{
    evidence::QuestionTerms,
    fusion::RECIPROCAL_RANK_CONSTANT,
    reranking::{self, features},
};

impl Retriever {
    /// Orders the first hits anew by their text; those below keep their order behind them.
    pub(super) fn rerank(query: &RetrievalQuery<'_>, hits: &mut [Hit], found: &mut Retrieved) {
        let started = Instant::now();
        let terms = QuestionTerms::new(found.analyzer, query.text, found.chunks, |stem| {
            found.document_frequencies.get(stem).copied().unwrap_or(0)
        });
        let depth = hits.len().min(reranking::DEPTH);
        let Some(first) = hits.get_mut(..depth) else { return };
        let scale = Scale::of(query, first);
        let titles: Vec<String> = first.iter().map(Hit::title).collect();
        let passages: Vec<features::Passage<'_>> = first
            .iter()
            .zip(&titles)
            .map(|(hit, title)| features::Passage { title, text: &hit.passage.text, fused: scale.apply(hit.fused) })
            .collect();
        let scores = reranking::score(&features::of_passages(found.analyzer, &terms, &passages));
        for (hit, score) in first.iter_mut().zip(scores) {
            hit.reranked = Some(score);
        }
        // Stable: what the reranker cannot tell apart stays in the fused order.
        first.sort_by(|one, two| two.reranked.unwrap_or_default().total_cmp(&one.reranked.unwrap_or_default()));
        found.stages.rerank = Some(RerankTrace { passages: depth, duration_ms: milliseconds(started) });
    }
}

impl Hit {
    /// Title of the document with the heading path, as the passage was indexed.
    #[must_use]
    pub fn title(&self) -> String {
        let passage = &self.passage;
        if passage.heading.is_empty() {
            passage.title.clone()
        } else {
            format!("{} {}", passage.title, passage.heading.join(" "))
        }
    }
}

/// Brings scores of every kind to the 0 to 1 that the weights were learned with.
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
