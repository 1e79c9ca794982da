//! Accepts complete requests: small ones that arrive together are written by one transaction.

use futures::future::join_all;
use time::OffsetDateTime;
use uuid::Uuid;

use super::{Accepted, IngestService, Submission, direct::Direct, refusal, submission::queue_item};
use crate::{
    domain::{
        fingerprint::Hash,
        identity::{Caller, TenantId},
        job::Indexing,
        security_event::{Change, SecurityEvent},
    },
    service::{
        ServiceError,
        principals::principal_numbers,
        security_record::{Changed, things},
        together::Together,
    },
    store::{EnqueueOutcome, NewJob, NewJobItem, RequestKey, StoreError},
};

/// Largest request that is written together with others: each of them waits for all.
const SHARED_BYTES: usize = 64 * 1024;
/// Most documents of such a request.
const SHARED_DOCUMENTS: usize = 16;

/// Requests on their way into the queue, by tenant and collection.
pub(super) type Uploads = Together<(TenantId, String), Upload, Result<EnqueueOutcome, ServiceError>>;

/// A complete request.
pub(super) struct Upload {
    /// Identity of the job that it becomes.
    pub(super) job: Uuid,
    pub(super) event: SecurityEvent,
    pub(super) collection: String,
    pub(super) indexing: Option<Indexing>,
    pub(super) key: Option<(String, Hash)>,
    pub(super) webhook: Option<String>,
    pub(super) caller: Caller,
    /// Numbers of its users and groups; `None` where nothing is hidden from it.
    pub(super) principals: Option<Vec<i32>>,
    pub(super) arrived_at: OffsetDateTime,
    pub(super) items: Vec<NewJobItem>,
}

impl Upload {
    pub(super) fn key(&self) -> Option<RequestKey<'_>> {
        self.key.as_ref().map(|(key, hash)| RequestKey { key, request_hash: Some(*hash) })
    }

    pub(super) fn tenant(&self) -> TenantId {
        self.caller.grant.tenant()
    }

    fn maker(&self) -> (&Caller, Option<&[i32]>) {
        (&self.caller, self.principals.as_deref())
    }

    fn is_small(&self) -> bool {
        let bytes: usize = self.items.iter().map(|item| item.content.bytes()).sum();
        self.items.len() <= SHARED_DOCUMENTS && bytes <= SHARED_BYTES
    }
}

impl IngestService {
    /// Accepts documents; creates the collection if it does not exist. Once this returns the documents survive any
    /// crash.
    ///
    /// # Errors
    /// [`ServiceError::QueueFull`]; [`ServiceError::Conflict`] when the key names another request; store
    /// errors. Nothing is accepted then.
    pub(crate) async fn accept(&self, caller: &Caller, submission: Submission) -> Result<Accepted, ServiceError> {
        let tenant = caller.grant.tenant();
        let webhook = submission.webhook.as_deref().map(|url| self.check_webhook(url)).transpose()?;
        let hash = submission.key.is_some().then(|| submission.hash());
        let Submission { collection, indexing, documents, key, is_awaited, .. } = submission;
        let items: Vec<_> = documents.into_iter().map(queue_item).collect();
        let (job, key, caller) = (self.context.ids.next(), key.zip(hash), caller.clone());
        let event = self.event_of(&caller, &collection, job, items.len());
        let principals = principal_numbers(&self.store, &caller.grant).await?;
        let arrived_at = self.context.clock.now().truncate_to_microsecond();
        let upload = Upload { job, event, collection, indexing, key, webhook, caller, principals, arrived_at, items };
        // A repeated request creates no collection, even if its own has been deleted by now.
        if let Some(key) = upload.key()
            && let Some(earlier) = self.store.jobs().earlier_request(tenant, key, self.context.clock.now()).await?
        {
            return repeated_or_refused(earlier);
        }
        let (counted, count, is_flushed) = (upload.caller.clone(), upload.items.len(), upload.key.is_some());
        self.quotas.count_documents(&counted, count).await?;
        let upload = match self.store_directly(upload, is_awaited).await? {
            Direct::Stored(job) => return Ok(Accepted::Finished(job)),
            Direct::InDoubt(_) if self.is_there(tenant, job).await => return Ok(Accepted::New(job)),
            Direct::Left(upload) | Direct::InDoubt(upload) => *upload,
        };
        let outcome = match self.enqueue(upload).await {
            // By a transaction of which this process has not learned that it was committed.
            Ok(EnqueueOutcome::Repeated(first)) if first.job == job => {
                self.store.flush().await?;
                Ok(EnqueueOutcome::Queued)
            }
            Err(error) if leaves_in_doubt(&error) && self.is_there(tenant, job).await => Ok(EnqueueOutcome::Queued),
            outcome => outcome,
        };
        if !matches!(outcome, Ok(EnqueueOutcome::Queued)) {
            self.quotas.return_documents(&counted, count).await?;
        }
        match outcome? {
            EnqueueOutcome::Queued => {
                if !is_flushed {
                    self.store.flush().await?;
                }
                Ok(Accepted::New(job))
            }
            other => repeated_or_refused(other),
        }
    }

