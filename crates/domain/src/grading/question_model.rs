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
    /// How much the log odds of the subject fall with the logarithm of the number of chunks.
    pub(super) size_slope: f32,
    /// Below this the round holds nothing on the question.
    pub(super) absent_below: f32,
    /// Below this no passage is correct unless a model rules so.
    pub(super) doubtful_below: f32,
}

pub(super) const WITH_DENSE: QuestionModel = QuestionModel {
    subject: Logistic {
        bias: -6.2751,
        weights: [
            8.4733,  // dense
            0.0000,  // lexical
            -0.6255, // coverage
            4.6413,  // sentence_coverage
            0.0000,  // rarest_missing
            0.0000,  // numbers_missing
            0.0000,  // names_missing
            0.0000,  // denied
            0.0000,  // opposed
            0.0000,  // kind
            0.9914,  // agreement
            5.2008,  // dense_spread
        ],
    },
    detail: Logistic {
        bias: -4.2623,
        weights: [
            5.6200,  // dense
            0.0000,  // lexical
            0.0000,  // coverage
            2.3104,  // sentence_coverage
            0.0361,  // rarest_missing
            -0.3879, // numbers_missing
            -0.4403, // names_missing
            -2.6566, // denied
            -1.0499, // opposed
            -0.0344, // kind
            0.5274,  // agreement
            0.0000,  // dense_spread
        ],
    },
    size_slope: 0.7,
    absent_below: 0.065,
    doubtful_below: 0.15,
};

pub(super) const LEXICAL_ONLY: QuestionModel = QuestionModel {
    subject: Logistic {
        bias: -4.3512,
        weights: [
            0.0000, // dense
            3.6521, // lexical
            3.9117, // coverage
            3.8576, // sentence_coverage
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
        bias: -1.1540,
        weights: [
            0.0000,  // dense
            0.0000,  // lexical
            0.0000,  // coverage
            2.8663,  // sentence_coverage
            0.2164,  // rarest_missing
            -0.3811, // numbers_missing
            -0.8964, // names_missing
            -2.6753, // denied
            -1.0181, // opposed
            -0.0206, // kind
            0.0000,  // agreement
            0.0000,  // dense_spread
        ],
    },
    size_slope: 0.0,
    absent_below: 0.055,
    doubtful_below: 0.23,
};
