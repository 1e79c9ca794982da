//! Searches over the public API, from one client and from many.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::bail;
use bytes::Bytes;
use hyper::Method;
use serde_json::json;

use crate::{client::Client, ingest::COLLECTION, service::Service};

/// How many ask at once.
pub const CLIENTS: [usize; 2] = [1, 16];
const MODES: [&str; 3] = ["hybrid", "lexical", "dense"];
/// Searches before each measurement: connections open, statements get prepared.
const WARM_UP: usize = 50;
/// Searches before the first: pages are read.
const FIRST_WARM_UP: usize = 500;

/// One kind of search from so many clients.
pub struct Searched {
    pub mode: &'static str,
    pub rerank: bool,
    pub clients: usize,
    pub per_second: f64,
    /// Ascending.
    pub latencies: Vec<Duration>,
}

/// Every mode, with and without reranking, from few clients and many.
pub async fn all(service: &Service, questions: &[String], time: Duration) -> anyhow::Result<Vec<Searched>> {
    let mut searched = Vec::new();
    let mut client = Client::connect(service.address).await?;
    for question in questions.iter().rev().take(FIRST_WARM_UP) {
        let body = json!({"query": question, "collections": [COLLECTION]});
        client.json(Method::POST, "/v1/search", Some(&body)).await?;
    }
    for mode in MODES {
        for rerank in [true, false] {
            let body = |question: &String| {
                let stages = json!({"rerank": rerank});
                let body = json!({"query": question, "collections": [COLLECTION], "mode": mode, "stages": stages});
                Bytes::from(body.to_string())
            };
            let bodies: Arc<[Bytes]> = questions.iter().map(body).collect();
            for clients in CLIENTS {
                let latencies = run(service, &bodies, clients, time).await?;
                #[expect(clippy::cast_precision_loss, reason = "a rate for a table")]
                let per_second = latencies.len() as f64 / time.as_secs_f64();
                searched.push(Searched { mode, rerank, clients, per_second, latencies });
            }
        }
    }
    Ok(searched)
}

async fn run(
    service: &Service,
    bodies: &Arc<[Bytes]>,
    clients: usize,
    time: Duration,
) -> anyhow::Result<Vec<Duration>> {
    let next = Arc::new(AtomicUsize::new(0));
    let mut warm = Client::connect(service.address).await?;
    for _ in 0..WARM_UP {
        search(&mut warm, bodies, &next).await?;
    }
    let end = Instant::now() + time;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..clients {
        let mut client = Client::connect(service.address).await?;
        let (bodies, next) = (Arc::clone(bodies), Arc::clone(&next));
        tasks.spawn(async move {
            let mut latencies = Vec::new();
            while Instant::now() < end {
                let started = Instant::now();
                search(&mut client, &bodies, &next).await?;
                latencies.push(started.elapsed());
            }
            anyhow::Ok(latencies)
        });
    }
    let mut latencies = Vec::new();
    for done in tasks.join_all().await {
        latencies.extend(done?);
    }
    latencies.sort_unstable();
    Ok(latencies)
}

async fn search(client: &mut Client, bodies: &[Bytes], next: &AtomicUsize) -> anyhow::Result<()> {
    let place = next.fetch_add(1, Ordering::Relaxed) % bodies.len();
    let (status, reply) = client.send(Method::POST, "/v1/search", Some(bodies[place].clone())).await?;
    if !status.is_success() {
        bail!("search answered {status}: {}", String::from_utf8_lossy(&reply));
    }
    Ok(())
}
