//! Constants of the calibrated grader, written by `tools/calibrate/fit.py`. Do not edit by hand.

use super::features::COUNT;
use crate::logistic::Logistic;

/// A model over [`super::features::NAMES`] and the probabilities at which it is cut.
pub(super) struct PassageModel {
    pub(super) logistic: Logistic<COUNT>,
    /// From here up a passage is correct.
    pub(super) correct_from: f32,
    /// Below this it is incorrect.
    pub(super) incorrect_below: f32,
    /// Below this not even a configured model is asked.
    pub(super) surely_incorrect_below: f32,
    /// From here up neither.
    pub(super) surely_correct_from: f32,
}

pub(super) const WITH_DENSE: PassageModel = PassageModel {
    logistic: Logistic {
        bias: -7.9337,
        weights: [
            0.5798,  // coverage
            0.8953,  // sentence_coverage
            2.2222,  // pairs
            2.7110,  // dense
            -0.6416, // numbers_missing
            0.2148,  // kind
            2.1121,  // lexical_to_top
            -1.2188, // dense_to_top
            0.0000,  // round_lexical
            3.5167,  // round_dense
            -3.1989, // unknown
            3.1141,  // lexical_lead
            5.0580,  // dense_lead
        ],
    },
    correct_from: 0.15,
    incorrect_below: 0.065,
    surely_incorrect_below: 0.04,
    surely_correct_from: 0.49,
};

pub(super) const LEXICAL_ONLY: PassageModel = PassageModel {
    logistic: Logistic {
        bias: -5.9757,
        weights: [
            0.3960,  // coverage
            -0.3705, // sentence_coverage
            2.7026,  // pairs
            0.0000,  // dense
            -0.5585, // numbers_missing
            0.2250,  // kind
            2.6610,  // lexical_to_top
            0.0000,  // dense_to_top
            3.4514,  // round_lexical
            0.0000,  // round_dense
            -3.5986, // unknown
            6.7034,  // lexical_lead
            0.0000,  // dense_lead
        ],
    },
    correct_from: 0.24,
    incorrect_below: 0.175,
    surely_incorrect_below: 0.065,
    surely_correct_from: 0.42,
};
