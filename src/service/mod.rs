//! The use cases: the only place where store, providers and domain meet.

pub mod ask;
pub mod audit;
pub mod background;
pub mod citations;
pub mod collections;
pub mod context;
pub mod daily_budget;
pub mod documents;
pub mod embedders;
mod error;
pub mod indexes;
pub mod ingest;
pub mod readiness;
pub mod retrieval;
pub mod search;
pub mod sweep;

pub use error::{ServiceError, error_chain};

use std::time::Duration;

use tokio::task::JoinHandle;

// What the use cases hand out, and how they fail, as their callers know it.
pub use crate::{
    providers::{FailedAttempt, ProviderErrorKind, ProvidersUnavailable},
    store::{QueueFull, StoreError},
};

/// Goes on whether or not somebody waits for the answer: over a large collection it takes longer than a request may.
async fn run_detached<T: Send + 'static>(
    work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::spawn(work)
        .await
        .unwrap_or_else(|error| Err(StoreError::Inconsistent(format!("a change broke off: {error}"))))
}

/// Longest that an answer is held up by work that goes on without it.
const BRIEF_WAIT: Duration = Duration::from_secs(1);

/// Waits a moment for a task. One that takes longer goes on by itself.
async fn wait_briefly(task: Option<JoinHandle<()>>) {
    if let Some(task) = task {
        // A panic was reported where it happened.
        let _ = tokio::time::timeout(BRIEF_WAIT, task).await;
    }
}
