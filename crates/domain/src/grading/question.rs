//! Whether the passages of a round answer the question at all.
//!
//! Passages are graded one by one, relative to each other; a question that no document answers still has a best
//! passage. This module judges the round as a whole: its best score over the question's idf mass, the terms that the
//! nearest sentence lacks or reverses, and whether words and vectors agree on one passage. The result is a ceiling for
//! the grades of the round, so that it decides on abstention.

use super::features::{self, Passage, lexical_share};
use super::question_model::{LEXICAL_ONLY, QuestionModel, WITH_DENSE};
use super::signs::{ENTRY, LINE, Signs};
use super::unnamed::{is_about_something_else, names_foreign_code, names_foreign_number};
use crate::corrective::Grade;
use crate::evidence::passage::{PassageEvidence, SentenceEvidence};
use crate::evidence::{Question, TermMask};
use crate::wording::{self, Stems, lower_case_words};

/// Number of features.
pub const COUNT: usize = 12;

/// Sizes of collections between which the size counts.
const FEWEST_CHUNKS: u64 = 10;
const MOST_CHUNKS: u64 = 4_000;

/// Size of collections for which scores are probabilities as they are.
const REFERENCE_CHUNKS: f32 = 1_000.0;

/// Share of the question's weight in the nearest sentence from which another one is nearly as near.
const NEARLY_AS_NEAR: f32 = 0.6;

/// Names of the features in the order of [`Features::values`], for the calibration tool.
pub const NAMES: [&str; COUNT] = [
    // The round's highest cosine.
    "dense",
    // The round's highest BM25 over the question's idf mass.
    "lexical",
    // Share of the question's mass in the nearest passage and its title.
    "coverage",
    // The same in the nearest sentence.
    "sentence_coverage",
    // Weight of the weightiest term that the nearest sentence lacks, as a share of the weightiest of all.
    "rarest_missing",
    // Share of the question's numbers that the nearest sentence lacks.
    "numbers_missing",
    // Share of the question's names that the nearest passage lacks.
    "names_missing",
    // Whether the question denies something and no sentence that is nearly as near as the nearest one does.
    "denied",
    // Whether the nearest sentence holds the opposite of a word of the question.
    "opposed",
    // Whether a sentence near it holds the kind of thing asked for: 1, -1, 0 if none is.
    "kind",
    // Whether the same passage has the highest cosine and the highest BM25.
    "agreement",
    // How far the highest cosine is above the mean of the round's: to a foreign question all passages are alike.
    "dense_spread",
];

/// The features of a round.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// Values in the order of [`NAMES`], most of them 0 to 1.
    pub values: [f32; COUNT],
    /// Whether the dense features are meaningful.
    pub has_dense: bool,
}

/// How well a round answers its question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answerability {
    /// Probability that one of the passages answers it, 0 to 1.
    pub probability: f32,
    /// The best grade that a passage of the round may get.
    pub ceiling: Grade,
}

/// A probability after something that makes it `odds` times as likely.
pub(super) fn with_odds(probability: f32, odds: f32) -> f32 {
    let raised = probability * odds;
    raised / (raised + 1.0 - probability)
}

