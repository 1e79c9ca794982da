//! Brings passages that stand beside the evidence and that no grader takes for the answer, because they seldom repeat what they
//! are about: the section of steps of a document that answers how something is done, and the item of a reference that tells the
//! default of a setting. Of a document whose lines below the title are all that was found to answer, it brings the sections that
//! may.

use super::{GradedHit, context::AskContext};
use crate::domain::{
    answering::{AskedDefault, asks_for_steps, is_headed_as_steps},
    corrective::Grade,
};
use crate::store::Passage;

/// The evidence with those passages found that stand under a heading for steps in one of its documents, or that tell the default
/// asked for there.
pub(super) fn with_those_beside(ask: &AskContext, mut evidence: Vec<GradedHit>, found: &[GradedHit]) -> Vec<GradedHit> {
    let (asks_for_steps, default) = (asks_for_steps(ask.asked()), AskedDefault::of(ask.asked()));
    if !asks_for_steps && default.is_none() {
        return evidence;
    }
    let is_of_evidence = |graded: &GradedHit| {
        let document = graded.hit.passage.key.document_id;
        evidence.iter().any(|known| known.hit.passage.key.document_id == document)
    };
    let is_known = |graded: &GradedHit| evidence.iter().any(|known| known.hit.passage.key == graded.hit.passage.key);
    let is_beginning = evidence.iter().all(|known| is_below_title(&known.hit.passage));
    let is_asked = |graded: &GradedHit| {
        let passage = &graded.hit.passage;
        let may_answer = is_beginning && graded.verdict.grade == Grade::Ambiguous;
        asks_for_steps && (is_headed_as_steps(&passage.heading) || may_answer)
            || default.as_ref().is_some_and(|default| default.is_told_by(&passage.text))
    };
    let beside = found.iter().filter(|graded| is_of_evidence(graded) && !is_known(graded) && is_asked(graded));
    let beside: Vec<GradedHit> = beside
        .map(|graded| {
            let mut graded = graded.clone();
            graded.verdict.grade = Grade::Ambiguous;
            graded
        })
        .collect();
    evidence.extend(beside);
    evidence
}

/// Whether a passage stands below the title of its document, before its first section.
fn is_below_title(passage: &Passage) -> bool {
    matches!(passage.heading.as_slice(), [only] if *only == passage.title)
}
