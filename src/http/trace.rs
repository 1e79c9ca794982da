//! The whole path of an ask as the API shows it.

use serde_json::{Value, json};

use super::{
    answer::attempt_json,
    stages::{hundredths as round, scan_name, stages_json},
};
use crate::service::ask::Trace;

/// The whole path of an ask.
pub(super) fn trace_json(trace: &Trace) -> Value {
    let rounds: Vec<Value> = trace
        .rounds
        .iter()
        .map(|round| {
            let verdicts: Vec<Value> = round
                .verdicts
                .iter()
                .map(|verdict| {
                    let graded = &verdict.hit;
                    json!({
                        "urn": graded.hit.urn().to_string(),
                        "grade": verdict.grade,
                        "probability": graded.verdict.probability,
                        "reason": graded.verdict.reason,
                        "by": graded.by.as_str(),
                        "scores": {
                            "dense": graded.hit.dense,
                            "lexical": graded.hit.lexical,
                            "fused": graded.hit.fused,
                            "reranked": graded.hit.reranked,
                        },
                    })
                })
                .collect();
            json!({
                "query": round.query,
                "new": round.new,
                "evidence": round.evidence,
                "answerability": round.answerability,
                "vector_scan": round.scan.map(scan_name),
                "stages": stages_json(trace.stages, &round.stages, round.scan),
                "verdicts": verdicts,
            })
        })
        .collect();
    let calls: Vec<Value> = trace
        .calls
        .iter()
        .map(|call| {
            json!({
                "role": call.role.as_str(),
                "provider": call.model.provider,
                "model": call.model.model,
                "prompt_tokens": call.usage.prompt_tokens,
                "completion_tokens": call.usage.completion_tokens,
                "estimated": call.usage.is_estimated,
                "cost_usd": call.cost.usd(),
                "temperature": call.sampling.temperature,
                "seed": call.sampling.seed,
                "duration_ms": round(call.duration_ms),
                "cut_at_token_limit": call.is_cut,
                "discarded": call.is_discarded,
                "failed_attempts": call.failed.iter().map(attempt_json).collect::<Vec<_>>(),
            })
        })
        .collect();
    let failed_calls: Vec<Value> = trace
        .failed_calls
        .iter()
        .map(|call| {
            json!({
                "role": call.role.as_str(),
                "failed_attempts": call.attempts.iter().map(attempt_json).collect::<Vec<_>>(),
            })
        })
        .collect();
    let attempts: Vec<Value> = trace
        .attempts
        .iter()
        .map(|attempt| json!({"attempt": attempt.attempt, "errors": attempt.errors, "rulings": attempt.rulings}))
        .collect();
    let refined: Vec<Value> = trace
        .refinements
        .iter()
        .map(|source| json!({"urn": source.urn, "bytes": source.bytes, "kept": source.kept}))
        .collect();
    json!({
        "plan": trace.plan,
        "steps": trace.steps,
        "rounds": rounds,
        "refined": refined,
        "calls": calls,
        "failed_calls": failed_calls,
        "attempts": attempts,
    })
}
