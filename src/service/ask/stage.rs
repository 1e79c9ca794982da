//! Which stage an ask is in, and how long it was in each.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use super::report::TimingsMs;

/// Stages of an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Plan,
    Retrieve,
    Grade,
    Rewrite,
    Generate,
    Validate,
}

impl Stage {
    /// For "the limit was reached while …".
    pub(super) const fn doing(self) -> &'static str {
        match self {
            Self::Plan => "planning",
            Self::Retrieve => "retrieving",
            Self::Grade => "grading",
            Self::Rewrite => "rewriting",
            Self::Generate => "generating",
            Self::Validate => "validating",
        }
    }
}

/// Keeps time over the stages; shared with whoever waits for the deadline.
#[derive(Debug)]
pub(super) struct StageClock(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    started: Instant,
    entered: Instant,
    stage: Stage,
    timings: TimingsMs,
}

impl StageClock {
    pub(super) fn start() -> Self {
        let now = Instant::now();
        Self(Mutex::new(Inner { started: now, entered: now, stage: Stage::Retrieve, timings: TimingsMs::default() }))
    }

    pub(super) fn current(&self) -> Stage {
        self.lock().stage
    }

    pub(super) fn enter(&self, stage: Stage) {
        let mut inner = self.lock();
        inner.close();
        inner.stage = stage;
    }

    pub(super) fn timings(&self) -> TimingsMs {
        let mut inner = self.lock();
        inner.close();
        TimingsMs { total: milliseconds(inner.started, inner.entered), ..inner.timings }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Books the time since the last change on the stage that it was spent in.
    fn close(&mut self) {
        let now = Instant::now();
        let spent = milliseconds(self.entered, now);
        self.entered = now;
        let timings = &mut self.timings;
        match self.stage {
            Stage::Plan => timings.plan += spent,
            Stage::Retrieve => timings.retrieve += spent,
            Stage::Grade => timings.grade += spent,
            Stage::Rewrite => timings.rewrite += spent,
            Stage::Generate => timings.generate += spent,
            Stage::Validate => timings.validate += spent,
        }
    }
}

fn milliseconds(from: Instant, to: Instant) -> f64 {
    to.duration_since(from).as_secs_f64() * 1_000.0
}
