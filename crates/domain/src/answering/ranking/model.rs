//! Constants of the order of sentences, written by `tools/calibrate/fit_sentences.py`. Do not edit by hand.

use super::Linear;

/// The model over [`super::NAMES`].
pub(super) const MODEL: Linear = Linear {
    bias: 0.0139,
    weights: [
        0.1483,  // lexical
        0.0462,  // subject
        -0.0753, // beside
        0.1517,  // pairs
        0.0777,  // kind
        0.0739,  // named
        0.3273,  // probability
        0.2813,  // mean
        0.5159,  // least
        0.4252,  // opening
        0.6915,  // opening_mean
    ],
};