/// Judges a round. `evidence` runs parallel to `passages`; `odds` is how much likelier they are to answer than what they hold
/// tells.
#[must_use]
pub fn answerability(
    question: &Question,
    passages: &[Passage<'_>],
    evidence: &[PassageEvidence],
    odds: f32,
) -> Answerability {
    answerability_by(&Signs::of(question, passages, evidence), question, passages, evidence, odds)
}

/// The same with the signs that were read already.
pub(super) fn answerability_by(
    signs: &Signs,
    question: &Question,
    passages: &[Passage<'_>],
    evidence: &[PassageEvidence],
    odds: f32,
) -> Answerability {
    let nearest = nearest(question, passages, evidence);
    // Asked together, collections turn away what each would turn away by itself: a large one beside a small one makes the
    // passages of the small one no less likely.
    let chunks = nearest.as_ref().and_then(|nearest| nearest.passage.among).unwrap_or_else(|| question.terms.chunks());
    let features = of_nearest(question, passages, nearest.as_ref());
    let model = if features.has_dense { &WITH_DENSE } else { &LEXICAL_ONLY };
    let by_line = if signs.have_line.contains(&true) { LINE } else { 0.0 };
    let by_heading = signs.headed.iter().copied().fold(0.0, f32::max);
    let by_code = if signs.has_code { ENTRY } else { 0.0 };
    let probability = with_odds(model.probability(&features, chunks), odds).max(by_line).max(by_heading).max(by_code);
    let is_elsewhere = is_about_something_else(question, evidence, signs.held)
        || question.terms.names_unlisted_code(&passages.iter().map(|passage| passage.text))
        || names_foreign_code(question, passages)
        // A list names its codes by their numbers alone.
        || !signs.has_code && names_foreign_number(question, passages);
    let highest = if is_elsewhere { Grade::Ambiguous } else { Grade::Correct };
    Answerability { probability, ceiling: model.ceiling(probability).min(highest) }
}

impl QuestionModel {
    /// `chunks` is the size of the collection of the nearest passage: the more there are, the nearer is the nearest of them to
    /// a question that none answers.
    fn probability(&self, features: &Features, chunks: u64) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "a size, within bounds")]
        let size = chunks.clamp(FEWEST_CHUNKS, MOST_CHUNKS) as f32 / REFERENCE_CHUNKS;
        let subject = self.subject.scaled(size.powf(-self.size_slope)).probability(&features.values);
        subject * self.detail.probability(&features.values)
    }

    fn ceiling(&self, probability: f32) -> Grade {
        if probability < self.absent_below {
            Grade::Incorrect
        } else if probability < self.doubtful_below {
            Grade::Ambiguous
        } else {
            Grade::Correct
        }
    }
}

/// The passage and sentence that come nearest to the question.
struct Nearest<'r> {
    passage: &'r Passage<'r>,
    evidence: &'r PassageEvidence,
    sentence: Option<&'r SentenceEvidence>,
}

