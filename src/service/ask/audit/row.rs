//! The audit row of an ask.

use std::{borrow::Cow, collections::BTreeSet, sync::Arc};

use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    domain::{
        audit::AuditOutcome,
        citation::{Citation, CitationError, CitedAnswer},
        fingerprint::content_hash,
    },
    metrics::EndedAsk,
    providers::{FailedAttempt, ProviderError, chat::CallRole, reranker},
    service::{
        ServiceError,
        ask::{
            AskError, AskOutcome, AskReport, AskWarning, CallFigures, GradedHit, Trace, context::AskContext,
            record::Stage,
        },
    },
    spans,
    store::{AuditCitation, AuditGrade, AuditRow, storable},
};

/// How an ask ended, in the audit's terms.
pub(super) struct End<'e> {
    outcome: AuditOutcome,
    reason: Option<String>,
    trace: Cow<'e, Trace>,
    sources: Arc<[GradedHit]>,
    answer: Option<&'e str>,
    citations: &'e [Citation],
    is_cache_hit: bool,
    /// The call that ended it and its purpose, if the trace does not contain the call: of a model that does not chat,
    /// or whose reply was of no use.
    failed: Option<(&'static str, FailedAttempt)>,
}

impl<'e> End<'e> {
    pub(super) fn of(ask: &AskContext, result: &'e Result<AskReport, AskError>) -> Self {
        let without_answer = |outcome, reason| Self::without_answer(ask, outcome, reason);
        match result {
            Ok(report) => Self::with_report(ask, report),
            Err(AskError::Rejected(_)) => without_answer(AuditOutcome::Rejected, None),
            Err(AskError::Deadline { stage, .. }) => without_answer(AuditOutcome::Deadline, Some((*stage).to_owned())),
            Err(AskError::Providers(_)) => without_answer(AuditOutcome::ProvidersUnavailable, None),
            Err(AskError::Service(ServiceError::Provider(error))) => Self {
                failed: Some((purpose_of(ask, error), FailedAttempt::from(error.clone()))),
                ..without_answer(AuditOutcome::ProvidersUnavailable, None)
            },
            Err(AskError::Service(ServiceError::Budget(exceeded))) => {
                without_answer(AuditOutcome::BudgetExceeded, Some(exceeded.limit.as_str().to_owned()))
            }
            Err(AskError::Service(error)) => without_answer(AuditOutcome::Failed, Some(cause(error).to_owned())),
            Err(AskError::Withdrawn) => without_answer(AuditOutcome::Failed, Some("sources_withdrawn".to_owned())),
            Err(AskError::Audit(_)) => without_answer(AuditOutcome::Failed, Some("audit".to_owned())),
        }
    }

    /// An end without an answer.
    pub(super) fn without_answer(ask: &AskContext, outcome: AuditOutcome, reason: Option<String>) -> Self {
        Self {
            outcome,
            reason,
            trace: Cow::Owned(ask.record.trace()),
            sources: ask.record.sources(),
            answer: None,
            citations: &[],
            is_cache_hit: false,
            failed: None,
        }
    }

    fn with_report(ask: &AskContext, report: &'e AskReport) -> Self {
        let outcome = match &report.outcome {
            AskOutcome::Answered { .. } if !report.missing.is_empty() => AuditOutcome::Partial,
            AskOutcome::Answered { .. } => AuditOutcome::Answered,
            AskOutcome::Passages { .. } => AuditOutcome::Passages,
            AskOutcome::Abstained(_) | AskOutcome::NoQuestion { .. } => AuditOutcome::Abstained,
            AskOutcome::Unclear => AuditOutcome::Clarify,
            AskOutcome::DryRun => AuditOutcome::DryRun,
        };
        let reason = report.outcome.abstain_reason().map(|reason| reason.as_str().to_owned());
        let answer = report.outcome.written().map(|(answer, _)| answer);
        Self {
            outcome,
            reason,
            trace: Cow::Borrowed(&report.trace),
            sources: ask.record.sources(),
            answer: answer.map(CitedAnswer::text),
            citations: answer.map_or(&[], |answer| answer.citations()),
            is_cache_hit: report.is_cache_hit,
            failed: None,
        }
    }
}

impl End<'_> {
    /// Counts the ask in the metrics, and notes its end in its span.
    pub(super) fn count(&self, ask: &AskContext) {
        let attempts = &self.trace.attempts;
        let rejected = attempts.iter().filter(|attempt| !attempt.errors.is_empty()).count();
        spans::ask_ended(self.outcome.as_str());
        ask.services.metrics.note_ask(&EndedAsk {
            outcome: self.outcome.as_str(),
            reason: self.reason.as_deref().unwrap_or_default(),
            stages: &ask.record.timings().seconds(),
            accepted_drafts: attempts.len().saturating_sub(rejected) as u64,
            rejected_drafts: rejected as u64,
            is_cache_hit: self.is_cache_hit,
        });
    }
}

/// The purpose of a call that the trace does not contain.
fn purpose_of(ask: &AskContext, error: &ProviderError) -> &'static str {
    if ask.record.stage() == Stage::Rewrite {
        CallRole::Rewrite.as_str()
    } else if error.provider == reranker::PROVIDER {
        "rerank"
    } else {
        "embed"
    }
}

