//! Evaluation: a set's documents into a collection of their own, its queries and questions through the
//! same services that requests go through, here or in a running service, and what came of it.

mod answers;
mod here;
mod remote;
mod retrieval;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use thiserror::Error;
use tokio::time::Instant;
use uuid::Uuid;

use self::{here::Here, remote::Remote};
use super::{
    ServiceError,
    ask::{AskError, AskService},
    collections::CollectionService,
    ingest::IngestService,
    retrieval::Stages,
    search::SearchService,
};
use crate::{
    domain::{
        evaluation::{answers::Reply, dataset::SetDocument},
        identity::TenantId,
    },
    providers::remote::Client,
};

/// What an evaluation can fail with.
#[derive(Debug, Error)]
pub enum EvaluationError {
    /// There is a collection of that name already.
    #[error("there is a collection {0:?} already")]
    CollectionExists(String),
    /// Figures over part of the documents would mislead.
    #[error("{failed} documents could not be indexed; the first: {first}")]
    NotIndexed {
        /// How many.
        failed: u64,
        /// Name of the first, and why it failed.
        first: String,
    },
    /// The collection holds documents that are not in the set.
    #[error("collection {collection:?} holds {stored} documents and the set has {expected}")]
    ForeignDocuments {
        /// Its name.
        collection: String,
        /// Documents in it.
        stored: u64,
        /// Documents of the set.
        expected: u64,
    },
    /// A service failed.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// An ask failed for a reason that is no measure of quality.
    #[error("asking {question:?} failed")]
    Ask {
        /// Name of the question.
        question: String,
        /// Why.
        source: Box<AskError>,
    },
    /// The running service cannot be reached, or refuses.
    #[error("{service}: {detail}")]
    Remote {
        /// Where it is.
        service: String,
        /// Why.
        detail: String,
    },
}

/// How far an evaluation has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Items done.
    pub done: usize,
    /// Items in all.
    pub of: usize,
}

/// Is told of progress.
pub type Observer<'a> = &'a (dyn Fn(Progress) + Send + Sync);

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

/// Documents of one job: enough to keep all workers busy, few enough to see progress.
const JOB_DOCUMENTS: usize = 500;
/// Passages per round of an ask, as one has them by default.
const TOP_K: usize = 8;

/// A job as it stands.
struct Look {
    /// Documents that are done with.
    settled: usize,
    /// Whether it goes on.
    is_open: bool,
    /// Once it has ended: how many of its documents are not stored, and the first of them with the cause.
    failed: Option<(u64, String)>,
}

/// What is in a collection.
struct Stored {
    documents: u64,
    chunks: u64,
}

/// What is measured.
#[async_trait]
trait Target: Send + Sync {
    async fn open(&self, collection: &str, may_exist: bool) -> Result<(), EvaluationError>;

    /// Hands documents in as one job.
    async fn hand_in(&self, collection: &str, documents: &[SetDocument]) -> Result<Uuid, EvaluationError>;

    /// How far a job is, after a while in which it may have gone on.
    async fn look(&self, job: Uuid) -> Result<Look, EvaluationError>;

    async fn stored(&self, collection: &str) -> Result<Stored, EvaluationError>;

    async fn discard(&self, collection: &str) -> Result<(), EvaluationError>;

    /// The documents of the best `top_k` passages, best first.
    async fn search(
        &self,
        collection: &str,
        query: &str,
        stages: Stages,
        top_k: usize,
    ) -> Result<Vec<String>, EvaluationError>;

    /// Most passages that a search gives.
    fn most_passages(&self) -> usize;

    async fn ask(&self, collection: &str, id: &str, question: &str) -> Result<Reply, EvaluationError>;
}

/// The use case.
#[derive(Clone)]
pub struct EvaluationService {
    target: Arc<dyn Target>,
}

impl EvaluationService {
    /// Evaluation of these services.
    #[must_use]
    pub fn here(
        tenant: TenantId,
        collections: CollectionService,
        ingest: IngestService,
        search: SearchService,
        ask: AskService,
    ) -> Self {
        Self { target: Arc::new(Here { tenant, collections, ingest, search, ask }) }
    }

    /// Evaluation of a running service. Of a search it gives a hundred passages at most, so that deep measures of
    /// documents in many chunks come out lower than they would here.
    #[must_use]
    pub fn remote(client: Client) -> Self {
        Self { target: Arc::new(Remote::new(client)) }
    }

    /// Makes the collection of a set.
    ///
    /// # Errors
    /// [`EvaluationError::CollectionExists`] unless it `may_exist`; service failures.
    pub async fn open(&self, collection: &str, may_exist: bool) -> Result<(), EvaluationError> {
        self.target.open(collection, may_exist).await
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
            jobs.push(self.target.hand_in(collection, part).await?);
        }
        let mut done = 0;
        for job in jobs {
            let look = loop {
                let look = self.target.look(job).await?;
                observe(Progress { done: done + look.settled, of: documents.len() });
                if !look.is_open {
                    break look;
                }
            };
            done += look.settled;
            if let Some((failed, first)) = look.failed {
                return Err(EvaluationError::NotIndexed { failed, first });
            }
        }
        let duration = started.elapsed();
        let stored = self.target.stored(collection).await?;
        let expected = u64::try_from(documents.len()).unwrap_or(u64::MAX);
        if stored.documents != expected {
            let (collection, stored) = (collection.to_owned(), stored.documents);
            return Err(EvaluationError::ForeignDocuments { collection, stored, expected });
        }
        Ok(Loaded { documents: stored.documents, chunks: stored.chunks, duration })
    }

    /// Deletes the collection of a set.
    ///
    /// # Errors
    /// Service failures.
    pub async fn discard(&self, collection: &str) -> Result<(), EvaluationError> {
        self.target.discard(collection).await
    }
}

/// Title and text of a document as it is uploaded. One that is all title is stored as its text: without text there
/// would be nothing to cite.
fn title_and_text(document: &SetDocument) -> (&str, &str) {
    let is_title_only = document.text.trim().is_empty();
    if is_title_only { ("", &document.title) } else { (&document.title, &document.text) }
}
