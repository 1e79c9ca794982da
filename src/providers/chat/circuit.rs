//! The circuit breaker: a model or provider that was found unavailable is not called for a while, so that it costs one
//! time-out and not one per request.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::providers::{ProviderError, ProviderErrorKind};

/// First cool-down; doubled each time that the trial call after it fails.
const FIRST_COOL_DOWN: Duration = Duration::from_secs(5);
/// Longest cool-down.
const LONGEST_COOL_DOWN: Duration = Duration::from_mins(1);
/// Consecutive failures that open the circuit where a single one may be an accident.
const ACCIDENTS: u32 = 3;

/// The calls that a failure affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// All models of the provider.
    Provider,
    /// This model alone.
    Model,
}

/// The consequence of a failure for future calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FailureSignal {
    pub(crate) scope: Scope,
    /// Consecutive failures that open the circuit.
    pub(crate) failures: u32,
    /// Duration of the cool-down, if it is known.
    pub(crate) cool_down: Option<Duration>,
}

impl FailureSignal {
    /// The same for a failure that may have been an accident.
    pub(crate) fn if_repeated(self) -> Self {
        Self { failures: self.failures.max(ACCIDENTS), ..self }
    }
}

/// Derives the consequence of a failure for future calls; `None` if it concerns this call alone.
pub(super) fn failure_signal(error: &ProviderError) -> Option<FailureSignal> {
    let (scope, failures, cool_down) = match error.kind {
        ProviderErrorKind::Unreachable => (Scope::Provider, 1, None),
        ProviderErrorKind::QuotaExhausted => (Scope::Provider, 1, Some(LONGEST_COOL_DOWN)),
        ProviderErrorKind::Timeout => (Scope::Model, 1, None),
        ProviderErrorKind::ServerError | ProviderErrorKind::Interrupted => (Scope::Model, ACCIDENTS, None),
        ProviderErrorKind::RateLimited => match error.retry_after {
            Some(wait) => (Scope::Model, 1, Some(wait.min(LONGEST_COOL_DOWN))),
            None => (Scope::Model, ACCIDENTS, None),
        },
        ProviderErrorKind::Unauthorized
        | ProviderErrorKind::ContextLength
        | ProviderErrorKind::Rejected
        | ProviderErrorKind::Filtered
        | ProviderErrorKind::InvalidReply
        | ProviderErrorKind::Internal => return None,
    };
    Some(FailureSignal { scope, failures, cool_down })
}

/// State of a circuit. Open: no call is made. Half-open: one trial call is made. Closed: all calls are made. Time is a
/// parameter, so that tests control it.
#[derive(Debug, Default)]
pub(super) struct Circuit(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failures: u32,
    open: Option<Open>,
}

#[derive(Clone, Debug)]
struct Open {
    until: Instant,
    cool_down: Duration,
    /// Whether a trial call was admitted.
    is_on_trial: bool,
    because: ProviderError,
}

impl Circuit {
    /// Admits a call, or returns the reason for its refusal: the failure that opened the circuit, with the time left as
    /// its `retry_after`.
    ///
    /// After the cool-down one call is admitted and the others wait for the same time again. So a cancelled trial
    /// leaves no state behind.
    pub(crate) fn admit(&self, now: Instant) -> Result<(), Box<ProviderError>> {
        let mut state = self.lock();
        let Some(open) = &mut state.open else { return Ok(()) };
        if now < open.until {
            let left = open.until - now;
            let seconds = left.as_secs_f32().ceil();
            let detail =
                format!("not called for another {seconds} s, because it failed before: {}", open.because.detail);
            return Err(Box::new(ProviderError { retry_after: Some(left), detail, ..open.because.clone() }));
        }
        open.until = now + open.cool_down;
        open.is_on_trial = true;
        Ok(())
    }

    /// Whether a call would be refused now; admits none.
    pub(crate) fn is_open(&self, now: Instant) -> bool {
        self.lock().open.as_ref().is_some_and(|open| now < open.until)
    }

    /// Records a success.
    pub(crate) fn close(&self) {
        *self.lock() = State::default();
    }

    /// Records a failure.
    pub(crate) fn fail(&self, now: Instant, signal: FailureSignal, error: &ProviderError) {
        let mut state = self.lock();
        state.failures = state.failures.saturating_add(1);
        if state.open.is_none() && state.failures < signal.failures {
            return;
        }
        let usual = match &state.open {
            // Several calls were under way when it became unavailable; they count as one failure.
            Some(Open { is_on_trial: false, .. }) => return,
            Some(Open { cool_down, .. }) => (*cool_down * 2).min(LONGEST_COOL_DOWN),
            None => FIRST_COOL_DOWN,
        };
        let cool_down = signal.cool_down.unwrap_or(usual);
        state.open = Some(Open { until: now + cool_down, cool_down, is_on_trial: false, because: error.clone() });
    }

