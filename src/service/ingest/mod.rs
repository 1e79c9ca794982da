//! Ingest: accepts documents durably, and processes them.

mod acceptance;
mod attachment;
mod batch;
mod bm25;
mod build;
mod commit;
mod contextual;
mod direct;
mod document;
mod embed;
mod embed_stored;
mod extraction;
mod failure;
mod fetch;
mod job_metrics;
mod jobs;
mod layout;
mod notify;
mod piece;
mod pipeline;
mod replacement;
mod reply;
mod signal;
mod stream;
mod submission;
mod webhook;
mod work;
mod worker;

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use uuid::Uuid;

pub(crate) use contextual::{ContextSettings, ContextWriter};
pub(crate) use extraction::{ExtractionSettings, RecognitionSettings};
pub(crate) use jobs::{JobReport, JobSnapshot, no_job};
pub(crate) use notify::Notifier;
pub(crate) use pipeline::Processor;
pub(crate) use replacement::Replacement;
pub(crate) use reply::{Reply, ReplyOptions};
pub(crate) use signal::Signal;
pub(crate) use stream::{Arrival, DocumentStream};
pub(crate) use submission::{Content, IncomingDocument, Submission};
pub(crate) use webhook::{ReceiverSecret, Webhooks};
pub(crate) use work::build_work;
pub(crate) use worker::Worker;

pub(crate) use crate::{
    extract::MediaType,
    store::{
        ContextGaps, ContextWork, FirstAnswer, ItemPage, JobCounts, JobFilter, JobItemRow, RefusedItem, ReplyContent,
        StageWork, WebhookRow,
    },
};

use acceptance::Uploads;
use direct::DirectStorage;
use jobs::Looks;
use submission::queue_item;

use super::{
    ServiceError,
    context::Context,
    embedders::Embedders,
    quotas::Quotas,
    security_record::{Changed, SecurityRecord, things},
};
use crate::{
    domain::{
        identity::{Caller, TenantId},
        job::Indexing,
        lexical::language::Language,
        security_event::{Change, SecurityEvent},
        split::SplitterSettings,
        storage::Growth,
    },
    store::{
        Collection, CollectionSettings, EnqueueOutcome, Lease, NewCollection, NewJob, QueueLimits, ReportedJob, Store,
        StoreError,
    },
};

/// Shortest lease: with less, a heartbeat that is slightly late loses it.
pub(crate) const MINIMUM_LEASE: Duration = Duration::from_secs(2);
/// Least memory: with less, the child that reads documents may not even start.
pub(crate) const MINIMUM_EXTRACTION_MEMORY_MIB: u64 = 256;

/// Smallest prompt: with less there is no room for a document next to the instructions and the chunk.
pub(crate) const MINIMUM_CONTEXT_PROMPT_TOKENS: u32 = 1024;

/// Most bytes of documents of different jobs that are processed together: the built-in model embeds so many in about a
/// second, and each job waits for all of them.
const SHARED_BYTES: i64 = 128 * 1024;

/// Tasks of this process that fetch documents by URL and process them.
const FETCH_TASKS: i64 = 3;

/// Settings of ingest.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Concurrent batches in this process.
    pub(crate) workers: NonZeroUsize,
    /// Validity of a claim without a heartbeat.
    pub(crate) lease: Duration,
    /// Most tokens of a chunk in collections that set no other limit; the embedder's window lowers it further.
    pub(crate) chunk_tokens: usize,
    /// Language in which words are stemmed, in collections that set no other.
    pub(crate) language: Language,
    /// Limits on reading one document.
    pub(crate) extraction: ExtractionSettings,
    /// Number of transient failures, and separately of workers lost by it, after which a document is given up.
    pub(crate) max_attempts: i32,
    /// Interval at which an idle worker looks for work without being notified.
    pub(crate) poll: Duration,
    /// Limits on the documents that a tenant may have waiting.
    pub(crate) queue: QueueLimits,
    /// Largest document that is fetched by URL.
    pub(crate) fetch_max_bytes: usize,
    /// Limits on the sentences about chunks.
    pub(crate) contexts: ContextSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            workers: const { NonZeroUsize::new(2).expect("two is not zero") },
            lease: Duration::from_secs(30),
            chunk_tokens: 512,
            language: Language::default(),
            extraction: ExtractionSettings::default(),
            max_attempts: 5,
            poll: Duration::from_secs(1),
            fetch_max_bytes: 32 * 1024 * 1024,
            contexts: ContextSettings::default(),
            queue: QueueLimits { items: 1_000_000, bytes: 4 * 1024 * 1024 * 1024 },
        }
    }
}

