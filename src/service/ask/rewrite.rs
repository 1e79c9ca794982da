//! Rewriting: finds another query for the same question, never one that was already tried.

use super::{
    AskError, GradedHit, SkipCause,
    context::AskContext,
    model_call::{self, ModelCall},
    record::Stage,
    state::LoopState,
};
use crate::{
    domain::{
        grading::Grade,
        prompt,
        rewriting::{RewriteError, built_in, read_reply},
    },
    providers::{
        ProviderError, ProviderErrorKind,
        chat::{CallRole, ChatChain, ChatReply},
    },
};

/// Passages of the last round that the built-in rewriter takes words from.
const FEEDBACK_PASSAGES: usize = 3;

/// Returns a new query, or `None` if there is none.
///
/// # Errors
/// When the model fails or replies with nothing, or the call is not allowed.
pub(super) async fn rewrite(ask: &AskContext, state: &LoopState) -> Result<Option<String>, AskError> {
    ask.record.enter(Stage::Rewrite);
    match &ask.models.rewrite {
        Some(chain) => rewrite_by_model(ask, chain, state).await,
        None => Ok(rewrite_built_in(ask, state)),
    }
}

async fn rewrite_by_model(ask: &AskContext, chain: &ChatChain, state: &LoopState) -> Result<Option<String>, AskError> {
    let call = ModelCall {
        role: CallRole::Rewrite,
        messages: prompt::rewrite::messages(&ask.request.question, state.tried.rewrites()),
        sources: &[],
        format: Some(prompt::rewrite::format()),
    };
    let reply = model_call::complete(ask, chain, call).await?;
    match read_reply(&reply.text, &state.tried) {
        Ok(query) => Ok(Some(query)),
        // The model repeats itself; the built-in rewriter may still find a query.
        Err(RewriteError::Repeated | RewriteError::TooLong) => {
            ask.record.warn_skipped(CallRole::Rewrite, SkipCause::UnusableReply);
            Ok(rewrite_built_in(ask, state))
        }
        Err(RewriteError::Empty) => Err(empty_query(reply).into()),
    }
}

fn empty_query(reply: ChatReply) -> ProviderError {
    ProviderError {
        kind: ProviderErrorKind::InvalidReply,
        provider: reply.model.provider,
        model: reply.model.model,
        detail: "the rewriter replied with an empty query".to_owned(),
        retry_after: None,
    }
}

fn rewrite_built_in(ask: &AskContext, state: &LoopState) -> Option<String> {
    let is_hopeful = |graded: &&GradedHit| graded.verdict.grade != Grade::Incorrect;
    let passages = if ask.request.feedback { state.last_round.as_slice() } else { &[] };
    let hopeful = passages.iter().filter(is_hopeful).take(FEEDBACK_PASSAGES);
    let feedback: Vec<&str> = hopeful.map(|graded| graded.hit.passage.text.as_str()).collect();
    built_in::rewrite(state.analyzer, &state.question, &state.tried, &feedback)
}
