//! Planning: determines the queries in addition to the question, and the parts of the question that the answer lacks.

use super::{
    AskError, CondensedBy, SkipCause,
    context::AskContext,
    model_call::{self, ModelCall},
    record::Stage,
    state::LoopState,
};
use crate::{
    domain::{
        citation::CitedAnswer,
        planning::{self, Plan, Said},
        prompt,
    },
    providers::chat::CallRole,
};

/// Calls that planning and condensing must leave: to grade, to answer, and to answer once more.
pub(super) const CALLS_TO_LEAVE: u32 = 3;

/// A plan by the planning model, if the deployment has given that role models of its own; else by rules.
///
/// # Errors
/// When the time limit is reached. If no model answers, the plan is made by rules.
#[tracing::instrument(target = "cited::trace", skip_all)]
pub(super) async fn plan(ask: &AskContext) -> Result<Plan, AskError> {
    let built_in = built_in(ask);
    let Some(chain) = &ask.models.plan else { return Ok(built_in) };
    if ask.budget.llm_calls_left().is_some_and(|left| left <= CALLS_TO_LEAVE) {
        ask.record.warn_skipped(CallRole::Plan, SkipCause::NoCallLeft);
        return Ok(built_in);
    }
    ask.record.enter(Stage::Plan);
    let call = ModelCall {
        role: CallRole::Plan,
        messages: prompt::plan::messages(ask.question()),
        sources: &[],
        format: Some(prompt::plan::format()),
    };
    let Some(reply) = model_call::complete_or_skip(ask, chain, call).await? else { return Ok(built_in) };
    Ok(planning::read_reply(&reply.text).unwrap_or_else(|| {
        ask.record.warn_skipped(CallRole::Plan, SkipCause::UnusableReply);
        built_in
    }))
}

/// A plan by rules. The words of a history are added to a question as a whole, so that its parts do not stand alone.
fn built_in(ask: &AskContext) -> Plan {
    let plan = planning::plan(ask.asked());
    let is_expanded = ask.standalone().is_some_and(|standalone| standalone.by == CondensedBy::BuiltIn);
    if is_expanded { plan.undivided() } else { plan }
}

/// The parts of the question that the documents do not answer.
pub(super) fn missing(state: &LoopState, answer: &CitedAnswer) -> Vec<String> {
    let claims: Vec<&str> = answer.claims().iter().filter_map(|claim| claim.span.slice(answer.text())).collect();
    let said = Said { claims: &claims.join("\n"), admissions: answer.admissions() };
    let parts = state.plan.as_ref().filter(|plan| plan.is_decomposed());
    let parts = parts.map(|plan| plan.sub_questions.as_slice()).unwrap_or_default();
    planning::missing(state.analyzer, &state.question.text, parts, state.sub_questions.unanswered(), said)
}
