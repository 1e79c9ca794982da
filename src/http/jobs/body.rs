//! The body of a job in the API.

use serde::Serialize;
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    super::{
        number::thousandths as round,
        schema::{IndexingSchema, IngestStageSchema, ItemStateSchema, JobKindSchema, JobStateSchema},
    },
    model_work::{ContextGapsBody, ContextsBody, EmbeddingsBody},
    reading::ReadingBody,
};
use crate::{
    domain::job::{Indexing, ItemState, JobKind, JobState, Stage},
    service::ingest::{JobCounts, JobItemRow, JobReport, JobSnapshot, StageWork, WebhookRow},
};

/// An ingest job.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Job)]
pub(in crate::http) struct JobBody {
    /// Id of the job.
    id: Uuid,
    /// `ingest` adds documents; `index` builds stored documents into the next index of their collection. While a next
    /// index exists, the service starts such a job for each batch that it stores.
    #[schema(value_type = JobKindSchema)]
    kind: JobKind,
    /// `queued`, `running`, or one of the final states `succeeded`, `partial`, `failed`, `cancelled`.
    #[schema(value_type = JobStateSchema)]
    state: JobState,
    /// Collection that the documents go to.
    collection: String,
    /// `complete`: documents are stored together with their vectors. `progressive`: documents are stored as soon as
    /// they are split, which `counts.searchable` counts, and their vectors follow, which `counts.complete` counts.
    #[schema(value_type = IndexingSchema)]
    indexing: Indexing,
    /// Whether documents of the job are still arriving (`POST /v1/documents/bulk`).
    is_receiving: bool,
    /// Whether such a stream broke off before its end; the documents that had arrived are indexed.
    is_incomplete: bool,
    /// Counts over the documents of the job.
    counts: CountsBody,
    /// Progress of the job; null once it has ended.
    progress: Option<ProgressBody>,
    /// Work by stage; left out in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    stages: Option<Vec<StageBody>>,
    /// Failed documents by cause, the most frequent first; left out in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    failures: Option<Vec<FailuresBody>>,
    /// Calls, tokens and cost of the context sentences for its chunks, if the collection has them; left out in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    contexts: Option<ContextsBody>,
    /// Tokens and cost of its embeddings; left out in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    embeddings: Option<EmbeddingsBody>,
    /// Cost of all model calls in US dollars, the sum of `contexts` and `embeddings`; left out in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cost_usd: Option<f64>,
    /// Delivery of the job's webhook, if it has one; left out in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    webhook: Option<WebhookBody>,
    /// Documents of the job in request order; left out in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    items: Option<Vec<ItemBody>>,
    /// Send this as `items_from` to get more items; left out if all are included.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next_items_from: Option<u32>,
    /// When the job was accepted.
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
    /// When a worker first started the job, since its last retry.
    #[serde(with = "time::serde::rfc3339::option")]
    started_at: Option<OffsetDateTime>,
    /// When the job ended.
    #[serde(with = "time::serde::rfc3339::option")]
    finished_at: Option<OffsetDateTime>,
}

/// Counts over the documents of a job.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JobCounts)]
pub(super) struct CountsBody {
    /// Number of documents in the request.
    items: u64,
    /// Number of documents that are found by their words: `complete` ones, and those whose vectors are outstanding or
    /// could not be made.
    searchable: u64,
    /// Number of documents that are complete: the sum of `documents` and `unchanged`.
    complete: u64,
    /// Number of documents stored, new or in a new version, vectors included; for `index`, documents built into the
    /// next index.
    documents: u64,
    /// Number of chunks of those documents.
    chunks: u64,
    /// Number of documents that were already stored exactly as sent.
    unchanged: u64,
    /// Number of documents that failed.
    failed: u64,
    /// Number of documents that were cancelled on request, or deleted before they were indexed.
    cancelled: u64,
    /// Number of chunk texts that were sent to the embedding model.
    embedding_calls: u64,
    /// Number of chunks that were stored with an existing vector.
    reused_vectors: u64,
}

