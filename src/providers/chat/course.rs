//! The course of one call through its models: who is next, for how long, and what failed so far.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{
    circuit::{Circuit, Scope, omen},
    models::Model,
};
use crate::providers::{FailedAttempt, ProviderError, ProviderErrorKind, ProvidersUnavailable};

/// Whoever was waited for this long and said nothing is as good as gone.
const PATIENCE: Duration = Duration::from_secs(10);
/// The part of that, as a divisor, that says something at least when it happens again and again. Less says nothing:
/// callers in a hurry must not keep the others from a model that is slow and well.
const GLANCE: u32 = 4;

/// What it says about a model that its time was up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    /// It had time enough.
    Full,
    /// It may have been an accident.
    IfRepeated,
    Nothing,
}

/// Models still to be tried and attempts that failed.
pub(super) struct Course {
    waiting: VecDeque<Arc<Model>>,
    deadline: Instant,
    failed: Vec<FailedAttempt>,
}

/// A model's turn.
pub(super) struct Turn {
    pub model: Arc<Model>,
    /// When the next one gets its turn, unless this one says something.
    pub until: Instant,
    /// Since when its next words are waited for.
    since: Instant,
    started: Instant,
}

impl Course {
    pub fn new(models: &[Arc<Model>], deadline: Instant) -> Self {
        Self { waiting: models.iter().cloned().collect(), deadline, failed: Vec::new() }
    }

    /// The next model that is not known to be dead. The time left is shared out evenly among those
    /// that may follow, so that one that hangs leaves time for the others.
    pub fn next(&mut self, now: Instant) -> Option<Turn> {
        while now < self.deadline {
            let model = self.waiting.pop_front()?;
            match model.admit(now) {
                Ok(()) => {
                    return Some(Turn { model, until: now + self.share(now), since: now, started: now });
                }
                Err(error) => {
                    self.failed.push(FailedAttempt { error: *error, was_tried: false, duration: Duration::ZERO });
                }
            }
        }
        None
    }

    /// Waits anew for the words of a model that has begun to answer. One that falls silent leaves time for the
    /// others, if there is one that is not known to be dead.
    pub fn wait_for_more(&self, turn: &mut Turn, now: Instant) {
        turn.since = now;
        turn.until = if self.substitutes(now) > 0 { now + self.share(now).min(PATIENCE) } else { self.deadline };
    }

    /// The part of the time left for the model whose turn it is, as much as for each that may follow.
    fn share(&self, now: Instant) -> Duration {
        self.deadline.saturating_duration_since(now) / self.substitutes(now).saturating_add(1)
    }

    /// How many wait that are not known to be dead.
    fn substitutes(&self, now: Instant) -> u32 {
        let alive = self.waiting.iter().filter(|model| !model.is_left_alone(now));
        u32::try_from(alive.count()).unwrap_or(u32::MAX)
    }

    /// Notes that the model did not answer in its turn; the attempt as noted.
    pub fn fail(&mut self, turn: &Turn, error: ProviderError, now: Instant) -> FailedAttempt {
        let duration = now - turn.started;
        turn.model.note_failure(&error, turn.weight(now), now);
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
        let waited = (self.until - self.since).as_secs_f32();
        let what = if self.since == self.started { "no answer" } else { "no further word of the answer" };
        self.model.chat.fail(ProviderErrorKind::Timeout, format!("{what} within {waited:.1} s"))
    }

    /// What a time-out now says against the model.
    fn weight(&self, now: Instant) -> Weight {
        let limit = self.model.chat.timeout();
        let (waited, enough) = (now - self.since, PATIENCE.min(limit));
        if waited >= enough || now - self.started >= limit {
            Weight::Full
        } else if waited >= enough / GLANCE {
            Weight::IfRepeated
        } else {
            Weight::Nothing
        }
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

    /// Whether it would not be asked now.
    fn is_left_alone(&self, now: Instant) -> bool {
        self.circuit.is_open(now) || self.provider_circuit.is_open(now)
    }

    /// Notes that it answered.
    pub(super) fn note_success(&self) {
        self.circuit.close();
        self.provider_circuit.close();
    }

    fn note_failure(&self, error: &ProviderError, weight: Weight, now: Instant) {
        let Some(mut omen) = omen(error) else {
            // Whatever is wrong with the call, there was somebody who said so.
            return self.note_success();
        };
        if error.kind == ProviderErrorKind::Timeout {
            match weight {
                Weight::Full => {}
                Weight::IfRepeated => omen = omen.if_repeated(),
                Weight::Nothing => return,
            }
        }
        let circuit: &Circuit = match omen.scope {
            Scope::Provider => &self.provider_circuit,
            Scope::Model => &self.circuit,
        };
        circuit.fail(now, omen, error);
    }
}
