//! Ingest: accept documents durably, and work on them.

mod embed;
mod failure;
mod prepare;
mod process;
mod worker;

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Notify;
use uuid::Uuid;

pub use process::Processor;
pub use worker::{Progress, Worker};

use super::{ServiceError, context::Context};
use crate::{
    domain::{identity::TenantId, job::JobState},
    store::{Collection, JobItemRow, JobRow, Lease, NewJobItem, ProfileId, Store},
};

/// Below this a heartbeat that is a little late loses its lease.
pub const MINIMUM_LEASE: Duration = Duration::from_secs(2);
/// How often a waiting request looks whether its job has ended, besides being told.
const WAIT_POLL: Duration = Duration::from_millis(250);

/// How ingest works.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Batches under way at once in this process.
    pub workers: NonZeroUsize,
    /// Validity of a claim without a heartbeat.
    pub lease: Duration,
    /// Most tokens of a chunk; the embedder's window lowers it further.
    pub chunk_tokens: usize,
    /// Claims after which a document that never settles is given up.
    pub max_attempts: i32,
    /// How often an idle worker looks for work, besides being told.
    pub poll: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            workers: const { NonZeroUsize::new(2).expect("two is not zero") },
            lease: Duration::from_secs(30),
            chunk_tokens: 512,
            max_attempts: 5,
            poll: Duration::from_secs(1),
        }
    }
}

impl Settings {
    fn lease(&self) -> Lease {
        Lease {
            duration: self.lease.try_into().unwrap_or(time::Duration::MINUTE),
            max_items: 64,
            max_bytes: 8 * 1024 * 1024,
            max_attempts: self.max_attempts,
        }
    }
}

/// A document as it was handed in.
#[derive(Clone, Debug)]
pub struct IncomingDocument {
    /// Caller's own name for it.
    pub source: String,
    /// Where it was read from, if that is something else.
    pub uri: Option<String>,
    /// Title, if the caller gave one.
    pub title: Option<String>,
    /// Media type.
    pub media_type: String,
    /// Caller's own object.
    pub metadata: Value,
    /// How it came.
    pub loader: &'static str,
    /// Its bytes.
    pub content: Vec<u8>,
}

/// What a queue item says about its document; versioned because it outlives the process that wrote it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "v")]
enum Payload {
    #[serde(rename = "1")]
    V1 { uri: String, title: Option<String>, media_type: String, metadata: Value, loader: String },
}

/// The use case.
#[derive(Clone)]
pub struct IngestService {
    store: Store,
    profile: ProfileId,
    context: Context,
    signal: Arc<Signal>,
}

/// How this process's requests and workers tell each other without asking the database.
#[derive(Debug, Default)]
pub struct Signal {
    /// Work has been queued.
    queued: Notify,
    /// A batch has been settled.
    settled: Notify,
}

/// A job with a page of its items.
#[derive(Clone, Debug)]
pub struct JobReport {
    /// The job.
    pub job: JobRow,
    /// Items from the requested place on.
    pub items: Vec<JobItemRow>,
}

impl IngestService {
    /// Ingest into `store`; collections that it makes live in `profile`.
    #[must_use]
    pub const fn new(store: Store, profile: ProfileId, context: Context, signal: Arc<Signal>) -> Self {
        Self { store, profile, context, signal }
    }

    /// Accepts documents; the collection is made if it does not exist. Once this returns they survive
    /// any crash.
    ///
    /// # Errors
    /// Store errors; nothing is accepted then.
    pub async fn accept(
        &self,
        tenant: TenantId,
        collection: &str,
        documents: Vec<IncomingDocument>,
    ) -> Result<Uuid, ServiceError> {
        let now = self.context.clock.now();
        let (collection, _) =
            self.store.ensure_collection(tenant, self.context.ids.next(), collection, self.profile, now).await?;
        if collection.profile_id != self.profile {
            return Err(foreign_profile(&collection));
        }
        let items = documents
            .into_iter()
            .map(|document| {
                let payload = Payload::V1 {
                    uri: document.uri.unwrap_or_else(|| document.source.clone()),
                    title: document.title,
                    media_type: document.media_type,
                    metadata: document.metadata,
                    loader: document.loader.to_owned(),
                };
                NewJobItem {
                    source: document.source,
                    payload: serde_json::to_value(payload).expect("a payload of plain values is JSON"),
                    content: document.content,
                }
            })
            .collect();
        let job = self.context.ids.next();
        self.store.enqueue(tenant, job, (collection.id, &collection.name), items, now).await?;
        self.signal.queued.notify_waiters();
        Ok(job)
    }

    /// Waits until the job ends, at most so long; returns it as it then is.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub async fn wait(&self, tenant: TenantId, job: Uuid, at_most: Duration) -> Result<JobReport, ServiceError> {
        let deadline = tokio::time::Instant::now() + at_most;
        loop {
            let settled = self.signal.settled.notified();
            let report = self.job(tenant, job, 0, i64::MAX).await?;
            let is_over = !matches!(report.job.state, JobState::Queued | JobState::Running);
            if is_over || tokio::time::Instant::now() >= deadline {
                return Ok(report);
            }
            let _ = tokio::time::timeout(WAIT_POLL, settled).await;
        }
    }

    /// A job and its items from place `from` on.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub async fn job(&self, tenant: TenantId, job: Uuid, from: u32, limit: i64) -> Result<JobReport, ServiceError> {
        let row = self.store.job(tenant, job).await?;
        let job_row = row.ok_or_else(|| ServiceError::NotFound { what: "job", name: job.to_string() })?;
        let items = self.store.job_items(tenant, job, i32::try_from(from).unwrap_or(i32::MAX), limit).await?;
        Ok(JobReport { job: job_row, items })
    }

    /// Jobs, newest first.
    ///
    /// # Errors
    /// Store errors.
    pub async fn jobs(
        &self,
        tenant: TenantId,
        before: Option<Uuid>,
        state: Option<JobState>,
        limit: i64,
    ) -> Result<Vec<JobRow>, ServiceError> {
        Ok(self.store.jobs(tenant, None, before, state, limit).await?)
    }
}

/// A collection whose vectors this service's embedder cannot make.
fn foreign_profile(collection: &Collection) -> ServiceError {
    ServiceError::Conflict {
        code: "embedding_profile_mismatch",
        detail: format!(
            "collection {:?} was embedded with {} ({} dimensions), the service is configured for another model; \
             configure that model again, or ingest into a new collection",
            collection.name, collection.profile.model, collection.profile.dimension
        ),
    }
}
