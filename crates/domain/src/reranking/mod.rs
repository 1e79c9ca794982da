//! Reranking: reorders the best of the fused list by the text of the passages.
//!
//! Fusion uses two numbers per passage; the reranker reads its text. A linear model over the fused score and a few
//! features of the text orders the first passages anew. The features are shares of the query's terms, so that
//! they mean the same in every collection, and need no model call and no database query. The weights are in [`model`]:
//! `tools/calibrate` learns them, `docs/quality.md` reports their quality on sets that they were not learned on.

pub mod features;
mod model;

use self::features::Features;
use self::model::WEIGHTS;

/// Scores of the passages by the learned weights, in their order; higher is better.
#[must_use]
pub fn score(features: &[Features]) -> Vec<f64> {
    score_with(&WEIGHTS, features)
}

/// The same with other weights: for learning them.
#[must_use]
pub fn score_with(weights: &[f64; features::COUNT], features: &[Features]) -> Vec<f64> {
    let weigh = |features: &Features| weights.iter().zip(&features.values).map(|(weight, value)| weight * value).sum();
    features.iter().map(weigh).collect()
}

#[cfg(test)]
mod tests;