    /// Whether a job was accepted, and is kept, though the transaction that was to write it ended with an error: the database
    /// may have been lost after it had committed.
    pub(super) async fn is_there(&self, tenant: TenantId, job: Uuid) -> bool {
        let found = matches!(self.store.jobs().job(tenant, job).await, Ok(Some(_)));
        found && self.store.flush().await.is_ok()
    }

    /// Stores the document of an upload that is waited for at once, if that is possible. It then survives any crash.
    async fn store_directly(&self, upload: Upload, is_awaited: bool) -> Result<Direct, ServiceError> {
        if !is_awaited {
            return Ok(Direct::Left(Box::new(upload)));
        }
        let outcome = self.direct.store(upload).await.ok_or_else(lost)?;
        if let Direct::Stored(_) = &outcome {
            self.store.flush().await?;
        }
        Ok(outcome)
    }

    fn event_of(&self, caller: &Caller, collection: &str, job: Uuid, documents: usize) -> SecurityEvent {
        let things = vec![things::collection(collection), things::job(job)];
        self.record.event(caller, Changed { change: Change::CreateDocuments, things, number: documents as u64 })
    }

    async fn enqueue(&self, mut upload: Upload) -> Result<EnqueueOutcome, ServiceError> {
        if !upload.is_small() {
            for item in &mut upload.items {
                item.content.pack().await;
            }
            return self.enqueue_together(&[upload]).await?.pop().ok_or_else(lost);
        }
        let (key, service) = ((upload.caller.grant.tenant(), upload.collection.clone()), self.clone());
        let done = self.uploads.call(key, upload, move |uploads| {
            let service = service.clone();
            async move { service.enqueue_each(uploads).await }
        });
        done.await.ok_or_else(lost)?
    }

    /// Writes requests to one collection: by one transaction or, if that fails, each by one of its own, so that it fails for
    /// its own reasons alone.
    async fn enqueue_each(&self, uploads: Vec<Upload>) -> Vec<Result<EnqueueOutcome, ServiceError>> {
        if uploads.len() > 1
            && let Ok(outcomes) = self.enqueue_together(&uploads).await
        {
            return outcomes.into_iter().map(Ok).collect();
        }
        let alone = async |upload| self.enqueue_together(std::slice::from_ref(upload)).await?.pop().ok_or_else(lost);
        join_all(uploads.iter().map(alone)).await
    }

    /// Writes requests of a tenant to one collection by one transaction.
    async fn enqueue_together(&self, uploads: &[Upload]) -> Result<Vec<EnqueueOutcome>, ServiceError> {
        let Some(first) = uploads.first() else { return Ok(Vec::new()) };
        let tenant = first.caller.grant.tenant();
        let documents = uploads.iter().map(|upload| upload.items.len()).sum();
        let collection = self.collection(&first.caller, &first.collection, documents).await?;
        let jobs: Vec<NewJob<'_>> = uploads
            .iter()
            .map(|upload| NewJob {
                key: upload.key(),
                webhook: upload.webhook.as_deref(),
                ..self.new_job((upload.job, &upload.event), &collection, upload.indexing, upload.maker())
            })
            .collect();
        let jobs: Vec<(&NewJob<'_>, &[NewJobItem])> =
            jobs.iter().zip(uploads).map(|(job, upload)| (job, upload.items.as_slice())).collect();
        let outcomes = self.store.jobs().enqueue(tenant, &jobs).await?;
        if let Some(refused @ (EnqueueOutcome::Full(_) | EnqueueOutcome::OverQuota(_))) = outcomes.first() {
            return Err(refusal(refused));
        }
        let phases: Vec<_> = uploads.iter().flat_map(|upload| &upload.items).map(|item| item.phase).collect();
        match phases.as_slice() {
            // One worker takes all of them.
            [one, others @ ..] if others.iter().all(|other| other == one) && first.is_small() => {
                self.signal.queued_one(*one);
            }
            _ => self.signal.queued(),
        }
        Ok(outcomes)
    }
}

fn repeated_or_refused(outcome: EnqueueOutcome) -> Result<Accepted, ServiceError> {
    match outcome {
        EnqueueOutcome::Repeated(answer) => Ok(Accepted::Repeated(answer)),
        other => Err(refusal(&other)),
    }
}

/// Whether documents may have been accepted in spite of an error: the database was lost, or the job exists already.
fn leaves_in_doubt(error: &ServiceError) -> bool {
    let ServiceError::Store(error) = error else { return false };
    error.is_transient() || matches!(error, StoreError::Constraint { .. })
}

/// Error: the transaction that was to write a request ended without an outcome.
fn lost() -> ServiceError {
    StoreError::Inconsistent("documents were to be accepted, and what became of them is not known".to_owned()).into()
}
