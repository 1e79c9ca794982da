//! The open jobs of a claim, with the work on them so far: written by the work, read by the concurrent heartbeat.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use uuid::Uuid;

use crate::{
    domain::{budget::EmbeddingSpent, cost::NanoUsd, job::Stage},
    store::{ItemKey, StageWork, Work},
};

/// Work since it was last taken.
#[derive(Debug)]
pub(super) struct JobMetrics {
    /// Bytes of each job's content in the claim, each document counted as one more.
    sizes: BTreeMap<Uuid, u64>,
    noted: Mutex<BTreeMap<Uuid, Noted>>,
}

#[derive(Debug, Default)]
struct Noted {
    stages: BTreeMap<Stage, (u64, Duration)>,
    embedding: EmbeddingSpent,
}

impl JobMetrics {
    /// Those of new work on items with content of these sizes.
    pub(super) fn of(items: impl IntoIterator<Item = (ItemKey, usize)>) -> Self {
        let mut sizes = BTreeMap::new();
        for (item, size) in items {
            *sizes.entry(item.job).or_default() += size as u64 + 1;
        }
        let noted = sizes.keys().map(|job| (*job, Noted::default())).collect();
        Self { sizes, noted: Mutex::new(noted) }
    }

    /// Whether the claim has documents of several jobs.
    pub(super) fn is_shared(&self) -> bool {
        self.sizes.len() > 1
    }

    /// Records that these documents passed a stage, which took from `started` until now. Each job has its share of the time,
    /// by the number of its documents; if none passed, all have the same.
    pub(super) fn add(&self, stage: Stage, passed: impl IntoIterator<Item = ItemKey>, started: Instant) {
        let mut documents: BTreeMap<Uuid, u32> = BTreeMap::new();
        for item in passed {
            *documents.entry(item.job).or_default() += 1;
        }
        let all: u32 = documents.values().sum();
        let busy = started.elapsed();
        let mut noted = self.noted();
        if documents.is_empty() {
            let each = busy / u32::try_from(noted.len()).unwrap_or(u32::MAX).max(1);
            for job in noted.values_mut() {
                job.stages.entry(stage).or_default().1 += each;
            }
        }
        for (job, documents) in documents {
            let (count, time) = noted.entry(job).or_default().stages.entry(stage).or_default();
            *count += u64::from(documents);
            *time += busy * documents / all;
        }
    }

    /// Records the work that embeddings took. Each job has its share, by the size of its documents.
    pub(super) fn add_embedding(&self, spent: EmbeddingSpent) {
        let all: u64 = self.sizes.values().sum();
        let up_to = |amount: u64, size: u64| {
            let share = u128::from(amount) * u128::from(size) / u128::from(all.max(1));
            u64::try_from(share).unwrap_or(u64::MAX)
        };
        let mut noted = self.noted();
        let mut before = 0;
        for (job, size) in &self.sizes {
            let part = |amount: u64| up_to(amount, before + size) - up_to(amount, before);
            let (tokens, cost) = (part(spent.tokens), NanoUsd::new(part(spent.cost.nano_usd())));
            if spent != EmbeddingSpent::default() {
                let job = noted.entry(*job).or_default();
                job.embedding = job.embedding.plus(EmbeddingSpent { tokens, cost, ..spent });
            }
            before += size;
        }
    }

    /// Takes the metrics recorded since the last call. Unless they are said to be stored they come back when the guard
    /// is dropped, so that neither a write that fails nor one that is abandoned midway loses any.
    pub(super) fn take(&self) -> TakenMetrics<'_> {
        let taken = self.noted().iter_mut().map(|(job, noted)| (*job, std::mem::take(noted))).collect();
        TakenMetrics { metrics: self, taken }
    }

    /// Forgets jobs that are over.
    pub(super) fn close(&self, over: &[Uuid]) {
        self.noted().retain(|job, _| !over.contains(job));
    }

    fn noted(&self) -> MutexGuard<'_, BTreeMap<Uuid, Noted>> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Metrics on their way to the store.
