//! The course of one call through its models: who is next, for how long, and what failed so far.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{
    circuit::{Circuit, Scope, omen},
    models::Model,
};
use crate::providers::{FailedAttempt, ProviderError, ProviderErrorKind, ProvidersUnavailable};

/// A call cut off earlier than this by its caller's deadline says nothing against the model.
const PATIENCE: Duration = Duration::from_secs(10);

/// Models still to be tried and attempts that failed.
pub(super) struct Course {
    waiting: VecDeque<Arc<Model>>,
    deadline: Instant,
    failed: Vec<FailedAttempt>,
}

/// A model's turn.
pub(super) struct Turn {
    pub model: Arc<Model>,
    /// When the next one gets its turn.
    pub until: Instant,
    started: Instant,
}

impl Course {
    pub fn new(models: &[Arc<Model>], deadline: Instant) -> Self {
        Self { waiting: models.iter().cloned().collect(), deadline, failed: Vec::new() }
    }

    /// The next model that is not known to be dead. The time left is shared out evenly among those
    /// that wait, so that one that hangs leaves time for the others.
    pub fn next(&mut self, now: Instant) -> Option<Turn> {
        while now < self.deadline {
            let model = self.waiting.pop_front()?;
            match model.admit(now) {
                Ok(()) => {
                    let share = u32::try_from(self.waiting.len()).unwrap_or(u32::MAX).saturating_add(1);
                    let until = now + (self.deadline - now) / share;
                    return Some(Turn { model, until, started: now });
                }
                Err(error) => {
                    self.failed.push(FailedAttempt { error: *error, was_tried: false, duration: Duration::ZERO });
                }
            }
        }
        None
    }

    /// Notes that the model did not answer in its turn; the attempt as noted.
    pub fn fail(&mut self, turn: &Turn, error: ProviderError, now: Instant) -> FailedAttempt {
        let duration = now - turn.started;
        turn.model.note_failure(&error, duration, now);
        if error.kind.is_about_the_account() {
            let provider = &turn.model.name.provider;
            self.waiting.retain(|model| model.name.provider != *provider);
        } else if !error.kind.is_transient() {
            self.waiting.retain(|model| model.name != turn.model.name);
        }
        let attempt = FailedAttempt { error, was_tried: true, duration };
        self.failed.push(attempt.clone());
        attempt
    }

    pub fn take_failed(&mut self) -> Vec<FailedAttempt> {
        std::mem::take(&mut self.failed)
    }

    /// The end when nobody is left.
    pub fn unavailable(&mut self) -> ProvidersUnavailable {
        ProvidersUnavailable { attempts: self.take_failed() }
    }
}

impl Turn {
    /// The failure of a model whose time is up.
    pub fn timeout(&self) -> ProviderError {
        let waited = (self.until - self.started).as_secs_f32();
        self.model.chat.fail(ProviderErrorKind::Timeout, format!("no answer within {waited:.1} s"))
    }
}

impl Model {
    fn admit(&self, now: Instant) -> Result<(), Box<ProviderError>> {
        self.circuit.admit(now)?;
        self.provider_circuit.admit(now).map_err(|mut error| {
            error.model.clone_from(&self.name.model);
            error
        })
    }

    /// Notes that it answered.
    pub(super) fn note_success(&self) {
        self.circuit.close();
        self.provider_circuit.close();
    }

    fn note_failure(&self, error: &ProviderError, duration: Duration, now: Instant) {
        let is_hasty = error.kind == ProviderErrorKind::Timeout && duration < PATIENCE.min(self.chat.timeout());
        match omen(error) {
            Some(_) if is_hasty => {}
            Some(omen) => {
                let circuit: &Circuit = match omen.scope {
                    Scope::Provider => &self.provider_circuit,
                    Scope::Model => &self.circuit,
                };
                circuit.fail(now, omen, error);
            }
            // Whatever is wrong with the call, there was somebody who said so.
            None => self.note_success(),
        }
    }
}
