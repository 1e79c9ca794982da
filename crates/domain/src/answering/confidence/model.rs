//! Constants of the answerer's confidence, written by `tools/calibrate/fit_answers.py`. Do not edit by hand.

use super::{ALL, COUNT};
use crate::logistic::Logistic;

/// The model over [`super::NAMES`] without those of late interaction.
pub(super) const BY_COSINE: Logistic<COUNT> = Logistic {
    bias: -3.7245,
    weights: [
        2.2725,  // cosine
        0.8580,  // lexical
        -0.1796, // coverage
        -0.0618, // rarest_missing
        0.1860,  // pairs
        -0.0321, // kind
        2.1633,  // probability
        0.6202,  // margin
        0.0026,  // agreement
    ],
};

/// The model over all of [`super::NAMES`].
pub(super) const BY_TOKENS: Logistic<ALL> = Logistic {
    bias: -4.1745,
    weights: [
        -1.0175, // cosine
        -0.5636, // lexical
        0.4174,  // coverage
        0.1412,  // rarest_missing
        -0.0116, // pairs
        -0.0879, // kind
        2.1381,  // probability
        0.3133,  // margin
        0.1721,  // agreement
        2.7781,  // mean
        3.4911,  // least
        -0.1354, // opening
        0.0022,  // opening_mean
    ],
};