#[must_use]
pub(super) struct TakenMetrics<'m> {
    metrics: &'m JobMetrics,
    taken: BTreeMap<Uuid, Noted>,
}

impl TakenMetrics<'_> {
    /// The open jobs, with the work to be stored.
    pub(super) fn works(&self) -> Vec<(Uuid, Work)> {
        self.taken.iter().map(|(job, noted)| (*job, noted.work())).collect()
    }

    /// Drops the metrics for good: they are stored.
    pub(super) fn stored(mut self) {
        self.taken.clear();
    }
}

impl Drop for TakenMetrics<'_> {
    fn drop(&mut self) {
        let mut noted = self.metrics.noted();
        for (job, taken) in std::mem::take(&mut self.taken) {
            noted.entry(job).or_default().add(taken);
        }
    }
}

impl Noted {
    fn work(&self) -> Work {
        let stages = self.stages.iter().map(|(stage, (documents, busy))| StageWork {
            stage: *stage,
            documents: *documents,
            seconds: busy.as_secs_f64(),
        });
        Work { stages: stages.collect(), embedding: self.embedding }
    }

    fn add(&mut self, other: Self) {
        for (stage, (documents, busy)) in other.stages {
            let (count, total) = self.stages.entry(stage).or_default();
            *count += documents;
            *total += busy;
        }
        self.embedding = self.embedding.plus(other.embedding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Uuid = Uuid::from_u128(1);
    const OTHER: Uuid = Uuid::from_u128(2);

    /// Metrics of a claim of two documents of one job and a larger one of another.
    fn metrics() -> JobMetrics {
        let item = |job, ordinal, size| (ItemKey { job, ordinal }, size);
        JobMetrics::of([item(ONE, 0, 4), item(ONE, 1, 4), item(OTHER, 0, 29)])
    }

    fn filled() -> JobMetrics {
        let metrics = metrics();
        let started = Instant::now();
        metrics.add(Stage::Embed, [(ONE, 0), (OTHER, 0)].map(|(job, ordinal)| ItemKey { job, ordinal }), started);
        metrics.add(Stage::Embed, [ItemKey { job: ONE, ordinal: 1 }], started);
        metrics.add(Stage::Load, [], started);
        metrics.add_embedding(EmbeddingSpent { tokens: 41, ..EmbeddingSpent::default() });
        metrics
    }

    #[test]
    fn each_job_has_its_share() {
        let works = filled().take().works();
        let [(one, of_one), (other, of_other)] = works.as_slice() else { panic!("two jobs: {works:?}") };
        assert_eq!((*one, *other), (ONE, OTHER));
        let counts = |work: &Work| work.stages.iter().map(|stage| (stage.stage, stage.documents)).collect::<Vec<_>>();
        assert_eq!(counts(of_one), [(Stage::Load, 0), (Stage::Embed, 2)]);
        assert_eq!(counts(of_other), [(Stage::Load, 0), (Stage::Embed, 1)]);
        assert_eq!((of_one.embedding.tokens, of_other.embedding.tokens), (10, 31), "all is shared out");
    }

    #[test]
    fn metrics_that_are_stored_are_not_taken_again() {
        let metrics = filled();
        metrics.take().stored();
        let works = metrics.take().works();
        assert_eq!(works.len(), 2);
        assert!(works.iter().all(|(_, work)| work.is_empty()));
        metrics.close(&[ONE]);
        assert_eq!(metrics.take().works().len(), 1, "what is over is not written to any more");
    }

    #[test]
    fn metrics_that_could_not_be_stored_are_taken_again_with_those_recorded_meanwhile() {
        let metrics = filled();
        let abandoned = metrics.take();
        let works = abandoned.works();
        metrics.add_embedding(EmbeddingSpent { tokens: 41, ..EmbeddingSpent::default() });
        drop(abandoned);
        let again = metrics.take().works();
        assert_eq!(again[0].1.stages, works[0].1.stages);
        assert_eq!(again[0].1.embedding.tokens, 2 * works[0].1.embedding.tokens);
    }
}
