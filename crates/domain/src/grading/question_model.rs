//! Constants of the question-level evidence score, written by `tools/calibrate/fit_questions.py`. Do not
//! edit by hand.

use super::question::COUNT;
use crate::logistic::Logistic;

/// Two models over [`super::question::NAMES`] whose product is the score, and the scores at which it is cut.
pub(super) struct QuestionModel {
    /// The documents are about what is asked.
    pub(super) subject: Logistic<COUNT>,
    /// They hold exactly the information asked for.
    pub(super) detail: Logistic<COUNT>,
    /// Below this the round holds nothing on the question.
    pub(super) absent_below: f32,
    /// Below this no passage is correct unless a model rules so.
    pub(super) doubtful_below: f32,
}

pub(super) const WITH_DENSE: QuestionModel = QuestionModel {
    subject: Logistic {
        bias: -6.1039,
        weights: [
            7.9581, // dense
            0.0000, // lexical
            0.8927, // coverage
            3.2510, // sentence_coverage
            0.0000, // rarest_missing
            0.0000, // numbers_missing
            0.0000, // names_missing
            0.0000, // denied
            0.0000, // opposed
            0.0000, // kind
            0.7261, // agreement
            6.4354, // dense_spread
        ],
    },
    detail: Logistic {
        bias: -4.3194,
        weights: [
            5.7910,  // dense
            0.0000,  // lexical
            0.0000,  // coverage
            2.3209,  // sentence_coverage
            0.0096,  // rarest_missing
            -0.3622, // numbers_missing
            -0.4465, // names_missing
            -2.6604, // denied
            -1.0798, // opposed
            -0.0579, // kind
            0.4849,  // agreement
            0.0000,  // dense_spread
        ],
    },
    absent_below: 0.065,
    doubtful_below: 0.16,
};

pub(super) const LEXICAL_ONLY: QuestionModel = QuestionModel {
    subject: Logistic {
        bias: -4.4071,
        weights: [
            0.0000, // dense
            3.6078, // lexical
            4.0602, // coverage
            3.9174, // sentence_coverage
            0.0000, // rarest_missing
            0.0000, // numbers_missing
            0.0000, // names_missing
            0.0000, // denied
            0.0000, // opposed
            0.0000, // kind
            0.0000, // agreement
            0.0000, // dense_spread
        ],
    },
    detail: Logistic {
        bias: -1.1630,
        weights: [
            0.0000,  // dense
            0.0000,  // lexical
            0.0000,  // coverage
            2.8968,  // sentence_coverage
            0.2041,  // rarest_missing
            -0.3703, // numbers_missing
            -0.8878, // names_missing
            -2.6793, // denied
            -1.0249, // opposed
            -0.0395, // kind
            0.0000,  // agreement
            0.0000,  // dense_spread
        ],
    },
    absent_below: 0.06,
    doubtful_below: 0.225,
};
