//! Keeps Postgres running: starts it, restarts it when it dies, gives up when restarts do not help, and stops it at the
//! end.

use std::{
    sync::{Arc, atomic::AtomicI32},
    time::Duration,
};

use tokio::{
    sync::{oneshot, watch},
    task::spawn_blocking,
    time::{Instant, sleep},
};

use super::{PrivatePostgresError, server::Installation};

/// This many failures in a row are a crash loop.
pub(super) const FAILURE_LIMIT: u32 = 5;

/// After a run of this length the count of failures starts again.
const STABLE_AFTER: Duration = Duration::from_mins(1);

/// Delay after the first failure; it doubles with each further one.
const FIRST_BACKOFF: Duration = Duration::from_millis(200);

/// The task that owns Postgres.
pub(super) struct Supervisor {
    pub(super) installation: Arc<Installation>,
    /// Becomes true, or loses its sender, when Postgres shall stop.
    pub(super) stop: watch::Receiver<bool>,
    /// Receives the outcome of the first start.
    pub(super) first_start: Option<oneshot::Sender<Result<(), PrivatePostgresError>>>,
    /// Receives the reason when supervision gives up.
    pub(super) given_up: watch::Sender<Option<Arc<PrivatePostgresError>>>,
    /// The process number of Postgres while it runs, else 0.
    pub(super) pid: Arc<AtomicI32>,
}

/// How one run, or the whole supervision, ended.
enum Ended {
    /// It was requested to stop.
    Stopped,
    /// It failed.
    Failed(PrivatePostgresError),
}

impl Supervisor {
    /// Runs until told to stop, or until supervision gives up. No process is left in either case.
    ///
    /// # Errors
    /// If Postgres could not be stopped.
    pub(super) async fn run(mut self) -> Result<(), PrivatePostgresError> {
        let ended = self.keep_up().await;
        // A postmaster that was killed leaves its children behind for a moment.
        let cleared = self.clear_leftovers().await;
        match (ended, self.first_start.take()) {
            (Ended::Failed(error), Some(first_start)) => {
                // Nobody listens if the start was abandoned.
                let _ = first_start.send(Err(error));
            }
            (Ended::Failed(error), None) => {
                self.given_up.send_replace(Some(Arc::new(error)));
            }
            (Ended::Stopped, _) => {}
        }
        cleared
    }

    /// Runs Postgres repeatedly, until a run is stopped or too many have failed.
    async fn keep_up(&mut self) -> Ended {
        let mut failures = 0;
        loop {
            let begun = Instant::now();
            let Ended::Failed(error) = self.run_once().await else {
                return Ended::Stopped;
            };
            failures = if begun.elapsed() >= STABLE_AFTER { 1 } else { failures + 1 };
            let is_first_start = self.first_start.is_some();
            if is_first_start || failures >= FAILURE_LIMIT {
                tracing::error!(failures, %error, "Postgres failed and is not started again");
                return Ended::Failed(error);
            }
            tracing::error!(failures, %error, "Postgres failed and is started again");
            let backoff = FIRST_BACKOFF * 2_u32.pow(failures - 1);
            tokio::select! {
                () = sleep(backoff) => {}
                () = stopped(&mut self.stop) => return Ended::Stopped,
            }
        }
    }

    /// One run of Postgres, from cleaning up after the previous one to its end.
    async fn run_once(&mut self) -> Ended {
        if let Err(error) = self.clear_leftovers().await {
            return Ended::Failed(error);
        }
        let mut server = match self.installation.spawn(Arc::clone(&self.pid)) {
            Ok(server) => server,
            Err(error) => return Ended::Failed(error),
        };
        let until_failed = async {
            if let Err(error) = server.wait_until_ready(&self.installation).await {
                return error;
            }
            tracing::info!(binaries = %self.installation.binaries, "the private Postgres is up");
            if let Some(first_start) = self.first_start.take() {
                let _ = first_start.send(Ok(()));
            }
            server.died().await
        };
        let ended = tokio::select! {
            error = until_failed => Ended::Failed(error),
            () = stopped(&mut self.stop) => Ended::Stopped,
        };
        // Postgres may be running: one that does not become ready has not ended for that.
        match server.shut_down().await {
            Ok(()) => ended,
            Err(error) => Ended::Failed(error),
        }
    }

    async fn clear_leftovers(&self) -> Result<(), PrivatePostgresError> {
        let installation = Arc::clone(&self.installation);
        spawn_blocking(move || installation.clear_leftovers()).await?
    }
}

/// Resolves when the owner asked for the end, or is gone.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    // An error means that the sender was dropped, which asks for the same.
    let _ = stop.wait_for(|stop| *stop).await;
}
