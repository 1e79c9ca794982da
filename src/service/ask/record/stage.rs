//! The current stage of an ask, and the time spent in each.

use tokio::time::Instant;

use crate::service::ask::TimingsMs;

/// Stages of an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::service::ask) enum Stage {
    Condense,
    Plan,
    Retrieve,
    Grade,
    Rewrite,
    Generate,
    Validate,
}

impl Stage {
    /// For "the limit was reached while …".
    pub(in crate::service::ask) const fn doing(self) -> &'static str {
        match self {
            Self::Condense => "condensing",
            Self::Plan => "planning",
            Self::Retrieve => "retrieving",
            Self::Grade => "grading",
            Self::Rewrite => "rewriting",
            Self::Generate => "generating",
            Self::Validate => "validating",
        }
    }
}

/// Measures the time that an ask spends in each stage.
#[derive(Debug)]
pub(super) struct StageClock {
    started: Instant,
    entered: Instant,
    stage: Stage,
    timings: TimingsMs,
}

impl StageClock {
    pub(super) fn start() -> Self {
        let now = Instant::now();
        Self { started: now, entered: now, stage: Stage::Retrieve, timings: TimingsMs::default() }
    }

    pub(super) const fn current(&self) -> Stage {
        self.stage
    }

    pub(super) fn enter(&mut self, stage: Stage) {
        self.book();
        self.stage = stage;
    }

    pub(super) fn timings(&mut self) -> TimingsMs {
        self.book();
        TimingsMs { total: milliseconds(self.started, self.entered), ..self.timings }
    }

    /// Adds the time since the last change to the stage in which it was spent.
    fn book(&mut self) {
        let now = Instant::now();
        let spent = milliseconds(self.entered, now);
        self.entered = now;
        let timings = &mut self.timings;
        match self.stage {
            Stage::Condense => timings.condense += spent,
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