pub(super) fn row(ask: &AskContext, end: &End<'_>) -> AuditRow {
    let keeps = ask.services.settings.audit;
    let spent = ask.budget.spent();
    let last = end.trace.attempts.last();
    let written = end.trace.calls.iter().rev().find(|call| call.role == CallRole::Generate && !call.is_discarded);
    let question = ask.request.question.as_str();
    AuditRow {
        tenant_id: ask.caller.grant.tenant().0,
        ask_id: ask.id,
        asked_at: ask.asked_at,
        request_id: ask.caller.request_id.clone(),
        key_id: ask.caller.key_id.clone(),
        outcome: end.outcome,
        reason: end.reason.clone(),
        question: keeps.keeps_questions.then(|| storable(question)),
        question_sha256: content_hash(question.as_bytes()).into(),
        collections: ask.request.collections.iter().map(|name| storable(name)).collect(),
        is_stream: ask.is_stream,
        level: ask.request.level,
        effective_level: ask.models.level,
        drafts: last.map_or(0, |attempt| attempt.attempt),
        errors: last.map(|attempt| attempt.errors.iter().map(storable_error).collect()).unwrap_or_default(),
        warnings: ask.record.warnings().iter().map(AskWarning::kind).map(str::to_owned).collect(),
        provider: last.map(|attempt| attempt.by.provider.clone()),
        model: last.map(|attempt| attempt.by.model.clone()),
        instructions_sha256: ask.services.instructions.fingerprint().map(Into::into),
        providers: providers(end),
        calls: calls(end),
        temperature: written.and_then(|call| call.sampling.temperature),
        seed: written.and_then(|call| call.sampling.seed),
        llm_calls: spent.llm_calls,
        prompt_tokens: spent.prompt_tokens,
        completion_tokens: spent.completion_tokens,
        is_estimated: spent.has_estimates,
        cost_nano_usd: spent.cost.nano_usd(),
        queries: if keeps.keeps_questions {
            end.trace.rounds.iter().chain(&end.trace.planned).map(|round| storable(&round.query)).collect()
        } else {
            Vec::new()
        },
        sources: end.sources.iter().map(|graded| graded.hit.urn().to_string()).collect(),
        citations: end.citations.iter().map(|citation| audit_citation(citation, &end.sources)).collect(),
        grades: grades(&end.trace),
        is_cache_hit: end.is_cache_hit,
        answer_sha256: end.answer.map(|answer| content_hash(answer.as_bytes()).into()),
        answer: end.answer.filter(|_| keeps.keeps_answers).map(storable),
        timings_ms: json!(ask.record.timings()),
    }
}

fn audit_citation(citation: &Citation, sources: &[GradedHit]) -> AuditCitation {
    let source = sources.get(citation.source_index);
    let urn = source.map(|graded| graded.hit.urn().to_string()).unwrap_or_default();
    AuditCitation { marker: citation.marker, urn, support: citation.support }
}

/// The last grade of each passage that was graded, in the order in which they were found.
fn grades(trace: &Trace) -> Vec<AuditGrade> {
    let mut grades: Vec<AuditGrade> = Vec::new();
    for graded in trace.rounds.iter().flat_map(|round| &round.verdicts) {
        let urn = graded.hit.urn().to_string();
        let (grade, by) = (graded.verdict.grade, graded.by.as_str().to_owned());
        match grades.iter_mut().find(|known| known.urn == urn) {
            Some(known) => (known.grade, known.by) = (grade, by),
            None => grades.push(AuditGrade { urn, grade, by }),
        }
    }
    grades
}

/// The providers of all models that were called or skipped, each once.
fn providers(end: &End<'_>) -> Vec<String> {
    let trace = &end.trace;
    let answered = trace.calls.iter().map(|call| &call.model.provider);
    let failed = trace.failed_attempts().map(|attempt| &attempt.error.provider);
    let written = trace.attempts.iter().map(|attempt| &attempt.by.provider);
    let last = end.failed.iter().map(|(_, attempt)| &attempt.error.provider);
    answered.chain(failed).chain(written).chain(last).cloned().collect::<BTreeSet<_>>().into_iter().collect()
}

/// A call in the audit.
#[derive(Serialize)]
struct AuditedCall<'c> {
    #[serde(flatten)]
    figures: CallFigures<'c>,
    duration_ms: f64,
    failed_attempts: Vec<Value>,
}

fn calls(end: &End<'_>) -> Value {
    let answered = end.trace.calls.iter().map(|call| {
        json!(AuditedCall {
            figures: call.figures(),
            duration_ms: call.duration_ms,
            failed_attempts: call.failed.iter().map(attempt_json).collect(),
        })
    });
    let unanswered = |role: &str, attempts: &[FailedAttempt]| json!({"role": role, "failed_attempts": attempts.iter().map(attempt_json).collect::<Vec<_>>()});
    let failed = end.trace.failed_calls.iter().map(|call| unanswered(call.role.as_str(), &call.attempts));
    let last = end.failed.iter().map(|(role, attempt)| unanswered(role, std::slice::from_ref(attempt)));
    answered.chain(failed).chain(last).collect()
}

/// Omits the provider's own message, which may quote the request.
fn attempt_json(attempt: &FailedAttempt) -> Value {
    json!({
        "provider": attempt.error.provider,
        "model": attempt.error.model,
        "kind": attempt.error.kind.as_str(),
        "tried": attempt.was_tried,
        "duration_ms": attempt.duration.as_secs_f64() * 1_000.0,
    })
}

const fn cause(error: &ServiceError) -> &'static str {
    match error {
        ServiceError::NotFound { .. } => "not_found",
        ServiceError::NotGranted { .. } => "collection_not_granted",
        ServiceError::Conflict { code, .. } | ServiceError::TooOften { code, .. } => code,
        ServiceError::QueueFull(_) => "queue_full",
        ServiceError::Invalid { .. } => "invalid_request",
        ServiceError::Budget(_) => "budget_exceeded",
        ServiceError::Provider(_) => "providers_unavailable",
        ServiceError::Store(_) => "database",
    }
}

/// The error without words of a document: these go with the document when it is deleted.
fn storable_error(error: &CitationError) -> CitationError {
    CitationError { detail: storable(&error.detail), contradiction: None, ..error.clone() }
}
