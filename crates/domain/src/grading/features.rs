//! The features of the calibrated grader.
//!
//! All are ratios, so that they mean the same in a collection of twelve passages and of a million:
//! lexical measures are taken over the question's own idf mass, never raw.

use super::signs::held_by;
use crate::evidence::passage::PassageEvidence;
use crate::evidence::{Question, TermMask};
use crate::lexical::analyzer::Analyzer;
use crate::lexical::bm25::K1;

/// Number of features.
pub const COUNT: usize = 13;

/// Names of the features in the order of [`Features::values`], for the calibration tool.
pub const NAMES: [&str; COUNT] = [
    // Share of the question's idf mass in title and text.
    "coverage",
    // The same in the sentence that covers most.
    "sentence_coverage",
    // Share of neighbouring question terms that are neighbours in one sentence.
    "pairs",
    // Cosine of question and passage.
    "dense",
    // Share of the question's numbers that title and text lack.
    "numbers_missing",
    // Whether a sentence near the best one holds the kind of thing asked for: 1, -1, 0 if none is.
    "kind",
    // BM25 as a share of the round's highest.
    "lexical_to_top",
    // Cosine less the round's highest.
    "dense_to_top",
    // The round's highest BM25 over the question's idf mass: identifies off-corpus questions.
    "round_lexical",
    // The round's highest cosine.
    "round_dense",
    // Share of the question's mass that no passage of the collection holds, in whatever spelling.
    "unknown",
    // BM25 over the mass, less the highest of the other passages.
    "lexical_lead",
    // Cosine less the highest of the other passages.
    "dense_lead",
];

/// A retrieved passage as the grader sees it, best first in a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Passage<'p> {
    /// Title of its document, with the heading path if there is one.
    pub title: &'p str,
    /// Its text.
    pub text: &'p str,
    /// Cosine of question and passage; `None` when retrieval was lexical only.
    pub dense: Option<f32>,
    /// BM25 score of the passage for the question; 0 when it holds none of its terms.
    pub lexical: f32,
    /// Chunks of its collection; `None` for those of all that the question was weighed in.
    pub among: Option<u64>,
}

/// The features of one passage.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// Values in the order of [`NAMES`], most of them 0 to 1.
    pub values: [f32; COUNT],
    /// Whether the dense features are meaningful.
    pub has_dense: bool,
    /// Question terms in the passage or its title.
    pub mask: TermMask,
}

/// Computes the features of all passages of one round. `evidence` runs parallel to `passages`.
#[must_use]
pub fn of_round(question: &Question, passages: &[Passage<'_>], evidence: &[PassageEvidence]) -> Vec<Features> {
    of_round_holding(held_by(evidence), question, passages, evidence)
}

/// The same where it is known which terms of the question the passages hold.
pub(super) fn of_round_holding(
    held: TermMask,
    question: &Question,
    passages: &[Passage<'_>],
    evidence: &[PassageEvidence],
) -> Vec<Features> {
    let lexical: Vec<f32> = passages.iter().map(|passage| lexical_share(question, passage.lexical)).collect();
    let dense: Vec<f32> = passages.iter().map(|passage| passage.dense.unwrap_or(0.0)).collect();
    let coverage: Vec<f32> = evidence.iter().map(|evidence| question.terms.share(evidence.mask())).collect();
    let (round_lexical, round_dense) = (highest(&lexical), highest(&dense));
    let unknown = question.terms.share(question.terms.unknown() & !held);
    passages
        .iter()
        .zip(evidence)
        .enumerate()
        .map(|(index, (passage, evidence))| {
            let own = Own::of(question, passage, evidence);
            let value = |values: &[f32]| values.get(index).copied().unwrap_or(0.0);
            let (lexical_here, dense_here) = (value(&lexical), value(&dense));
            Features {
                values: [
                    value(&coverage),
                    own.sentence,
                    own.pairs,
                    dense_here,
                    own.numbers_missing,
                    own.kind,
                    ratio(lexical_here, round_lexical),
                    dense_here - round_dense,
                    round_lexical,
                    round_dense,
                    unknown,
                    lexical_here - highest_but(&lexical, index),
                    dense_here - highest_but(&dense, index),
                ],
                has_dense: passage.dense.is_some(),
                mask: evidence.mask(),
            }
        })
        .collect()
}

/// Evidence of all passages, for [`of_round`] and for the answerer.
#[must_use]
pub fn evidence_of(analyzer: &Analyzer, question: &Question, passages: &[Passage<'_>]) -> Vec<PassageEvidence> {
    passages
        .iter()
        .map(|passage| PassageEvidence::new(analyzer, &question.terms, passage.title, passage.text))
        .collect()
}

/// Features that depend on the passage alone.
struct Own {
    sentence: f32,
    pairs: f32,
    numbers_missing: f32,
    kind: f32,
}

impl Own {
    fn of(question: &Question, passage: &Passage<'_>, evidence: &PassageEvidence) -> Self {
        let terms = &question.terms;
        let best = evidence.best_sentence(terms);
        let sentence_mask = best.map_or(0, |sentence| sentence.mask);
        let pairs = evidence.sentences.iter().map(|sentence| terms.pair_share(sentence.pairs));
        Self {
            sentence: terms.share(sentence_mask),
            pairs: pairs.fold(0.0, f32::max),
            numbers_missing: numbers_missing(question, passage),
            kind: kind_fit(question, passage, evidence),
        }
    }
}

/// Share of the question's numbers that a passage and its title lack: the subject asked for in a document is often named there.
fn numbers_missing(question: &Question, passage: &Passage<'_>) -> f32 {
    // Most questions have none, and need no copy of the passage.
    if question.numbers.iter().next().is_none() {
        return 0.0;
    }
    question.numbers.missing_in(&format!("{}\n{}", passage.title, passage.text))
}

/// 1 if a sentence that covers the question nearly as well as the best one holds the kind of thing
/// asked for, -1 if none does, 0 if no kind is asked for.
pub(super) fn kind_fit(question: &Question, passage: &Passage<'_>, evidence: &PassageEvidence) -> f32 {
    use crate::evidence::kind::AnswerKind;
    // The grader was fitted without distinguishing lists and yes-or-no questions.
    if matches!(question.kind, AnswerKind::Other | AnswerKind::List | AnswerKind::YesNo) {
        return 0.0;
    }
    let weights: Vec<f32> = evidence.sentences.iter().map(|sentence| question.terms.weight_of(sentence.mask)).collect();
    let enough = highest(&weights) * 0.7;
    let holds = evidence.sentences.iter().zip(&weights).any(|(sentence, weight)| {
        let words = passage.text.get(sentence.range.clone()).unwrap_or_default();
        *weight > 0.0 && *weight >= enough && question.kind.is_held_by(&question.known, words)
    });
    if holds { 1.0 } else { -1.0 }
}

/// BM25 over the question's idf mass, scaled to 0 to 1 by its bound of `K1 + 1`.
pub(super) fn lexical_share(question: &Question, score: f32) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "a small constant")]
    let bound = (K1 + 1.0) as f32;
    ratio(score, question.terms.mass() * bound).clamp(0.0, 1.0)
}

fn ratio(part: f32, whole: f32) -> f32 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn highest(values: &[f32]) -> f32 {
    values.iter().copied().fold(0.0, f32::max)
}

fn highest_but(values: &[f32], left_out: usize) -> f32 {
    values.iter().enumerate().filter(|(index, _)| *index != left_out).map(|(_, value)| *value).fold(0.0, f32::max)
}
