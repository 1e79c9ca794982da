//! The vector graph of a large collection, which the service builds in the background.

use std::time::Duration;

use anyhow::{Context as _, bail};
use hyper::Method;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::{client::Client, ingest, progress, service::Service};

/// Vectors from which a collection has a graph.
const GRAPH_FROM: usize = 20_000;
/// Longest wait for it: it is looked for once a minute, and built in less.
const PATIENCE: Duration = Duration::from_mins(5);

/// Waits until the vectors of so many documents are searched by their graph. Until then all are compared, which takes
/// longer and may find other passages.
pub async fn wait(service: &Service, documents: usize) -> anyhow::Result<()> {
    if documents < GRAPH_FROM {
        return Ok(());
    }
    progress("waiting for the vector graph");
    let search = json!({"query": "graph", "collections": [ingest::COLLECTION], "mode": "dense", "top_k": 1});
    let mut client = Client::connect(service.address).await?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        let (status, reply) = client.send(Method::POST, "/v1/search", Some(search.to_string().into())).await?;
        let reply: Value = serde_json::from_slice(&reply).with_context(|| format!("a search answered {status}"))?;
        match reply["vector_scan"].as_str() {
            Some("iterative") => return Ok(()),
            Some("exact") if Instant::now() < deadline => sleep(Duration::from_secs(1)).await,
            _ => bail!("the vector graph is not used: {reply}"),
        }
    }
}
