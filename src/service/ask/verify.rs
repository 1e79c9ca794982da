//! Verifying a draft: what the scorer is not sure of is put before a model, all in one call.

use super::{AskError, GradedHit, SkipCause, call::Call, run::Ask, trace::RulingTrace};
use crate::{
    domain::{
        citation::{Attempt, Doubt, Draft, Level, Verifier, read_rulings},
        prompt::{self, verify::Statement},
    },
    providers::chat::{CallRole, ChatChain},
};

impl Ask<'_> {
    /// Settles who verifies: models of their own, and only at the level that asks for it.
    pub(super) fn choose_verifiers(&mut self) {
        self.verifiers = if self.level < Level::Supported { None } else { self.chain(CallRole::Verify) };
    }

    /// Who settles what the scorer is not sure of.
    pub(super) const fn verifier(&self) -> Verifier {
        if self.verifiers.is_some() { Verifier::Model } else { Verifier::Scorer }
    }

    /// Calls that one draft may take to verify.
    pub(super) fn calls_to_verify(&self) -> u32 {
        u32::from(self.verifier() == Verifier::Model)
    }

    /// The draft with a model's rulings on what the scorer is not sure of.
    pub(super) async fn verify(
        &mut self,
        draft: Draft,
        evidence: &[GradedHit],
        attempt: Attempt,
    ) -> Result<(Draft, Vec<RulingTrace>), AskError> {
        let doubts = draft.doubts();
        let models = self.verifiers.clone().filter(|_| !doubts.is_empty());
        let Some(chain) = models else { return Ok((draft, Vec::new())) };
        if !self.may_verify(attempt) {
            self.warn_skipped(CallRole::Verify, SkipCause::NoCallLeft);
            return Ok((draft, Vec::new()));
        }
        let rulings = self.ask_about(&chain, doubts, evidence).await?;
        let draft = draft.with_rulings(&rulings.iter().map(|told| told.ruling).collect::<Vec<_>>());
        Ok((draft, rulings))
    }

    /// Whether the budget has a call for it, and one for the retry that it may lead to. Otherwise the scorer's
    /// judgement stands.
    fn may_verify(&self, attempt: Attempt) -> bool {
        let kept = match attempt {
            Attempt::First => 1,
            Attempt::Retry => 0,
        };
        self.budget.llm_calls_left().is_none_or(|left| left > kept)
    }

    async fn ask_about(
        &mut self,
        chain: &ChatChain,
        doubts: Vec<Doubt>,
        evidence: &[GradedHit],
    ) -> Result<Vec<RulingTrace>, AskError> {
        let urns: Vec<String> = evidence.iter().map(|graded| graded.hit.urn().to_string()).collect();
        let sources: Vec<prompt::Source<'_>> =
            evidence.iter().zip(&urns).map(|(graded, urn)| graded.to_be_judged(urn)).collect();
        let statements: Vec<Statement<'_>> =
            doubts.iter().map(|doubt| Statement { text: &doubt.claim, sources: &doubt.markers }).collect();
        let call = Call {
            role: CallRole::Verify,
            messages: prompt::verify::messages(&statements, &sources),
            sources: &sources,
            format: Some(prompt::verify::format()),
        };
        let reply = self.call(chain, call).await?;
        let rulings = read_rulings(&reply.text, doubts.len());
        Ok(doubts.into_iter().zip(rulings).map(|(doubt, read)| RulingTrace::new(&doubt, read)).collect())
    }
}
