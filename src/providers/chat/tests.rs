//! The attempts of a call over its models, with the time set by the test.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::time::Instant;

use super::{
    Capabilities, ChatModel, ModelName, ProviderKind, ReplyEnd, ReplyParts, WireCall, circuit::Circuit,
    failover::Failover, models::Model,
};
use crate::{
    domain::cost::Price,
    metrics::{CallMeter, Metrics},
    providers::{ProviderError, ProviderErrorKind},
};

const TIMEOUT: Duration = Duration::from_mins(1);
const SECOND: Duration = Duration::from_secs(1);

/// A model that is never called here.
struct Silent(ModelName);

#[async_trait]
impl ChatModel for Silent {
    async fn complete(&self, _: WireCall<'_>) -> Result<(String, ReplyEnd), ProviderError> {
        Err(self.fail(ProviderErrorKind::Internal, String::new()))
    }

    async fn stream(&self, _: WireCall<'_>) -> Result<ReplyParts, ProviderError> {
        Err(self.fail(ProviderErrorKind::Internal, String::new()))
    }

    fn timeout(&self) -> Duration {
        TIMEOUT
    }

    fn fail(&self, kind: ProviderErrorKind, detail: String) -> ProviderError {
        let ModelName { provider, model } = self.0.clone();
        ProviderError { kind, provider, model, detail, retry_after: None }
    }
}

fn meter() -> CallMeter {
    Metrics::default().calls_as("answer")
}

/// Models of two providers: `a:x`, `a:y`, `b:z`.
fn models() -> Vec<Arc<Model>> {
    let circuits = [Arc::new(Circuit::default()), Arc::new(Circuit::default())];
    [("a:x", 0), ("a:y", 0), ("b:z", 1)]
        .into_iter()
        .map(|(name, provider): (&str, usize)| {
            let name: ModelName = name.parse().expect("a name");
            Arc::new(Model {
                chat: Box::new(Silent(name.clone())),
                name,
                capabilities: Capabilities::known(ProviderKind::OpenAi, "m"),
                price: Price::default(),
                circuit: Circuit::default(),
                provider_circuit: Arc::clone(&circuits[provider]),
            })
        })
        .collect()
}

/// Makes every model fail with this error after this time; returns the models that were tried, and the time each had.
fn run(models: &[Arc<Model>], start: Instant, kind: ProviderErrorKind, after: Duration) -> Vec<(String, Duration)> {
    let mut failover = Failover::new(models, start + SECOND * 30, meter());
    let (mut now, mut turns) = (start, Vec::new());
    while let Some(attempt) = failover.next(now) {
        turns.push((attempt.model.name.to_string(), attempt.until - now));
        now += after;
        let error = attempt.model.chat.fail(kind, "no".to_owned());
        failover.fail(&attempt, error, now);
    }
    turns
}

