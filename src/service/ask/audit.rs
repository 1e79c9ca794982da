//! What the audit is told of an ask.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Value, json};

use super::{AskError, AskOutcome, AskReport, AskWarning, GradedHit, cache, run::Ask, stage::Stage, trace::Trace};
use crate::{
    domain::{
        audit::AuditOutcome,
        citation::{Citation, CitationError, CitedAnswer},
        fingerprint::content_hash,
    },
    providers::{FailedAttempt, ProviderError, chat::CallRole, reranker},
    service::{ServiceError, wait_briefly},
    store::{AuditCitation, AuditRow, storable},
};

/// How an ask ended, in the audit's terms.
struct End<'e> {
    outcome: AuditOutcome,
    reason: Option<String>,
    trace: &'e Trace,
    sources: &'e [GradedHit],
    answer: Option<&'e str>,
    citations: &'e [Citation],
    is_cache_hit: bool,
    /// The call that ended it, of a model that does not chat or whose reply was of no use, and what it was for.
    failed: Option<(&'static str, FailedAttempt)>,
}

/// How far the audit of an ask is.
pub(super) enum AuditState {
    /// The ask is under way.
    Open,
    /// It is at its end; this is what the audit is to be told.
    Ended(Arc<AuditRow>),
    /// The audit was told.
    Told,
}

impl Ask<'_> {
    /// Writes the audit; only then the result may leave. What it cost is booked and its answer kept before that, if
    /// that can be done in a moment, and otherwise afterwards.
    pub(super) async fn finish(mut self, result: Result<AskReport, AskError>) -> Result<AskReport, AskError> {
        // Before anything is waited for: one who leaves now is audited by the drop, with all of it.
        let row = Arc::new(self.audit_row(&self.end(&result)));
        self.audit = AuditState::Ended(Arc::clone(&row));
        let booked = self.daily_account.settle(self.spent_at_most());
        let kept = self.keep(&result);
        tokio::join!(booked, kept);
        let written = self.service.store.write_audit(row).await;
        self.audit = AuditState::Told;
        match (written, result) {
            (Ok(()), result) => result,
            // What kept the ask from ending well keeps the audit from being written.
            (Err(_), Err(AskError::Service(ServiceError::Store(error)))) if error.is_transient() => {
                Err(AskError::Service(ServiceError::Store(error)))
            }
            (Err(error), _) => Err(AskError::Audit(error)),
        }
    }

    /// An end without an answer.
    fn ended(&self, outcome: AuditOutcome, reason: Option<String>) -> End<'_> {
        End {
            outcome,
            reason,
            trace: &self.trace,
            sources: &self.evidence,
            answer: None,
            citations: &[],
            is_cache_hit: false,
            failed: None,
        }
    }

    fn end<'e>(&'e self, result: &'e Result<AskReport, AskError>) -> End<'e> {
        let ended = |outcome, reason| self.ended(outcome, reason);
        match result {
            Ok(report) => {
                let (outcome, reason) = match &report.outcome {
                    AskOutcome::Answered { .. } if !report.missing.is_empty() => (AuditOutcome::Partial, None),
                    AskOutcome::Answered { .. } => (AuditOutcome::Answered, None),
                    AskOutcome::Abstained(reason) => (AuditOutcome::Abstained, Some(reason.as_str().to_owned())),
                    AskOutcome::DryRun => (AuditOutcome::DryRun, None),
                };
                let answer = match &report.outcome {
                    AskOutcome::Answered { answer, .. } => Some(answer),
                    AskOutcome::Abstained(_) | AskOutcome::DryRun => None,
                };
                End {
                    trace: &report.trace,
                    is_cache_hit: report.is_cache_hit,
                    answer: answer.map(CitedAnswer::text),
                    citations: answer.map_or(&[], |answer| answer.citations()),
                    ..ended(outcome, reason)
                }
            }
            Err(AskError::Rejected(_)) => ended(AuditOutcome::Rejected, None),
            Err(AskError::Deadline { stage, .. }) => ended(AuditOutcome::Deadline, Some((*stage).to_owned())),
            Err(AskError::Providers(_)) => ended(AuditOutcome::ProvidersUnavailable, None),
            Err(AskError::Service(ServiceError::Provider(error))) => {
                let attempt = FailedAttempt::from(error.clone());
                End {
                    failed: Some((self.role_of(&attempt.error), attempt)),
                    ..ended(AuditOutcome::ProvidersUnavailable, None)
                }
            }
            Err(AskError::Service(ServiceError::Budget(exceeded))) => {
                ended(AuditOutcome::BudgetExceeded, Some(exceeded.limit.as_str().to_owned()))
            }
            Err(AskError::Service(error)) => ended(AuditOutcome::Failed, Some(cause(error).to_owned())),
            Err(AskError::Audit(_)) => ended(AuditOutcome::Failed, Some("audit".to_owned())),
        }
    }

    /// What a call was for that the trace does not know.
    fn role_of(&self, error: &ProviderError) -> &'static str {
        if self.clock.current() == Stage::Rewrite {
            CallRole::Rewrite.as_str()
        } else if error.provider == reranker::PROVIDER {
            "rerank"
        } else {
            "embed"
        }
    }

    fn audit_row(&self, end: &End<'_>) -> AuditRow {
        let keeps = self.service.settings.audit;
        let spent = self.budget.spent();
        let last = end.trace.attempts.last();
        let written = end.trace.calls.iter().rev().find(|call| call.role == CallRole::Generate && !call.is_discarded);
        let question = self.request.question.as_str();
        let urn = |index: usize| end.sources.get(index).map(|graded| graded.hit.urn().to_string());
        AuditRow {
            tenant_id: self.caller.tenant.0,
            ask_id: self.id,
            asked_at: self.asked_at,
            request_id: self.caller.request_id.clone(),
            key_id: self.caller.key_id.clone(),
            outcome: end.outcome,
            reason: end.reason.clone(),
            question: keeps.keeps_questions.then(|| storable(question)),
            question_sha256: content_hash(question.as_bytes()).into(),
            collections: self.request.collections.iter().map(|name| storable(name)).collect(),
            is_stream: self.listener.is_some(),
            level: self.request.level,
            effective_level: self.level,
            drafts: last.map_or(0, |attempt| attempt.attempt),
            errors: last.map(|attempt| attempt.errors.iter().map(storable_error).collect()).unwrap_or_default(),
            warnings: self.all_warnings().iter().map(AskWarning::kind).map(str::to_owned).collect(),
            provider: last.map(|attempt| attempt.by.provider.clone()),
            model: last.map(|attempt| attempt.by.model.clone()),
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
                end.trace.rounds.iter().map(|round| storable(&round.query)).collect()
            } else {
                Vec::new()
            },
            sources: end.sources.iter().map(|graded| graded.hit.urn().to_string()).collect(),
            citations: end
                .citations
                .iter()
                .map(|citation| AuditCitation {
                    marker: citation.marker,
                    urn: urn(citation.source_index).unwrap_or_default(),
                    support: citation.support,
                })
                .collect(),
            is_cache_hit: end.is_cache_hit,
            answer_sha256: end.answer.map(|answer| content_hash(answer.as_bytes()).into()),
            answer: end.answer.filter(|_| keeps.keeps_answers).map(storable),
            timings_ms: json!(self.clock.timings()),
        }
    }
}