/// Computes the features of a round.
#[must_use]
pub fn of_round(question: &Question, passages: &[Passage<'_>], evidence: &[PassageEvidence]) -> Features {
    of_nearest(question, passages, nearest(question, passages, evidence).as_ref())
}

fn of_nearest(question: &Question, passages: &[Passage<'_>], nearest: Option<&Nearest<'_>>) -> Features {
    let highest = |value: &dyn Fn(&Passage<'_>) -> f32| passages.iter().map(value).fold(0.0, f32::max);
    let lexical = |passage: &Passage<'_>| lexical_share(question, passage.lexical);
    let dense = |passage: &Passage<'_>| passage.dense.unwrap_or(0.0);
    let mut values = [0.0; COUNT];
    if let Some(nearest) = nearest {
        let own = nearest.values(question);
        values = [
            highest(&dense),
            highest(&lexical),
            own.coverage,
            own.sentence_coverage,
            own.rarest_missing,
            own.numbers_missing,
            own.names_missing,
            flag(own.denied),
            flag(own.opposed),
            own.kind,
            flag(place_of_best(passages, &dense) == place_of_best(passages, &lexical)),
            dense_spread(passages),
        ];
    }
    Features { values, has_dense: passages.iter().any(|passage| passage.dense.is_some()) }
}

/// Passages of a round of which the mean cosine is taken.
const FULL_ROUND: usize = 8;

/// Cosine of the passages that a smaller round lacks: that of unrelated text.
const UNRELATED: f32 = 0.2;

/// How far the highest cosine is above the mean of the round's. A collection of a few chunks has no others to compare
/// with, so that unrelated ones stand in for them.
fn dense_spread(passages: &[Passage<'_>]) -> f32 {
    let cosines: Vec<f32> = passages.iter().filter_map(|passage| passage.dense).collect();
    let highest = cosines.iter().copied().fold(0.0, f32::max);
    let lacking = FULL_ROUND.saturating_sub(cosines.len());
    if cosines.is_empty() {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "a round is small")]
    let mean = (cosines.iter().sum::<f32>() + UNRELATED * lacking as f32) / (cosines.len() + lacking) as f32;
    (highest - mean).max(0.0)
}

fn nearest<'r>(
    question: &Question,
    passages: &'r [Passage<'r>],
    evidence: &'r [PassageEvidence],
) -> Option<Nearest<'r>> {
    let mut best: Option<(f32, Nearest<'r>)> = None;
    for (passage, evidence) in passages.iter().zip(evidence) {
        let sentence = evidence.best_sentence(&question.terms);
        let covered = question.terms.share(sentence.map_or(0, |sentence| sentence.mask));
        let nearness = covered + passage.dense.unwrap_or(0.0);
        if best.as_ref().is_none_or(|(highest, _)| nearness > *highest) {
            best = Some((nearness, Nearest { passage, evidence, sentence }));
        }
    }
    best.map(|(_, nearest)| nearest)
}

/// Features of the nearest passage and sentence.
struct NearestValues {
    coverage: f32,
    sentence_coverage: f32,
    rarest_missing: f32,
    numbers_missing: f32,
    names_missing: f32,
    denied: bool,
    opposed: bool,
    kind: f32,
}

impl Nearest<'_> {
    fn values(&self, question: &Question) -> NearestValues {
        let terms = &question.terms;
        let mask = self.sentence.map_or(0, |sentence| sentence.mask);
        let words = self.sentence.and_then(|sentence| self.passage.text.get(sentence.range.clone()));
        let (asked, said) = (Stems::of(&question.text), Stems::of(words.unwrap_or_default()));
        NearestValues {
            coverage: terms.share(self.evidence.mask()),
            sentence_coverage: terms.share(mask),
            rarest_missing: terms.rarest_missing(mask),
            numbers_missing: question.numbers.missing_in(words.unwrap_or_default()),
            names_missing: names_missing(question, self.evidence.mask()),
            denied: is_denial(&question.text) && !self.is_denied_near_by(question),
            opposed: said.opposes(&asked),
            kind: features::kind_fit(question, self.passage, self.evidence),
        }
    }

    /// Whether the nearest sentence, or one that holds nearly as much of the question, denies something.
    fn is_denied_near_by(&self, question: &Question) -> bool {
        let weight = |sentence: &SentenceEvidence| question.terms.weight_of(sentence.mask);
        let least = NEARLY_AS_NEAR * self.sentence.map_or(0.0, weight);
        let denies = |sentence: &SentenceEvidence| {
            let words = self.passage.text.get(sentence.range.clone()).unwrap_or_default();
            weight(sentence) >= least && wording::denies(words)
        };
        self.evidence.sentences.iter().any(denies)
    }
}

/// Whether a question denies something; "without" only tells how. Words end at apostrophes, so that "isn't" is none: the model
/// was fitted so.
fn is_denial(question: &str) -> bool {
    let words: Vec<String> = lower_case_words(question).filter(|word| word != "without").collect();
    wording::denies(&words.join(" "))
}

/// Share of the capitalised words of the question, its first word left out, that are not in `mask`.
fn names_missing(question: &Question, mask: TermMask) -> f32 {
    let (mut missing, mut all) = (0.0, 0.0);
    for (position, term) in question.terms.terms().iter().enumerate() {
        let is_name = term.word.starts_with(char::is_uppercase) && !question.text.starts_with(&term.word);
        if is_name {
            all += 1.0;
            missing += flag(mask & (1 << position) == 0);
        }
    }
    if all > 0.0 { missing / all } else { 0.0 }
}

fn place_of_best(passages: &[Passage<'_>], value: &dyn Fn(&Passage<'_>) -> f32) -> Option<usize> {
    let mut best: Option<(usize, f32)> = None;
    for (place, passage) in passages.iter().enumerate() {
        let value = value(passage);
        if best.is_none_or(|(_, highest)| value > highest) {
            best = Some((place, value));
        }
    }
    best.map(|(place, _)| place)
}

const fn flag(is_so: bool) -> f32 {
    if is_so { 1.0 } else { 0.0 }
}