/// Progress of a job.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JobProgress, example = json!({"settled": 120, "waiting": 80, "bytes": 400_000, "bytes_settled": 240_000, "documents_per_second": 6.0, "bytes_per_second": 12_000.0, "seconds_left": 13.3, "heartbeat_age_s": 0.4}))]
pub(super) struct ProgressBody {
    /// Number of documents that have reached a final state.
    settled: u64,
    /// Number of documents that are waiting or being processed.
    waiting: u64,
    /// Size of all documents as submitted, in bytes.
    bytes: u64,
    /// Size of the settled documents, in bytes.
    bytes_settled: u64,
    /// Rate since a worker started the job; null before the first document is settled.
    documents_per_second: Option<f64>,
    /// The same rate in bytes; null also if the size of documents is not known in advance, as for URLs and for
    /// documents that are already stored.
    bytes_per_second: Option<f64>,
    /// Estimated seconds until the end at this rate, by bytes where sizes are known.
    seconds_left: Option<f64>,
    /// Seconds since the last heartbeat of a worker on this job; null before the first.
    heartbeat_age_s: Option<f64>,
}

/// Work on a job in one stage.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = StageWork, example = json!({"stage": "embed", "documents": 120, "seconds": 9.6, "documents_per_second": 12.5}))]
pub(super) struct StageBody {
    /// The stage.
    #[schema(value_type = IngestStageSchema)]
    stage: Stage,
    /// Number of documents that passed the stage; counted twice if the work was done twice.
    documents: u64,
    /// Seconds that workers were busy with the stage, summed over parallel workers.
    seconds: f64,
    /// Documents per busy second.
    documents_per_second: Option<f64>,
}

/// Number of failed documents with one cause.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FailureCount, example = json!({"cause": "no_text_layer", "documents": 3}))]
pub(super) struct FailuresBody {
    /// Typed cause.
    cause: String,
    /// Number of documents.
    documents: u64,
}

/// Delivery state of a webhook.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookDelivery, example = json!({"state": "waiting", "attempts": 1, "last_error": "the server answered with HTTP 503", "delivered_at": null}))]
pub(super) struct WebhookBody {
    /// `waiting`, `delivered` or `failed`.
    state: String,
    /// Number of attempts to report the latest end of the job.
    attempts: u32,
    /// Error of the latest attempt.
    last_error: Option<String>,
    /// When the webhook was delivered.
    #[serde(with = "time::serde::rfc3339::option")]
    delivered_at: Option<OffsetDateTime>,
}

/// One document of a job.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JobItem)]
pub(super) struct ItemBody {
    /// The caller's own name for the document.
    source: String,
    /// `queued`, `running`, `searchable` (found by its words, its vectors are outstanding), or one of the final states
    /// `succeeded`, `unchanged`, `failed`, `cancelled`.
    #[schema(value_type = ItemStateSchema)]
    state: ItemState,
    /// Id of the stored document.
    document_id: Option<Uuid>,
    /// Stage in which it failed.
    #[schema(value_type = Option<IngestStageSchema>)]
    stage: Option<Stage>,
    /// Typed cause of the failure.
    cause: Option<String>,
    /// How to resolve the failure.
    message: Option<String>,
    /// Number of times a worker started it since it was accepted or last retried.
    attempts: u32,
    /// Chunks that have no context sentence although the collection requires one; left out if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    context: Option<ContextGapsBody>,
    /// Remarks on the reading of the document; left out if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reading: Option<ReadingBody>,
}

impl From<JobCounts> for CountsBody {
    fn from(counts: JobCounts) -> Self {
        let (searchable, complete) = (counts.searchable(), counts.complete());
        let JobCounts {
            items, documents, chunks, unchanged, failed, cancelled, embedding_calls, reused_vectors, ..
        } = counts;
        Self {
            items,
            searchable,
            complete,
            documents,
            chunks,
            unchanged,
            failed,
            cancelled,
            embedding_calls,
            reused_vectors,
        }
    }
}

