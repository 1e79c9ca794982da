//! Workers claim documents, process them and settle their items, in a loop; with a concurrent heartbeat for the work
//! and a reaper for lost workers. Each is a background task that records its progress.

use std::{future::pending, sync::Arc, time::Duration};

use futures::future::Either;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

use super::{
    FETCH_TASKS, Processor,
    batch::Tries,
    failure::{IngestFailure, doubled_s, jobs_of},
    job_metrics::JobMetrics,
};
use crate::{
    domain::job::Indexing,
    service::{
        ServiceError,
        background::{BackgroundTask, Heartbeat, Heartbeats},
        error_chain,
    },
    store::{Claim, ClaimHandle, ItemKey, Lease, MAX_CLAIMS, Phase, StoreError},
};

/// Delay of a worker after an unexpected error.
const REST_AFTER_ERROR: Duration = Duration::from_secs(1);
/// Delay before a worker retries a database that is unavailable.
const REST_WITHOUT_DATABASE: Duration = Duration::from_millis(250);
/// Longest pause before items are claimed again whose work an outage has ended.
const LONGEST_PAUSE_S: i64 = 15;
/// Claims of an item that follow each other at once, whatever ended them.
const CLAIMS_AT_ONCE: i32 = 3;
/// Heartbeats per lease: two may be late before the lease is lost.
const BEATS_PER_LEASE: u32 = 3;
/// Leases after which a worker that has finished no step, and renewed no lease, counts as stalled. Only a step that
/// waits for a lock, such as that of a collection being deleted, takes longer than one.
const STALLED_AFTER_LEASES: u32 = 10;
/// Longest maintenance of an index after the work: it reads all of it.
const LONGEST_UPKEEP: Duration = Duration::from_hours(1);
/// Interval at which a worker reports its progress, and checks whether it is to stop.
const NOTE: Duration = Duration::from_millis(500);

/// Bytes of a claim that is worked on for a moment only: as many as documents of different jobs may have in one.
const SMALL_BYTES: usize = 128 * 1024;

/// Bytes of a claim from which it is large.
const LARGE_BYTES: u32 = 16 << 20;

/// What a task claims.
#[derive(Clone, Copy, Debug)]
enum Duty {
    /// The items of the first of these phases that has some.
    Phases(&'static [Phase]),
    /// Documents to store of a tenant that has no claim, while another has.
    Spare,
}

/// Outcome of one step of a worker.
enum Progress {
    /// The worker processed a claim.
    Worked,
    /// The queue was empty.
    Idle,
}

/// Outcome of the work on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WorkEnd {
    /// The work was completed.
    Over,
    /// The job is over: cancelled, or finished by other workers.
    Stopped,
    /// The lease is lost: another worker may have its documents by now.
    LeaseLost,
}

/// Processes the queue of one database together with any number of other workers, in this and other processes.
#[derive(Clone)]
pub(crate) struct Worker {
    processor: Processor,
    heartbeats: Heartbeats,
    /// Held while a large claim is made and processed.
    large_turn: Arc<Mutex<()>>,
}

impl Worker {
    /// A worker.
    #[must_use]
    pub(crate) fn new(processor: Processor, heartbeats: Heartbeats) -> Self {
        Self { processor, heartbeats, large_turn: Arc::default() }
    }

    /// Returns the tasks that process several claims concurrently until stopped; claims under way are finished first.
    ///
    /// Vectors that are computed after their documents are stored are made when there is nothing to store; but one task
    /// is always reserved for them, so that they are made under any load, and one task never makes them, so that a slow
    /// model delays no document. Documents that are to be fetched have tasks of their own: a host that hangs delays no
    /// document that is here. One more task serves tenants that would wait for the documents of another; it looks for them
    /// once in a while, and is not told of each document.
    #[must_use]
    pub(crate) fn tasks(&self, stop: &CancellationToken) -> Vec<BackgroundTask> {
        let workers = self.processor.settings.workers.get();
        let documents_first = Duty::Phases(&[Phase::Store, Phase::Embed]);
        let others = [Duty::Phases(&[Phase::Store]), Duty::Phases(&[Phase::Embed]), Duty::Spare];
        let duties = std::iter::repeat_n(documents_first, workers - 1).chain(others);
        let duties = duties.chain((0..FETCH_TASKS).map(|_| Duty::Phases(&[Phase::Fetch])));
        let mut tasks: Vec<BackgroundTask> =
            (1..).zip(duties).map(|(number, duty)| self.work_task(number, duty, stop.clone())).collect();
        tasks.push(self.reaper_task(stop.clone()));
        tasks.push(self.stop_notice_task(stop.clone()));
        tasks
    }

