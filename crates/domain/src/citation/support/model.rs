//! Constants of the support score, written by `tools/calibrate/fit_support.py`. Do not edit by hand.

use super::features::COUNT;
use crate::logistic::Logistic;

/// Least score at which a source counts as supporting a claim: 95% of true claims reach it.
pub const SUPPORT_THRESHOLD: f32 = 0.345;

/// Least score at which words leave in doubt whether a source supports a claim: 99% of the
/// true claims of which nothing exact is missing reach it.
pub(super) const DOUBTFUL_FROM: f32 = 0.1;

pub(super) const MODEL: Logistic<COUNT> = Logistic {
    bias: -2.2437,
    weights: [
        5.0724,  // held
        -3.1388, // numbers_absent
        -0.5343, // numbers_elsewhere
        -1.9179, // dates_absent
        -0.8071, // dates_elsewhere
        -2.5176, // names_absent
        -0.5364, // apart
        -3.3817, // rival
        -9.7281, // unit
        -3.4190, // negation
        -4.2738, // opposite
        -4.2835, // quantity
    ],
};