impl From<WebhookRow> for WebhookBody {
    fn from(row: WebhookRow) -> Self {
        let WebhookRow { state, attempts, last_error, delivered_at } = row;
        Self { state, attempts, last_error, delivered_at }
    }
}

impl From<StageWork> for StageBody {
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    fn from(work: StageWork) -> Self {
        let StageWork { stage, documents, seconds } = work;
        Self {
            stage,
            documents,
            seconds: round(seconds),
            documents_per_second: (seconds > 0.0).then(|| round(documents as f64 / seconds)),
        }
    }
}

impl From<JobItemRow> for ItemBody {
    fn from(row: JobItemRow) -> Self {
        Self {
            source: row.source,
            state: row.state,
            document_id: row.document_id,
            stage: row.stage,
            cause: row.cause,
            message: row.message,
            attempts: row.attempts,
            context: row.context_gaps.map(ContextGapsBody::from),
            reading: row.reading.map(ReadingBody::from),
        }
    }
}

impl From<JobReport> for JobBody {
    fn from(report: JobReport) -> Self {
        let shown_to = report.items.last().map(|item| item.ordinal + 1);
        let total = report.snapshot.job.counts.items;
        Self {
            next_items_from: shown_to.filter(|next| u64::from(*next) < total),
            items: Some(report.items.into_iter().map(ItemBody::from).collect()),
            ..Self::of(report.snapshot)
        }
    }
}

impl JobBody {
    /// A job without its items.
    pub(in crate::http) fn of(snapshot: JobSnapshot) -> Self {
        let failures = snapshot.detail.failures.iter().cloned();
        let stages = snapshot.detail.work.stages.iter().copied();
        Self {
            contexts: snapshot.detail.contexts.map(ContextsBody::from),
            embeddings: Some(snapshot.detail.work.embedding.into()),
            cost_usd: Some(snapshot.detail.cost().usd()),
            webhook: snapshot.detail.webhook.clone().map(WebhookBody::from),
            stages: Some(stages.map(StageBody::from).collect()),
            failures: Some(failures.map(|(cause, documents)| FailuresBody { cause, documents }).collect()),
            ..Self::in_list(snapshot)
        }
    }

    /// A job as it appears in lists.
    pub(super) fn in_list(snapshot: JobSnapshot) -> Self {
        let is_over = snapshot.is_over();
        let JobSnapshot { job, pace, heartbeat_age_s, .. } = snapshot;
        let progress = ProgressBody {
            settled: job.counts.settled(),
            waiting: job.counts.items.saturating_sub(job.counts.settled()),
            bytes: job.bytes,
            bytes_settled: job.settled_bytes,
            documents_per_second: pace.map(|pace| round(pace.documents_per_second)),
            bytes_per_second: pace.and_then(|pace| pace.bytes_per_second).map(round),
            seconds_left: pace.map(|pace| round(pace.seconds_left)),
            heartbeat_age_s: heartbeat_age_s.map(round),
        };
        Self {
            id: job.id,
            state: job.state,
            collection: job.collection,
            indexing: job.indexing,
            kind: job.kind,
            is_receiving: job.is_receiving,
            is_incomplete: job.is_incomplete,
            counts: job.counts.into(),
            progress: (!is_over).then_some(progress),
            stages: None,
            failures: None,
            contexts: None,
            embeddings: None,
            cost_usd: None,
            webhook: None,
            items: None,
            next_items_from: None,
            created_at: job.created_at,
            started_at: job.started_at,
            finished_at: job.finished_at,
        }
    }

    pub(in crate::http) fn is_over(&self) -> bool {
        !matches!(self.state, JobState::Queued | JobState::Running)
    }

    pub(in crate::http) fn id(&self) -> Uuid {
        self.id
    }
}