fn names(turns: &[(String, Duration)]) -> Vec<&str> {
    turns.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn the_time_left_is_shared_among_those_left() {
    let turns = run(&models(), Instant::now(), ProviderErrorKind::ServerError, SECOND * 6);
    let expected = [("a:x", 10), ("a:y", 12), ("b:z", 18)].map(|(name, share)| (name.to_owned(), SECOND * share));
    assert_eq!(turns, expected);
}

#[test]
fn whoever_is_left_alone_has_no_share_of_the_time() {
    let (models, start) = (models(), Instant::now());
    run(&models[2..], start, ProviderErrorKind::Unreachable, SECOND);
    let turns = run(&models, start + SECOND * 2, ProviderErrorKind::ServerError, SECOND);
    let expected = [("a:x", 15), ("a:y", 29)].map(|(name, share)| (name.to_owned(), SECOND * share));
    assert_eq!(turns, expected);
}

#[test]
fn nobody_is_asked_after_the_deadline() {
    let turns = run(&models(), Instant::now(), ProviderErrorKind::ServerError, SECOND * 15);
    assert_eq!(names(&turns), ["a:x", "a:y"]);
}

#[test]
fn what_concerns_the_account_spares_the_provider() {
    for kind in [ProviderErrorKind::QuotaExhausted, ProviderErrorKind::Unauthorized] {
        assert_eq!(names(&run(&models(), Instant::now(), kind, SECOND)), ["a:x", "b:z"]);
    }
}

#[test]
fn a_model_named_twice_is_tried_twice_where_that_can_help() {
    let models = models();
    let twice: Vec<Arc<Model>> = [0, 0, 2].map(|index: usize| Arc::clone(&models[index])).to_vec();
    let start = Instant::now();
    assert_eq!(names(&run(&twice, start, ProviderErrorKind::Rejected, SECOND)), ["a:x", "b:z"]);
    assert_eq!(names(&run(&twice, start, ProviderErrorKind::RateLimited, SECOND)), ["a:x", "a:x", "b:z"]);
}

#[test]
fn the_dead_are_left_alone_until_a_trial() {
    let (models, start) = (models(), Instant::now());
    assert_eq!(names(&run(&models[..1], start, ProviderErrorKind::Unreachable, SECOND)), ["a:x"]);
    let later = start + SECOND * 2;
    assert_eq!(names(&run(&models, later, ProviderErrorKind::ContextLength, SECOND)), ["b:z"], "all models of a");
    let trial = start + SECOND * 6;
    assert_eq!(names(&run(&models, trial, ProviderErrorKind::ContextLength, SECOND)), ["a:x", "a:y", "b:z"]);
}

#[test]
fn a_timeout_speaks_against_the_model_if_it_had_its_time() {
    let (models, start) = (models(), Instant::now());
    run(&models[..1], start, ProviderErrorKind::Timeout, SECOND * 3);
    let hasty = run(&models[..1], start + SECOND * 4, ProviderErrorKind::Timeout, SECOND * 10);
    assert_eq!(names(&hasty), ["a:x"], "one hasty caller proves nothing");
    let after = run(&models, start + SECOND * 15, ProviderErrorKind::ServerError, SECOND);
    assert_eq!(names(&after), ["a:y", "b:z"], "the other model of the provider may be well");
}

#[test]
fn hasty_timeouts_count_when_they_repeat() {
    let (models, start) = (models(), Instant::now());
    let hung = |model: &[Arc<Model>], at: u32, after: Duration| {
        !run(model, start + SECOND * at, ProviderErrorKind::Timeout, after).is_empty()
    };
    let share = SECOND * 9;
    assert!([0, 10, 20].into_iter().all(|at| hung(&models[..1], at, share)));
    assert!(!hung(&models[..1], 30, share), "three in a row, the last at 29 s");
    assert!(hung(&models[..1], 34, share), "the trial");
    assert!(!hung(&models[..1], 52, share), "ten seconds after that");
    assert!([0, 10].into_iter().all(|at| hung(&models[1..2], at, share)));
    models[1].note_success();
    assert!([20, 30].into_iter().all(|at| hung(&models[1..2], at, share)), "a success in between");
    assert!((0..9).all(|at| hung(&models[2..], at, SECOND * 2)), "whoever hardly waits proves nothing");
}

#[test]
fn a_model_that_falls_silent_leaves_time_for_the_others() {
    let (models, start) = (models(), Instant::now());
    let mut failover = Failover::new(&models, start + SECOND * 30, meter());
    let mut attempt = failover.next(start).expect("an attempt");
    let mut silence = |failover: &Failover, after: u32| {
        failover.wait_for_more(&mut attempt, start + SECOND * after);
        attempt.until - (start + SECOND * after)
    };
    assert_eq!(silence(&failover, 3), SECOND * 9, "as much as for each of the two that wait");
    assert_eq!(silence(&failover, 24), SECOND * 2);
    let mut patient = Failover::new(&models, start + SECOND * 300, meter());
    assert!(patient.next(start).is_some());
    assert_eq!(silence(&patient, 3), SECOND * 10, "after ten seconds it is gone");
    // The others had already been found unavailable.
    run(&models[1..], start, ProviderErrorKind::Unreachable, SECOND);
    assert_eq!(silence(&failover, 3), SECOND * 27, "nobody else would answer");
}

#[test]
fn what_was_not_tried_is_told_with_its_reason() {
    let (models, start) = (models(), Instant::now());
    run(&models[..1], start, ProviderErrorKind::Unreachable, SECOND);
    let mut failover = Failover::new(&models[..2], start + SECOND * 30, meter());
    assert!(failover.next(start + SECOND * 2).is_none());
    let unavailable = failover.unavailable();
    let told: Vec<_> = unavailable
        .attempts
        .iter()
        .map(|attempt| (attempt.error.model.as_str(), attempt.error.kind, attempt.was_tried))
        .collect();
    let unreachable = ProviderErrorKind::Unreachable;
    assert_eq!(told, [("x", unreachable, false), ("y", unreachable, false)]);
    assert_eq!(unavailable.retry_after(), Some(SECOND * 4), "five seconds after the failure");
}
