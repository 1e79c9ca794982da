//! Errors of the private Postgres. Every message includes how to resolve it, because the reader is someone who has just
//! typed `cited serve` and knows nothing of Postgres.

use std::{fmt, io, path::PathBuf, sync::Arc};

use thiserror::Error;

/// Why the private Postgres could not be found, started, kept up or stopped.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PrivatePostgresError {
    /// Neither the home folder nor the XDG folder is known.
    #[error("no home folder is known, so there is no place for {what}; set {variable} to a directory")]
    NoHome {
        /// The purpose of the folder.
        what: &'static str,
        /// The environment variable that sets the folder explicitly.
        variable: &'static str,
    },

    /// Another service process holds the lock of the data directory.
    #[error(
        "data directory {} is in use by {holder}; stop it first, or set CITED_DATA_DIR to another directory",
        path.display()
    )]
    InUse {
        /// The data directory.
        path: PathBuf,
        /// "process 4711", or "another process" when it left no number.
        holder: String,
    },

    /// The service runs as root, Postgres must not, and the user it runs as cannot reach the directory.
    #[error(
        "user {user} cannot reach {}: {} does not let it pass. Postgres refuses to run as root, so it runs as {user}. \
         Run `chmod o+x {}`, or choose another directory ({variable})",
        path.display(), ancestor.display(), ancestor.display()
    )]
    Unreachable {
        /// The user that Postgres would run as.
        user: String,
        /// The directory that it needs.
        path: PathBuf,
        /// The first directory on the way without search permission for that user.
        ancestor: PathBuf,
        /// The environment variable that names another directory.
        variable: &'static str,
    },

    /// The service runs as root, and there is no unprivileged account to run Postgres as.
    #[error(
        "Postgres refuses to run as root and there is neither a user `postgres` nor a user `nobody` to run it as; \
         create one, or start the service as an ordinary user"
    )]
    NoUnprivilegedUser,

    /// The cluster on disk belongs to another user.
    #[error(
        "the database in {} belongs to user id {owner}, not to the user that runs this service; \
         start the service as that user, or give the directory away with `chown -R`, or set CITED_DATA_DIR",
        path.display()
    )]
    ForeignOwner {
        /// The cluster directory.
        path: PathBuf,
        /// Its numeric owner.
        owner: u32,
    },

    /// No suitable Postgres was found anywhere.
    #[error(
        "no usable Postgres (16, 17 or 18, with pgvector 0.8 or newer) was found. Looked at:\n{}\
         Run scripts/fetch-postgres to unpack one, or set CITED_POSTGRES_BIN to the bin directory of one, \
         or set DATABASE_URL to use a server of your own",
        List(skipped)
    )]
    NoBinaries {
        /// Every place that was checked, in order, and why it was rejected.
        skipped: Vec<Skipped>,
    },

    /// There is a Postgres, but not of the major version that wrote the data directory.
    #[error(
        "the database in {} was made by Postgres {found}, and no Postgres {found} with pgvector 0.8 or newer was found. \
         Looked at:\n{}Set CITED_POSTGRES_BIN to the bin directory of a Postgres {found}, \
         or set CITED_DATA_DIR to an empty directory to begin afresh (the old data stays where it is)",
        path.display(), List(skipped)
    )]
    OtherMajor {
        /// The cluster directory.
        path: PathBuf,
        /// Its major version, as its `PG_VERSION` file states it.
        found: String,
        /// Every place that was checked, in order, and why it was rejected.
        skipped: Vec<Skipped>,
    },

    /// The cluster exists and its password does not.
    #[error(
        "the password of the database is missing or unreadable: {}. Restore that file from a backup, \
         or move the data directory away to begin afresh",
        path.display()
    )]
    PasswordMissing {
        /// Where the password should be.
        path: PathBuf,
        /// Why it could not be read.
        source: io::Error,
    },

    /// Others than the owner can enter the cluster.
    #[error(
        "the database in {} is open to others (mode {mode:o}), which Postgres refuses; run `chmod 700 {}`",
        path.display(), path.display()
    )]
    OpenToOthers {
        /// The cluster directory.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },

    /// `initdb` failed.
    #[error("the database could not be created: initdb ended with {status} and said:\n{output}")]
    InitFailed {
        /// How it ended.
        status: String,
        /// The last lines of its output.
        output: String,
    },

    /// Postgres did not start.
    #[error("Postgres did not start: {reason}. The last lines of {}:\n{log_tail}", log.display())]
    StartFailed {
        /// The reason as observed by the service.
        reason: String,
        /// The log file.
        log: PathBuf,
        /// The lines that Postgres wrote there since this start.
        log_tail: String,
    },

    /// The start was cancelled internally, which only happens when the runtime ends.
    #[error("Postgres was stopped while it was starting")]
    Interrupted,

    /// The task that keeps Postgres up has panicked.
    #[error("the task that keeps Postgres running died; restart the service, and report the panic in its log")]
    SupervisorDied,

    /// Postgres ended while the service was running. Supervision starts it again.
    #[error("Postgres ended unexpectedly with {status}. The last lines of {}:\n{log_tail}", log.display())]
    Died {
        /// How it ended.
        status: String,
        /// The log file.
        log: PathBuf,
        /// The lines that Postgres wrote there since its start.
        log_tail: String,
    },

    /// Supervision gave up.
    #[error("Postgres failed {failures} times in a row and is not started again; the last time: {last}")]
    CrashLoop {
        /// Number of failures without a stable run in between.
        failures: u32,
        /// The last failure.
        last: Arc<PrivatePostgresError>,
    },

    /// Processes of an earlier run cannot be ended.
    #[error(
        "process {pid}, left over from an earlier run, still uses the database in {} and could not be stopped; stop it by hand",
        path.display()
    )]
    Leftover {
        /// The cluster directory.
        path: PathBuf,
        /// One of the processes.
        pid: i32,
    },

    /// Postgres runs but refuses a query that is part of starting.
    #[error("Postgres runs, but its database could not be prepared: {0}")]
    Prepare(#[source] sqlx::Error),

    /// The operating system could not provide randomness.
    #[error("no random password could be made: {0}")]
    Random(getrandom::Error),

    /// A file operation failed.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// The verb, such as "create".
        action: &'static str,
        /// The path of the operation.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },

    /// A background task was cancelled; only seen when the runtime itself shuts down.
    #[error("a task of the private Postgres was cut off: {0}")]
    Task(#[from] tokio::task::JoinError),
}

impl PrivatePostgresError {
    /// For `map_err`: names the action and the path that an I/O error lacks.
    pub(super) fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { action, path, source }
    }
}

/// A place where Postgres was looked for, and why it is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// A directory, or the name of a search such as `PATH`.
    pub place: String,
    /// Why nothing there is used.
    pub reason: String,
}

impl fmt::Display for Skipped {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.reason)
    }
}

struct List<'a>(&'a [Skipped]);

impl fmt::Display for List<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|skipped| writeln!(formatter, "  - {skipped}"))
    }
}
