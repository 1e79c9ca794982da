//! Notifications between the requests and the workers of this process, without queries to the database.

use std::{
    collections::VecDeque,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::{
    FutureExt,
    future::{Either, select, select_all},
};
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::store::Phase;

/// Settlements that a reader may be behind before it misses one.
const BACKLOG: usize = 1_024;

/// Time after which a worker that was expected to be free soon is not waited for.
const SOON: Duration = Duration::from_millis(50);

/// Messages between the requests and the workers of this process.
#[derive(Debug)]
pub(crate) struct Signal {
    to_fetch: Notify,
    to_store: Notify,
    to_embed: Notify,
    /// Workers that store small claims, and look for the next one soon.
    soon_free: AtomicUsize,
    /// Jobs of which a batch has been settled.
    settled: broadcast::Sender<Uuid>,
    /// The latest of them, the oldest first.
    latest: Mutex<VecDeque<Uuid>>,
    /// Whether documents were stored past the queue since a worker looked last, and whether the index waits to be tidied after
    /// earlier ones.
    stored_lately: AtomicBool,
    untidy: AtomicBool,
    /// The service stops: all waits end.
    pub(super) stopping: CancellationToken,
}

impl Default for Signal {
    fn default() -> Self {
        Self {
            to_fetch: Notify::new(),
            to_store: Notify::new(),
            to_embed: Notify::new(),
            soon_free: AtomicUsize::new(0),
            settled: broadcast::Sender::new(BACKLOG),
            latest: Mutex::new(VecDeque::with_capacity(BACKLOG)),
            stored_lately: AtomicBool::new(false),
            untidy: AtomicBool::new(false),
            stopping: CancellationToken::new(),
        }
    }
}

impl Signal {
    /// Notifies all workers that there is work.
    pub(crate) fn queued(&self) {
        for phase in [Phase::Fetch, Phase::Store, Phase::Embed] {
            self.of(phase).notify_waiters();
        }
    }

    /// Notifies one worker of a phase that there is work for one. Documents to store are left to a worker that is soon free, if
    /// there is one: what arrives meanwhile is stored together.
    pub(super) fn queued_one(&self, phase: Phase) {
        if phase != Phase::Store || self.soon_free.load(Ordering::SeqCst) == 0 {
            self.of(phase).notify_one();
        }
    }

    /// Does work after which the worker looks for the next claim, and tells nobody else of documents that arrive meanwhile,
    /// unless it takes longer than expected.
    pub(super) async fn while_soon_free<T>(&self, work: impl Future<Output = T> + Unpin) -> T {
        let soon_free = SoonFree::of(self);
        match select(work, Box::pin(tokio::time::sleep(SOON))).await {
            Either::Left((done, _)) => done,
            Either::Right(((), work)) => {
                drop(soon_free);
                self.of(Phase::Store).notify_one();
                work.await
            }
        }
    }

    /// Notes that documents were stored past the queue.
    pub(super) fn stored_directly(&self) {
        self.stored_lately.store(true, Ordering::SeqCst);
    }

    /// Whether the index is to be tidied after documents that were stored past the queue: once, when none came since the last
    /// time that a worker asked.
    pub(super) fn is_untidy(&self) -> bool {
        if self.stored_lately.swap(false, Ordering::SeqCst) {
            self.untidy.store(true, Ordering::SeqCst);
            return false;
        }
        self.untidy.swap(false, Ordering::SeqCst)
    }

    /// Resolves when there is work in one of these phases; work that is queued from now on counts.
    pub(super) fn work(&self, phases: &[Phase]) -> impl Future<Output = ()> + Send {
        let queued: Vec<_> = phases.iter().map(|phase| Box::pin(self.of(*phase).notified())).collect();
        select_all(queued).map(|_| ())
    }

    /// Notifies those who wait for a job that some of its items are settled, or that it has ended.
    pub(super) fn settled(&self, job: Uuid) {
        {
            let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
            if latest.len() == BACKLOG {
                latest.pop_front();
            }
            latest.push_back(job);
        }
        // Without receivers nobody waits.
        let _ = self.settled.send(job);
    }

    /// Whether a job is among the latest of which something was settled: it may have ended before anybody waited for it.
    pub(super) fn was_settled(&self, job: Uuid) -> bool {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).iter().rev().any(|settled| *settled == job)
    }

    /// The settlements from now on.
    pub(super) fn settlements(&self) -> Settlements {
        Settlements(self.settled.subscribe())
    }

    const fn of(&self, phase: Phase) -> &Notify {
        match phase {
            Phase::Fetch => &self.to_fetch,
            Phase::Store => &self.to_store,
            Phase::Embed => &self.to_embed,
        }
    }
}

