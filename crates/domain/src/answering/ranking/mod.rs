//! Ranks sentences by how well each answers the question.
//!
//! Where the embedding model gives the vectors of tokens, a linear model over words and [late
//! interaction](crate::late_interaction) decides, which `tools/calibrate` fits to sentences that hold a gold answer;
//! otherwise weights set by hand over words and the cosine.

mod model;

use self::model::MODEL;
use super::candidate::SentenceCandidate;
use super::choose::Scored;
use crate::late_interaction::{Likeness, TokenLikeness};

/// Number of features.
pub const COUNT: usize = 11;

/// Names of the features of the fitted model in their order, for the calibration tool.
pub const NAMES: [&str; COUNT] = [
    // Share of the question's mass in the sentence, with what it is credited for, beside the highest one.
    "lexical",
    // Share in the titles above it and in the sentence before it.
    "subject",
    // Share in the sentence before it, which then tells more of the subject, and in the one after it.
    "beside",
    // Share of neighbouring terms that are neighbours in the sentence.
    "pairs",
    // How well it fits the kind of thing asked for.
    "kind",
    // Share of the question's weight in the first cell of a row.
    "named",
    // Probability of its passage.
    "probability",
    // The values of `TokenLikeness`.
    "mean",
    "least",
    "opening",
    "opening_mean",
];

/// Weight of a title that the question names; scores range from 0 to about 1.
const ABOUT: f32 = 0.2;

/// Weight of a heading that is nearly the question, as in a list of questions; scores range from 0 to about 1.
const HEADED: f32 = 0.3;

/// Weight of a name in the question whose entry or section the sentence opens, which tells what is named; scores range from 0 to about 1.
const OPENS: f32 = 0.8;

/// Cosine below which a sentence without a word of the question is no answer to it.
const LEAST_COSINE: f32 = 0.35;

/// From how nearly the heading above it is the question a sentence needs no word of it.
const HEADED_BY_QUESTION: f32 = 0.75;

/// A linear model of a score of 0 to about 1.
struct Linear {
    bias: f32,
    weights: [f32; COUNT],
}

/// Weights where only the cosine is known, or nothing but words; the other scores range from 0 to 1.
const KIND_BONUS: f32 = 0.15;
const PAIRS_WEIGHT: f32 = 0.1;
const NAMED_WEIGHT: f32 = 0.3;
const SOURCE_WEIGHT: f32 = 0.45;

/// Candidates that are related to the question, best first.
pub(super) fn rank<'c>(candidates: &'c [SentenceCandidate], likenesses: Option<&[Likeness]>) -> Vec<Scored<'c>> {
    let top = highest_lexical(candidates);
    let likeness = |place: usize| likenesses.and_then(|likenesses| likenesses.get(place));
    let mut ranked: Vec<Scored<'_>> = candidates
        .iter()
        .enumerate()
        .filter(|(place, candidate)| is_related(candidate, likeness(*place)))
        .map(|(place, candidate)| (candidate, score(candidate, top, likeness(place))))
        .collect();
    ranked.sort_by(|(_, one), (_, two)| two.total_cmp(one));
    ranked
}

/// The features of sentences in the order of [`NAMES`], for the calibration tool; none of one without token vectors.
#[must_use]
pub fn features(candidates: &[SentenceCandidate], likenesses: &[Likeness]) -> Vec<Option<[f32; COUNT]>> {
    let top = highest_lexical(candidates);
    let of = |(candidate, likeness): (&SentenceCandidate, &Likeness)| Some(values(candidate, top, &likeness.tokens?));
    candidates.iter().zip(likenesses).map(of).collect()
}

fn highest_lexical(candidates: &[SentenceCandidate]) -> f32 {
    candidates.iter().map(|candidate| candidate.lexical).fold(0.0, f32::max)
}

fn is_related(candidate: &SentenceCandidate, likeness: Option<&Likeness>) -> bool {
    let is_near = likeness.is_some_and(|likeness| likeness.cosine >= LEAST_COSINE);
    let is_under = candidate.headed >= HEADED_BY_QUESTION;
    candidate.mask != 0 || candidate.bonus > 0.0 || candidate.opens > 0.0 || is_under || is_near
}

fn score(candidate: &SentenceCandidate, top: f32, likeness: Option<&Likeness>) -> f32 {
    let base = match likeness.and_then(|likeness| likeness.tokens) {
        Some(tokens) => MODEL.score(&values(candidate, top, &tokens)),
        None => by_hand(candidate, top, likeness.map(|likeness| likeness.cosine)),
    };
    base + candidate.bonus + ABOUT * candidate.about + HEADED * candidate.headed + OPENS * candidate.opens
}

fn by_hand(candidate: &SentenceCandidate, top: f32, cosine: Option<f32>) -> f32 {
    let lexical = relative(candidate, top);
    cosine.map_or(lexical, |cosine| f32::midpoint(lexical, cosine.max(0.0)))
        + KIND_BONUS * candidate.fit
        + PAIRS_WEIGHT * candidate.pairs
        + NAMED_WEIGHT * candidate.named
        + SOURCE_WEIGHT * candidate.probability
}

fn relative(candidate: &SentenceCandidate, top: f32) -> f32 {
    if top > 0.0 { candidate.lexical / top } else { 0.0 }
}

fn values(candidate: &SentenceCandidate, top: f32, tokens: &TokenLikeness) -> [f32; COUNT] {
    [
        relative(candidate, top),
        candidate.subject,
        candidate.beside,
        candidate.pairs,
        candidate.fit,
        candidate.named,
        candidate.probability,
        tokens.mean,
        tokens.least,
        tokens.opening,
        tokens.opening_mean,
    ]
}

impl Linear {
    fn score(&self, values: &[f32; COUNT]) -> f32 {
        self.bias + self.weights.iter().zip(values).map(|(weight, value)| weight * value).sum::<f32>()
    }
}
