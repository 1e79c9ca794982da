//! Questions, from so many clients at once, and how long the answers take.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use bytes::Bytes;
use hyper::Method;
use serde_json::json;

use crate::{client::Client, ingest::COLLECTION, service::Service};

/// Questions, each asked once over all runs, so that nothing is remembered from an earlier one.
pub struct Questions {
    bodies: Vec<Bytes>,
    next: AtomicUsize,
}

impl Questions {
    /// Requests for these questions; `speculative` as in the API.
    pub fn new<Text: AsRef<str>>(questions: &[Text], speculative: &str) -> Self {
        let body = |question: &Text| {
            let question = question.as_ref();
            let body = json!({"question": question, "collections": [COLLECTION], "speculative": speculative});
            Bytes::from(body.to_string())
        };
        Self { bodies: questions.iter().map(body).collect(), next: AtomicUsize::new(0) }
    }

    /// How many have been asked.
    pub fn taken(&self) -> usize {
        self.next.load(Ordering::Relaxed).min(self.bodies.len())
    }

    fn take(&self) -> Option<Bytes> {
        self.bodies.get(self.next.fetch_add(1, Ordering::Relaxed)).cloned()
    }
}

/// How a run went.
#[derive(Clone, Debug)]
pub struct Asked {
    pub clients: usize,
    pub asks: usize,
    pub answered: usize,
    pub elapsed: Duration,
    /// Ascending.
    latencies: Vec<Duration>,
    pub service_cpu_s: f64,
    pub database_cpu_s: f64,
}

impl Asked {
    pub fn per_second(&self) -> f64 {
        count(self.asks) / self.elapsed.as_secs_f64()
    }

    /// Milliseconds that this share of the asks stayed under.
    pub fn percentile_ms(&self, share: f64) -> f64 {
        percentile_ms(&self.latencies, share)
    }

    /// CPU seconds of service and database for a thousand asks.
    pub fn cpu_per_thousand(&self) -> (f64, f64) {
        let thousands = count(self.asks) / 1_000.0;
        (self.service_cpu_s / thousands, self.database_cpu_s / thousands)
    }
}

/// Asks from `clients` connections for so long, or until the questions run out.
pub async fn run(
    service: &Service,
    questions: &Arc<Questions>,
    clients: usize,
    time: Duration,
) -> anyhow::Result<Asked> {
    let before = service.cpu_seconds()?;
    let started = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..clients {
        let client = Client::connect(service.address).await?;
        tasks.spawn(ask_for(client, Arc::clone(questions), time));
    }
    let (mut latencies, mut answered) = (Vec::new(), 0);
    for done in tasks.join_all().await {
        let (own, own_answered) = done?;
        latencies.extend(own);
        answered += own_answered;
    }
    let elapsed = started.elapsed();
    let after = service.cpu_seconds()?;
    latencies.sort_unstable();
    if latencies.is_empty() {
        bail!("the questions are used up; use more paragraphs or fewer seconds");
    }
    Ok(Asked {
        clients,
        asks: latencies.len(),
        answered,
        elapsed,
        latencies,
        service_cpu_s: after.0 - before.0,
        database_cpu_s: after.1 - before.1,
    })
}

/// One question, whatever the answer; how long it took.
pub async fn once(service: &Service, questions: &Questions) -> anyhow::Result<()> {
    let mut client = Client::connect(service.address).await?;
    ask(&mut client, questions.take().context("the questions are used up")?).await?;
    Ok(())
}

async fn ask_for(
    mut client: Client,
    questions: Arc<Questions>,
    time: Duration,
) -> anyhow::Result<(Vec<Duration>, usize)> {
    let begun = Instant::now();
    let (mut latencies, mut answered) = (Vec::new(), 0);
    while begun.elapsed() < time {
        let Some(body) = questions.take() else { break };
        let started = Instant::now();
        let is_answered = ask(&mut client, body).await?;
        latencies.push(started.elapsed());
        answered += usize::from(is_answered);
    }
    Ok((latencies, answered))
}

async fn ask(client: &mut Client, body: Bytes) -> anyhow::Result<bool> {
    let (status, reply) = client.send(Method::POST, "/v1/ask", Some(body)).await?;
    if !status.is_success() {
        bail!("ask answered {status}: {}", String::from_utf8_lossy(&reply));
    }
    // Reading the whole reply as JSON would take time from what is measured.
    let outcome = br#""outcome":"answered""#;
    Ok(reply.windows(outcome.len()).take(200).any(|window| window == outcome))
}

/// Milliseconds that this share of the latencies, which ascend, stays under.
pub fn percentile_ms(latencies: &[Duration], share: f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in the list")]
    let place = (count(latencies.len()) * share) as usize;
    let latency = latencies.get(place.min(latencies.len().saturating_sub(1)));
    latency.map_or(0.0, |latency| latency.as_secs_f64() * 1_000.0)
}

#[expect(clippy::cast_precision_loss, reason = "counts for a table")]
fn count(number: usize) -> f64 {
    number as f64
}
