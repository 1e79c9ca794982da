//! The full trace of an ask, as the API returns it.

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    number::hundredths,
    problem::AttemptBody,
    stages::{scan_name, stages_json},
};
use crate::service::{
    ask::{
        AttemptTrace, CallFigures, CallTrace, ConversationTrace, FailedCallTrace, GradedHit, Refinement, RoundTrace,
        Trace,
    },
    retrieval::Stages,
};

/// The full trace of an ask as JSON.
pub(super) fn trace_json(trace: &Trace) -> Value {
    let round = |round: &RoundTrace| round_json(round, trace.stages);
    json!({
        "conversation": trace.conversation.as_ref().map(conversation_json),
        "plan": trace.plan,
        "steps": trace.steps,
        "rounds": trace.rounds.iter().map(round).collect::<Vec<_>>(),
        "planned": trace.planned.iter().map(round).collect::<Vec<_>>(),
        "refined": trace.refinements.iter().map(refinement_json).collect::<Vec<_>>(),
        "calls": trace.calls.iter().map(CallBody::from).collect::<Vec<_>>(),
        "failed_calls": trace.failed_calls.iter().map(failed_call_json).collect::<Vec<_>>(),
        "attempts": trace.attempts.iter().map(draft_json).collect::<Vec<_>>(),
    })
}

fn conversation_json(conversation: &ConversationTrace) -> Value {
    json!({
        "message": conversation.message,
        "question": conversation.question,
        "by": conversation.by.as_str(),
        "document": conversation.document,
    })
}

/// One round as JSON, with the stages that were enabled.
fn round_json(round: &RoundTrace, stages: Stages) -> Value {
    json!({
        "query": round.query,
        "new": round.new,
        "evidence": round.evidence,
        "answerability": round.answerability,
        "missing": round.missing,
        "vector_scan": round.scan.map(scan_name),
        "stages": stages_json(stages, &round.stages, round.scan),
        "verdicts": round.verdicts.iter().map(verdict_json).collect::<Vec<_>>(),
    })
}

fn verdict_json(graded: &GradedHit) -> Value {
    json!({
        "urn": graded.hit.urn().to_string(),
        "grade": graded.verdict.grade,
        "probability": graded.verdict.probability,
        "reason": graded.verdict.reason,
        "by": graded.by.as_str(),
        "clear": graded.verdict.is_clear,
        "scores": {
            "dense": graded.hit.dense,
            "lexical": graded.hit.lexical,
            "fused": graded.hit.fused,
            "reranked": graded.hit.reranked,
        },
    })
}

/// A call that a model answered.
#[derive(Serialize)]
struct CallBody<'c> {
    #[serde(flatten)]
    figures: CallFigures<'c>,
    duration_ms: f64,
    cut_at_token_limit: bool,
    unusable: bool,
    failed_attempts: Vec<AttemptBody>,
}

impl<'c> From<&'c CallTrace> for CallBody<'c> {
    fn from(call: &'c CallTrace) -> Self {
        Self {
            figures: call.figures(),
            duration_ms: hundredths(call.duration_ms),
            cut_at_token_limit: call.is_cut,
            unusable: call.is_unusable,
            failed_attempts: call.failed.iter().map(AttemptBody::from).collect(),
        }
    }
}

fn failed_call_json(call: &FailedCallTrace) -> Value {
    json!({
        "role": call.role.as_str(),
        "failed_attempts": call.attempts.iter().map(AttemptBody::from).collect::<Vec<_>>(),
    })
}

fn draft_json(draft: &AttemptTrace) -> Value {
    json!({"attempt": draft.attempt, "errors": draft.errors, "rulings": draft.rulings})
}

fn refinement_json(source: &Refinement) -> Value {
    json!({"urn": source.urn, "bytes": source.bytes, "kept": source.kept})
}
