//! Weights of the reranker, written by `tools/calibrate` (program `fit_reranker`). Do not edit by hand.

use super::features::COUNT;

pub(super) const WEIGHTS: [f64; COUNT] = [
    1.0000, // fused
    0.5117, // sentence
    0.3873, // title
];
