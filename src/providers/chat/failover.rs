//! Failover of one call over its models: the next model, its share of the time, and the failures so far.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use tokio::time::Instant;
use tracing::Span;

use super::{
    ChatReply,
    circuit::{Circuit, Scope, failure_signal},
    models::Model,
};
use crate::{
    domain::{budget::Usage, cost::NanoUsd},
    metrics::{CallMeter, ModelLabel},
    providers::{FailedAttempt, ProviderError, ProviderErrorKind, ProvidersUnavailable},
    spans,
};

/// Time without any reply after which a model is considered unavailable.
const SILENCE_LIMIT: Duration = Duration::from_secs(10);
/// Divisor of that time: a time-out after at least this part counts if it happens repeatedly. A shorter one does not
/// count: callers with short deadlines must not block a slow but working model for the others.
const SHORT_WAIT_DIVISOR: u32 = 4;

/// Outcome of a call, in the metrics, that is not made because the model failed a short while ago.
const SKIPPED: &str = "skipped";

/// The significance of a time-out for the state of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    /// The model had enough time.
    Full,
    /// It may have been an accident.
    IfRepeated,
    Nothing,
}

/// Models still to be tried and attempts that failed.
pub(super) struct Failover {
    waiting: VecDeque<Arc<Model>>,
    deadline: Instant,
    failed: Vec<FailedAttempt>,
    meter: CallMeter,
}

/// The attempt of one model.
pub(super) struct Attempt {
    pub(crate) model: Arc<Model>,
    /// When the next model is tried, unless this one sends text.
    pub(crate) until: Instant,
    /// Since when its next piece of text is awaited.
    since: Instant,
    started: Instant,
    pub(crate) span: Span,
}

impl Failover {
    pub(crate) fn new(models: &[Arc<Model>], deadline: Instant, meter: CallMeter) -> Self {
        Self { waiting: models.iter().cloned().collect(), deadline, failed: Vec::new(), meter }
    }

    /// Starts the next model that is not known to be unavailable. The remaining time is divided evenly among the models
    /// that may follow, so that one that hangs leaves time for the others.
    pub(crate) fn next(&mut self, now: Instant) -> Option<Attempt> {
        while now < self.deadline {
            let model = self.waiting.pop_front()?;
            match model.admit(now) {
                Ok(()) => {
                    let span = self.meter.span(model.label());
                    return Some(Attempt { model, until: now + self.share(now), since: now, started: now, span });
                }
                Err(error) => {
                    self.meter.count(model.label(), SKIPPED);
                    self.failed.push(FailedAttempt { error: *error, was_tried: false, duration: Duration::ZERO });
                }
            }
        }
        None
    }

    /// Restarts the wait for a model that has begun to answer. A model that stops sending leaves time for the others,
    /// if one of them is not known to be unavailable.
    pub(crate) fn wait_for_more(&self, attempt: &mut Attempt, now: Instant) {
        attempt.since = now;
        attempt.until =
            if self.substitutes(now) > 0 { now + self.share(now).min(SILENCE_LIMIT) } else { self.deadline };
    }

    /// The share of the remaining time for the current model, equal to that of each model that may follow.
    fn share(&self, now: Instant) -> Duration {
        self.deadline.saturating_duration_since(now) / self.substitutes(now).saturating_add(1)
    }

    /// Number of remaining models that are not known to be unavailable.
    fn substitutes(&self, now: Instant) -> u32 {
        let alive = self.waiting.iter().filter(|model| !model.is_left_alone(now));
        u32::try_from(alive.count()).unwrap_or(u32::MAX)
    }

    /// Records that the model did not answer in its time; returns the attempt as recorded.
    pub(crate) fn fail(&mut self, attempt: &Attempt, error: ProviderError, now: Instant) -> FailedAttempt {
        let duration = now - attempt.started;
        self.meter.count(attempt.model.label(), error.kind.as_str());
        spans::failed(&attempt.span, error.kind.as_str());
        attempt.model.note_failure(&error, attempt.weight(now), now);
        if error.kind.is_about_the_account() {
            let provider = &attempt.model.name.provider;
            self.waiting.retain(|model| model.name.provider != *provider);
        } else if !error.kind.is_transient() {
            self.waiting.retain(|model| model.name != attempt.model.name);
        }
        let failed = FailedAttempt { error, was_tried: true, duration };
        self.failed.push(failed.clone());
        failed
    }

    /// Counts the call of a model that answered.
    pub(crate) fn note_answer(&self, attempt: &Attempt, reply: &ChatReply, now: Instant) {
        spans::used(&attempt.span, reply.usage.prompt_tokens, reply.usage.completion_tokens);
        self.meter.answered(attempt.model.label(), reply.usage, reply.cost, now - attempt.started);
    }

    /// Counts the call of a model whose reply is not read to its end.
    pub(crate) fn note_abandoned(&self, attempt: &Attempt, usage: Usage, cost: NanoUsd) {
        spans::used(&attempt.span, usage.prompt_tokens, usage.completion_tokens);
        self.meter.abandoned(attempt.model.label(), usage, cost);
    }

    pub(crate) fn take_failed(&mut self) -> Vec<FailedAttempt> {
        std::mem::take(&mut self.failed)
    }

    /// The error when no model is left.
    pub(crate) fn unavailable(&mut self) -> ProvidersUnavailable {
        ProvidersUnavailable { attempts: self.take_failed() }
    }
}

impl Attempt {
    /// The failure of a model whose time has run out.
    pub(crate) fn timeout(&self) -> ProviderError {
        let waited = (self.until - self.since).as_secs_f32();
        let what = if self.since == self.started { "no answer" } else { "no further word of the answer" };
        self.model.chat.fail(ProviderErrorKind::Timeout, format!("{what} within {waited:.1} s"))
    }

    /// The significance of a time-out at this moment.
    fn weight(&self, now: Instant) -> Weight {
        let limit = self.model.chat.timeout();
        let (waited, enough) = (now - self.since, SILENCE_LIMIT.min(limit));
        if waited >= enough || now - self.started >= limit {
            Weight::Full
        } else if waited >= enough / SHORT_WAIT_DIVISOR {
            Weight::IfRepeated
        } else {
            Weight::Nothing
        }
    }
}

impl Model {
    fn label(&self) -> ModelLabel<'_> {
        ModelLabel { provider: &self.name.provider, model: &self.name.model }
    }

    fn admit(&self, now: Instant) -> Result<(), Box<ProviderError>> {
        self.circuit.admit(now)?;
        self.provider_circuit.admit(now).map_err(|mut error| {
            error.model.clone_from(&self.name.model);
            error
        })
    }

    /// Whether the model would not be called now.
    fn is_left_alone(&self, now: Instant) -> bool {
        self.circuit.is_open(now) || self.provider_circuit.is_open(now)
    }

    /// Records that the model answered.
    pub(super) fn note_success(&self) {
        self.circuit.close();
        self.provider_circuit.close();
    }

    fn note_failure(&self, error: &ProviderError, weight: Weight, now: Instant) {
        let Some(mut signal) = failure_signal(error) else {
            // An error that concerns only this call shows that the provider answers.
            return self.note_success();
        };
        if error.kind == ProviderErrorKind::Timeout {
            match weight {
                Weight::Full => {}
                Weight::IfRepeated => signal = signal.if_repeated(),
                Weight::Nothing => return,
            }
        }
        let circuit: &Circuit = match signal.scope {
            Scope::Provider => &self.provider_circuit,
            Scope::Model => &self.circuit,
        };
        circuit.fail(now, signal, error);
    }
}
