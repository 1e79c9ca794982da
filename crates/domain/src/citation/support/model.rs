//! Constants of the support score, written by `tools/calibrate/fit_support.py`. Do not edit by hand.

use super::features::COUNT;
use crate::logistic::Logistic;

/// Least score at which a source counts as supporting a claim: it is then more probable than not.
pub const SUPPORT_THRESHOLD: f32 = 0.5;

/// Least score at which words leave in doubt whether a source supports a claim: 99% of the
/// supported claims of people reach it of which nothing exact is missing and nothing is reversed.
pub(super) const DOUBTFUL_FROM: f32 = 0.265;

pub(super) const MODEL: Logistic<COUNT> = Logistic {
    bias: -1.4389,
    weights: [
        1.9756,  // quoted
        0.9650,  // letters
        1.6667,  // whole
        -0.1507, // numbers_absent
        -1.5165, // dates_absent
        -0.4975, // names_absent
        -0.0129, // apart
        -2.7507, // rival
        -7.7123, // unit
        -0.2477, // negation
        -2.6533, // turned
        -1.4627, // opposite
        -0.3642, // quantity
    ],
};
