//! Verification: the claims for which the scorer is uncertain are sent to a model, all in one call.

use super::{
    AskError, GradedHit, SkipCause,
    context::AskContext,
    model_call::{self, ModelCall},
    record::RulingTrace,
};
use crate::{
    domain::{
        citation::{Attempt, Doubt, Draft, read_rulings},
        prompt::{self, verify::Statement},
    },
    providers::chat::{CallRole, ChatChain},
};

/// A draft with the rulings of a model on its uncertain claims; none if no model was called.
pub(super) struct VerifiedDraft {
    pub(super) draft: Draft,
    pub(super) rulings: Vec<RulingTrace>,
}

/// Verifies the uncertain claims of a draft, if models do that. Otherwise the scorer's judgement applies.
///
/// # Errors
/// When the time limit is reached. If no model answers, the scorer's judgement applies.
#[tracing::instrument(target = "cited::trace", skip_all)]
pub(super) async fn verify(
    ask: &AskContext,
    draft: Draft,
    sources: &[GradedHit],
    attempt: Attempt,
) -> Result<VerifiedDraft, AskError> {
    let doubts = draft.doubts();
    let Some(chain) = ask.models.verify.as_ref().filter(|_| !doubts.is_empty()) else {
        return Ok(VerifiedDraft { draft, rulings: Vec::new() });
    };
    if !may_verify(ask, attempt) {
        ask.record.warn_skipped(CallRole::Verify, SkipCause::NoCallLeft);
        return Ok(VerifiedDraft { draft, rulings: Vec::new() });
    }
    let Some(rulings) = ask_about(ask, chain, doubts, sources).await? else {
        return Ok(VerifiedDraft { draft, rulings: Vec::new() });
    };
    let draft = draft.with_rulings(&rulings.iter().map(|trace| trace.ruling).collect::<Vec<_>>());
    Ok(VerifiedDraft { draft, rulings })
}

/// Whether the budget has a call for it, and one for the retry that may follow.
fn may_verify(ask: &AskContext, attempt: Attempt) -> bool {
    let kept = match attempt {
        Attempt::First => 1,
        Attempt::Retry => 0,
    };
    ask.budget.llm_calls_left().is_none_or(|left| left > kept)
}

async fn ask_about(
    ask: &AskContext,
    chain: &ChatChain,
    doubts: Vec<Doubt>,
    sources: &[GradedHit],
) -> Result<Option<Vec<RulingTrace>>, AskError> {
    let urns: Vec<String> = sources.iter().map(|graded| graded.hit.urn().to_string()).collect();
    let sources: Vec<prompt::Source<'_>> =
        sources.iter().zip(&urns).map(|(graded, urn)| graded.to_be_judged(urn)).collect();
    let cited = cited(&doubts, &sources);
    let call = call_about(Some(ask.question()), &doubts, &sources, &cited);
    let Some(reply) = model_call::complete_or_skip(ask, chain, call).await? else { return Ok(None) };
    let rulings = read_rulings(&reply.text, doubts.len());
    let missing = rulings.iter().filter(|ruling| ruling.is_none()).count();
    if let Some(cause) = SkipCause::of_verdicts(missing, rulings.len()) {
        ask.record.warn_skipped(CallRole::Verify, cause);
    }
    Ok(Some(doubts.into_iter().zip(rulings).map(|(doubt, read)| RulingTrace::new(&doubt, read)).collect()))
}

/// The sources that doubtful claims cite: those that a model is shown.
pub(in crate::service) fn cited<'s>(doubts: &[Doubt], sources: &[prompt::Source<'s>]) -> Vec<prompt::Source<'s>> {
    let is_cited = |number: u32| doubts.iter().any(|doubt| doubt.markers.contains(&number));
    (1..).zip(sources).filter(|(number, _)| is_cited(*number)).map(|(_, source)| *source).collect()
}

/// The call that asks a model about doubtful claims of an answer to a question, or of any text; source N of `sources` is
/// marker N, and `cited` are those of them that the claims cite.
pub(in crate::service) fn call_about<'s>(
    question: Option<&str>,
    doubts: &[Doubt],
    sources: &[prompt::Source<'_>],
    cited: &'s [prompt::Source<'s>],
) -> ModelCall<'s> {
    let statements: Vec<Statement<'_>> =
        doubts.iter().map(|doubt| Statement { text: &doubt.claim, sources: &doubt.markers }).collect();
    ModelCall {
        role: CallRole::Verify,
        messages: prompt::verify::messages(question, &statements, sources),
        sources: cited,
        format: Some(prompt::verify::format()),
    }
}
