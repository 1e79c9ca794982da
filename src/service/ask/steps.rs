//! Brings the section of steps of a document that answers how something is done: it seldom repeats what it is about, so that
//! no grader takes it for the answer.

use super::{GradedHit, context::AskContext};
use crate::domain::{
    answering::{asks_for_steps, is_headed_as_steps},
    corrective::Grade,
};

/// The evidence with those passages found that stand under a heading for steps in one of its documents.
pub(super) fn with_steps(ask: &AskContext, mut evidence: Vec<GradedHit>, found: &[GradedHit]) -> Vec<GradedHit> {
    if !asks_for_steps(ask.asked()) {
        return evidence;
    }
    let is_of_evidence = |graded: &GradedHit| {
        let document = graded.hit.passage.key.document_id;
        evidence.iter().any(|known| known.hit.passage.key.document_id == document)
    };
    let is_known = |graded: &GradedHit| evidence.iter().any(|known| known.hit.passage.key == graded.hit.passage.key);
    let steps = found.iter().filter(|graded| {
        is_headed_as_steps(&graded.hit.passage.heading) && is_of_evidence(graded) && !is_known(graded)
    });
    let steps: Vec<GradedHit> = steps
        .map(|graded| {
            let mut graded = graded.clone();
            graded.verdict.grade = Grade::Ambiguous;
            graded
        })
        .collect();
    evidence.extend(steps);
    evidence
}