/// A worker that is soon free, until this is dropped.
struct SoonFree<'s>(&'s Signal);

impl<'s> SoonFree<'s> {
    fn of(signal: &'s Signal) -> Self {
        signal.soon_free.fetch_add(1, Ordering::SeqCst);
        Self(signal)
    }
}

impl Drop for SoonFree<'_> {
    fn drop(&mut self) {
        self.0.soon_free.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Settlements of this process in their order.
pub(super) struct Settlements(broadcast::Receiver<Uuid>);

impl Settlements {
    /// Resolves with the next settlement of a job, or when settlements were missed.
    pub(super) async fn of(&mut self, job: Uuid) {
        while self.0.recv().await.is_ok_and(|settled| settled != job) {}
        self.pass_over();
    }

    /// Resolves with the next settlement of any job.
    pub(super) async fn any(&mut self) {
        // One that was missed is a settlement too.
        let _ = self.0.recv().await;
        self.pass_over();
    }

    /// Whoever was told reads the state once for all that has happened by now.
    fn pass_over(&mut self) {
        self.0 = self.0.resubscribe();
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_document_wakes_one_worker_of_its_phase() {
        let signal = Signal::default();
        let mut waits = [&[Phase::Store][..], &[Phase::Store, Phase::Embed], &[Phase::Fetch]]
            .map(|duty| Box::pin(signal.work(duty)));
        let mut woken = || waits.iter_mut().filter_map(|wait| wait.as_mut().now_or_never()).count();
        assert_eq!(woken(), 0);
        signal.queued_one(Phase::Store);
        assert_eq!(woken(), 1);
    }

    #[tokio::test]
    async fn work_that_is_queued_before_a_worker_waits_is_not_missed() {
        let signal = Signal::default();
        let wait = signal.work(&[Phase::Embed]);
        signal.queued();
        wait.await;
        signal.queued_one(Phase::Store);
        signal.work(&[Phase::Store]).await;
    }

    #[tokio::test]
    async fn documents_are_left_to_a_worker_that_is_soon_free() {
        let signal = Signal::default();
        let mut wait = Box::pin(signal.work(&[Phase::Store]));
        let work = async {
            signal.queued_one(Phase::Store);
            assert!(wait.as_mut().now_or_never().is_none());
        };
        signal.while_soon_free(Box::pin(work)).await;
        assert!(wait.as_mut().now_or_never().is_none(), "the worker itself looks for it");
        // Work that hangs leaves them to others.
        tokio::select! {
            () = signal.while_soon_free(std::future::pending::<()>()) => {}
            () = wait => {}
        }
    }

    #[test]
    fn what_was_settled_before_anybody_asked_is_remembered_for_a_while() {
        let signal = Signal::default();
        let (mine, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        signal.settled(mine);
        assert!(signal.was_settled(mine) && !signal.was_settled(other));
        (0..BACKLOG).for_each(|_| signal.settled(other));
        assert!(!signal.was_settled(mine));
    }

    #[tokio::test]
    async fn a_reader_is_told_of_its_own_job() {
        let signal = Signal::default();
        let (mine, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mut settlements = signal.settlements();
        signal.settled(other);
        assert!(settlements.of(mine).now_or_never().is_none());
        signal.settled(mine);
        settlements.of(mine).await;
        (0..=BACKLOG).for_each(|_| signal.settled(other));
        settlements.of(mine).await;
    }
}
