//! Notifications between the requests and the workers of this process, without queries to the database.

use futures::{FutureExt, future::select_all};
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::store::Phase;

/// Settlements that a reader may be behind before it misses one.
const BACKLOG: usize = 1_024;

/// What requests and workers of this process tell each other.
#[derive(Debug)]
pub(crate) struct Signal {
    to_fetch: Notify,
    to_store: Notify,
    to_embed: Notify,
    /// Jobs of which a batch has been settled.
    settled: broadcast::Sender<Uuid>,
    /// The service stops: all waits end.
    pub(super) stopping: CancellationToken,
}

impl Default for Signal {
    fn default() -> Self {
        Self {
            to_fetch: Notify::new(),
            to_store: Notify::new(),
            to_embed: Notify::new(),
            settled: broadcast::Sender::new(BACKLOG),
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

    /// Notifies one worker of a phase that there is work for one.
    pub(super) fn queued_one(&self, phase: Phase) {
        self.of(phase).notify_one();
    }

    /// Resolves when there is work in one of these phases; work that is queued from now on counts.
    pub(super) fn work(&self, phases: &[Phase]) -> impl Future<Output = ()> + Send {
        let queued: Vec<_> = phases.iter().map(|phase| Box::pin(self.of(*phase).notified())).collect();
        select_all(queued).map(|_| ())
    }

    /// Notifies those who wait for a job that some of its items are settled, or that it has ended.
    pub(super) fn settled(&self, job: Uuid) {
        // Without receivers nobody waits.
        let _ = self.settled.send(job);
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
