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
    /// Verdicts on passages that answer a sub-question.
    verdicts: HashMap<ChunkKey, Verdict>,
    /// Positions in the plan of the sub-questions for which nothing was found.
    unanswered: Vec<usize>,
    questions: Vec<Question>,
}

impl SubQuestions {
    /// Adds a sub-question: its position in the plan, and the passages found for it with their verdicts.
    pub(super) fn add(&mut self, position: usize, question: Question, found: &[GradedHit]) {
        self.questions.push(question);
        let mut is_answered = false;
        for GradedHit { hit, verdict, .. } in found {
            is_answered |= verdict.grade != Grade::Incorrect;
            if verdict.grade == Grade::Correct {
                self.verdicts.insert(hit.passage.key, verdict.clone());
            }
        }
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

    pub(super) fn unanswered(&self) -> &[usize] {
        &self.unanswered
    }

    /// The sub-questions, with their words weighted by the collections.
    pub(super) fn questions(&self) -> impl Iterator<Item = &Question> {
        self.questions.iter()
    }
}
