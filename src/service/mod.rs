//! The use cases: the only layer in which store, providers and domain are combined.

pub mod ask;
pub mod audit;
pub mod background;
pub mod check;
pub mod citations;
pub mod collections;
pub mod context;
pub mod daily_budget;
pub mod documents;
pub mod embedders;
mod error;
pub mod indexes;
pub mod ingest;
pub mod instructions;
pub mod readiness;
pub mod retrieval;
pub mod search;
pub mod sweep;
pub mod vector_graphs;

pub use error::{ServiceError, error_chain};

use std::time::Duration;

use tokio::task::JoinHandle;

// The types that the use cases return, and their errors, re-exported for callers.
pub use crate::{
    providers::{FailedAttempt, ProviderErrorKind, ProvidersUnavailable},
    store::{QueueFull, StoreError},
};

/// Runs a task to its end even if the caller stops waiting: for a large collection it takes longer than a request may.
async fn run_detached<T: Send + 'static>(
    work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::spawn(work)
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
