//! Accepts documents that arrive one after the other, in any number: in parts as they arrive, with bounded memory.
//! Accepted documents are kept, however the stream ends.

use std::time::Duration;

use uuid::Uuid;

use super::{IncomingDocument, IngestService, queue_item, refusal};
use crate::{
    domain::{
        fingerprint::Hash,
        identity::{Caller, TenantId},
        job::Indexing,
        security_event::Change,
    },
    service::{
        ServiceError,
        principals::principal_numbers,
        security_record::{Changed, things},
    },
    store::{
        AppendOutcome, Collection, EnqueueOutcome, FirstAnswer, NewItems, NewJob, OpenJob, RefusedItem, RequestKey,
        StoreError,
    },
};

/// A part is accepted when it has this many documents, …
const PART_ITEMS: usize = 500;
/// … or this many bytes.
const PART_BYTES: usize = 4 * 1024 * 1024;
/// Time without activity of the sender, or of this service, after which a job is given up as broken.
const RECEIVING: time::Duration = time::Duration::seconds(60);
/// Interval at which a full queue is checked again.
const ROOM_POLL: Duration = Duration::from_millis(500);
/// Longest wait of a stream for room in a queue that makes no progress.
const STALLED: Duration = Duration::from_mins(5);

/// An entry of a stream.
#[derive(Debug)]
pub(crate) enum Arrival {
    /// A document.
    Document(IncomingDocument),
    /// An entry that is not a document; it is listed with the job as failed.
    Refused(RefusedItem),
}

/// A stream whose documents go into one job. The job is created with the first part.
pub(crate) struct DocumentStream {
    service: IngestService,
    caller: Caller,
    collection: Collection,
    key: Option<String>,
    webhook: Option<String>,
    indexing: Option<Indexing>,
    job: Option<Uuid>,
    new: NewItems,
    bytes: usize,
}

impl IngestService {
    /// Opens a stream into a collection, which is created if it does not exist.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] for a collection of another model; [`ServiceError::Invalid`] for a webhook that
    /// cannot be; store errors.
    pub(crate) async fn open_stream(
        &self,
        caller: Caller,
        collection: &str,
        indexing: Option<Indexing>,
        key: Option<String>,
        webhook: Option<&str>,
    ) -> Result<DocumentStream, ServiceError> {
        Ok(DocumentStream {
            webhook: webhook.map(|url| self.check_webhook(url)).transpose()?,
            collection: self.collection(&caller, collection, 1).await?,
            service: self.clone(),
            caller,
            indexing,
            key,
            job: None,
            new: NewItems::default(),
            bytes: 0,
        })
    }

    /// Returns the reply to an earlier stream of this name, if there was one; with the hash of all that was sent,
    /// checks that it was the same.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] when it was another, or is still arriving.
    pub(crate) async fn earlier_stream(
        &self,
        tenant: TenantId,
        key: &str,
        request_hash: Option<Hash>,
    ) -> Result<Option<FirstAnswer>, ServiceError> {
        let key = RequestKey { key, request_hash };
        match self.store.jobs().earlier_request(tenant, key, self.context.clock.now()).await? {
            None => Ok(None),
            Some(EnqueueOutcome::Repeated(answer)) => Ok(Some(answer)),
            Some(other) => Err(refusal(&other)),
        }
    }
}

impl DocumentStream {
    const fn tenant(&self) -> TenantId {
        self.caller.grant.tenant()
    }

    /// The job, once there is one.
    #[must_use]
    pub(crate) const fn job(&self) -> Option<Uuid> {
        self.job
    }

    /// Bytes of documents that arrived and are not accepted yet.
    #[must_use]
    pub(crate) const fn pending_bytes(&self) -> usize {
        self.bytes
    }

    /// Adds an entry; accepts a part when it is large enough, which waits while the queue is full.
    ///
    /// # Errors
    /// As [`DocumentStream::flush`].
    pub(crate) async fn push(&mut self, arrival: Arrival) -> Result<(), ServiceError> {
        match arrival {
            Arrival::Document(document) => {
                self.bytes += document.content.size();
                let mut item = queue_item(document);
                item.content.pack().await;
                self.new.items.push(item);
            }
            Arrival::Refused(item) => self.new.refused.push(item),
        }
        if self.new.items.len() + self.new.refused.len() >= PART_ITEMS || self.bytes >= PART_BYTES {
            self.flush().await?;
        }
        Ok(())
    }

    /// Accepts the entries so far, and records that the sender is still active.
    ///
    /// # Errors
    /// [`ServiceError::QueueFull`] when nothing moves in the queue; [`ServiceError::Conflict`] when the job was
    /// cancelled, or the key is taken; store errors.
    pub(crate) async fn flush(&mut self) -> Result<(), ServiceError> {
        self.bytes = 0;
        let new = std::mem::take(&mut self.new);
        let count = new.items.len();
        self.service.quotas.count_documents(&self.caller, count).await?;
        let accepted = match self.job {
            None if new.items.is_empty() && new.refused.is_empty() => return Ok(()),
            None => self.open(&new).await,
            Some(job) => self.append(job, &new).await,
        };
        if accepted.is_err() {
            self.service.quotas.return_documents(&self.caller, count).await?;
        }
        accepted?;
        self.service.signal.queued();
        Ok(())
    }

