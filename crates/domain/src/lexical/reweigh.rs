//! New weights from old ones when a collection's average length has moved.

use super::bm25::{B, K1};

/// Converts BM25 document-side weights made for one average length into those for another, in place.
///
/// The weight `tf · (k1 + 1) / (tf + s)` with `s = k1 · (1 − b + b · length / average)` is solved for
/// the frequency, so that the text need not be analysed again. Rounding to single precision moves a
/// frequency by far less than the half that the nearest whole number absorbs, up to some thousands;
/// above that its weight is saturated anyway.
pub fn reweigh(weights: &mut [(i32, f32)], length: i32, old_average: f32, new_average: f32) {
    let (old, new) = (saturation(length, old_average), saturation(length, new_average));
    for (_, weight) in weights {
        let stored = f64::from(*weight);
        let frequency = (stored * old / (K1 + 1.0 - stored)).max(1.0);
        let frequency = if frequency < 1_000.0 { frequency.round() } else { frequency };
        #[expect(clippy::cast_possible_truncation, reason = "weights are small; rounding is intended")]
        let renewed = (frequency * (K1 + 1.0) / (frequency + new)) as f32;
        *weight = renewed;
    }
}

fn saturation(length: i32, average: f32) -> f64 {
    let relative = if average > 0.0 { f64::from(length) / f64::from(average) } else { 1.0 };
    K1 * (1.0 - B + B * relative)
}

#[cfg(test)]
mod tests {
    use super::super::{
        analyzer::Analyzer,
        bm25::{TermCounts, document_weights},
        term_id::TermSalt,
    };
    use super::*;

    #[test]
    fn equals_weighing_afresh() {
        let text = "tea tea tea water kettle kettle cup ".repeat(9);
        let terms = TermCounts::of_text(Analyzer::english(), TermSalt::new(b"c"), &text);
        let length = i32::try_from(terms.length()).expect("short");
        for (old, new) in [(10.0_f32, 500.0_f32), (63.0, 62.0), (900.0, 3.0)] {
            let mut weights = document_weights(&terms, f64::from(old));
            reweigh(&mut weights, length, old, new);
            let fresh = document_weights(&terms, f64::from(new));
            for (renewed, expected) in weights.iter().zip(&fresh) {
                assert_eq!(renewed.0, expected.0);
                assert!((renewed.1 - expected.1).abs() < 1e-4, "{renewed:?} {expected:?}");
            }
        }
    }
}
