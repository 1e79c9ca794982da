//! The use cases: the only layer in which store, providers and domain are combined.

pub(crate) mod access;
pub(crate) mod ask;
pub(crate) mod audit;
pub(crate) mod background;
pub(crate) mod check;
pub(crate) mod citations;
pub(crate) mod collections;
pub(crate) mod context;
pub(crate) mod daily_budget;
pub(crate) mod documents;
pub(crate) mod embedders;
pub(crate) mod erasures;
mod error;
pub(crate) mod granted;
pub(crate) mod indexes;
pub(crate) mod ingest;
pub(crate) mod instructions;
pub(crate) mod measurements;
mod principals;
pub(crate) mod quotas;
pub(crate) mod readiness;
pub(crate) mod retrieval;
pub(crate) mod search;
pub(crate) mod security_record;
pub(crate) mod sweep;
mod together;
pub(crate) mod vector_graphs;

pub(crate) use error::{DailyQuota, ServiceError, error_chain};

use std::time::Duration;

use tokio::task::JoinHandle;
use tracing::Instrument;

// The types that the use cases return, and their errors, re-exported for callers.
pub(crate) use crate::{
    providers::{FailedAttempt, ProviderErrorKind, ProvidersUnavailable},
    store::{QueueFull, StoreError},
};

/// Runs a task to its end even if the caller stops waiting: for a large collection it takes longer than a request may.
async fn run_detached<T: Send + 'static>(
    work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::spawn(work.in_current_span())
        .await
        .unwrap_or_else(|error| Err(StoreError::Inconsistent(format!("a change broke off: {error}"))))
}

/// Longest time for which a reply waits for work that continues without it.
const BRIEF_WAIT: Duration = Duration::from_secs(1);

/// Waits briefly for a task. A task that takes longer continues on its own.
async fn wait_briefly(task: Option<JoinHandle<()>>) {
    if let Some(task) = task {
        // A panic was already reported in the task.
        let _ = tokio::time::timeout(BRIEF_WAIT, task).await;
    }
}
