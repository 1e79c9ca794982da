//! Generation: a draft of the answer, by a model or by quoting the sources.

use super::{
    AskError, AskWarning, GeneratedBy, GradedHit,
    context::AskContext,
    draft::{Assignment, DraftRequest, Retry, SecondLook, Written},
    emit::Emitter,
    grade,
    model_call::{self, ModelCall, RunningCall},
    prompt_sources::PromptSources,
    quote,
};
use crate::{
    domain::{
        citation::Attempt,
        corrective::Grade,
        prompt::{self, answer::Nearest},
    },
    providers::chat::{CallRole, ChatChain},
};

/// Returns one draft: by the answering models, or by quoting. `None` if there is nothing to quote.
///
/// # Errors
/// When no model answered in time, or the call is not allowed.
#[tracing::instrument(target = "cited::trace", name = "generate", skip_all)]
pub(super) async fn draft(
    ask: &AskContext,
    emitter: &mut Emitter,
    assignment: &Assignment<'_>,
    request: DraftRequest,
) -> Result<Option<Written>, AskError> {
    let Some(chain) = &ask.models.generate else {
        let quoted = quote::quote(ask, assignment, request.attempt()).await?;
        if let Some(written) = &quoted {
            emitter.emit_words(&written.text, &assignment.basis).await;
        }
        return Ok(quoted);
    };
    let mut call = start(ask, chain, assignment, &request).await?;
    let reply = emitter.stream_reply(&mut call, &assignment.basis).await?;
    call.note_used(&reply);
    ask.record.note_cut(AskWarning::of_cut(&reply, ask.budget.limits().completion_tokens));
    let by = GeneratedBy::of(&reply);
    Ok(Some(Written::answer(reply.text, by)))
}

/// Asks the models for a draft.
async fn start<'a>(
    ask: &'a AskContext,
    chain: &'a ChatChain,
    assignment: &Assignment<'_>,
    request: &DraftRequest,
) -> Result<RunningCall<'a>, AskError> {
    let question = ask.question();
    let shown = PromptSources::of(ask, assignment.state, assignment.sources);
    let sources = shown.sources();
    let messages = match request {
        DraftRequest::First => prompt::answer::messages(question, &sources),
        DraftRequest::Retry(Retry { draft, prompt }) => {
            prompt::answer::retry_messages(question, &sources, draft, prompt)
        }
        DraftRequest::SecondLook(SecondLook { reply, source, part }) => {
            let whole = sources.get(*source).copied().unwrap_or_default();
            let number = u32::try_from(source + 1).unwrap_or(u32::MAX);
            let nearest = Nearest { number, part: prompt::Source { text: part, ..whole } };
            prompt::answer::second_look_messages(question, &sources, reply, nearest)
        }
    };
    ask.record.note_refinements(shown.refinements.clone());
    let call = ModelCall { role: CallRole::Generate, messages, sources: &sources, format: None };
    Ok(model_call::reserve(ask, chain, call).await?.start())
}

/// Another request for a draft after a reply that found no answer, if a source was graded correct and a call is left.
pub(super) fn second_look(
    ask: &AskContext,
    assignment: &Assignment<'_>,
    attempt: Attempt,
    written: Written,
) -> Option<SecondLook> {
    let is_affordable = ask.models.generate.is_some() && ask.budget.llm_calls_left() != Some(0);
    let is_correct = |graded: &GradedHit| graded.verdict.grade == Grade::Correct;
    let source = assignment.sources.iter().position(is_correct)?;
    if attempt == Attempt::Retry || !is_affordable {
        return None;
    }
    let hit = &assignment.sources.get(source)?.hit;
    let state = assignment.state;
    let evidence = grade::evidence_in(state.analyzer, &state.question, [hit]);
    let text = &hit.passage.text;
    let nearest = evidence.first().and_then(|evidence| evidence.best_sentence(&state.question.terms));
    let part = nearest.and_then(|sentence| text.get(sentence.range.clone())).unwrap_or(text);
    Some(SecondLook { reply: written.text, source, part: part.to_owned() })
}
