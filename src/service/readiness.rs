//! Readiness: requests can be served, and queued work is being processed.

use std::{collections::BTreeSet, time::Duration};

use time::OffsetDateTime;
use tokio_util::sync::CancellationToken;

use super::{
    StoreError,
    background::{BackgroundTask, Heartbeats, StalledLoop},
    context::Context,
};
use crate::store::Store;

/// Interval at which stalled loops are looked for in order to log them.
const WATCH: Duration = Duration::from_secs(15);

/// The use case.
#[derive(Clone)]
pub(crate) struct Readiness {
    store: Store,
    heartbeats: Heartbeats,
    context: Context,
}

/// Why the service is not ready.
#[derive(Debug)]
pub(crate) enum NotReady {
    /// The database does not answer.
    Store(StoreError),
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
    pub(crate) const fn new(store: Store, heartbeats: Heartbeats, context: Context) -> Self {
        Self { store, heartbeats, context }
    }

    /// Pings the database and checks the heartbeats of the background loops.
    ///
    /// # Errors
    /// [`NotReady`] with the reason why the service is not ready.
    pub(crate) async fn check(&self) -> Result<(), NotReady> {
        self.store.ping().await.map_err(NotReady::Store)?;
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