    fn work_task(&self, number: usize, duty: Duty, stop: CancellationToken) -> BackgroundTask {
        let worker = self.clone();
        let name = format!("worker {number}");
        let heartbeat = self.heartbeats.expect(&name, self.stalled_after());
        BackgroundTask { name, run: Box::pin(async move { worker.work_until(duty, &heartbeat, &stop).await }) }
    }

    fn reaper_task(&self, stop: CancellationToken) -> BackgroundTask {
        let worker = self.clone();
        let name = "reaper".to_owned();
        let heartbeat = self.heartbeats.expect(&name, self.stalled_after());
        BackgroundTask { name, run: Box::pin(async move { worker.reap_until(&heartbeat, &stop).await }) }
    }

    /// Notifies requests that wait for a job that the service stops.
    fn stop_notice_task(&self, stop: CancellationToken) -> BackgroundTask {
        let signal = Arc::clone(&self.processor.signal);
        let run = Box::pin(async move {
            stop.cancelled().await;
            signal.stopping.cancel();
        });
        BackgroundTask { name: "stop notice".to_owned(), run }
    }

    fn stalled_after(&self) -> Duration {
        self.processor.settings.lease * STALLED_AFTER_LEASES
    }

    async fn work_until(&self, duty: Duty, heartbeat: &Heartbeat, stop: &CancellationToken) {
        let mut has_worked = false;
        while !stop.is_cancelled() {
            let queued = match duty {
                Duty::Phases(phases) => Either::Left(self.processor.signal.work(phases)),
                Duty::Spare => Either::Right(pending()),
            };
            let rest = match self.step(duty, heartbeat).await {
                Ok(Progress::Worked) => {
                    heartbeat.beat();
                    has_worked = true;
                    continue;
                }
                Ok(Progress::Idle) => {
                    heartbeat.beat();
                    self.processor.settings.poll
                }
                Err(error) => {
                    tracing::warn!(
                        error = error_chain(&error),
                        "a step of a worker failed; the worker tries again in a second"
                    );
                    REST_AFTER_ERROR
                }
            };
            tokio::select! {
                () = queued => {}
                // Between documents that arrive one by one the queue is empty for moments.
                () = tokio::time::sleep(rest) => if std::mem::take(&mut has_worked) || self.processor.signal.is_untidy() {
                    heartbeat.beat_before(LONGEST_UPKEEP);
                    self.settle().await;
                    heartbeat.beat();
                },
                () = stop.cancelled() => {}
            }
        }
    }

    /// Maintains the indexes once the queue has been empty for a while. Searches are faster afterwards, and correct in any case.
    async fn settle(&self) {
        if let Err(error) = self.processor.store.collections().settle_lexical_index().await {
            tracing::warn!(
                error = error_chain(&error),
                "the lexical index could not be tidied; searches are right but slower until the next time"
            );
        }
    }

    async fn reap_until(&self, heartbeat: &Heartbeat, stop: &CancellationToken) {
        let every = self.processor.settings.lease / 2;
        loop {
            match self.reap().await {
                Ok(_) => heartbeat.beat(),
                Err(error) => tracing::warn!(
                    error = error_chain(&error),
                    "the documents of lost workers could not be queued again; the next try is in half a lease"
                ),
            }
            if stop.run_until_cancelled(tokio::time::sleep(every)).await.is_none() {
                return;
            }
        }
    }

    /// Returns the items of lost workers to the queue; returns their number.
    ///
    /// # Errors
    /// Store errors.
    async fn reap(&self) -> Result<u64, ServiceError> {
        let now = self.processor.context.clock.now();
        let taken_back = self.processor.store.jobs().reap(&self.processor.settings.lease(), now).await?;
        if taken_back > 0 {
            tracing::info!(items = taken_back, "documents of lost workers are queued again");
            self.processor.signal.queued();
        }
        Ok(taken_back)
    }

