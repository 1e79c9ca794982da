//! An answer that is begun while a model still grades. It is used only if the grades confirm exactly the sources that
//! it was given; then it equals, byte for byte, the answer that would have been requested afterwards. Otherwise it is
//! dropped, and its cost recorded.

use super::{
    AskError, GradedHit,
    context::AskContext,
    evidence_pool::EvidencePool,
    model_call::{self, ModelCall, RunningCall},
    prompt_sources::PromptSources,
    record::Refinement,
    retrieve,
    state::LoopState,
};
use crate::{
    domain::{
        corrective::{Evidence, Round, Step},
        identity::ChunkKey,
        prompt,
        speculation::{self, Speculation},
    },
    providers::chat::CallRole,
    service::retrieval::GroupedHit,
};

/// An answer that was begun over sources that are likely to be confirmed.
pub(super) struct EarlyDraft<'a> {
    /// The passages that it assumes, in their order.
    passages: Vec<ChunkKey>,
    sources: Vec<GroupedHit>,
    refinements: Vec<Refinement>,
    /// `None` once it was confirmed.
    call: Option<RunningCall<'a>>,
}

impl<'a> EarlyDraft<'a> {
    /// Collects the reply while other work is done.
    pub(super) async fn write_during<Output>(&mut self, work: impl Future<Output = Output>) -> Output {
        match &mut self.call {
            Some(call) => call.read_ahead_during(work).await,
            None => work.await,
        }
    }

    /// Whether these are its passages.
    pub(super) fn is_over(&self, chosen: &[GradedHit]) -> bool {
        self.passages == keys(chosen)
    }

    /// Its sources, so that they need not be grouped again.
    pub(super) fn take_sources(&mut self) -> Vec<GroupedHit> {
        std::mem::take(&mut self.sources)
    }

    /// Returns the call, to read its reply, and the refinements of the sources in its prompt.
    pub(super) fn confirm(mut self) -> (RunningCall<'a>, Vec<Refinement>) {
        let call = self.call.take().expect("only this takes it, once");
        (call, std::mem::take(&mut self.refinements))
    }
}

impl Drop for EarlyDraft<'_> {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            call.discard();
        }
    }
}

/// Begins an answer if the grades can be predicted well enough, and if the budget allows for its being useless.
///
/// # Errors
/// When the database fails.
pub(super) async fn begin<'a>(
    ask: &'a AskContext,
    state: &LoopState,
    hits: &[GradedHit],
) -> Result<Option<EarlyDraft<'a>>, AskError> {
    let Some(chain) = ask.models.generate.as_ref().filter(|_| may_begin(ask, state)) else { return Ok(None) };
    let Some(chosen) = likely_evidence(ask, state, hits) else { return Ok(None) };
    let sources = retrieve::group(ask, &chosen).await?;
    let evidence = retrieve::with_grades(&chosen, sources.clone());
    let shown = PromptSources::of(ask, state, &evidence);
    let prompt_sources = shown.sources();
    let call = ModelCall {
        role: CallRole::Generate,
        messages: prompt::answer::messages(&ask.request.question, &prompt_sources),
        sources: &prompt_sources,
        format: None,
    };
    let Some(reserved) = model_call::reserve_with_spare(ask, chain, call).await? else { return Ok(None) };
    let (passages, refinements) = (keys(&chosen), shown.refinements.clone());
    Ok(Some(EarlyDraft { passages, sources, refinements, call: Some(reserved.start()) }))
}

/// Only in the first round, and if enough calls remain to continue as if no early draft had been tried.
fn may_begin(ask: &AskContext, state: &LoopState) -> bool {
    let execution = &ask.request.execution;
    let is_wanted = execution.speculation != Speculation::Off && !execution.dry_run;
    let calls = ask.step_calls();
    // This one; then another query and its grades; then the answer and its retry, both verified.
    let needed = 1 + calls.rewrite + calls.grade + 2 * (calls.generate + ask.models.calls_to_verify());
    is_wanted && state.is_first_round() && ask.budget.llm_calls_left().is_none_or(|left| left >= needed)
}

/// Returns the passages from which the answer will most likely be written, given the probable grades.
fn likely_evidence(ask: &AskContext, state: &LoopState, hits: &[GradedHit]) -> Option<Vec<GradedHit>> {
    let grades = speculation::guess(ask.request.execution.speculation, hits.iter().map(|hit| &hit.verdict))?;
    let mut pool = EvidencePool::default();
    let guessed = hits.iter().zip(&grades).map(|(hit, grade)| {
        let mut hit = hit.clone();
        hit.verdict.grade = *grade;
        hit
    });
    let new = pool.add(guessed.collect());
    let step = state.step_after(ask, Round::of(&grades, new));
    (step == Step::Generate { over: Evidence::Correct }).then(|| pool.evidence(Evidence::Correct))
}

fn keys(chosen: &[GradedHit]) -> Vec<ChunkKey> {
    chosen.iter().map(|graded| graded.hit.passage.key).collect()
}
