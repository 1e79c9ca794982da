//! Errors of the database, grouped by how a caller can react.

use std::time::Duration;

use sqlx::{error::DatabaseError, migrate::MigrateError};
use thiserror::Error;

use crate::domain::storage::OverQuota;

/// A failed database operation.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The database cannot be reached or is shutting down; the same call may work in a moment.
    #[error("the database is not available")]
    Unavailable(#[source] sqlx::Error),
    /// The server has no room left on its disk; the same call works when there is some.
    #[error("the disk of the database is full")]
    DiskFull(#[source] sqlx::Error),
    /// All connections were in use by others for so long.
    #[error("all connections to the database were in use for {} s", .0.as_secs())]
    Busy(Duration),
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
        matches!(self, Self::Unavailable(_) | Self::DiskFull(_) | Self::Busy(_) | Self::Timeout(_))
    }

    /// Work of the database that ended in a panic.
    pub(crate) fn panicked(work: &str) -> Self {
        Self::Inconsistent(format!("{work} panicked"))
    }

    /// The SQLSTATE that Postgres gave for it, if it came from there.
    pub(crate) fn sqlstate(&self) -> Option<String> {
        let (Self::Unavailable(error)
        | Self::DiskFull(error)
        | Self::Timeout(error)
        | Self::Database(error)
        | Self::Constraint { source: error, .. }) = self
        else {
            return None;
        };
        sqlstate(error)
    }
}

/// The SQLSTATE that Postgres gave for an error.
pub(in crate::store) fn sqlstate(error: &sqlx::Error) -> Option<String> {
    Some(error.as_database_error()?.code()?.into_owned())
}

/// SQLSTATE classes and codes after which a retry makes sense: connection exceptions, insufficient
/// resources, operator intervention, serialization failures and deadlocks
/// (`PostgreSQL` documentation, appendix A).
fn is_transient_code(code: &str) -> bool {
    code.starts_with("08")
        || code.starts_with("53")
        || matches!(code, "57P01" | "57P02" | "57P03" | "40001" | "40P01" | "55P03" | "58000")
}

/// Returns whether a statement came to the rows of a tenant without the tenant, as the policies of distributed tables say. Their
/// node is another one for the moment; without that, the setting was never made in a session, or is empty after a transaction.
fn lacks_tenant(code: &str, message: &str) -> bool {
    matches!(code, "42704" | "22P02") && (message.contains("\"cited.tenant\"") || message.ends_with("type uuid: \"\""))
}

/// Beginnings of the messages about a server that the coordinator of a cluster lost: those of libpq, and those of Citus where it
/// notices it between two statements, while it brings rows to another server, and at a commit.
const LOST: [&str; 17] = [
    "server closed the connection unexpectedly",
    "could not receive data from server",
    "could not send data to server",
    "no connection to the server",
    "connection not open",
    "SSL ",
    "terminating connection ",
    "the database system is ",
    "failure on connection marked as essential",
    "execution cannot recover from multiple connection failures",
    "failed to COPY to shard ",
    "failed to complete COPY ",
    "cannot connect to ",
    "failed to read result ",
    "failed to prepare transaction ",
    "could not commit transaction for shard ",
    // The coordinator itself has ended while it waited for another server.
    "postmaster was shut down",
];

/// Returns whether the coordinator of a cluster lost a server. It has no SQLSTATE from the server then, and reports an internal
/// error, or one of input and output, with the message of its own connection, or without any.
fn lost_server(code: &str, message: &str) -> bool {
    let is_without_one = matches!(code, "XX000" | "58030");
    is_without_one && (message.is_empty() || LOST.iter().any(|beginning| message.starts_with(beginning)))
}

/// Returns the name of the constraint that an error is about, as in the migrations. Of a shard of a distributed table, it ends
/// in the number of the shard; that of another node stands in the message only.
fn violated(error: &dyn DatabaseError, code: &str) -> Option<String> {
    // Class 23 of SQLSTATE: integrity constraint violation.
    let in_message = || {
        let (_, rest) = error.message().split_once("constraint \"").filter(|_| code.starts_with("23"))?;
        rest.split('"').next()
    };
    error.constraint().or_else(in_message).map(|name| without_shard(name).to_owned())
}

/// The name without the number of a shard, which has six digits or more.
fn without_shard(name: &str) -> &str {
    name.rsplit_once('_')
        .filter(|(_, number)| number.len() >= 6 && number.bytes().all(|byte| byte.is_ascii_digit()))
        .map_or(name, |(name, _)| name)
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
                let (code, message) = (database.code().unwrap_or_default(), database.message());
                if code == "57014" {
                    Self::Timeout(error)
                } else if code == "53100" || code == "58030" && message.contains("No space left on device") {
                    Self::DiskFull(error)
                } else if is_transient_code(&code) || lacks_tenant(&code, message) || lost_server(&code, message) {
                    Self::Unavailable(error)
                } else if let Some(constraint) = violated(database.as_ref(), &code) {
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

#[cfg(test)]
mod tests {
    use super::{lacks_tenant, lost_server, without_shard};

    #[test]
    fn the_number_of_a_shard_is_no_part_of_a_name() {
        assert_eq!(without_shard("tenant_name_unique_102008"), "tenant_name_unique");
        assert_eq!(without_shard("tenant_name_unique"), "tenant_name_unique");
        assert_eq!(without_shard("chunk_page_2"), "chunk_page_2");
    }

    #[test]
    fn rows_that_are_reached_without_their_tenant_are_not_there_for_the_moment() {
        assert!(lacks_tenant("42704", "unrecognized configuration parameter \"cited.tenant\""));
        assert!(lacks_tenant("22P02", "invalid input syntax for type uuid: \"\""));
        assert!(!lacks_tenant("42704", "unrecognized configuration parameter \"cited.other\""));
        assert!(!lacks_tenant("42704", "type \"vector\" does not exist"));
        assert!(!lacks_tenant("22P02", "invalid input syntax for type uuid: \"x\""));
        assert!(!lacks_tenant("42P01", "relation \"cited.tenant\" does not exist"));
    }

    #[test]
    fn a_server_that_the_coordinator_lost_is_not_available() {
        let closed =
            "server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally";
        assert!(lost_server("XX000", closed));
        assert!(lost_server("XX000", "could not receive data from server: Connection reset by peer"));
        assert!(lost_server("XX000", ""));
        assert!(lost_server("XX000", "failure on connection marked as essential: 10.0.0.2:5432"));
        assert!(lost_server("XX000", "postmaster was shut down, exiting"));
        assert!(lost_server("XX000", "failed to prepare transaction 'citus_0_1_2_3' on host 10.0.0.2:5432"));
        assert!(lost_server("XX000", "could not commit transaction for shard 102039 on at least one active node"));
        assert!(lost_server("58030", "failed to COPY to shard 0 on 10.0.0.2:5432"));
        assert!(!lost_server("58030", "could not read blocks 1..1 in file \"base/5/1259\": Input/output error"));
        assert!(!lost_server("XX000", "cache lookup failed for type 0"));
        assert!(!lost_server("22P02", closed));
    }
}
