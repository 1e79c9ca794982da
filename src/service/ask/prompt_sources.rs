//! Sources in the form that the answering model is shown: whole, or only the parts relevant to the question.

use std::borrow::Cow;

use super::{GradedHit, context::AskContext, record::Refinement, state::LoopState};
use crate::domain::{evidence::Question, prompt, refinement};

/// Sources with all the data that a prompt borrows from them.
pub(super) struct PromptSources<'e> {
    evidence: &'e [GradedHit],
    urns: Vec<String>,
    texts: Vec<Cow<'e, str>>,
    /// The sources that were refined, with the remaining length of each.
    pub(super) refinements: Vec<Refinement>,
}

impl<'e> PromptSources<'e> {
    /// The sources whole, or refined if the request asks for that.
    pub(super) fn of(ask: &AskContext, state: &LoopState, evidence: &'e [GradedHit]) -> Self {
        let mut shown = Self {
            evidence,
            urns: evidence.iter().map(|graded| graded.hit.urn().to_string()).collect(),
            texts: evidence.iter().map(|graded| Cow::Borrowed(graded.hit.passage.text.as_str())).collect(),
            refinements: Vec::new(),
        };
        if ask.request.refine {
            shown.refine(state);
        }
        shown
    }

    fn refine(&mut self, state: &LoopState) {
        let questions: Vec<&Question> =
            std::iter::once(&state.question).chain(state.sub_questions.questions()).collect();
        for (text, urn) in self.texts.iter_mut().zip(&self.urns) {
            let Some(strips) = refinement::strips(state.analyzer, &questions, text) else { continue };
            let refined = refinement::recompose(text, &strips);
            self.refinements.push(Refinement { urn: urn.clone(), bytes: text.len(), kept: refined.len() });
            *text = Cow::Owned(refined);
        }
    }

    /// The sources for a prompt, in marker order.
    pub(super) fn sources(&self) -> Vec<prompt::Source<'_>> {
        let parts = self.evidence.iter().zip(&self.urns).zip(&self.texts);
        parts.map(|((graded, urn), text)| prompt::Source { text, ..graded.hit.shown(urn) }).collect()
    }
}
