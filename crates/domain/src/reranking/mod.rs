//! Reranking: a second look at the best of the fused list, at their words.
//!
//! Fusion knows two numbers of a passage; this knows its text. A linear model over the fused score and a
//! few features of the text orders the first [`DEPTH`] passages anew. The features are shares of what the
//! query asks for, so that they mean the same in every collection, and cost no call and no query of the
//! database. The weights are in [`model`]: `tools/calibrate` learns them, `docs/quality.md` says how well
//! they do on sets that they were not learned on.

pub mod features;
mod model;

use self::features::Features;
use self::model::WEIGHTS;

/// How many of the fused passages are looked at again.
pub const DEPTH: usize = 50;

/// Scores of the passages by the learned weights, in their order; higher is better.
#[must_use]
pub fn score(features: &[Features]) -> Vec<f64> {
    score_with(&WEIGHTS, features)
}

/// The same by other weights: for learning them.
#[must_use]
pub fn score_with(weights: &[f64; features::COUNT], features: &[Features]) -> Vec<f64> {
    let weigh = |features: &Features| weights.iter().zip(&features.values).map(|(weight, value)| weight * value).sum();
    features.iter().map(weigh).collect()
}

#[cfg(test)]
mod tests;
