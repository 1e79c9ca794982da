//! Documents in, and how fast.

use std::time::{Duration, Instant};

use anyhow::bail;
use hyper::Method;
use serde_json::{Value, json};

use crate::{client::Client, corpus::Paragraph, service::Service};

pub const COLLECTION: &str = "bench";
/// Documents of one request.
const DOCUMENTS_PER_REQUEST: usize = 1_000;
const POLL: Duration = Duration::from_millis(20);

/// How it went.
#[derive(Clone, Copy, Debug)]
pub struct Ingested {
    pub documents: usize,
    /// From the first byte sent to the last document searchable.
    pub elapsed: Duration,
    pub service_cpu_s: f64,
    pub database_cpu_s: f64,
}

impl Ingested {
    pub fn per_second(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a rate for a table")]
        let documents = self.documents as f64;
        documents / self.elapsed.as_secs_f64()
    }
}

/// Sends all paragraphs to a collection, one request after the other, and waits until every job has succeeded.
pub async fn run(service: &Service, collection: &str, paragraphs: &[Paragraph]) -> anyhow::Result<Ingested> {
    let bodies: Vec<Value> = paragraphs
        .chunks(DOCUMENTS_PER_REQUEST)
        .map(|documents| json!({"collection": collection, "documents": documents}))
        .collect();
    let mut client = Client::connect(service.address).await?;
    let before = service.cpu_seconds()?;
    let started = Instant::now();
    let mut jobs = Vec::with_capacity(bodies.len());
    for body in &bodies {
        let job = client.json(Method::POST, "/v1/documents", Some(body)).await?;
        jobs.push(job["id"].as_str().unwrap_or_default().to_owned());
    }
    for job in jobs {
        wait_for(&mut client, &job, POLL, |_| ()).await?;
    }
    let elapsed = started.elapsed();
    let after = service.cpu_seconds()?;
    Ok(Ingested {
        documents: paragraphs.len(),
        elapsed,
        service_cpu_s: after.0 - before.0,
        database_cpu_s: after.1 - before.1,
    })
}

/// Sends documents by one request, and waits until its job has succeeded.
pub async fn send_all(
    client: &mut Client,
    collection: &str,
    documents: &[Paragraph],
    poll: Duration,
) -> anyhow::Result<()> {
    let body = json!({"collection": collection, "documents": documents});
    let job = client.json(Method::POST, "/v1/documents", Some(&body)).await?;
    wait_for(client, job["id"].as_str().unwrap_or_default(), poll, |_| ()).await?;
    Ok(())
}

/// Waits until a job has succeeded and returns its report; `look` sees each report on the way, the last included.
pub async fn wait_for(
    client: &mut Client,
    job: &str,
    poll: Duration,
    mut look: impl FnMut(&Value),
) -> anyhow::Result<Value> {
    loop {
        let report = client.json(Method::GET, &format!("/v1/jobs/{job}?items_limit=1"), None).await?;
        look(&report);
        match report["state"].as_str() {
            Some("queued" | "running") => tokio::time::sleep(poll).await,
            Some("succeeded") => return Ok(report),
            _ => bail!("a job did not succeed: {report}"),
        }
    }
}
