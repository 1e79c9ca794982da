//! Sub-questions of a plan, and the passages found for each.

use std::collections::{HashMap, HashSet};

use super::GradedHit;
use crate::{
    domain::{corrective::Grade, evidence::Question, grading::Verdict, identity::ChunkKey},
    service::retrieval::Hit,
};

/// The sub-questions that were searched for.
#[derive(Debug, Default)]
pub(super) struct SubQuestions {
    /// Verdicts on passages that answer a sub-question.
    verdicts: HashMap<ChunkKey, Verdict>,
    /// The passages that answer each sub-question.
    answered_by: Vec<HashSet<ChunkKey>>,
    /// Positions in the plan of the sub-questions for which nothing was found.
    unanswered: Vec<usize>,
    questions: Vec<Question>,
}

impl SubQuestions {
    /// Adds a sub-question: its position in the plan, and the passages found for it with their verdicts.
    pub(super) fn add(&mut self, position: usize, question: Question, found: &[GradedHit]) {
        self.questions.push(question);
        let (mut is_answered, mut answered_by) = (false, HashSet::new());
        for GradedHit { hit, verdict, .. } in found {
            is_answered |= verdict.grade != Grade::Incorrect;
            if verdict.grade == Grade::Correct {
                self.verdicts.insert(hit.passage.key, verdict.clone());
                answered_by.insert(hit.passage.key);
            }
        }
        self.answered_by.push(answered_by);
        if !is_answered {
            self.unanswered.push(position);
        }
    }

    /// Whether a passage answers one of the sub-questions.
    pub(super) fn are_answered_by(&self, hit: &Hit) -> bool {
        self.verdicts.contains_key(&hit.passage.key)
    }

    /// The verdict on a passage for a sub-question, if it is better than the grade for the whole question.
    pub(super) fn better(&self, key: ChunkKey, whole: Grade) -> Option<&Verdict> {
        self.verdicts.get(&key).filter(|verdict| verdict.grade > whole)
    }

    /// The evidence, best first, in an order in which the sub-questions take turns, so that no part of the question has all of
    /// the sources. What answers none of them comes last.
    pub(super) fn take_turns(&self, mut evidence: Vec<GradedHit>) -> Vec<GradedHit> {
        if self.answered_by.len() < 2 {
            return evidence;
        }
        let mut turns = Vec::with_capacity(evidence.len());
        loop {
            let before = turns.len();
            for answered_by in &self.answered_by {
                let next = evidence.iter().position(|graded| answered_by.contains(&graded.hit.passage.key));
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
