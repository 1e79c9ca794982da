//! `/v1/jobs`.

use axum::{Extension, Json, extract::State};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{
    AppState,
    collections::{MAX_LIMIT, default_limit, next_cursor},
    extract::{ValidPath, ValidQuery},
    fields::Faults,
    problem::{ApiError, Problem},
};
use crate::{
    domain::{
        identity::TenantId,
        job::{ItemState, JobState, Stage},
    },
    service::ingest::JobReport,
    store::{JobItemRow, JobRow},
};

/// Items shown with a job unless asked otherwise.
const DEFAULT_ITEMS: i64 = 1_000;
/// Most items shown with a job.
const MAX_ITEMS: i64 = 10_000;

/// An ingest job.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct JobBody {
    /// Identity.
    id: Uuid,
    /// `queued`, `running`, or for good: `succeeded`, `partial`, `failed`, `cancelled`.
    #[schema(value_type = JobStateBody)]
    state: JobState,
    /// Collection that the documents go to.
    collection: String,
    /// Sums over its documents.
    counts: CountsBody,
    /// Its documents in request order; left out in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Vec<ItemBody>>,
    /// Send it as `items_from` for more items; null when all are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_items_from: Option<u32>,
    /// When it was accepted.
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
    /// When a worker first took it up.
    #[serde(with = "time::serde::rfc3339::option")]
    started_at: Option<OffsetDateTime>,
    /// When it ended.
    #[serde(with = "time::serde::rfc3339::option")]
    finished_at: Option<OffsetDateTime>,
}

/// Sums over a job's documents.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CountsBody {
    /// Documents of the request.
    items: u64,
    /// Documents stored, new or in a new version.
    documents: u64,
    /// Chunks of those.
    chunks: u64,
    /// Documents that were stored already just so.
    unchanged: u64,
    /// Documents given up.
    failed: u64,
    /// Chunk texts that were sent to the embedding model; others had a vector already.
    embedding_calls: u64,
}

/// One document of a job.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ItemBody {
    /// Caller's own name for it.
    source: String,
    /// `queued`, `running`, or for good: `succeeded`, `unchanged`, `failed`, `cancelled`.
    #[schema(value_type = ItemStateBody)]
    state: ItemState,
    /// The document it became.
    document_id: Option<Uuid>,
    /// Where it failed: `load`, `extract`, `split`, `chunk`, `embed` or `store`.
    #[schema(value_type = Option<String>)]
    stage: Option<Stage>,
    /// Typed cause of the failure.
    cause: Option<String>,
    /// What to do about it.
    message: Option<String>,
    /// Times a worker took it up.
    attempts: u32,
}

/// State of a job.
#[derive(ToSchema)]
#[schema(as = JobState, rename_all = "snake_case")]
#[expect(dead_code, reason = "names the states in the OpenAPI document; the domain knows nothing of that")]
pub(super) enum JobStateBody {
    Queued,
    Running,
    Succeeded,
    Partial,
    Failed,
    Cancelled,
}

/// State of a document of a job.
#[derive(ToSchema)]
#[schema(as = ItemState, rename_all = "snake_case")]
#[expect(dead_code, reason = "names the states in the OpenAPI document; the domain knows nothing of that")]
pub(super) enum ItemStateBody {
    Queued,
    Running,
    Succeeded,
    Unchanged,
    Failed,
    Cancelled,
}

/// A page of jobs.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct JobPage {
    /// Newest first, without their items.
    jobs: Vec<JobBody>,
    /// Send it as `cursor` for the next page; null on the last.
    next_cursor: Option<String>,
}

/// Which jobs.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct JobsQuery {
    /// Only in this state.
    #[param(value_type = Option<JobStateBody>)]
    state: Option<JobState>,
    /// `next_cursor` of the page before.
    cursor: Option<Uuid>,
    /// Rows of a page, 1 to 200.
    #[serde(default = "default_limit")]
    #[param(default = 50, minimum = 1, maximum = 200)]
    limit: i64,
}

/// Which items of a job.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ItemsQuery {
    /// First item shown, from 0.
    #[serde(default)]
    items_from: u32,
    /// Items shown, 1 to 10000.
    #[serde(default = "default_items")]
    #[param(default = 1000, minimum = 1, maximum = 10000)]
    items_limit: i64,
}

const fn default_items() -> i64 {
    DEFAULT_ITEMS
}

impl From<JobRow> for JobBody {
    fn from(row: JobRow) -> Self {
        Self {
            id: row.id,
            state: row.state,
            collection: row.collection,
            counts: CountsBody {
                items: row.counts.items,
                documents: row.counts.documents,
                chunks: row.counts.chunks,
                unchanged: row.counts.unchanged,
                failed: row.counts.failed,
                embedding_calls: row.counts.embedding_calls,
            },
            items: None,
            next_items_from: None,
            created_at: row.created_at,
            started_at: row.started_at,
            finished_at: row.finished_at,
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
        }
    }
}

impl From<JobReport> for JobBody {
    fn from(report: JobReport) -> Self {
        let shown_to = report.items.last().map(|item| item.ordinal + 1);
        let total = report.job.counts.items;
        Self {
            next_items_from: shown_to.filter(|next| u64::from(*next) < total),
            items: Some(report.items.into_iter().map(ItemBody::from).collect()),
            ..report.job.into()
        }
    }
}

impl JobBody {
    pub(super) fn is_over(&self) -> bool {
        !matches!(self.state, JobState::Queued | JobState::Running)
    }

    pub(super) fn id(&self) -> Uuid {
        self.id
    }
}

/// List jobs
#[utoipa::path(
    get, path = "/v1/jobs", tag = "ingest", operation_id = "list_jobs", params(JobsQuery),
    responses(
        (status = 200, description = "Jobs, newest first", body = JobPage),
        (status = 401, description = "No valid key", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "A parameter is wrong", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []), ()),
)]
pub(super) async fn list_jobs(
    State(state): State<AppState>,
    Extension(tenant): Extension<TenantId>,
    ValidQuery(query): ValidQuery<JobsQuery>,
) -> Result<Json<JobPage>, ApiError> {
    let mut faults = Faults::default();
    faults.range("?limit", query.limit, 1, MAX_LIMIT);
    faults.finish()?;
    let found = state.services.ingest.jobs(tenant, query.cursor, query.state, query.limit + 1).await?;
    let mut jobs: Vec<JobBody> = found.into_iter().map(JobBody::from).collect();
    let next_cursor = next_cursor(&mut jobs, query.limit, |last| last.id.to_string());
    Ok(Json(JobPage { jobs, next_cursor }))
}

/// Get a job
///
/// With the state of each of its documents and, for those that failed, where, why and what to do.
#[utoipa::path(
    get, path = "/v1/jobs/{id}", tag = "ingest", operation_id = "get_job",
    params(("id" = Uuid, Path, description = "Identity of the job"), ItemsQuery),
    responses(
        (status = 200, description = "The job", body = JobBody),
        (status = 401, description = "No valid key", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "There is no such job", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "A parameter is wrong", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []), ()),
)]
pub(super) async fn get_job(
    State(state): State<AppState>,
    Extension(tenant): Extension<TenantId>,
    ValidPath(id): ValidPath<Uuid>,
    ValidQuery(query): ValidQuery<ItemsQuery>,
) -> Result<Json<JobBody>, ApiError> {
    let mut faults = Faults::default();
    faults.range("?items_limit", query.items_limit, 1, MAX_ITEMS);
    faults.finish()?;
    let report = state.services.ingest.job(tenant, id, query.items_from, query.items_limit).await?;
    Ok(Json(report.into()))
}
