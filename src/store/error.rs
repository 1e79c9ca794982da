//! Errors of the database, grouped by how a caller can react.

use sqlx::migrate::MigrateError;
use thiserror::Error;

use crate::domain::storage::OverQuota;

/// A failed database operation.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The database cannot be reached or is shutting down; the same call may work in a moment.
    #[error("the database is not available")]
    Unavailable(#[source] sqlx::Error),
    /// A statement ran into its time limit.
    #[error("the database did not answer in time")]
    Timeout(#[source] sqlx::Error),
    /// A row would violate the named constraint.
    #[error("constraint {constraint} forbids this")]
    Constraint {
        /// Name of the constraint, as in the migrations.
        constraint: String,
        /// Error as reported by Postgres.
        #[source]
        source: sqlx::Error,
    },
    /// A stored row contradicts an invariant of the code.
    #[error("stored data is inconsistent: {0}")]
    Inconsistent(String),
    /// The deployment's database is unsuitable; the message describes the change to make.
    #[error("{0}")]
    Unsuitable(String),
    /// The tenant would keep more than it may.
    #[error("{0}")]
    OverQuota(OverQuota),
    /// Any other error: a defect, or data that Postgres rejects.
    #[error("database error")]
    Database(#[source] sqlx::Error),
}

impl StoreError {
    /// Returns whether the same call may succeed later without any change.
    #[must_use]
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Timeout(_))
    }
}

/// SQLSTATE classes and codes after which a retry makes sense: connection exceptions, insufficient
/// resources, operator intervention, serialization failures and deadlocks
/// (`PostgreSQL` documentation, appendix A).
fn is_transient_code(code: &str) -> bool {
    code.starts_with("08")
        || code.starts_with("53")
        || matches!(code, "57P01" | "57P02" | "57P03" | "40001" | "40P01" | "55P03" | "58000")
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::WorkerCrashed => Self::Unavailable(error),
            sqlx::Error::Database(database) => {
                let code = database.code().unwrap_or_default();
                if code == "57014" {
                    Self::Timeout(error)
                } else if is_transient_code(&code) {
                    Self::Unavailable(error)
                } else if let Some(constraint) = database.constraint().map(str::to_owned) {
                    Self::Constraint { constraint, source: error }
                } else {
                    Self::Database(error)
                }
            }
            _ => Self::Database(error),
        }
    }
}

impl From<OverQuota> for StoreError {
    fn from(over: OverQuota) -> Self {
        Self::OverQuota(over)
    }
}

impl From<MigrateError> for StoreError {
    fn from(error: MigrateError) -> Self {
        match error {
            MigrateError::Execute(error) => error.into(),
            other => Self::Unsuitable(format!("the database schema could not be brought up to date: {other}")),
        }
    }
}
