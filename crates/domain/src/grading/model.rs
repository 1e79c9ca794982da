//! Constants of the calibrated grader, written by `tools/calibrate/fit.py`. Do not edit by hand.

use super::features::COUNT;
use crate::logistic::Logistic;

/// A model over [`super::features::NAMES`] and the probabilities at which it is cut.
pub(super) struct PassageModel {
    pub(super) logistic: Logistic<COUNT>,
    /// From here up a passage is correct.
    pub(super) correct_from: f32,
    /// And from this share of the highest probability of its round: a round that answers the question has a best passage,
    /// however little it looks like one.
    pub(super) correct_share: f32,
    /// Below this share of what makes a passage correct it is incorrect.
    pub(super) ambiguous_share: f32,
    /// From here up, and where the round answers the question as probably, no configured model need be asked.
    pub(super) surely_correct_from: f32,
}

pub(super) const WITH_DENSE: PassageModel = PassageModel {
    logistic: Logistic {
        bias: -7.7683,
        weights: [
            -0.6765, // coverage
            0.9232,  // sentence_coverage
            1.1896,  // pairs
            2.8929,  // dense
            -0.5040, // numbers_missing
            0.1445,  // kind
            2.0871,  // lexical_to_top
            -3.4447, // dense_to_top
            0.0000,  // round_lexical
            4.5248,  // round_dense
            0.0000,  // unknown
            2.1906,  // lexical_lead
            5.0785,  // dense_lead
        ],
    },
    correct_from: 0.3,
    correct_share: 0.5,
    ambiguous_share: 0.5,
    surely_correct_from: 0.8,
};

pub(super) const LEXICAL_ONLY: PassageModel = PassageModel {
    logistic: Logistic {
        bias: -4.5963,
        weights: [
            1.0909,  // coverage
            -1.0565, // sentence_coverage
            2.9629,  // pairs
            0.0000,  // dense
            -0.1899, // numbers_missing
            0.2023,  // kind
            1.3953,  // lexical_to_top
            0.0000,  // dense_to_top
            2.0142,  // round_lexical
            0.0000,  // round_dense
            -4.9824, // unknown
            3.6871,  // lexical_lead
            0.0000,  // dense_lead
        ],
    },
    correct_from: 0.3,
    correct_share: 0.25,
    ambiguous_share: 0.5,
    surely_correct_from: 0.8,
};