    /// No thread panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(kind: ProviderErrorKind, retry_after: Option<Duration>) -> ProviderError {
        ProviderError {
            kind,
            provider: "p".to_owned(),
            model: "m".to_owned(),
            detail: "it did not work".to_owned(),
            retry_after,
        }
    }

    fn fail(circuit: &Circuit, now: Instant, error: &ProviderError) {
        circuit.fail(now, failure_signal(error).expect("a signal"), error);
    }

    #[test]
    fn one_timeout_opens_and_one_trial_at_a_time_finds_out() {
        let (circuit, start) = (Circuit::default(), Instant::now());
        let timeout = error(ProviderErrorKind::Timeout, None);
        assert!(circuit.admit(start).is_ok());
        fail(&circuit, start, &timeout);
        let second = Duration::from_secs(1);
        let refused = circuit.admit(start + second).expect_err("open");
        assert_eq!((refused.kind, refused.retry_after), (ProviderErrorKind::Timeout, Some(second * 4)));
        assert_eq!(refused.detail, "not called for another 4 s, because it failed before: it did not work");
        assert!(circuit.admit(start + second * 5).is_ok(), "the trial");
        assert!(circuit.admit(start + second * 5).is_err(), "one at a time");
        fail(&circuit, start + second * 6, &timeout);
        assert!(circuit.admit(start + second * 15).is_err(), "twice as long");
        assert!(circuit.admit(start + second * 16).is_ok());
        circuit.close();
        assert!(circuit.admit(start + second * 16).is_ok());
        assert!(circuit.admit(start + second * 16).is_ok(), "closed for good");
    }

    #[test]
    fn a_cancelled_trial_is_followed_by_another() {
        let (circuit, start) = (Circuit::default(), Instant::now());
        fail(&circuit, start, &error(ProviderErrorKind::Unreachable, None));
        assert!(circuit.admit(start + FIRST_COOL_DOWN).is_ok());
        assert!(circuit.admit(start + FIRST_COOL_DOWN * 2).is_ok());
    }

    #[test]
    fn many_calls_that_die_together_are_one_death() {
        let (circuit, start) = (Circuit::default(), Instant::now());
        for _ in 0..64 {
            fail(&circuit, start, &error(ProviderErrorKind::Timeout, None));
        }
        assert!(circuit.admit(start + FIRST_COOL_DOWN).is_ok());
    }

    #[test]
    fn the_cool_down_does_not_grow_beyond_a_minute() {
        let (circuit, mut now) = (Circuit::default(), Instant::now());
        for _ in 0..20 {
            fail(&circuit, now, &error(ProviderErrorKind::Timeout, None));
            now += LONGEST_COOL_DOWN;
            assert!(circuit.admit(now).is_ok());
        }
    }

    #[test]
    fn server_errors_open_when_they_repeat() {
        let (circuit, now) = (Circuit::default(), Instant::now());
        let failure = error(ProviderErrorKind::ServerError, None);
        fail(&circuit, now, &failure);
        fail(&circuit, now, &failure);
        assert!(circuit.admit(now).is_ok());
        circuit.close();
        fail(&circuit, now, &failure);
        fail(&circuit, now, &failure);
        assert!(circuit.admit(now).is_ok(), "only those in a row count");
        fail(&circuit, now, &failure);
        assert!(circuit.admit(now).is_err());
    }

    #[test]
    fn retry_after_is_kept_up_to_a_minute() {
        let now = Instant::now();
        for (asked, kept) in [(7, 7), (3_600, 60)] {
            let circuit = Circuit::default();
            fail(&circuit, now, &error(ProviderErrorKind::RateLimited, Some(Duration::from_secs(asked))));
            assert!(circuit.admit(now + Duration::from_secs(kept - 1)).is_err());
            assert!(circuit.admit(now + Duration::from_secs(kept)).is_ok());
        }
    }

    #[test]
    fn what_is_wrong_with_one_call_is_no_signal() {
        for kind in [ProviderErrorKind::ContextLength, ProviderErrorKind::Rejected, ProviderErrorKind::InvalidReply] {
            assert_eq!(failure_signal(&error(kind, None)), None);
        }
        assert_eq!(
            failure_signal(&error(ProviderErrorKind::Unreachable, None)).map(|signal| signal.scope),
            Some(Scope::Provider)
        );
        assert_eq!(
            failure_signal(&error(ProviderErrorKind::QuotaExhausted, None)).map(|signal| signal.scope),
            Some(Scope::Provider)
        );
    }
}