    /// Makes one claim, and processes it.
    ///
    /// # Errors
    /// Store errors; the claim has then been released, or returns to the queue when its lease ends.
    async fn step(&self, duty: Duty, heartbeat: &Heartbeat) -> Result<Progress, ServiceError> {
        let Some((claim, _turn)) = self.claim(duty).await? else { return Ok(Progress::Idle) };
        let is_small = claim.handle.phase == Phase::Store && claim.bytes() <= SMALL_BYTES;
        let work = Box::pin(self.work_on(claim, heartbeat));
        if is_small {
            self.processor.signal.while_soon_free(work).await?;
        } else {
            work.await?;
        }
        heartbeat.beat();
        Ok(Progress::Worked)
    }

    /// Processes a claim, and ends the jobs whose last item is settled.
    ///
    /// # Errors
    /// Store errors, as of [`Self::step`].
    async fn work_on(&self, claim: Claim, heartbeat: &Heartbeat) -> Result<(), ServiceError> {
        let processor = &self.processor;
        // Vectors, and attachments of a message that was fetched: this task does not make them.
        let queues_more = claim.handle.phase == Phase::Fetch
            || (claim.handle.phase == Phase::Store && claim.indexing == Indexing::Progressive);
        let handle = claim.handle;
        let metrics = Arc::new(JobMetrics::of(claim.items.iter().map(|item| (item.key, item.content.len()))));
        let items: Vec<ItemKey> = claim.items.iter().map(|item| item.key).collect();
        let tries = Tries::of(&claim);
        let result = self.process_with_heartbeat(handle, claim, &metrics, heartbeat).await;
        match result {
            Ok(WorkEnd::Over) => {}
            // The work may have ended because another worker did it after this one was considered lost.
            Ok(WorkEnd::Stopped) => {
                processor.store.jobs().take_back_loss(handle, &items).await?;
            }
            Ok(WorkEnd::LeaseLost) => self.give_back(handle, &items, 0).await,
            Err(error) => {
                let (over, again): (Vec<ItemKey>, Vec<ItemKey>) =
                    items.iter().partition(|item| tries.get(item).is_some_and(|tries| tries.claims >= MAX_CLAIMS));
                let claims = again.iter().filter_map(|item| tries.get(item)).map(|tries| tries.claims).max();
                self.give_back(handle, &again, pause_s(claims.unwrap_or(0))).await;
                processor.fail_all(handle, over.into_iter(), &IngestFailure::from(&error).failure).await?;
                // Those may have been the last items of the job; and what the work so far has cost is to be counted.
                processor.finish_jobs(handle.tenant, &metrics).await?;
                return Err(error);
            }
        }
        processor.finish_jobs(handle.tenant, &metrics).await?;
        if queues_more {
            self.processor.signal.queued();
        }
        Ok(())
    }

    /// Makes a claim, which holds the turn of large ones if it is one of them. Each takes several times its size in memory, so
    /// they are processed one after another; the next ones wait in the queue, and this task takes smaller ones meanwhile.
    async fn claim(&self, duty: Duty) -> Result<Option<(Claim, Option<OwnedMutexGuard<()>>)>, StoreError> {
        let Processor { store, settings, context, .. } = &self.processor;
        let (phases, lease) = match duty {
            Duty::Phases(phases) => (phases, settings.lease()),
            Duty::Spare => (&[Phase::Store][..], settings.lease_of_spare()),
        };
        for phase in phases {
            let lease = if *phase == Phase::Fetch { settings.lease_of_fetches() } else { lease };
            let turn = if *phase == Phase::Store { Arc::clone(&self.large_turn).try_lock_owned().ok() } else { None };
            let below_bytes = (*phase == Phase::Store && turn.is_none()).then_some(i64::from(LARGE_BYTES));
            let lease = Lease { below_bytes, ..lease };
            if let Some(claim) = store.jobs().claim(*phase, &lease, context.clock.now()).await? {
                let is_large = claim.bytes() >= LARGE_BYTES as usize;
                return Ok(Some((claim, turn.filter(|_| is_large))));
            }
        }
        Ok(None)
    }

