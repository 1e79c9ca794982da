//! Brings the section of steps of a document that answers how something is done: it seldom repeats what it is about, so that
//! no grader takes it for the answer. Of a document whose lines below the title are all that was found to answer, it brings
//! the sections that may.

use super::{GradedHit, context::AskContext};
use crate::domain::{
    answering::{asks_for_steps, is_headed_as_steps},
    corrective::Grade,
};
use crate::store::Passage;

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
    let is_beginning = evidence.iter().all(|known| is_below_title(&known.hit.passage));
    let steps = found.iter().filter(|graded| {
        let may_answer = is_beginning && graded.verdict.grade == Grade::Ambiguous;
        let is_asked = is_headed_as_steps(&graded.hit.passage.heading) || may_answer;
        is_asked && is_of_evidence(graded) && !is_known(graded)
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

/// Whether a passage stands below the title of its document, before its first section.
fn is_below_title(passage: &Passage) -> bool {
    matches!(passage.heading.as_slice(), [only] if *only == passage.title)
}
