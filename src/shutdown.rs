//! Shutdown in two stages: the first signal lets work finish, a second one or the end of the grace period aborts it.

use std::time::Duration;

use tokio::{
    signal::unix::{SignalKind, signal},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

/// Time that work may continue after the first signal.
pub(crate) const GRACE: Duration = Duration::from_secs(25);

/// Time from the first signal to the first notice of what is waited for, and between notices.
const FIRST_NOTICE: Duration = Duration::from_secs(1);
const NOTICE_INTERVAL: Duration = Duration::from_secs(5);

/// The two stages of a shutdown.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    /// Accept no new work.
    pub soft: CancellationToken,
    /// Drop unfinished work.
    pub(crate) hard: CancellationToken,
}

impl Shutdown {
    /// Listens for SIGINT and SIGTERM.
    ///
    /// # Errors
    /// If the handlers of the signals cannot be installed.
    pub(crate) fn on_signals() -> std::io::Result<Self> {
        let shutdown = Self::default();
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let stages = shutdown.clone();
        tokio::spawn(async move {
            tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
            tracing::info!(
                gives_up_in_s = GRACE.as_secs(),
                "stopping: work under way is being finished; a second signal drops it"
            );
            stages.soft.cancel();
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                () = tokio::time::sleep(GRACE) => {}
            }
            stages.hard.cancel();
        });
        Ok(shutdown)
    }

    /// Stops as the first signal would, and aborts after the grace period.
    pub fn stop(&self) {
        self.soft.cancel();
        let hard = self.hard.clone();
        tokio::spawn(async move {
            tokio::time::sleep(GRACE).await;
            hard.cancel();
        });
    }
}

/// The times at which a part that stops tells what it still waits for.
#[derive(Debug)]
pub(crate) struct Notices {
    shutdown: Shutdown,
    stopping_since: Option<Instant>,
    interval: Duration,
}

impl Notices {
    /// The notices of one part.
    pub(crate) const fn new(shutdown: Shutdown) -> Self {
        Self { shutdown, stopping_since: None, interval: FIRST_NOTICE }
    }

    /// Waits for the next notice, which is never due while the service runs; returns the time until work is dropped.
    pub(crate) async fn next(&mut self) -> Duration {
        self.shutdown.soft.cancelled().await;
        let since = *self.stopping_since.get_or_insert_with(Instant::now);
        tokio::time::sleep(self.interval).await;
        self.interval = NOTICE_INTERVAL;
        GRACE.saturating_sub(since.elapsed())
    }
}
