//! Readiness: requests can be served, and queued work is being processed.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use time::OffsetDateTime;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{
    StoreError,
    background::{BackgroundTask, Heartbeats, StalledLoop},
    context::Context,
    together::Together,
};
use crate::store::Store;

/// Interval at which stalled loops are looked for in order to log them.
const WATCH: Duration = Duration::from_secs(15);

/// How long it counts that the database answered, or did not. Probes need no key, so that anybody may send any number.
const PING_LIFE: Duration = Duration::from_secs(1);

/// The use case.
#[derive(Clone)]
pub(crate) struct Readiness {
    store: Store,
    heartbeats: Heartbeats,
    context: Context,
    pings: Pings,
}

/// Whether the database answered; probes that share a ping share its error.
type Ping = Result<(), Arc<StoreError>>;

/// Pings of the database, one after the other.
#[derive(Clone, Default)]
struct Pings {
    shared: Together<(), (), Ping>,
    latest: Arc<Mutex<Option<(Instant, Ping)>>>,
}

/// Why the service is not ready.
#[derive(Debug)]
pub(crate) enum NotReady {
    /// The database does not answer.
    Store(Arc<StoreError>),
    /// Background loops have stalled, so the queue is not processed as it should be.
    Stalled(Vec<StalledSince>),
}

/// A loop that does not move.
#[derive(Debug)]
pub(crate) struct StalledSince {
    /// Its name.
    pub(crate) name: String,
    /// When it last moved.
    pub(crate) since: OffsetDateTime,
}

impl Readiness {
    /// That of this store and these loops.
    #[must_use]
    pub(crate) fn new(store: Store, heartbeats: Heartbeats, context: Context) -> Self {
        Self { store, heartbeats, context, pings: Pings::default() }
    }

    /// Checks that the database answered within the last second, and the heartbeats of the background loops.
    ///
    /// # Errors
    /// [`NotReady`] with the reason why the service is not ready.
    pub(crate) async fn check(&self) -> Result<(), NotReady> {
        let store = self.store.clone();
        let ping = move || {
            let store = store.clone();
            async move { store.ping().await.map_err(Arc::new) }
        };
        self.pings.latest(ping).await.map_err(NotReady::Store)?;
        let now = self.context.clock.now();
        let since = |StalledLoop { name, silent_for }: StalledLoop| StalledSince { name, since: now - silent_for };
        let stalled: Vec<StalledSince> = self.heartbeats.stalled().into_iter().map(since).collect();
        if stalled.is_empty() { Ok(()) } else { Err(NotReady::Stalled(stalled)) }
    }

    /// Logs loops that stall, for processes whose readiness is never requested.
    #[must_use]
    pub(crate) fn watch(&self, stop: CancellationToken) -> BackgroundTask {
        let heartbeats = self.heartbeats.clone();
        let run = Box::pin(async move {
            let mut known = BTreeSet::new();
            while stop.run_until_cancelled(tokio::time::sleep(WATCH)).await.is_some() {
                known = log_changes(&known, &heartbeats.stalled());
            }
        });
        BackgroundTask { name: "stall watch".to_owned(), run }
    }
}

impl Pings {
    /// The latest ping if it is recent, else another one.
    async fn latest<P>(&self, ping: impl Fn() -> P + Clone + Send + Sync + 'static) -> Ping
    where
        P: Future<Output = Ping> + Send,
    {
        let latest = Arc::clone(&self.latest);
        let answer = move |probes: Vec<()>| {
            let (latest, ping) = (Arc::clone(&latest), ping.clone());
            async move { vec![recent(&latest, ping).await; probes.len()] }
        };
        let shared = self.shared.call((), (), answer).await;
        shared.unwrap_or_else(|| Err(Arc::new(StoreError::panicked("a ping"))))
    }
}

async fn recent<P: Future<Output = Ping>>(latest: &Mutex<Option<(Instant, Ping)>>, ping: impl Fn() -> P) -> Ping {
    let lock = || latest.lock().unwrap_or_else(PoisonError::into_inner);
    let known = lock().as_ref().filter(|(at, _)| at.elapsed() < PING_LIFE).map(|(_, ping)| ping.clone());
    if let Some(known) = known {
        return known;
    }
    let ping = ping().await;
    *lock() = Some((Instant::now(), ping.clone()));
    ping
}

/// Logs loops that have stalled since the last check and loops that have recovered; returns the names of the stalled
/// ones.
fn log_changes(known: &BTreeSet<String>, stalled: &[StalledLoop]) -> BTreeSet<String> {
    for each in stalled.iter().filter(|each| !known.contains(&each.name)) {
        tracing::error!(
            task = each.name,
            silent_s = each.silent_for.as_secs(),
            "{each}; restart the service if it does not recover"
        );
    }
    let names: BTreeSet<String> = stalled.iter().map(|each| each.name.clone()).collect();
    for name in known.difference(&names) {
        tracing::info!(task = name, "{name} moves again");
    }
    names
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::future::join_all;

    use super::*;

    #[tokio::test]
    async fn any_number_of_probes_pings_once_a_second() {
        let (pings, sent) = (Pings::default(), Arc::new(AtomicUsize::new(0)));
        // It takes a while, and every second one fails.
        let ping = {
            let sent = Arc::clone(&sent);
            move || {
                let number = sent.fetch_add(1, Ordering::SeqCst);
                async move {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    if number % 2 == 0 { Ok(()) } else { Err(Arc::new(StoreError::Busy(PING_LIFE))) }
                }
            }
        };
        for round in 0..2 {
            let probes = join_all((0..200).map(|_| pings.latest(ping.clone()))).await;
            assert!(probes.iter().all(|probe| probe.is_ok() == (round % 2 == 0)), "{round}: {probes:?}");
            assert_eq!(sent.load(Ordering::SeqCst), round + 1);
            tokio::time::sleep(PING_LIFE).await;
        }
    }
}
