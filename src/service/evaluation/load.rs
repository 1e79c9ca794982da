//! A set's documents into a collection of their own, and out again.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use uuid::Uuid;

use super::{EvaluationError, EvaluationService, Observer, Progress};
use crate::{
    domain::{
        evaluation::dataset::SetDocument,
        job::{ItemState, JobState},
    },
    service::{
        ServiceError,
        ingest::{Accepted, Content, IncomingDocument, JobReport, Submission},
    },
};

/// Documents of one job: enough to keep all workers busy, few enough to see progress.
const JOB_DOCUMENTS: usize = 500;
/// How often progress is told while a job runs.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// What was loaded.
#[derive(Clone, Copy, Debug)]
pub struct Loaded {
    /// Documents in the collection.
    pub documents: u64,
    /// Their chunks.
    pub chunks: u64,
    /// From the first document handed in to the last one stored.
    pub duration: Duration,
}

impl EvaluationService {
    /// Makes the collection of a set.
    ///
    /// # Errors
    /// [`EvaluationError::CollectionExists`] unless it `may_exist`; service failures.
    pub async fn open(&self, collection: &str, may_exist: bool) -> Result<(), EvaluationError> {
        match self.collections.create(self.tenant, collection, self.collections.defaults()).await {
            Ok(_) => Ok(()),
            Err(ServiceError::Conflict { .. }) if may_exist => Ok(()),
            Err(ServiceError::Conflict { .. }) => Err(EvaluationError::CollectionExists(collection.to_owned())),
            Err(error) => Err(error.into()),
        }
    }

    /// Indexes documents as an upload of them would be, and waits until all are searchable. A worker must be
    /// running on the queue.
    ///
    /// # Errors
    /// [`EvaluationError::NotIndexed`] if one fails; [`EvaluationError::ForeignDocuments`]; service failures.
    pub async fn load(
        &self,
        collection: &str,
        documents: &[SetDocument],
        observe: Observer<'_>,
    ) -> Result<Loaded, EvaluationError> {
        let started = Instant::now();
        let mut jobs = Vec::new();
        for part in documents.chunks(JOB_DOCUMENTS) {
            let incoming = part.iter().map(incoming).collect();
            jobs.push(self.accept(collection, incoming).await?);
        }
        let mut done = 0;
        for job in jobs {
            let report = loop {
                let report = self.ingest.wait(self.tenant, job, TELL_EVERY).await?;
                let settled = report.items.iter().filter(|item| !is_open(item.state)).count();
                observe(Progress { done: done + settled, of: documents.len() });
                if !matches!(report.snapshot.job.state, JobState::Queued | JobState::Running) {
                    break report;
                }
            };
            done += report.items.len();
            refuse_failures(&report)?;
        }
        let duration = started.elapsed();
        let summary = self.collections.get(self.tenant, collection).await?.summary;
        let expected = u64::try_from(documents.len()).unwrap_or(u64::MAX);
        if summary.documents != expected {
            let collection = collection.to_owned();
            return Err(EvaluationError::ForeignDocuments { collection, stored: summary.documents, expected });
        }
        Ok(Loaded { documents: summary.documents, chunks: summary.chunks, duration })
    }

    async fn accept(&self, collection: &str, documents: Vec<IncomingDocument>) -> Result<Uuid, EvaluationError> {
        let submission =
            Submission { collection: collection.to_owned(), documents, indexing: None, key: None, webhook: None };
        match self.ingest.accept(self.tenant, submission).await? {
            Accepted::New(job) => Ok(job),
            Accepted::Repeated(answer) => Ok(answer.job),
        }
    }

    /// Deletes the collection of a set.
    ///
    /// # Errors
    /// Service failures.
    pub async fn discard(&self, collection: &str) -> Result<(), EvaluationError> {
        self.collections.delete(self.tenant, collection).await?;
        Ok(())
    }
}

/// The document as an upload. One that is all title is stored as its text: without text there would be
/// nothing to cite.
fn incoming(document: &SetDocument) -> IncomingDocument {
    let is_title_only = document.text.trim().is_empty();
    let (title, text) = if is_title_only { ("", &document.title) } else { (document.title.as_str(), &document.text) };
    IncomingDocument {
        source: document.id.clone(),
        uri: None,
        title: Some(title.to_owned()),
        metadata: json!({}),
        loader: "evaluation",
        content: Content::Given { media_type: "text/plain".to_owned(), bytes: text.as_bytes().to_vec() },
    }
}

const fn is_open(state: ItemState) -> bool {
    matches!(state, ItemState::Queued | ItemState::Running)
}

fn refuse_failures(report: &JobReport) -> Result<(), EvaluationError> {
    let is_stored = |state: ItemState| matches!(state, ItemState::Succeeded | ItemState::Unchanged);
    let mut failed = report.items.iter().filter(|item| !is_stored(item.state));
    let Some(first) = failed.next() else { return Ok(()) };
    let cause = first.message.as_deref().unwrap_or(first.state.as_str());
    Err(EvaluationError::NotIndexed {
        failed: 1 + u64::try_from(failed.count()).unwrap_or(u64::MAX - 1),
        first: format!("{:?}: {cause}", first.source),
    })
}
