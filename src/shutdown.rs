//! Shutdown in two stages: the first signal lets work finish, a second one or the end of the grace period aborts it.

use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Time that work may continue after the first signal.
pub(crate) const GRACE: Duration = Duration::from_secs(25);

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
            tracing::info!("stopping: work under way is finished for up to 25 s; a second signal drops it");
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