impl Drop for Ask<'_> {
    /// Whoever asked went away before the end. The row is written by a task of its own, since nobody waits.
    fn drop(&mut self) {
        let (outcome, doing) = (AuditOutcome::ClientGone, self.clock.current().doing());
        let row = match std::mem::replace(&mut self.audit, AuditState::Told) {
            AuditState::Told => return,
            AuditState::Ended(row) => AuditRow { outcome, reason: Some(doing.to_owned()), ..Arc::unwrap_or_clone(row) },
            AuditState::Open => {
                self.discard_early_draft();
                self.audit_row(&self.ended(outcome, Some(doing.to_owned())))
            }
        };
        let store = self.service.store.clone();
        let (account, spent) = (self.daily_account.clone(), self.spent_at_most());
        let (tenant, ask, claim) = (self.caller.tenant, self.id, self.take_claim());
        // Without a runtime the process is ending, and with it the connection to the database.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            account.settle(spent).await;
            if let Some((key, _flight)) = claim {
                let store = store.clone();
                wait_briefly(Some(tokio::spawn(async move { cache::release(&store, tenant, &key, ask).await }))).await;
            }
            let ask_id = row.ask_id;
            if let Err(error) = store.write_audit(Arc::new(row)).await {
                tracing::warn!(error = %error, %ask_id, "an ask that nobody waits for could not be audited");
            }
        });
    }
}

/// Everybody who was asked or left alone, each once.
fn providers(end: &End<'_>) -> Vec<String> {
    let trace = end.trace;
    let answered = trace.calls.iter().map(|call| &call.model.provider);
    let failed = trace.failed_attempts().map(|attempt| &attempt.error.provider);
    let written = trace.attempts.iter().map(|attempt| &attempt.by.provider);
    let last = end.failed.iter().map(|(_, attempt)| &attempt.error.provider);
    answered.chain(failed).chain(written).chain(last).cloned().collect::<BTreeSet<_>>().into_iter().collect()
}

fn calls(end: &End<'_>) -> Value {
    let answered = end.trace.calls.iter().map(|call| {
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
            "duration_ms": call.duration_ms,
            "discarded": call.is_discarded,
            "failed_attempts": call.failed.iter().map(attempt_json).collect::<Vec<_>>(),
        })
    });
    let unanswered = |role: &str, attempts: &[FailedAttempt]| json!({"role": role, "failed_attempts": attempts.iter().map(attempt_json).collect::<Vec<_>>()});
    let failed = end.trace.failed_calls.iter().map(|call| unanswered(call.role.as_str(), &call.attempts));
    let last = end.failed.iter().map(|(role, attempt)| unanswered(role, std::slice::from_ref(attempt)));
    answered.chain(failed).chain(last).collect()
}

/// Without the provider's own words, which may quote what was sent.
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
        ServiceError::Conflict { code, .. } => code,
        ServiceError::QueueFull(_) => "queue_full",
        ServiceError::Invalid { .. } => "invalid_request",
        ServiceError::Budget(_) => "budget_exceeded",
        ServiceError::Provider(_) => "providers_unavailable",
        ServiceError::Store(_) => "database",
    }
}

fn storable_error(error: &CitationError) -> CitationError {
    CitationError { detail: storable(&error.detail), ..error.clone() }
}