    async fn open(&mut self, new: &NewItems) -> Result<(), ServiceError> {
        let key = self.key.as_deref().map(|key| RequestKey { key, request_hash: None });
        let id = self.service.context.ids.next();
        let things = [things::collection(&self.collection.name), things::job(id)];
        let event = self.service.record.event(&self.caller, Changed::one(Change::StreamDocuments, things));
        let principals = principal_numbers(&self.service.store, &self.caller.grant).await?;
        let maker = (&self.caller, principals.as_deref());
        let new_job = self.service.new_job((id, &event), &self.collection, self.indexing, maker);
        let job = NewJob { key, webhook: self.webhook.as_deref(), ..new_job };
        let until = job.now + RECEIVING;
        let outcome = match self.service.store.jobs().open_job(self.tenant(), &job, new, until).await {
            Err(error) if error.is_transient() && self.service.is_there(self.tenant(), id).await => {
                EnqueueOutcome::Queued
            }
            outcome => outcome?,
        };
        match outcome {
            EnqueueOutcome::Queued => {
                self.job = Some(job.id);
                Ok(())
            }
            // The first part is small: a queue without room for it is as full as any.
            other => Err(refusal(&other)),
        }
    }

    async fn append(&self, job: Uuid, new: &NewItems) -> Result<(), ServiceError> {
        let service = &self.service;
        let mut settlements = service.signal.settlements();
        let mut stalled_since = tokio::time::Instant::now();
        let mut least = u64::MAX;
        loop {
            let full = match self.append_once(job, new).await? {
                AppendOutcome::Queued => return Ok(()),
                AppendOutcome::JobClosed => return Err(job_closed()),
                AppendOutcome::OverQuota(over) => return Err(StoreError::from(over).into()),
                AppendOutcome::Full(full) => full,
            };
            if full.waiting < least {
                least = full.waiting;
                stalled_since = tokio::time::Instant::now();
            }
            if stalled_since.elapsed() >= STALLED || full.asked > full.value {
                return Err(ServiceError::QueueFull(full));
            }
            tokio::select! {
                () = settlements.any() => {}
                () = tokio::time::sleep(ROOM_POLL) => {}
                () = service.signal.stopping.cancelled() => return Err(ServiceError::QueueFull(full)),
            }
            // Records that the sender is still active.
            self.append_once(job, &NewItems::default()).await?;
        }
    }

    /// Appends what there is room for. A transaction whose outcome was not learned of, because the database was lost, may have
    /// been committed all the same.
    async fn append_once(&self, job: Uuid, new: &NewItems) -> Result<AppendOutcome, StoreError> {
        let (jobs, open) = (self.service.store.jobs(), self.kept_open(job));
        match jobs.append_to_job(self.tenant(), &open, new).await {
            Err(error) if error.is_transient() => {
                if jobs.was_appended(self.tenant(), &open).await? {
                    Ok(AppendOutcome::Queued)
                } else {
                    Err(error)
                }
            }
            outcome => outcome,
        }
    }

    /// The job, to be kept open from now on for as long as its sender may be silent.
    fn kept_open(&self, job: Uuid) -> OpenJob {
        // As the database keeps it, so that it can be looked for.
        let now = self.service.context.clock.now().truncate_to_microsecond();
        OpenJob { id: job, limits: self.service.limits, receiving_until: now + RECEIVING, now }
    }

    /// Ends a complete stream: `request_hash` identifies it. Returns `None` if it was empty.
    ///
    /// # Errors
    /// As [`DocumentStream::flush`].
    pub(crate) async fn complete(&mut self, request_hash: Hash) -> Result<Option<Uuid>, ServiceError> {
        self.flush().await?;
        if let Some(job) = self.job {
            self.close(job, Some(request_hash)).await?;
        }
        Ok(self.job)
    }

    /// Ends a stream that broke off: accepts the entries so far and lets the job end with them. Its key is free again.
    ///
    /// # Errors
    /// As [`DocumentStream::flush`].
    pub(crate) async fn break_off(&mut self) -> Result<Option<Uuid>, ServiceError> {
        let kept = self.flush().await;
        if let Some(job) = self.job {
            self.close(job, None).await?;
        }
        kept.map(|()| self.job)
    }

    async fn close(&self, job: Uuid, request_hash: Option<Hash>) -> Result<(), ServiceError> {
        let (jobs, now) = (self.service.store.jobs(), self.service.context.clock.now());
        match jobs.close_job(self.tenant(), job, request_hash, now).await {
            // It may be closed, which is not done twice.
            Err(error) if error.is_transient() => jobs.close_job(self.tenant(), job, request_hash, now).await?,
            closed => closed?,
        }
        self.service.signal.settled(job);
        Ok(())
    }
}

fn job_closed() -> ServiceError {
    ServiceError::Conflict {
        code: "job_over",
        detail: "the job was cancelled while its documents arrived; what had been indexed by then stays".to_owned(),
    }
}
