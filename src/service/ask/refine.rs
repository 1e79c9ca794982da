//! What the generator is shown of its sources.

use std::borrow::Cow;

use super::{GradedHit, run::Ask, trace::Refinement};
use crate::domain::{evidence::Inquiry, prompt, refinement};

/// Sources with all that a prompt borrows.
pub(super) struct Shown<'e> {
    urns: Vec<String>,
    titles: Vec<&'e str>,
    texts: Vec<Cow<'e, str>>,
    /// What was left of those that were refined.
    pub(super) refinements: Vec<Refinement>,
}

impl Shown<'_> {
    /// As they go into a prompt, in marker order.
    pub(super) fn sources(&self) -> Vec<prompt::Source<'_>> {
        let parts = self.urns.iter().zip(&self.titles).zip(&self.texts);
        parts.map(|((urn, title), text)| prompt::Source { urn, title, text, context: "" }).collect()
    }
}

impl Ask<'_> {
    /// The sources whole, or only what bears on the question if that was asked for.
    pub(super) fn shown<'e>(&self, evidence: &'e [GradedHit]) -> Shown<'e> {
        let mut shown = Shown {
            urns: evidence.iter().map(|graded| graded.hit.urn().to_string()).collect(),
            titles: evidence.iter().map(|graded| graded.hit.passage.title.as_str()).collect(),
            texts: evidence.iter().map(|graded| Cow::Borrowed(graded.hit.passage.text.as_str())).collect(),
            refinements: Vec::new(),
        };
        if self.request.refine {
            let questions: Vec<&Inquiry> =
                self.inquiry.as_deref().into_iter().chain(self.sub_questions.inquiries()).collect();
            for (text, urn) in shown.texts.iter_mut().zip(&shown.urns) {
                let Some(strips) = refinement::strips(self.analyzer, &questions, text) else { continue };
                let refined = refinement::recompose(text, &strips);
                shown.refinements.push(Refinement { urn: urn.clone(), bytes: text.len(), kept: refined.len() });
                *text = Cow::Owned(refined);
            }
        }
        shown
    }
}
