//! Reranking: reorders the best of the fused list by the text of the passages.
//!
//! Fusion uses two numbers per passage; the reranker reads its text. A linear model over the fused score and a few
//! features of the text orders the first passages anew. The features are shares of the query's terms, so that
//! they mean the same in every collection, and need no model call and no database query. The weights are in [`model`]:
//! `tools/calibrate` learns them, `docs/quality.md` reports their quality on sets that they were not learned on.

pub mod features;
mod model;

use self::features::Features;
use self::model::WEIGHTS;
use super::fusion::DenseWeight;

/// Weight of the entry of an option that the query names.
const ENTRY: f64 = 0.2;

/// Weight that it has besides under a title that holds the rest of the query.
const TITLED_ENTRY: f64 = 0.8;

/// Weight of a sentence that defines what the query asks to define.
const DEFINITION: f64 = 0.4;

/// Weight of the identifiers that the query names: vectors hardly tell 1.50.0 from 1.5.0.
const IDENTIFIED: f64 = 0.8;

/// Weight of names that hardly any passage holds: the vectors know little of them.
const NAMED: f64 = 0.4;

/// Scores of the passages, in their order; higher is better. The evidence of their words counts as much as words count for
/// the query: the weights were learned with both rankings fused half and half.
#[must_use]
pub fn score(features: &[Features], weight: DenseWeight) -> Vec<f64> {
    let trust = weight.lexical() / DenseWeight::default().lexical();
    let weigh = |features: &Features| {
        let [fused, words @ ..] = features.values;
        let [of_fused, of_words @ ..] = WEIGHTS;
        let said = of_words.iter().zip(words).map(|(weight, value)| weight * value).sum::<f64>();
        let entry = features.entry.map_or(0.0, |titled| ENTRY + TITLED_ENTRY * titled);
        let definition = if features.defines { DEFINITION } else { 0.0 };
        let identified = if features.identified { IDENTIFIED } else { 0.0 };
        let named = if features.named { NAMED } else { 0.0 };
        of_fused * fused + trust * said + entry + definition + identified + named
    };
    features.iter().map(weigh).collect()
}

#[cfg(test)]
mod tests;
