//! Fuses the rankings of the two halves.

use super::{Fusion, Mode, RetrievalQuery, lexical::LexicalResult};
use crate::{
    domain::{
        fusion::{self, DenseWeight, Fused, Scored},
        identity::ChunkKey,
    },
    store::DenseHit,
};

/// The rankings of both halves.
pub(super) struct Lists {
    dense: Vec<Scored<ChunkKey>>,
    lexical: Vec<Scored<ChunkKey>>,
    evidence: f64,
}

impl Lists {
    pub(super) fn of(dense: &[DenseHit], lexical: &LexicalResult) -> Self {
        Self {
            dense: dense.iter().map(|hit| Scored { key: hit.key, score: f64::from(hit.similarity) }).collect(),
            lexical: lexical.hits.iter().map(|hit| Scored { key: hit.key, score: f64::from(hit.score) }).collect(),
            evidence: lexical.evidence,
        }
    }

    /// The share of the vectors that follows from the spread of the scores.
    pub(super) fn dense_weight(&self) -> DenseWeight {
        DenseWeight::of_spreads(&self.dense, &self.lexical, self.evidence)
    }

    /// Returns one ranking from both lists, best first, without hits below the request's minimum score.
    pub(super) fn fuse(&self, query: &RetrievalQuery<'_>, weight: DenseWeight) -> Vec<Fused<ChunkKey>> {
        let mut fused = match query.stages.fusion {
            Fusion::Weighted => fusion::fuse_weighted(&self.dense, &self.lexical, weight),
            Fusion::ReciprocalRank => fusion::fuse_reciprocal_rank(&self.dense, &self.lexical),
        };
        if query.stages.mode != Mode::Hybrid {
            // With one half there is nothing to fuse: its own score decides the order and is shown.
            for item in &mut fused {
                item.fused = item.dense.or(item.lexical).unwrap_or(0.0);
            }
        }
        if let Some(least) = query.min_score {
            fused.retain(|item| item.fused >= least);
        }
        fused
    }
}
