//! Metrics: what was counted, and the state of queue, database and process at the moment.

use super::{background::Heartbeats, error_chain};
use crate::{metrics::Metrics, store::Store};

/// The use case.
#[derive(Clone)]
pub(crate) struct Measurements {
    store: Store,
    heartbeats: Heartbeats,
    metrics: Metrics,
}

impl Measurements {
    /// Those of this store and these loops.
    #[must_use]
    pub(crate) const fn new(store: Store, heartbeats: Heartbeats, metrics: Metrics) -> Self {
        Self { store, heartbeats, metrics }
    }

    /// Where requests are counted.
    #[must_use]
    pub(crate) const fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Everything as text. Where the database does not answer, the text says so and has the rest.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) async fn render(&self) -> Result<String, std::fmt::Error> {
        self.metrics.set_process(&self.store.pools(), &self.heartbeats.states());
        match tokio::try_join!(self.store.measure_queue(), self.store.measure_tables()) {
            Ok((queue, tables)) => self.metrics.set_state(Some(&queue), &tables),
            Err(error) => {
                tracing::warn!(error = error_chain(&error), "the database could not be measured for the metrics");
                self.metrics.set_state(None, &[]);
            }
        }
        self.metrics.render()
    }
}
