//! Constants of the answerer's confidence, written by `tools/calibrate/fit_answers.py`. Do not edit by hand.

use super::COUNT;
use crate::logistic::Logistic;

/// The model over [`super::NAMES`].
pub(super) const MODEL: Logistic<COUNT> = Logistic {
    bias: -3.3592,
    weights: [
        2.6737,  // cosine
        0.8547,  // lexical
        -0.6271, // coverage
        -0.3414, // rarest_missing
        0.0397,  // pairs
        0.2603,  // kind
        1.8580,  // probability
        0.6314,  // margin
        0.3475,  // agreement
    ],
};
