//! How sure it is that a quoted sentence answers its question.
//!
//! A logistic model over what is known of the sentence, of its passage, and of the sentences that came near it. `tools/calibrate` fits it to right and wrong answers of the built-in answerer.

mod model;

use self::model::{BY_COSINE, BY_TOKENS};
use super::candidate::SentenceCandidate;
use super::choose::Scored;
use crate::evidence::Question;
use crate::late_interaction::{Likeness, TokenLikeness};

/// Number of features.
pub const COUNT: usize = 9;

/// Number of those of late interaction, which follow the others.
pub const TOKENS: usize = 4;

/// Number of all.
pub const ALL: usize = COUNT + TOKENS;

/// Names of the features in the order of [`Features::values`], for the calibration tool.
pub const NAMES: [&str; ALL] = [
    // Cosine of question and sentence.
    "cosine",
    // Share of the question's mass in the sentence, with what it is credited for.
    "lexical",
    // The same in the sentence alone.
    "coverage",
    // Weight of the weightiest term that the sentence lacks, as a share of the weightiest of all.
    "rarest_missing",
    // Share of neighbouring terms that are neighbours in the sentence.
    "pairs",
    // Whether the sentence holds the kind of thing asked for: up to 1, -1 if not, 0 if the kind cannot be seen.
    "kind",
    // Probability of its passage.
    "probability",
    // How far its score is above that of the best sentence elsewhere.
    "margin",
    // Whether it is the best by words and by meaning.
    "agreement",
    // The values of `TokenLikeness`.
    "mean",
    "least",
    "opening",
    "opening_mean",
];

/// The probability below which a sentence is no answer: its passage is given instead. Over documents that nobody had tuned it
/// on, of the answers below it as many were wrong as right.
pub(super) const LEAST: f32 = 0.2;

/// The same of a sentence or a row whose form the question asks for, such as the entry of a code or a range with its amount.
pub(super) const LEAST_IN_FORM: f32 = 0.1;

/// The features of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Features {
    /// Values in the order of [`NAMES`], without those of late interaction.
    pub values: [f32; COUNT],
    /// Those, where the embedding model gives the vectors of tokens.
    pub tokens: Option<TokenLikeness>,
}

impl Features {
    /// The probability that the sentence answers the question, 0 to 1.
    #[must_use]
    pub fn probability(&self) -> f32 {
        match self.all() {
            Some(values) => BY_TOKENS.probability(&values),
            None => BY_COSINE.probability(&self.values),
        }
    }

    /// How far the score of the best sentence is above that of the best one elsewhere.
    pub(super) const fn margin(&self) -> f32 {
        let [.., margin, _] = self.values;
        margin
    }

    /// All values in the order of [`NAMES`], where the embedding model gives the vectors of tokens.
    #[must_use]
    pub fn all(&self) -> Option<[f32; ALL]> {
        let [cosine, lexical, coverage, rarest, pairs, kind, probability, margin, agreement] = self.values;
        let TokenLikeness { mean, least, opening, opening_mean } = self.tokens?;
        Some([
            cosine,
            lexical,
            coverage,
            rarest,
            pairs,
            kind,
            probability,
            margin,
            agreement,
            mean,
            least,
            opening,
            opening_mean,
        ])
    }

    /// The features of the best sentence.
    pub(super) fn of(
        question: &Question,
        best: Scored<'_>,
        ranked: &[Scored<'_>],
        likeness: impl Fn(&SentenceCandidate) -> Likeness,
    ) -> Self {
        let (sentence, score) = best;
        let cosine = |candidate: &SentenceCandidate| likeness(candidate).cosine;
        let is_best = |value: &dyn Fn(&SentenceCandidate) -> f32| {
            ranked.iter().all(|(candidate, _)| value(candidate) <= value(sentence))
        };
        let is_elsewhere =
            |other: &SentenceCandidate| other.source != sentence.source || other.place.abs_diff(sentence.place) > 1;
        let next = ranked.iter().filter(|(other, _)| is_elsewhere(other)).map(|(_, score)| *score).fold(0.0, f32::max);
        let kind = match (question.kind.is_seen(), sentence.holds_kind) {
            (false, _) => 0.0,
            (true, true) => sentence.fit,
            (true, false) => -1.0,
        };
        let agrees = is_best(&|candidate| candidate.lexical) && is_best(&|candidate| cosine(candidate));
        Self {
            values: [
                cosine(sentence),
                sentence.lexical,
                question.terms.share(sentence.mask),
                question.terms.rarest_missing(sentence.mask),
                sentence.pairs,
                kind,
                sentence.probability,
                score - next,
                f32::from(u8::from(agrees)),
            ],
            tokens: likeness(sentence).tokens,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_speaks_for_a_sentence_makes_it_surer() {
        let far = TokenLikeness { mean: 0.3, least: 0.1, opening: 0.1, opening_mean: 0.0 };
        let near = TokenLikeness { mean: 0.8, least: 0.6, opening: 0.5, opening_mean: 0.2 };
        for (doubtful, sure) in [(None, None), (Some(far), Some(near))] {
            let doubtful = Features { values: [0.3, 0.4, 0.4, 0.8, 0.0, -1.0, 0.05, 0.0, 0.0], tokens: doubtful };
            let sure = Features { values: [0.8, 1.0, 1.0, 0.0, 1.0, 1.0, 0.9, 0.6, 1.0], tokens: sure };
            assert!(doubtful.probability() < LEAST, "{}", doubtful.probability());
            assert!(sure.probability() > 0.6, "{}", sure.probability());
        }
    }
}