impl Settings {
    /// The settings of a collection that specifies none.
    #[must_use]
    pub(crate) fn collection_defaults(&self) -> CollectionSettings {
        let splitter = SplitterSettings { size: self.chunk_tokens, ..SplitterSettings::default() };
        CollectionSettings { splitter, language: self.language, indexing: Indexing::default(), context: None }
    }

    fn lease(&self) -> Lease {
        Lease {
            duration: self.lease.try_into().unwrap_or(time::Duration::MINUTE),
            max_items: 128,
            max_bytes: 2 * 1024 * 1024,
            below_bytes: None,
            max_shared_bytes: Some(SHARED_BYTES),
            max_losses: self.max_attempts,
            max_claims: None,
            beside_others: false,
        }
    }

    /// The lease of the spare task: a claim of a tenant that has none, while another has.
    fn lease_of_spare(&self) -> Lease {
        Lease { max_claims: Some(1), beside_others: true, ..self.lease() }
    }

    /// The lease of documents that are to be fetched: short claims of one job, since a host that hangs holds up a claim, and of one tenant fewer than there are tasks that
    /// fetch, so that hosts that hang leave one to others.
    fn lease_of_fetches(&self) -> Lease {
        Lease { max_items: 16, max_claims: Some(FETCH_TASKS - 1), max_shared_bytes: None, ..self.lease() }
    }
}

/// Outcome of an accepted request.
#[derive(Clone, Debug)]
pub(crate) enum Accepted {
    /// A new job.
    New(Uuid),
    /// A new job, which is over.
    Finished(Box<ReportedJob>),
    /// The request was accepted before, with this reply.
    Repeated(FirstAnswer),
}

/// Components that both the acceptance and the processing of documents use.
pub(crate) struct IngestParts {
    /// Queue and documents.
    pub(crate) store: Store,
    /// Embedding models; new collections use the primary one.
    pub(crate) embedders: Embedders,
    /// Time and identities.
    pub(crate) context: Context,
}

/// Settings of the acceptance of documents.
pub(crate) struct Acceptance {
    /// Settings of collections that are created for documents.
    pub(crate) defaults: CollectionSettings,
    /// Limits on a tenant's waiting documents.
    pub(crate) limits: QueueLimits,
    /// Webhooks, if the deployment sends any.
    pub(crate) webhooks: Option<Webhooks>,
    /// Counts documents against the day of their key.
    pub(crate) quotas: Quotas,
    /// Names what is accepted, for the record.
    pub(crate) record: SecurityRecord,
}

/// The use case.
#[derive(Clone)]
pub(crate) struct IngestService {
    store: Store,
    embedders: Embedders,
    defaults: CollectionSettings,
    limits: QueueLimits,
    webhooks: Option<Webhooks>,
    quotas: Quotas,
    record: SecurityRecord,
    context: Context,
    signal: Arc<Signal>,
    uploads: Uploads,
    looks: Looks,
    direct: DirectStorage,
}

impl IngestService {
    /// Accepts documents into the queue of this store, and stores small ones by this processor.
    #[must_use]
    pub(crate) fn new(parts: IngestParts, acceptance: Acceptance, processor: Processor, signal: Arc<Signal>) -> Self {
        let IngestParts { store, embedders, context } = parts;
        let Acceptance { defaults, limits, webhooks, quotas, record } = acceptance;
        Self {
            store,
            embedders,
            defaults,
            limits,
            webhooks,
            quotas,
            record,
            context,
            signal,
            uploads: Uploads::default(),
            looks: Looks::default(),
            direct: DirectStorage::new(processor),
        }
    }

