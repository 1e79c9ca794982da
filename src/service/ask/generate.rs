//! Generation: a draft of the answer, by a model or by quoting the sources.

use super::{
    AskError, AskWarning, GeneratedBy,
    context::AskContext,
    draft::{Assignment, DraftRequest, Retry, Written},
    emit::Emitter,
    model_call::{self, ModelCall, RunningCall},
    prompt_sources::PromptSources,
    quote,
};
use crate::{
    domain::prompt,
    providers::chat::{CallRole, ChatChain},
};

/// Returns one draft: by the answering models, or by quoting. `None` if there is nothing to quote.
///
/// # Errors
/// When no model answered in time, or the call is not allowed.
pub(super) async fn draft(
    ask: &AskContext,
    emitter: &mut Emitter,
    assignment: &Assignment<'_>,
    request: DraftRequest,
) -> Result<Option<Written>, AskError> {
    let Some(chain) = &ask.models.generate else {
        let quoted = quote::quote(ask, assignment).await?;
        if let Some(written) = &quoted {
            emitter.emit_words(&written.text, &assignment.prepared).await;
        }
        return Ok(quoted);
    };
    let retry = match &request {
        DraftRequest::First => None,
        DraftRequest::Retry(retry) => Some(retry),
    };
    let mut call = start(ask, chain, assignment, retry).await?;
    let reply = emitter.stream_reply(&mut call, &assignment.prepared).await?;
    call.note_used(&reply);
    ask.record.note_cut(AskWarning::of_cut(&reply, ask.budget.limits().completion_tokens));
    let by = GeneratedBy { model: reply.model.model, provider: reply.model.provider };
    Ok(Some(Written { text: reply.text, by }))
}

/// Asks the models for a draft.
async fn start<'a>(
    ask: &'a AskContext,
    chain: &'a ChatChain,
    assignment: &Assignment<'_>,
    retry: Option<&Retry>,
) -> Result<RunningCall<'a>, AskError> {
    let question = &ask.request.question;
    let shown = PromptSources::of(ask, assignment.state, assignment.sources);
    let sources = shown.sources();
    let messages = match retry {
        None => prompt::answer::messages(question, &sources),
        Some(Retry { draft, prompt }) => prompt::answer::retry_messages(question, &sources, draft, prompt),
    };
    ask.record.note_refinements(shown.refinements.clone());
    let call = ModelCall { role: CallRole::Generate, messages, sources: &sources, format: None };
    Ok(model_call::reserve(ask, chain, call).await?.start())
}
