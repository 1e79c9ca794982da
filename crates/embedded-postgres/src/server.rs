//! One run of Postgres: started, waited for, shut down.

use std::{
    process::ExitStatus,
    sync::{
        Arc,
        atomic::{AtomicI32, Ordering},
    },
    time::Duration,
};

use nix::sys::signal::Signal;
use sqlx::{
    ConnectOptions, Connection, PgConnection,
    postgres::{PgConnectOptions, PgSslMode},
};
use tokio::{
    process::{Child, Command},
    time::{Instant, sleep, timeout},
};

use super::{
    DATABASE, Durability, PrivatePostgresError, SUPERUSER,
    binaries::Binaries,
    cluster::Password,
    data_dir::{DataDir, SOCKET_PORT, SocketDir},
    log_file::RunLog,
    parameters::parameters,
    recovery::{FAST_SHUTDOWN_LIMIT, IMMEDIATE_SHUTDOWN_LIMIT, clear_leftovers, send},
    unprivileged::RunAs,
};

/// How long Postgres may be silent before it counts as not starting.
const START_LIMIT: Duration = Duration::from_mins(1);

/// Time limit for replaying the log after a crash. Postgres answers meanwhile that it is recovering.
const RECOVERY_LIMIT: Duration = Duration::from_mins(15);

/// A recovery that takes longer is reported to the operator, who would otherwise think that the service hangs.
const TELL_AFTER: Duration = Duration::from_secs(3);

const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// The SQLSTATE class of a wrong password. Other refusals, such as too many connections while all pools reconnect, are
/// temporary.
const INVALID_AUTHORIZATION: &str = "28";

/// SQLSTATE `cannot_connect_now`: starting up, shutting down or recovering.
const CANNOT_CONNECT_NOW: &str = "57P03";

/// Everything that is needed to run Postgres repeatedly. Holds the lock of the data directory.
#[derive(Debug)]
pub(super) struct Installation {
    pub(super) socket_dir: SocketDir,
    pub(super) binaries: Binaries,
    pub(super) run_as: RunAs,
    pub(super) password: Password,
    pub(super) durability: Durability,
    /// The last field, so that the lock is released after everything else has been dropped.
    pub(super) data: DataDir,
}

impl Installation {
    /// Options to connect to a database of this server as its superuser.
    pub(super) fn connect_options(&self, database: &str) -> PgConnectOptions {
        PgConnectOptions::new_without_pgpass()
            .host("localhost")
            .socket(self.socket_dir.path())
            .port(SOCKET_PORT)
            .username(SUPERUSER)
            .password(self.password.reveal())
            .database(database)
            .application_name("cited")
            // The socket is not encrypted, and `PGSSLMODE` in the environment must not ask that it
            // be.
            .ssl_mode(PgSslMode::Disable)
    }

    /// Ends the processes that an earlier run left. Blocks.
    pub(super) fn clear_leftovers(&self) -> Result<(), PrivatePostgresError> {
        clear_leftovers(&self.data.cluster())?;
        self.socket_dir.clear();
        Ok(())
    }

    /// Starts the process. `pid` holds its number for as long as it runs.
    pub(super) fn spawn(&self, pid: Arc<AtomicI32>) -> Result<Server, PrivatePostgresError> {
        let (log, output) = RunLog::open(&self.data.log_file())?;
        let program = self.binaries.directory.join("postgres");
        let failed = || PrivatePostgresError::file("run", &program);
        let cluster = self.data.cluster();
        let mut command = self.run_as.command(&program);
        command.arg("-D").arg(&cluster).current_dir(&cluster);
        for parameter in parameters(self.socket_dir.path(), self.durability) {
            command.arg("-c").arg(parameter);
        }
        command.stdout(output.try_clone().map_err(failed())?).stderr(output);
        let child = Command::from(command).spawn().map_err(failed())?;
        let number = child.id().and_then(|id| i32::try_from(id).ok()).unwrap_or(0);
        pid.store(number, Ordering::SeqCst);
        Ok(Server { child, log, pid })
    }
}

/// A running Postgres.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    log: RunLog,
    pid: Arc<AtomicI32>,
}