    /// The collection of this name; made for so many documents if there is none, unless they would be refused anyway.
    async fn collection(&self, caller: &Caller, name: &str, documents: usize) -> Result<Collection, ServiceError> {
        let collection = match self.store.collections().collection(caller.grant.tenant(), name).await? {
            Some(collection) => collection,
            None => self.make_collection(caller, name, documents).await?,
        };
        if self.embedders.of(collection.profile_id).is_some() {
            Ok(collection)
        } else {
            Err(foreign_profile(&collection))
        }
    }

    async fn make_collection(&self, caller: &Caller, name: &str, documents: usize) -> Result<Collection, ServiceError> {
        let tenant = caller.grant.tenant();
        let growth = Growth { documents: documents as u64, bytes: 1, collections: 1 };
        self.store.access().refuse_growth(tenant, growth).await?;
        let (profile, _) = self.embedders.primary();
        let event = self.record.event(caller, Changed::one(Change::CreateCollection, [things::collection(name)]));
        let (id, settings) = (self.context.ids.next(), self.defaults);
        let new = NewCollection { id, name, profile, settings, web_search: false, event: &event };
        Ok(self.store.collections().ensure_collection(tenant, new, self.context.clock.now()).await?.0)
    }

    fn check_webhook(&self, url: &str) -> Result<String, ServiceError> {
        self.webhooks.as_ref().ok_or_else(|| webhook::none_are_sent("?webhook_url"))?.check(url)
    }

    /// The secret by which the receiver at a URL checks the tenant's webhooks.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] where none can be sent to it.
    pub(crate) fn webhook_secret(&self, tenant: TenantId, url: &str) -> Result<ReceiverSecret, ServiceError> {
        self.webhooks.as_ref().ok_or_else(|| webhook::none_are_sent("?url"))?.secret_of(tenant, url)
    }

    /// A job of a caller, without a name of its own and without a webhook.
    fn new_job<'a>(
        &self,
        (id, event): (Uuid, &'a SecurityEvent),
        collection: &'a Collection,
        indexing: Option<Indexing>,
        (caller, maker_principals): (&'a Caller, Option<&'a [i32]>),
    ) -> NewJob<'a> {
        NewJob {
            id,
            event,
            collection: collection.id,
            collection_name: &collection.name,
            indexing: indexing.unwrap_or(collection.indexing),
            key: None,
            webhook: None,
            created_by: caller.key_id.as_deref(),
            maker_principals,
            limits: self.limits,
            now: self.context.clock.now(),
        }
    }
}

/// Reasons why a request was not accepted.
fn refusal(outcome: &EnqueueOutcome) -> ServiceError {
    match outcome {
        EnqueueOutcome::Full(full) => ServiceError::QueueFull(*full),
        EnqueueOutcome::OverQuota(over) => StoreError::from(*over).into(),
        EnqueueOutcome::KeyInProgress => ServiceError::Conflict {
            code: "idempotency_in_progress",
            detail: "a request with this Idempotency-Key is still being received; wait for its answer".to_owned(),
        },
        EnqueueOutcome::Queued | EnqueueOutcome::Repeated(_) | EnqueueOutcome::KeyReused => key_reused(),
    }
}

/// Error: another request has this idempotency key.
pub(crate) fn key_reused() -> ServiceError {
    ServiceError::Conflict {
        code: "idempotency_key_reused",
        detail: "this Idempotency-Key was sent with another request within the last 24 hours; use a new key for a new \
                 request"
            .to_owned(),
    }
}

/// Error: the collection's vectors cannot be computed by this service's embedder.
fn foreign_profile(collection: &Collection) -> ServiceError {
    ServiceError::Conflict {
        code: "embedding_profile_mismatch",
        detail: format!(
            "collection {:?} was embedded with {} ({} dimensions), which the service is not configured for; \
             configure that model again (as a table of [embeddings], beside another), or ingest into a new collection",
            collection.name, collection.profile.model, collection.profile.dimension
        ),
    }
}
