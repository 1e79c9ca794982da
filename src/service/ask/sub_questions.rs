//! Sub-questions of a plan, and the passages found for each.

use std::collections::HashMap;

use super::GradedHit;
use crate::{
    domain::{corrective::Grade, evidence::Question, grading::Verdict, identity::ChunkKey},
    service::retrieval::Hit,
};

/// The sub-questions that were searched for.
#[derive(Debug, Default)]
pub(super) struct SubQuestions {
    /// The passages that answer each sub-question, with their verdicts.
    answers: Vec<HashMap<ChunkKey, Verdict>>,
    /// Positions in the plan of the sub-questions for which nothing was found.
    unanswered: Vec<usize>,
    questions: Vec<Question>,
}

impl SubQuestions {
    /// Adds a sub-question: its position in the plan, and the passages found for it with their verdicts.
    pub(super) fn add(&mut self, position: usize, question: Question, found: &[GradedHit]) {
        self.questions.push(question);
        let correct = found.iter().filter(|graded| graded.verdict.grade == Grade::Correct);
        self.answers.push(correct.map(|graded| (graded.hit.passage.key, graded.verdict.clone())).collect());
        if found.iter().all(|graded| graded.verdict.grade == Grade::Incorrect) {
            self.unanswered.push(position);
        }
    }

    /// Whether a passage answers one of the sub-questions.
    pub(super) fn are_answered_by(&self, hit: &Hit) -> bool {
        self.answers.iter().any(|answers| answers.contains_key(&hit.passage.key))
    }

    /// The verdict on a passage for a sub-question, if it is better than the grade for the whole question.
    pub(super) fn better(&self, key: ChunkKey, whole: Grade) -> Option<&Verdict> {
        let verdict = self.answers.iter().rev().find_map(|answers| answers.get(&key));
        verdict.filter(|verdict| verdict.grade > whole)
    }

    /// The evidence, best first, in an order in which the sub-questions take turns, so that no part of the question has all of
    /// the sources. What answers none of them comes last.
    pub(super) fn take_turns(&self, mut evidence: Vec<GradedHit>) -> Vec<GradedHit> {
        if self.answers.len() < 2 {
            return evidence;
        }
        let mut turns = Vec::with_capacity(evidence.len());
        loop {
            let before = turns.len();
            for answers in &self.answers {
                let next = evidence.iter().position(|graded| answers.contains_key(&graded.hit.passage.key));
                turns.extend(next.map(|next| evidence.remove(next)));
            }
            if turns.len() == before {
                break;
            }
        }
        turns.append(&mut evidence);
        turns
    }

    pub(super) fn unanswered(&self) -> &[usize] {
        &self.unanswered
    }

    /// The sub-questions, with their words weighted by the collections.
    pub(super) fn questions(&self) -> impl Iterator<Item = &Question> {
        self.questions.iter()
    }
}
