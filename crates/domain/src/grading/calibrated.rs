//! The built-in grader: a logistic model over [`super::features`], cut relative to the best passage of the round.
//!
//! The probability is that of "this passage answers the question" among the first eight passages of hybrid retrieval.
//! No grade is better than the ceiling that [`super::question`] sets for the round. The fitting of the constants and
//! the measured quality are described in `tools/calibrate/README.md`.

use std::fmt::Write as _;

use super::features::{Features, Passage, of_round_holding};
use super::model::{LEXICAL_ONLY, PassageModel, WITH_DENSE};
use super::question::{Answerability, answerability_by, with_odds};
use super::signs::{ENTRY, LINE, Signs, is_entry_named};
use super::{Grade, Verdict};
use crate::evidence::Question;
use crate::evidence::passage::PassageEvidence;
use crate::release_notes;

/// Most question terms that a reason names.
const NAMED_TERMS: usize = 4;

/// Probability of a passage with a definition. Not fitted: where every passage is about the term, its vector and its words
/// stand out among them as little as any.
const DEFINITION: f32 = 0.5;

/// Odds of the document that the last answer of a conversation was taken from, over those of others. Not fitted: in
/// conversations over folders that were written for it, it held every second answer.
const ODDS_OF_LAST_DOCUMENT: f32 = 4.0;

/// Odds of release notes, over those of other documents, for a question that is not for a change: they speak of everything, and
/// explain little. Not fitted: the sets have none.
const ODDS_OF_RELEASE_NOTES: f32 = 0.4;

/// Odds of a passage that holds the rare names and identifiers of a question, over one that does not, where there is one. Not
/// fitted: the questions of the sets name what many of their passages do.
const ODDS_OF_NAMED: f32 = 4.0;

/// The grades of a round.
#[derive(Debug, Clone, PartialEq)]
pub struct GradedRound {
    /// Whether the round answers the question at all.
    pub answerability: Answerability,
    /// One verdict per passage.
    pub verdicts: Vec<Verdict>,
}