    /// Works while the lease is renewed; work on a lost lease is dropped, since its writes would be refused.
    #[tracing::instrument(target = "cited::trace", name = "ingest_batch", skip_all)]
    async fn process_with_heartbeat(
        &self,
        handle: ClaimHandle,
        claim: Claim,
        metrics: &Arc<JobMetrics>,
        heartbeat: &Heartbeat,
    ) -> Result<WorkEnd, ServiceError> {
        let jobs = jobs_of(&claim.items.iter().map(|item| item.key).collect::<Vec<_>>());
        tokio::select! {
            result = Box::pin(self.processor.process(claim, metrics)) => result.map(|()| WorkEnd::Over),
            () = self.keep_lease(handle, heartbeat) => {
                tracing::warn!(
                    jobs, fence = handle.fence,
                    "the lease of a batch ended while it was worked on; its documents are queued again"
                );
                Ok(WorkEnd::LeaseLost)
            }
            () = self.keep_notes(handle, metrics) => {
                tracing::info!(jobs, fence = handle.fence, "stopped work on jobs that have ended");
                Ok(WorkEnd::Stopped)
            }
        }
    }

    /// Releases an unfinished claim, as soon as the database can be reached: its remaining items return to the queue, to be
    /// claimed after a pause, and those that another worker took do not count as the loss of a worker.
    async fn give_back(&self, handle: ClaimHandle, items: &[ItemKey], pause_s: i64) {
        while let Err(error) = self.try_to_give_back(handle, items, pause_s).await {
            let is_worth_waiting = error.is_transient() && !self.processor.signal.stopping.is_cancelled();
            if !is_worth_waiting {
                tracing::warn!(
                    error = error_chain(&error),
                    jobs = jobs_of(items),
                    "a batch could not be put back into the queue; it is queued again when its lease ends"
                );
                return;
            }
            tokio::time::sleep(REST_WITHOUT_DATABASE).await;
        }
    }

    async fn try_to_give_back(&self, handle: ClaimHandle, items: &[ItemKey], pause_s: i64) -> Result<(), StoreError> {
        let store = &self.processor.store;
        store.jobs().take_back_loss(handle, items).await?;
        let at = self.processor.context.clock.now() + time::Duration::seconds(pause_s);
        store.jobs().release_items(handle, items, false, at).await
    }

    /// Reports the progress of the batch to the readers of its jobs; returns when all of them are to stop. The documents of
    /// one that stops alone are refused when they are to be stored.
    async fn keep_notes(&self, handle: ClaimHandle, metrics: &JobMetrics) {
        loop {
            tokio::time::sleep(NOTE).await;
            let now = self.processor.context.clock.now();
            let taken = metrics.take();
            let works = taken.works();
            if works.is_empty() {
                continue;
            }
            match self.processor.store.jobs().note_work(handle.tenant, &works, now).await {
                Ok(goes_on) => {
                    taken.stored();
                    if !goes_on {
                        return;
                    }
                }
                Err(error) => tracing::debug!(error = error_chain(&error), "progress could not be noted"),
            }
        }
    }

    /// Returns when the lease is lost.
    async fn keep_lease(&self, handle: ClaimHandle, heartbeat: &Heartbeat) {
        let lease = self.processor.settings.lease;
        loop {
            tokio::time::sleep(lease / BEATS_PER_LEASE).await;
            let until = self.processor.context.clock.now() + lease;
            match self.processor.store.jobs().heartbeat(handle, until).await {
                Ok(0) => return,
                Ok(_) => heartbeat.beat(),
                // The database may become available again before the lease ends; the commit decides.
                Err(error) => tracing::warn!(
                    error = error_chain(&error),
                    fence = handle.fence,
                    "the lease of a batch could not be renewed; the next try is in a third of a lease"
                ),
            }
        }
    }
}

/// Seconds until items are claimed again whose work has ended by an outage, after so many claims. The first claims follow at
/// once. On a cluster the queue may answer while the server of a tenant does not, and all claims would be used up in seconds;
/// with the pauses they last for some minutes. Longer pauses would outlast the outage: each connection that was open to the
/// server fails once more after it.
fn pause_s(claims: i32) -> i64 {
    match claims.saturating_sub(CLAIMS_AT_ONCE) {
        ..=0 => 0,
        late => doubled_s(late - 1, LONGEST_PAUSE_S),
    }
}
