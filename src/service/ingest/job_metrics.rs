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

    /// Takes the metrics recorded since the last call. Unless they are said to be stored they come back when the guard
    /// is dropped, so that neither a write that fails nor one that is abandoned midway loses any.
    pub(super) fn take(&self) -> TakenMetrics<'_> {
        TakenMetrics { metrics: self, taken: std::mem::take(&mut *self.noted()) }
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Metrics on their way to the store.
#[must_use]
pub(super) struct TakenMetrics<'m> {
    metrics: &'m JobMetrics,
    taken: Noted,
}

impl TakenMetrics<'_> {
    /// The work to be stored.
    pub(super) fn work(&self) -> Work {
        let stages = self
            .taken
            .stages
            .iter()
            .map(|(stage, (documents, busy))| StageWork {
                stage: *stage,
                documents: *documents,
                seconds: busy.as_secs_f64(),
            })
            .collect();
        Work { stages, embedding: self.taken.embedding }
    }

    /// Drops the metrics for good: they are stored.
    pub(super) fn stored(mut self) {
        self.taken = Noted::default();
    }
}

impl Drop for TakenMetrics<'_> {
    fn drop(&mut self) {
        let Noted { stages, embedding } = std::mem::take(&mut self.taken);
        let mut noted = self.metrics.noted();
        for (stage, (documents, busy)) in stages {
            let (count, total) = noted.stages.entry(stage).or_default();
            *count += documents;
            *total += busy;
        }
        noted.embedding = noted.embedding.plus(embedding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled() -> JobMetrics {
        let metrics = JobMetrics::default();
        let started = Instant::now();
        metrics.add(Stage::Embed, 3, started);
        metrics.add(Stage::Load, 4, started);
        metrics.add(Stage::Load, 1, started);
        let spent = EmbeddingSpent { tokens: 5, ..EmbeddingSpent::default() };
        metrics.add_embedding(spent);
        metrics.add_embedding(spent);
        metrics
    }

    #[test]
    fn metrics_that_are_stored_are_not_taken_again() {
        let metrics = filled();
        let taken = metrics.take();
        let work = taken.work();
        let counts: Vec<(Stage, u64)> = work.stages.iter().map(|one| (one.stage, one.documents)).collect();
        assert_eq!(counts, [(Stage::Load, 5), (Stage::Embed, 3)]);
        assert!(work.stages.iter().all(|one| one.seconds >= 0.0));
        assert_eq!(work.embedding.tokens, 10);
        assert!(metrics.take().work().is_empty());
        taken.stored();
        assert!(metrics.take().work().is_empty());
    }

    #[test]
    fn metrics_that_could_not_be_stored_are_taken_again_with_those_recorded_meanwhile() {
        let metrics = filled();
        let abandoned = metrics.take();
        let work = abandoned.work();
        metrics.add_embedding(EmbeddingSpent { tokens: 1, ..EmbeddingSpent::default() });
        drop(abandoned);
        let again = metrics.take().work();
        assert_eq!(again.stages, work.stages);
        assert_eq!(again.embedding.tokens, work.embedding.tokens + 1);
    }
}
