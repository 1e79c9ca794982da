//! Rewriting: finds another query for the same question, never one that was already tried.

use super::{
    AskError, GradedBy, GradedHit, SkipCause,
    context::AskContext,
    model_call::{self, ModelCall},
    record::Stage,
    state::LoopState,
};
use crate::{
    domain::{
        grading::Grade,
        prompt,
        rewriting::{built_in, read_reply},
    },
    providers::chat::{CallRole, ChatChain},
};

/// Passages of the last round that the built-in rewriter takes words from.
const FEEDBACK_PASSAGES: usize = 3;

/// Another query for the question.
pub(super) struct Rewording {
    pub(super) query: String,
    pub(super) by: GradedBy,
}

/// Returns a new query, or `None` if there is none.
///
/// # Errors
/// When the time limit is reached. If no model answers with a new query, the built-in rewriter stands in.
#[tracing::instrument(target = "cited::trace", skip_all)]
pub(super) async fn rewrite(ask: &AskContext, state: &LoopState) -> Result<Option<Rewording>, AskError> {
    ask.record.enter(Stage::Rewrite);
    if let Some(chain) = &ask.models.rewrite
        && let Some(query) = rewrite_by_model(ask, chain, state).await?
    {
        return Ok(Some(Rewording { query, by: GradedBy::Model }));
    }
    Ok(rewrite_built_in(ask, state).map(|query| Rewording { query, by: GradedBy::BuiltIn }))
}

async fn rewrite_by_model(ask: &AskContext, chain: &ChatChain, state: &LoopState) -> Result<Option<String>, AskError> {
    let call = ModelCall {
        role: CallRole::Rewrite,
        messages: prompt::rewrite::messages(ask.question(), state.tried.rewrites(), &state.missing),
        sources: &[],
        format: Some(prompt::rewrite::format()),
    };
    let Some(reply) = model_call::complete_or_skip(ask, chain, call).await? else { return Ok(None) };
    let query = read_reply(&reply.text, &state.tried).ok();
    if query.is_none() {
        ask.record.warn_skipped(CallRole::Rewrite, SkipCause::UnusableReply);
    }
    Ok(query)
}

fn rewrite_built_in(ask: &AskContext, state: &LoopState) -> Option<String> {
    if let Some(wording) = ask.with_history().filter(|wording| !state.tried.contains(wording)) {
        return Some(wording.to_owned());
    }
    let is_hopeful = |graded: &&GradedHit| graded.verdict.grade != Grade::Incorrect;
    let passages = if ask.request.feedback { state.last_round.as_slice() } else { &[] };
    let hopeful = passages.iter().filter(is_hopeful).take(FEEDBACK_PASSAGES);
    let feedback: Vec<&str> = hopeful.map(|graded| graded.hit.passage.text.as_str()).collect();
    built_in::rewrite(state.analyzer, &state.question, &state.tried, &feedback)
}
