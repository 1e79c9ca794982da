//! Keeps the vector graphs of large collections: builds what is missing, drops what is no longer needed.

use std::{collections::HashMap, time::Duration};

use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{ServiceError, background::BackgroundTask, error_chain};
use crate::store::{GraphChanges, GraphSizes, Store};

/// Time between two rounds.
const REST: Duration = Duration::from_mins(1);

/// Number of vectors from which a collection has a graph, unless configured: comparing so many takes 9 to 14 ms, about as
/// long as a walk.
pub(crate) const GRAPH_FROM: u64 = 20_000;

/// Number of vectors from which the graph of a collection is one of bits, unless configured: about as many as a graph of
/// vectors of 384 dimensions can be built of within the memory that a build asks for.
pub(crate) const BITS_FROM: u64 = 700_000;

/// Smallest number that can be configured for either.
pub(crate) const LEAST_GRAPH_FROM: u64 = 100;

/// Rounds that a collection which grows waits for its graph at most.
const MOST_ROUNDS: u32 = 5;

/// Maintains the graphs every minute. Any number of processes may do so; one at a time works.
#[derive(Clone)]
pub(crate) struct GraphKeeper {
    store: Store,
    sizes: GraphSizes,
}

impl GraphKeeper {
    /// Keeps graphs for collections of these sizes.
    #[must_use]
    pub(crate) const fn new(store: Store, sizes: GraphSizes) -> Self {
        Self { store, sizes }
    }

    /// Maintains the graphs until stopped. No request depends on it, so readiness does not depend on it either.
    #[must_use]
    pub(crate) fn task(self, stop: CancellationToken) -> BackgroundTask {
        let run = Box::pin(async move {
            let mut growth = Growth::default();
            loop {
                match stop.run_until_cancelled(self.maintain(&mut growth)).await {
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
    async fn maintain(&self, growth: &mut Growth) -> Result<GraphChanges, ServiceError> {
        let mut is_growing = |index, vectors| growth.continues(index, vectors);
        let changes = self.store.collections().maintain_vector_graphs(self.sizes, &mut is_growing).await?;
        growth.is_observed = true;
        Ok(changes)
    }
}

/// Indexes that lack the graph of their size, with their vectors as of the last round. A graph that is built in the midst of
/// a long fill competes with it, and every vector after it is entered by itself, which takes several times as long.
#[derive(Debug, Default)]
struct Growth {
    indexes: HashMap<Uuid, Seen>,
    /// Whether there was a round before: what is there when the process starts does not wait.
    is_observed: bool,
}

#[derive(Debug, Default)]
struct Seen {
    vectors: u64,
    rounds: u32,
}

impl Growth {
    /// Whether an index still grows: by a tenth or more since the last round, for a few rounds.
    fn continues(&mut self, index: Uuid, vectors: u64) -> bool {
        if !self.is_observed {
            return false;
        }
        let seen = self.indexes.entry(index).or_default();
        let grown = vectors.saturating_sub(seen.vectors);
        *seen = Seen { vectors, rounds: seen.rounds + 1 };
        let continues = grown.saturating_mul(10) >= vectors && seen.rounds <= MOST_ROUNDS;
        if !continues {
            self.indexes.remove(&index);
        }
        continues
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_waits_until_its_collection_no_longer_grows() {
        let (mut growth, index) = (Growth::default(), Uuid::from_u128(1));
        assert!(!growth.continues(index, 20_000), "what is there at the start does not wait");
        growth.is_observed = true;
        let rounds = |growth: &mut Growth, sizes: &[u64]| -> Vec<bool> {
            sizes.iter().map(|vectors| growth.continues(index, *vectors)).collect()
        };
        assert_eq!(rounds(&mut growth, &[20_000, 50_000, 80_000, 81_000]), [true, true, true, false]);
        // What grows on and on waits for some minutes.
        assert_eq!(
            rounds(&mut growth, &[20_000, 30_000, 40_000, 50_000, 60_000, 70_000]),
            [true, true, true, true, true, false]
        );
        assert_eq!(rounds(&mut growth, &[20_000, 20_000]), [true, false], "one that is new waits for a round");
        assert!(growth.indexes.is_empty());
    }
}
