//! Keeps the vector graphs of large collections: builds what is missing, drops what is no longer needed.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{ServiceError, background::BackgroundTask, error_chain};
use crate::store::{GraphChanges, Store};

/// Time between two rounds.
const REST: Duration = Duration::from_mins(1);

/// Number of vectors from which a collection has a graph, unless configured: comparing so many takes 9 to 14 ms, about as
/// long as a walk.
pub(crate) const GRAPH_FROM: u64 = 20_000;

/// Smallest number that can be configured.
pub(crate) const LEAST_GRAPH_FROM: u64 = 100;

/// Maintains the graphs every minute. Any number of processes may do so; one at a time works.
#[derive(Clone)]
pub(crate) struct GraphKeeper {
    store: Store,
    from: u64,
}

impl GraphKeeper {
    /// Keeps graphs for collections with at least `from` vectors.
    #[must_use]
    pub(crate) const fn new(store: Store, from: u64) -> Self {
        Self { store, from }
    }

    /// Maintains the graphs until stopped. No request depends on it, so readiness does not depend on it either.
    #[must_use]
    pub(crate) fn task(self, stop: CancellationToken) -> BackgroundTask {
        let run = Box::pin(async move {
            loop {
                match stop.run_until_cancelled(self.maintain()).await {
                    None => return,
                    Some(Ok(_)) => {}
                    Some(Err(error)) => tracing::warn!(
                        error = error_chain(&error),
                        "the vector graphs could not be maintained; searches are right but slower; the next try is in a minute"
                    ),
                }
                if stop.run_until_cancelled(tokio::time::sleep(REST)).await.is_none() {
                    return;
                }
            }
        });
        BackgroundTask { name: "vector graphs".to_owned(), run }
    }

    /// Makes one round.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn maintain(&self) -> Result<GraphChanges, ServiceError> {
        Ok(self.store.collections().maintain_vector_graphs(self.from).await?)
    }
}
