//! The private Postgres of embedded mode: found, created, started, kept up and stopped by the
//! service.
//!
//! ```text
//! settings      what it is told           binaries      which Postgres
//! data_dir      layout, lock, socket      unprivileged  as whom it runs
//! cluster       initdb, password          recovery      what an earlier run left
//! server        one run of Postgres       supervisor    run after run
//! parameters    of the server             log_file      of the server
//! ```

mod binaries;
mod cluster;
mod data_dir;
mod error;
mod log_file;
mod memory;
mod parameters;
mod recovery;
mod server;
mod settings;
mod supervisor;
mod unprivileged;

use std::{
    fmt,
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicI32, Ordering},
    },
};

use nix::sys::signal::Signal;
use sqlx::postgres::PgConnectOptions;
use tokio::{
    sync::{oneshot, watch},
    task::{JoinHandle, spawn_blocking},
};

pub use binaries::{Binaries, Source, find_binaries};
pub use error::{PrivatePostgresError, Skipped};
pub use parameters::MAX_CONNECTIONS;
pub use settings::{Durability, Folders, Settings};

use data_dir::{DataDir, SocketDir, cluster_of};
use server::Installation;
use settings::ROOT_CACHE_DIR;
use supervisor::Supervisor;
use unprivileged::RunAs;

/// The role that owns everything. The service's pools run as a lesser one.
const SUPERUSER: &str = "postgres";

/// The database of the service.
const DATABASE: &str = "cited";

/// A Postgres that runs for this process alone.
///
/// Call [`stop`](Self::stop) in the end. Dropping it asks Postgres to stop without waiting for it.
pub struct PrivatePostgres {
    connect_options: PgConnectOptions,
    binaries: Binaries,
    stop: watch::Sender<bool>,
    given_up: watch::Receiver<Option<Arc<PrivatePostgresError>>>,
    pid: Arc<AtomicI32>,
    /// `None` once it is being stopped.
    supervisor: Option<JoinHandle<Result<(), PrivatePostgresError>>>,
}

impl PrivatePostgres {
    /// Starts Postgres on the data directory and waits until it accepts connections. The first
    /// start creates the database. From then on it is supervised: when it dies it is started again,
    /// and the connection options stay valid.
    ///
    /// # Errors
    /// If no Postgres fits, the data directory is in use or cannot be reached, or Postgres does not
    /// come up.
    ///
    /// # Cancel safety
    /// If dropped, Postgres is stopped in the background.
    pub async fn start(settings: &Settings) -> Result<Self, PrivatePostgresError> {
        let settings = settings.clone();
        let installation = spawn_blocking(move || prepare(&settings)).await??;
        let (stop, stop_receiver) = watch::channel(false);
        let (given_up_sender, given_up) = watch::channel(None);
        let (first_start, started) = oneshot::channel();
        let pid = Arc::new(AtomicI32::new(0));
        let connect_options = installation.connect_options(DATABASE);
        let binaries = installation.binaries.clone();
        let supervisor = Supervisor {
            installation: Arc::new(installation),
            stop: stop_receiver,
            first_start: Some(first_start),
            given_up: given_up_sender,
            pid: Arc::clone(&pid),
        };
        let mut postgres =
            Self { connect_options, binaries, stop, given_up, pid, supervisor: Some(tokio::spawn(supervisor.run())) };
        match started.await {
            Ok(Ok(())) => Ok(postgres),
            Ok(Err(error)) => {
                postgres.join().await?;
                Err(error)
            }
            // The supervisor ended without sending a result; joining it returns the reason.
            Err(_) => {
                postgres.join().await?;
                Err(PrivatePostgresError::Interrupted)
            }
        }
    }

    /// How to connect to the database `cited` as the superuser. Valid for as long as this value
    /// lives, restarts included.
    #[must_use]
    pub fn connect_options(&self) -> PgConnectOptions {
        self.connect_options.clone()
    }

    /// Which Postgres runs.
    #[must_use]
    pub fn binaries(&self) -> &Binaries {
        &self.binaries
    }

    /// Resolves only if supervision has given up (Postgres kept failing and does not run) or has died itself. The
    /// service should end then.
    ///
    /// # Cancel safety
    /// May be dropped and called again.
    pub fn failed(&self) -> impl Future<Output = PrivatePostgresError> + Send + use<> {
        let mut given_up = self.given_up.clone();
        let stop = self.stop.subscribe();
        async move {
            let last = given_up.wait_for(Option::is_some).await.ok().and_then(|last| last.clone());
            if let Some(last) = last {
                return PrivatePostgresError::CrashLoop { failures: supervisor::FAILURE_LIMIT, last };
            }
            // The supervisor has ended without giving up.
            let was_asked_to = *stop.borrow() || stop.has_changed().is_err();
            if was_asked_to { pending().await } else { PrivatePostgresError::SupervisorDied }
        }
    }

    /// Stops Postgres, cleanly if that can be done in time, and waits until no process of it is
    /// left.
    ///
    /// # Errors
    /// If it cannot be stopped.
    ///
    /// # Cancel safety
    /// If dropped, stopping goes on in the background.
    pub async fn stop(mut self) -> Result<(), PrivatePostgresError> {
        self.stop.send_replace(true);
        self.join().await
    }

    async fn join(&mut self) -> Result<(), PrivatePostgresError> {
        match self.supervisor.take() {
            Some(supervisor) => supervisor.await?,
            None => Ok(()),
        }
    }
}

impl Drop for PrivatePostgres {
    fn drop(&mut self) {
        // Dropping the channel makes the supervisor stop Postgres. The signal is for the case that
        // the runtime ends before the supervisor's turn comes.
        let pid = self.pid.load(Ordering::SeqCst);
        if self.supervisor.is_some() && pid > 0 {
            self.stop.send_replace(true);
            recovery::send(pid, Signal::SIGINT);
        }
    }
}

impl fmt::Debug for PrivatePostgres {
    /// Leaves out the connection options, whose `Debug` shows the password.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PrivatePostgres")
            .field("binaries", &self.binaries)
            .field("pid", &self.pid)
            .finish_non_exhaustive()
    }
}

/// Everything that is needed before Postgres can be started.
fn prepare(settings: &Settings) -> Result<Installation, PrivatePostgresError> {
    let run_as = RunAs::choose(&cluster_of(&settings.data_dir))?;
    let data = DataDir::open(&settings.data_dir, &run_as)?;
    let binaries = find_binaries(settings)?;
    let password = cluster::ensure(&data, &binaries, &run_as, settings.durability)?;
    let socket_dir = SocketDir::prepare(&data, &run_as)?;
    let durability = settings.durability;
    Ok(Installation { socket_dir, binaries, run_as, password, durability, data })
}

/// Checks that Postgres could be started on the data directory now; creates and changes nothing.
///
/// # Errors
/// As [`PrivatePostgres::start`], as far as it can be told beforehand.
pub fn examine(settings: &Settings) -> Result<(), PrivatePostgresError> {
    let run_as = RunAs::choose(&cluster_of(&settings.data_dir))?;
    if let Some(root) = data_dir::look(&settings.data_dir, &run_as)?
        && cluster_of(&root).exists()
    {
        cluster::existing(&root)?;
    }
    Ok(())
}

/// Random bytes of the operating system, as hexadecimal digits.
fn random_hex(bytes: usize) -> Result<String, PrivatePostgresError> {
    let mut buffer = vec![0; bytes];
    getrandom::fill(&mut buffer).map_err(PrivatePostgresError::Random)?;
    Ok(buffer.iter().map(|byte| format!("{byte:02x}")).collect())
}
