//! Requests of one kind, sent by several clients until all are sent.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use hyper::Method;
use serde_json::Value;

use crate::client::Client;

/// Where requests go.
#[derive(Clone, Copy)]
pub struct Door<'a> {
    pub address: SocketAddr,
    pub path: &'static str,
    /// The key of all clients, if they have one.
    pub key: Option<&'a str>,
    pub has_tls: bool,
}

/// How requests went.
#[derive(Clone, Debug)]
pub struct Posted {
    pub elapsed: Duration,
    /// Ascending.
    pub latencies: Vec<Duration>,
}

impl Posted {
    /// Requests per second.
    pub fn per_second(&self) -> f64 {
        per_second(self.latencies.len(), self.elapsed)
    }
}

impl Door<'_> {
    /// Opens a connection.
    pub async fn connect(self) -> anyhow::Result<Client> {
        let client = if self.has_tls {
            Client::connect_by_tls(self.address).await?
        } else {
            Client::connect(self.address).await?
        };
        Ok(match self.key {
            Some(key) => client.with_key(key),
            None => client,
        })
    }

    /// Sends each body once, each client its next when it has the reply to its last, which `check` looks at.
    pub async fn post_each(
        self,
        bodies: Vec<Value>,
        clients: usize,
        check: fn(&Value) -> anyhow::Result<()>,
    ) -> anyhow::Result<Posted> {
        let (bodies, next) = (Arc::new(bodies), Arc::new(AtomicUsize::new(0)));
        let mut tasks = tokio::task::JoinSet::new();
        let started = Instant::now();
        for _ in 0..clients {
            let (mut client, path) = (self.connect().await?, self.path);
            let (bodies, next) = (Arc::clone(&bodies), Arc::clone(&next));
            tasks.spawn(async move {
                let mut latencies = Vec::new();
                while let Some(body) = bodies.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let sent = Instant::now();
                    let reply = client.json(Method::POST, path, Some(body)).await?;
                    latencies.push(sent.elapsed());
                    check(&reply)?;
                }
                anyhow::Ok(latencies)
            });
        }
        let mut latencies = Vec::with_capacity(bodies.len());
        for done in tasks.join_all().await {
            latencies.extend(done?);
        }
        let elapsed = started.elapsed();
        latencies.sort_unstable();
        Ok(Posted { elapsed, latencies })
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate for a table")]
pub fn per_second(number: usize, elapsed: Duration) -> f64 {
    number as f64 / elapsed.as_secs_f64()
}
