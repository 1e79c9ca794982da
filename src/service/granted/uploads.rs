//! Uploads and jobs, for one caller.

use uuid::Uuid;

use super::Granted;
use crate::{
    domain::{fingerprint::Hash, job::Indexing, security_event::Change},
    service::{
        ServiceError,
        ingest::{
            Accepted, DocumentStream, FirstAnswer, ItemPage, JobFilter, JobReport, JobSnapshot, Replacement, Reply,
            ReplyContent, ReplyOptions, Submission, key_reused, no_job,
        },
        security_record::{Changed, things::job},
    },
};

impl Granted {
    /// Accepts documents.
    ///
    /// # Errors
    /// [`ServiceError::NotGranted`]; else as [`IngestService::accept`](crate::service::ingest::IngestService::accept).
    pub(crate) async fn accept(&self, submission: Submission) -> Result<Accepted, ServiceError> {
        self.fill(&submission.collection)?;
        self.parts.ingest.accept(&self.caller, submission).await
    }

    /// Opens a stream of documents.
    ///
    /// # Errors
    /// [`ServiceError::NotGranted`]; else as
    /// [`IngestService::open_stream`](crate::service::ingest::IngestService::open_stream).
    pub(crate) async fn open_stream(
        &self,
        name: &str,
        indexing: Option<Indexing>,
        key: Option<String>,
        webhook: Option<&str>,
    ) -> Result<DocumentStream, ServiceError> {
        self.fill(name)?;
        self.parts.ingest.open_stream(self.caller.clone(), name, indexing, key, webhook).await
    }

    /// The reply to an earlier stream with this idempotency key.
    ///
    /// # Errors
    /// As [`IngestService::earlier_stream`](crate::service::ingest::IngestService::earlier_stream).
    pub(crate) async fn earlier_stream(
        &self,
        key: &str,
        request_hash: Option<Hash>,
    ) -> Result<Option<FirstAnswer>, ServiceError> {
        self.parts.ingest.earlier_stream(self.tenant(), key, request_hash).await
    }

    /// Replies to an accepted request. A repetition is told of the job to which it leads if its caller may see that; the
    /// words and the key of a request may be known to others.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] if the job is hidden from the caller; else as
    /// [`IngestService::reply`](crate::service::ingest::IngestService::reply).
    pub(crate) async fn reply<E: From<ServiceError>>(
        &self,
        accepted: Accepted,
        options: ReplyOptions<'_>,
        render: impl FnOnce(JobReport) -> Result<ReplyContent, E>,
    ) -> Result<Reply, E> {
        if let Accepted::Repeated(first) = &accepted {
            self.see_job(first.job).await.map_err(|error| match error {
                ServiceError::NotFound { .. } => key_reused(),
                other => other,
            })?;
        }
        self.parts.ingest.reply(self.tenant(), accepted, options, render).await
    }

    /// Accepts a replacement of a document.
    ///
    /// # Errors
    /// As [`IngestService::replace`](crate::service::ingest::IngestService::replace).
    pub(crate) async fn replace_document(&self, id: Uuid, replacement: Replacement) -> Result<Uuid, ServiceError> {
        self.see_document(id).await?;
        self.parts.ingest.replace(&self.caller, id, replacement).await
    }

    /// Jobs that pass the filter, newest first; of the collection that the request names, if it names one.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn jobs(
        &self,
        collection: Option<String>,
        mut filter: JobFilter,
        limit: i64,
    ) -> Result<Vec<JobSnapshot>, ServiceError> {
        filter.among = self.among(collection);
        filter.seen_by = self.maker();
        self.parts.ingest.jobs(self.tenant(), &filter, limit).await
    }

    /// A job and a page of its items.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn job(&self, id: Uuid, page: ItemPage) -> Result<JobReport, ServiceError> {
        self.see_job(id).await?;
        self.parts.ingest.job(self.tenant(), id, page).await
    }

    /// A job as it is now.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn job_snapshot(&self, id: Uuid) -> Result<JobSnapshot, ServiceError> {
        self.see_job(id).await?;
        self.parts.ingest.snapshot(self.tenant(), id).await
    }

    /// The next snapshot of a job that differs from the one seen last; `None` when the service stops.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn next_job_snapshot(
        &self,
        id: Uuid,
        seen: Option<&str>,
    ) -> Result<Option<JobSnapshot>, ServiceError> {
        self.see_job(id).await?;
        self.parts.ingest.next_snapshot(self.tenant(), id, seen).await
    }

    /// Cancels a job.
    ///
    /// # Errors
    /// As [`IngestService::cancel`](crate::service::ingest::IngestService::cancel).
    pub(crate) async fn cancel_job(&self, id: Uuid) -> Result<JobSnapshot, ServiceError> {
        self.see_job(id).await?;
        let event = self.event(Changed::one(Change::CancelJob, [job(id)]));
        self.parts.ingest.cancel(self.tenant(), id, &event).await
    }

    /// Returns the failed documents of a job to the queue.
    ///
    /// # Errors
    /// As [`IngestService::retry`](crate::service::ingest::IngestService::retry).
    pub(crate) async fn retry_job(&self, id: Uuid) -> Result<JobSnapshot, ServiceError> {
        self.see_job(id).await?;
        let event = self.event(Changed::one(Change::RetryJob, [job(id)]));
        self.parts.ingest.retry(self.tenant(), id, &event).await
    }

    /// Answers as for a job that does not exist, if the caller may not see its collection, or what it names.
    async fn see_job(&self, id: Uuid) -> Result<(), ServiceError> {
        let (among, seen_by) = (self.among(None), self.maker());
        if among.is_none() && seen_by.is_none() {
            return Ok(());
        }
        let filter = JobFilter { id: Some(id), among, seen_by, ..JobFilter::default() };
        let found = self.parts.ingest.jobs(self.tenant(), &filter, 1).await?;
        if found.is_empty() { Err(no_job(id)) } else { Ok(()) }
    }

    /// The key that jobs are shown to; `None` for a caller from whom no document is hidden. A job names its documents, and so
    /// is shown to others only where none is restricted.
    fn maker(&self) -> Option<String> {
        self.caller.grant.principals().map(|_| self.caller.key_id.clone().unwrap_or_default())
    }
}
