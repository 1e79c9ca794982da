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
        bias: -7.7050,
        weights: [
            7.9908, // dense
            0.0000, // lexical
            3.0041, // coverage
            4.8537, // sentence_coverage
            0.0000, // rarest_missing
            0.0000, // numbers_missing
            0.0000, // names_missing
            0.0000, // denied
            0.0000, // opposed
            0.0000, // kind
            1.5496, // agreement
        ],
    },
    detail: Logistic {
        bias: -0.8203,
        weights: [
            3.7237,  // dense
            0.0000,  // lexical
            0.0000,  // coverage
            0.2846,  // sentence_coverage
            -0.8702, // rarest_missing
            -1.3103, // numbers_missing
            -0.1784, // names_missing
            -3.0443, // denied
            -2.0761, // opposed
            0.0812,  // kind
            0.0557,  // agreement
        ],
    },
    absent_below: 0.065,
    doubtful_below: 0.135,
};

pub(super) const LEXICAL_ONLY: QuestionModel = QuestionModel {
    subject: Logistic {
        bias: -4.8849,
        weights: [
            0.0000, // dense
            5.4143, // lexical
            6.1266, // coverage
            2.0364, // sentence_coverage
            0.0000, // rarest_missing
            0.0000, // numbers_missing
            0.0000, // names_missing
            0.0000, // denied
            0.0000, // opposed
            0.0000, // kind
            0.0000, // agreement
        ],
    },
    detail: Logistic {
        bias: 0.7629,
        weights: [
            0.0000,  // dense
            0.0000,  // lexical
            0.0000,  // coverage
            0.7505,  // sentence_coverage
            -0.6055, // rarest_missing
            -1.2785, // numbers_missing
            -0.4206, // names_missing
            -3.0113, // denied
            -2.0220, // opposed
            0.0971,  // kind
            0.0000,  // agreement
        ],
    },
    absent_below: 0.06,
    doubtful_below: 0.155,
};
