//! Fuses the rankings of the two halves.

use super::{Fusion, Mode, RetrievalQuery};
use crate::{
    domain::{
        fusion::{self, DenseWeight, Fused, Scored},
        identity::ChunkKey,
    },
    store::{DenseHit, LexicalHit},
};

/// Returns one ranking from both lists, best first, without hits below the request's minimum score.
pub(super) fn fuse(
    query: &RetrievalQuery<'_>,
    weight: DenseWeight,
    dense: &[DenseHit],
    lexical: &[LexicalHit],
) -> Vec<Fused<ChunkKey>> {
    let dense: Vec<Scored<ChunkKey>> =
        dense.iter().map(|hit| Scored { key: hit.key, score: f64::from(hit.similarity) }).collect();
    let lexical: Vec<Scored<ChunkKey>> =
        lexical.iter().map(|hit| Scored { key: hit.key, score: f64::from(hit.score) }).collect();
    let mut fused = match query.stages.fusion {
        Fusion::Weighted => fusion::fuse_weighted(&dense, &lexical, weight),
        Fusion::ReciprocalRank => fusion::fuse_reciprocal_rank(&dense, &lexical),
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