impl Server {
    /// Waits until it accepts connections and the service's database is there.
    ///
    /// # Errors
    /// If it ends, stays silent or refuses; with the last lines of its log.
    ///
    /// # Cancel safety
    /// May be dropped at any point; nothing is lost.
    pub(super) async fn wait_until_ready(&mut self, installation: &Installation) -> Result<(), PrivatePostgresError> {
        let options = installation.connect_options("postgres");
        let begun = Instant::now();
        let mut is_told = false;
        loop {
            let attempt = timeout(START_LIMIT, options.connect());
            let outcome = tokio::select! {
                status = self.child.wait() => return Err(self.start_failed(ended(status))),
                outcome = attempt => outcome,
            };
            let limit = match outcome {
                Ok(Ok(connection)) => return prepare(connection).await,
                Ok(Err(error)) if says(&error, CANNOT_CONNECT_NOW) => {
                    if !is_told && begun.elapsed() > TELL_AFTER {
                        is_told = true;
                        tracing::info!("Postgres is recovering from an unclean end; this may take minutes");
                    }
                    RECOVERY_LIMIT
                }
                Ok(Err(error)) if says(&error, INVALID_AUTHORIZATION) => {
                    return Err(self.start_failed(format!("it refuses the connection: {error}")));
                }
                Ok(Err(_)) | Err(_) => START_LIMIT,
            };
            if begun.elapsed() > limit {
                let seconds = limit.as_secs();
                return Err(self.start_failed(format!("it was not ready within {seconds} s")));
            }
            sleep(POLL_INTERVAL).await;
        }
    }

    /// Waits until it ends, which it should not.
    ///
    /// # Cancel safety
    /// May be dropped and called again.
    pub(super) async fn died(&mut self) -> PrivatePostgresError {
        let status = ended(self.child.wait().await);
        self.pid.store(0, Ordering::SeqCst);
        PrivatePostgresError::Died { status, log: self.log.path(), log_tail: self.log.tail() }
    }

    /// Shuts it down: cleanly if it can be done in time, else at once.
    ///
    /// # Errors
    /// If it cannot be waited for.
    pub(super) async fn shut_down(&mut self) -> Result<(), PrivatePostgresError> {
        let steps = [
            (Signal::SIGINT, FAST_SHUTDOWN_LIMIT),
            (Signal::SIGQUIT, IMMEDIATE_SHUTDOWN_LIMIT),
            (Signal::SIGKILL, IMMEDIATE_SHUTDOWN_LIMIT),
        ];
        for (signal, limit) in steps {
            // The number vanishes with the process, so no other can be hit.
            if let Some(pid) = self.child.id().and_then(|id| i32::try_from(id).ok()) {
                send(pid, signal);
            }
            if let Ok(waited) = timeout(limit, self.child.wait()).await {
                self.pid.store(0, Ordering::SeqCst);
                return match waited {
                    Ok(_) => Ok(()),
                    Err(error) => Err(PrivatePostgresError::file("wait for", "postgres")(error)),
                };
            }
            tracing::warn!(%signal, seconds = limit.as_secs(), "Postgres does not stop");
        }
        Err(self.start_failed("it does not end".to_owned()))
    }

    fn start_failed(&self, reason: String) -> PrivatePostgresError {
        PrivatePostgresError::StartFailed { reason, log: self.log.path(), log_tail: self.log.tail() }
    }
}

impl Drop for Server {
    /// The last resort, for a runtime that ends before the supervisor: a clean shutdown is requested, but not waited
    /// for.
    fn drop(&mut self) {
        if let Some(pid) = self.child.id().and_then(|id| i32::try_from(id).ok()) {
            send(pid, Signal::SIGINT);
        }
    }
}

fn ended(status: std::io::Result<ExitStatus>) -> String {
    match status {
        Ok(status) => status.to_string(),
        Err(error) => format!("a status that cannot be known ({error})"),
    }
}

/// Whether Postgres returned an error with this SQLSTATE, or of this class.
fn says(error: &sqlx::Error, code: &str) -> bool {
    error.as_database_error().and_then(sqlx::error::DatabaseError::code).is_some_and(|found| found.starts_with(code))
}

/// Creates the service's database unless it is there.
async fn prepare(mut connection: PgConnection) -> Result<(), PrivatePostgresError> {
    let create = async {
        let is_there: bool = sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)")
            .bind(DATABASE)
            .fetch_one(&mut connection)
            .await?;
        if !is_there {
            sqlx::query("CREATE DATABASE cited").execute(&mut connection).await?;
        }
        // An error's details quote the row that caused it, and rows hold documents. For this
        // database only: when Postgres itself cannot start, the details are wanted.
        sqlx::query("ALTER DATABASE cited SET log_error_verbosity = 'terse'").execute(&mut connection).await?;
        connection.close().await
    };
    create.await.map_err(PrivatePostgresError::Prepare)
}