/// Grades the passages of one round, best first as retrieved. `evidence` runs parallel to
/// `passages` (see [`super::features::evidence_of`]), and so do the verdicts.
#[must_use]
pub fn grade(question: &Question, passages: &[Passage<'_>], evidence: &[PassageEvidence]) -> GradedRound {
    grade_by_odds(question, passages, evidence, 1.0)
}

/// Grades passages of the document that the last answer of a conversation was taken from, for the next message. None is
/// surely correct: the odds speak of the document, not of what a passage holds, and spare no call of a grading model.
#[must_use]
pub fn grade_continued(question: &Question, passages: &[Passage<'_>], evidence: &[PassageEvidence]) -> GradedRound {
    let mut round = grade_by_odds(question, passages, evidence, ODDS_OF_LAST_DOCUMENT);
    round.verdicts.iter_mut().for_each(|verdict| verdict.is_clear = false);
    round
}

/// `odds` is how much likelier the passages are to answer than what they hold tells.
fn grade_by_odds(
    question: &Question,
    passages: &[Passage<'_>],
    evidence: &[PassageEvidence],
    odds: f32,
) -> GradedRound {
    let signs = Signs::of(question, passages, evidence);
    let answerability = answerability_by(&signs, question, passages, evidence, odds);
    let features = of_round_holding(signs.held, question, passages, evidence);
    let model = if features.iter().any(|features| features.has_dense) { &WITH_DENSE } else { &LEXICAL_ONLY };
    let by_features = features.iter().map(|features| model.logistic.probability(&features.values));
    let of_passages = passages.iter().zip(evidence).zip(&signs.have_line);
    let by_form = of_passages.map(|((passage, evidence), has_line)| by_form(question, passage, evidence, *has_line));
    let asks_for_changes = release_notes::are_asked_for(&question.text);
    let rare = question.terms.rare_names() | question.terms.identifiers();
    let is_named = |evidence: &PassageEvidence| evidence.mask() & rare == rare;
    let are_some_named = rare != 0 && evidence.iter().any(is_named);
    let odds_of = |passage: &Passage<'_>, evidence: &PassageEvidence| {
        let is_aside = !asks_for_changes && release_notes::is_of_them(passage.title);
        let of_named = match (are_some_named, is_named(evidence)) {
            (true, true) => ODDS_OF_NAMED,
            (true, false) => ODDS_OF_NAMED.recip(),
            (false, _) => 1.0,
        };
        odds * of_named * if is_aside { ODDS_OF_RELEASE_NOTES } else { 1.0 }
    };
    let by_either = by_features.zip(by_form).zip(&signs.headed).map(|((one, other), third)| one.max(other).max(*third));
    let own_odds = passages.iter().zip(evidence).map(|(passage, evidence)| odds_of(passage, evidence));
    let probabilities: Vec<f32> =
        by_either.zip(own_odds).map(|(probability, odds)| with_odds(probability, odds)).collect();
    let highest = probabilities.iter().copied().fold(0.0, f32::max);
    let verdicts = features
        .into_iter()
        .zip(passages)
        .zip(probabilities)
        .map(|((features, passage), probability)| {
            let own = model.grade(probability, highest);
            let grade = own.min(answerability.ceiling);
            let mut reason = reason(question, passage, &features, probability);
            if grade < own {
                // Writing to a String cannot fail.
                let _ = write!(reason, "; the question is answered with probability {:.2}", answerability.probability);
            } else if grade == Grade::Correct && probability < model.correct_from {
                let answered = answerability.probability;
                let _ = write!(
                    reason,
                    "; correct beside the others, as the question is answered with probability {answered:.2}"
                );
            }
            Verdict {
                grade,
                probability: Some(probability),
                is_clear: grade == Grade::Correct
                    && probability.min(answerability.probability) >= model.surely_correct_from,
                reason,
            }
        })
        .collect();
    GradedRound { answerability, verdicts }
}

/// Probability of a passage by a row or a line that holds all of the question, by a sentence that defines the term that is asked
/// for, or by the entry of an option or a setting that is named; 0 where it has none.
fn by_form(question: &Question, passage: &Passage<'_>, evidence: &PassageEvidence, has_line: bool) -> f32 {
    if has_line {
        return LINE;
    }
    if question.terms.asks_for_term() && question.terms.is_defined_in(passage.text) {
        return DEFINITION;
    }
    let has_entry = question.terms.has_named_entry(passage.text) || is_entry_named(question, passage, evidence);
    if has_entry { ENTRY } else { 0.0 }
}

impl PassageModel {
    /// `highest` is the highest probability of the round.
    fn grade(&self, probability: f32, highest: f32) -> Grade {
        let correct_from = self.correct_from.min(self.correct_share * highest);
        if probability >= correct_from {
            Grade::Correct
        } else if probability < self.ambiguous_share * correct_from {
            Grade::Incorrect
        } else {
            Grade::Ambiguous
        }
    }
}

/// One line for the trace: probability, coverage, similarity, and the weightiest terms not found.
fn reason(question: &Question, passage: &Passage<'_>, features: &Features, probability: f32) -> String {
    let covered = question.terms.share(features.mask) * 100.0;
    let mut reason = format!("probability {probability:.2}; covers {covered:.0}% of the question's weight");
    if let Some(dense) = passage.dense {
        // Writing to a String cannot fail.
        let _ = write!(reason, "; similarity {dense:.2}");
    }
    let mut missing: Vec<_> = question
        .terms
        .terms()
        .iter()
        .enumerate()
        .filter(|(position, _)| features.mask & (1 << position) == 0)
        .map(|(_, term)| term)
        .collect();
    missing.sort_by(|one, two| two.weight.total_cmp(&one.weight));
    let named: Vec<&str> = missing.iter().take(NAMED_TERMS).map(|term| term.word.as_str()).collect();
    if !named.is_empty() {
        reason.push_str("; lacks ");
        reason.push_str(&named.join(", "));
    }
    reason
}
