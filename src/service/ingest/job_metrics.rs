//! Metrics of a batch so far: written by the work, read by the concurrent heartbeat.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    domain::{budget::EmbeddingSpent, job::Stage},
    store::{StageWork, Work},
};

/// Work since it was last taken.
#[derive(Debug, Default)]
pub(super) struct JobMetrics(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    stages: BTreeMap<Stage, (u64, Duration)>,
    embedding: EmbeddingSpent,
}

impl JobMetrics {
    /// Records that this many documents passed a stage, which took from `started` until now.
    pub(super) fn add(&self, stage: Stage, documents: usize, started: Instant) {
        let mut noted = self.noted();
        let (count, busy) = noted.stages.entry(stage).or_default();
        *count += u64::try_from(documents).unwrap_or(u64::MAX);
        *busy += started.elapsed();
    }

    /// Records the work that embeddings took.
    pub(super) fn add_embedding(&self, spent: EmbeddingSpent) {
        let mut noted = self.noted();
        noted.embedding = noted.embedding.plus(spent);
    }

    /// Returns and resets the metrics recorded since the last call.
    pub(super) fn take(&self) -> Work {
        let Noted { stages, embedding } = std::mem::take(&mut *self.noted());
        let stages = stages
            .into_iter()
            .map(|(stage, (documents, busy))| StageWork { stage, documents, seconds: busy.as_secs_f64() })
            .collect();
        Work { stages, embedding }
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_is_not_taken_again() {
        let metrics = JobMetrics::default();
        let started = Instant::now();
        metrics.add(Stage::Embed, 3, started);
        metrics.add(Stage::Load, 4, started);
        metrics.add(Stage::Load, 1, started);
        let spent = EmbeddingSpent { tokens: 5, ..EmbeddingSpent::default() };
        metrics.add_embedding(spent);
        metrics.add_embedding(spent);
        let work = metrics.take();
        let counts: Vec<(Stage, u64)> = work.stages.iter().map(|one| (one.stage, one.documents)).collect();
        assert_eq!(counts, [(Stage::Load, 5), (Stage::Embed, 3)]);
        assert!(work.stages.iter().all(|one| one.seconds >= 0.0));
        assert_eq!(work.embedding.tokens, 10);
        assert!(metrics.take().is_empty());
    }
}
