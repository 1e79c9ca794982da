//! Constants of the calibrated grader, written by `tools/calibrate/fit.py`. Do not edit by hand.

use super::features::COUNT;

/// A logistic model over [`super::features::NAMES`] and the probabilities at which it is cut.
pub(super) struct Logistic {
    pub(super) bias: f32,
    pub(super) weights: [f32; COUNT],
    /// From here up a passage is correct.
    pub(super) correct_from: f32,
    /// Below this it is incorrect.
    pub(super) incorrect_below: f32,
    /// Below this not even a configured model is asked.
    pub(super) surely_incorrect_below: f32,
    /// From here up neither.
    pub(super) surely_correct_from: f32,
}

pub(super) const WITH_DENSE: Logistic = Logistic {
    bias: -9.7093,
    weights: [
        3.4311, // coverage
        2.7035, // sentence_coverage
        2.8212, // sentence_coverage_alone
        2.0593, // pairs
        -3.0089, // lexical
        2.9951, // dense
        -0.5761, // numbers_missing
        0.9034, // names_missing
        0.1990, // kind.1
        0.2947, // lexical_to_top
        -1.9561, // dense_to_top
        -0.8040, // round_coverage
        -0.3644, // round_lexical
        4.2471, // round_dense
        -3.2692, // unknown
        -8.8783, // dense_times_sentence
        1.8455, // rank.1
        2.5939, // lexical_lead
        3.9494, // dense_lead
        5.1978, // dense_squared
    ],
    correct_from: 0.155,
    incorrect_below: 0.1,
    surely_incorrect_below: 0.045,
    surely_correct_from: 0.375,
};

pub(super) const LEXICAL_ONLY: Logistic = Logistic {
    bias: -6.7932,
    weights: [
        0.8861, // coverage
        -1.0452, // sentence_coverage
        0.5275, // sentence_coverage_alone
        2.7658, // pairs
        -0.4232, // lexical
        0.0000, // dense
        -0.4338, // numbers_missing
        0.2775, // names_missing
        0.2119, // kind.1
        1.3038, // lexical_to_top
        0.0000, // dense_to_top
        0.1109, // round_coverage
        3.4837, // round_lexical
        0.0000, // round_dense
        -3.8595, // unknown
        0.0000, // dense_times_sentence
        2.6745, // rank.1
        4.1292, // lexical_lead
        0.0000, // dense_lead
        0.0000, // dense_squared
    ],
    correct_from: 0.15,
    incorrect_below: 0.11,
    surely_incorrect_below: 0.06,
    surely_correct_from: 0.375,
};
