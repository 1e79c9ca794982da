//! Errors of the use cases; `http` turns each into one problem document.

use std::time::Duration;

use thiserror::Error;

use crate::{
    domain::budget::BudgetExceeded,
    providers::ProviderError,
    store::{QueueFull, StoreError},
};

/// A quota of a day that does not allow more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DailyQuota {
    /// Of which it is.
    pub(crate) name: &'static str,
    /// How many it allows.
    pub(crate) limit: u64,
    /// How many are left.
    pub(crate) left: u64,
}

/// A failed use case.
#[derive(Debug, Error)]
pub(crate) enum ServiceError {
    /// Something named in the request does not exist (or belongs to another tenant).
    #[error("{what} {name:?} does not exist")]
    NotFound {
        /// Kind of thing.
        what: &'static str,
        /// As the request named it.
        name: String,
    },
    /// The caller is limited to other collections than the one that the request would make or fill.
    #[error("the caller is limited to other collections than {collection:?}")]
    NotGranted {
        /// As the request named it.
        collection: String,
        /// Names of the collections that the caller is limited to.
        granted: Vec<String>,
    },
    /// The request contradicts what is stored.
    #[error("{detail}")]
    Conflict {
        /// Stable code.
        code: &'static str,
        /// The contradiction, and how to resolve it.
        detail: String,
    },
    /// The caller does this more often than it may.
    #[error("{detail}")]
    TooOften {
        /// Stable code.
        code: &'static str,
        /// The limit in a few words.
        title: &'static str,
        /// The limit, and when it allows more.
        detail: String,
        /// How long the caller has to wait.
        wait: Duration,
        /// The quota of a day, if it is that.
        quota: Option<DailyQuota>,
    },
    /// The queue is full.
    #[error("{} of at most {} wait already, and this adds {} ({})", .0.waiting, .0.value, .0.asked, .0.limit)]
    QueueFull(QueueFull),
    /// One value of the request is wrong.
    #[error("{pointer}: {detail}")]
    Invalid {
        /// JSON pointer (RFC 6901) to the value.
        pointer: String,
        /// The error, and a correct value.
        detail: String,
    },
    /// The request needs more than its budget.
    #[error(transparent)]
    Budget(#[from] BudgetExceeded),
    /// The model provider failed.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Formats an error with all its causes, for the log.
#[must_use]
pub(crate) fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let told = cause.to_string();
        // Many errors tell their cause themselves.
        if !text.ends_with(&told) {
            text.push_str(": ");
            text.push_str(&told);
        }
        source = cause.source();
    }
    text
}

impl ServiceError {
    /// There is no collection of this name.
    pub(super) fn no_collection(name: &str) -> Self {
        Self::NotFound { what: "collection", name: name.to_owned() }
    }
}
