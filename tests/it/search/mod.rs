//! Retrieval over HTTP.

mod filters;
mod graphs_of_bits;
mod kept_results;
mod languages;
mod modes;
mod neighbours;
mod rerank_model;
mod stages;

use cited::{GraphSizes, PoolSettings, Store};

use crate::harness::TestApp;

/// Vectors from which a collection has a graph in these tests.
const GRAPHS_FROM: GraphSizes = GraphSizes { from: 1_000, bits_from: 1_000_000 };
const GRAPH_FROM_SETTING: (&str, &str) = ("CITED_VECTOR_GRAPH_FROM", "1000");

/// The store of a service, for its maintenance.
async fn store(app: &TestApp) -> Store {
    let pools = PoolSettings { max_connections: 2, ..PoolSettings::default() };
    Store::connect(&app.database, &[], &pools).await.expect("the store opens")
}
