//! What a batch has done so far, by stage: written by the work, read by the heartbeat beside it.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::{domain::job::Stage, store::StageWork};

/// Work since it was last taken.
#[derive(Debug, Default)]
pub(super) struct Meter(Mutex<BTreeMap<Stage, (u64, Duration)>>);

impl Meter {
    /// Notes that so many documents passed a stage, which took from `started` until now.
    pub(super) fn add(&self, stage: Stage, documents: usize, started: Instant) {
        let mut work = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, busy) = work.entry(stage).or_default();
        *count += u64::try_from(documents).unwrap_or(u64::MAX);
        *busy += started.elapsed();
    }

    /// What was noted since the last time.
    pub(super) fn take(&self) -> Vec<StageWork> {
        let work = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        work.into_iter()
            .map(|(stage, (documents, busy))| StageWork { stage, documents, seconds: busy.as_secs_f64() })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_is_not_taken_again() {
        let meter = Meter::default();
        let started = Instant::now();
        meter.add(Stage::Embed, 3, started);
        meter.add(Stage::Load, 4, started);
        meter.add(Stage::Load, 1, started);
        let work = meter.take();
        let counts: Vec<(Stage, u64)> = work.iter().map(|one| (one.stage, one.documents)).collect();
        assert_eq!(counts, [(Stage::Load, 5), (Stage::Embed, 3)]);
        assert!(work.iter().all(|one| one.seconds >= 0.0));
        assert_eq!(meter.take(), []);
    }
}
