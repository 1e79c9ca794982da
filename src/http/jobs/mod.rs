//! `/v1/jobs`.

mod body;
mod events;
mod model_work;
mod reading;

use axum::{
    Json,
    http::{HeaderMap, HeaderValue, StatusCode, header},
};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

pub(super) use body::JobBody;
pub(super) use events::{__path_follow_job, follow_job};

use super::{
    extract::{ValidPath, ValidQuery},
    fields::Faults,
    pagination::{default_limit, next_cursor, position, rows_to_fetch},
    problem::ApiError,
    schema::{CollectionName, ItemStateSchema, JobKindSchema, JobStateSchema},
};
use crate::{
    domain::job::{ItemState, JobKind, JobState},
    service::{
        granted::Granted,
        ingest::{ItemPage, JobFilter},
    },
};

/// Number of items returned with a job unless requested otherwise.
const DEFAULT_ITEMS: i64 = 1_000;
/// Largest number of items returned with a job.
const MAX_ITEMS: i64 = 10_000;

/// The response to a request that is processed by a new job.
pub(super) async fn accepted(granted: &Granted, job: Uuid) -> Result<(StatusCode, HeaderMap, Json<JobBody>), ApiError> {
    let snapshot = granted.job_snapshot(job).await?;
    Ok((StatusCode::ACCEPTED, place_of(job), Json(JobBody::of(snapshot))))
}

/// A `Location` header with the URL of a job.
pub(super) fn place_of(job: Uuid) -> HeaderMap {
    let place = HeaderValue::from_str(&format!("/v1/jobs/{job}"));
    place.into_iter().map(|place| (header::LOCATION, place)).collect()
}

/// A page of jobs.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct JobPage {
    /// The jobs, newest first, without their items.
    jobs: Vec<JobBody>,
    /// Send this as `cursor` to get the next page; null on the last page.
    next_cursor: Option<String>,
}

/// Filters of a list of jobs.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct JobsQuery {
    /// Only jobs in this state.
    #[param(inline, value_type = Option<JobStateSchema>)]
    state: Option<JobState>,
    /// Only jobs of this kind.
    #[param(inline, value_type = Option<JobKindSchema>)]
    kind: Option<JobKind>,
    /// Only jobs of this collection, by the name that the job was given.
    #[param(inline, value_type = Option<CollectionName>)]
    collection: Option<String>,
    /// Only jobs accepted at this time (RFC 3339) or later.
    #[serde(default, with = "time::serde::rfc3339::option")]
    #[param(example = "2026-01-31T00:00:00Z")]
    created_after: Option<OffsetDateTime>,
    /// Only jobs accepted before this time (RFC 3339).
    #[serde(default, with = "time::serde::rfc3339::option")]
    created_before: Option<OffsetDateTime>,
    /// `next_cursor` of the previous page.
    cursor: Option<Uuid>,
    /// Rows per page, 1 to 200.
    #[serde(default = "default_limit")]
    #[param(default = 50, minimum = 1, maximum = 200)]
    limit: i64,
}

/// The items of a job to return.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
#[expect(clippy::struct_field_names, reason = "names of the parameters on the wire")]
pub(super) struct ItemsQuery {
    /// First item to return, from 0.
    #[serde(default)]
    #[param(maximum = 2_147_483_647)]
    items_from: u32,
    /// Number of items to return, 1 to 10000.
    #[serde(default = "default_items")]
    #[param(default = 1000, minimum = 1, maximum = 10000)]
    items_limit: i64,
    /// Only items in this state.
    #[param(inline, value_type = Option<ItemStateSchema>)]
    items_state: Option<ItemState>,
    /// Only items with remarks on the reading of their document (`reading`).
    #[serde(default)]
    #[param(default = false)]
    items_noted: bool,
}

const fn default_items() -> i64 {
    DEFAULT_ITEMS
}

/// List jobs
#[utoipa::path(
    get, path = "/v1/jobs", tag = "ingest", params(JobsQuery),
    responses(
        (status = 200, description = "Jobs, newest first", body = JobPage),
    ),
)]
pub(super) async fn list_jobs(
    granted: Granted,
    ValidQuery(query): ValidQuery<JobsQuery>,
) -> Result<Json<JobPage>, ApiError> {
    let rows = rows_to_fetch(query.limit)?;
    let mut faults = Faults::default();
    if let Some(name) = &query.collection {
        faults.collection_name("?collection", name);
    }
    faults.finish()?;
    let filter = JobFilter {
        id: None,
        before: query.cursor,
        state: query.state,
        kind: query.kind,
        among: None,
        seen_by: None,
        created_from: query.created_after,
        created_before: query.created_before,
    };
    let found = granted.jobs(query.collection, filter, rows).await?;
    let mut jobs: Vec<JobBody> = found.into_iter().map(JobBody::in_list).collect();
    let next_cursor = next_cursor(&mut jobs, query.limit, |last| last.id().to_string());
    Ok(Json(JobPage { jobs, next_cursor }))
}

/// Get a job
///
/// Returns the job with the state of each of its documents and, for those that failed, the stage, the cause and how to
/// resolve it; also its progress, the estimated time left, and the time spent per stage.
#[utoipa::path(
    get, path = "/v1/jobs/{id}", tag = "ingest",
    params(("id" = Uuid, Path, description = "Identity of the job"), ItemsQuery),
    responses(
        (status = 200, description = "The job", body = JobBody),
    ),
)]
pub(super) async fn get_job(
    granted: Granted,
    ValidPath(id): ValidPath<Uuid>,
    ValidQuery(query): ValidQuery<ItemsQuery>,
) -> Result<Json<JobBody>, ApiError> {
    let mut faults = Faults::default();
    faults.range("?items_limit", query.items_limit, 1, MAX_ITEMS);
    faults.finish()?;
    let page = ItemPage {
        from: position("?items_from", query.items_from)?,
        limit: query.items_limit,
        state: query.items_state,
        is_noted: query.items_noted,
    };
    Ok(Json(granted.job(id, page).await?.into()))
}

/// Cancel a job
///
/// Once this responds, nothing more of the job is stored. Documents stored by then are kept, and are counted in the
/// response. A very large job is still `running` for a moment, with 202, while its waiting documents are taken out of
/// the queue.
#[utoipa::path(
    post, path = "/v1/jobs/{id}/cancel", tag = "ingest",
    params(("id" = Uuid, Path, description = "Identity of the job")),
    responses(
        (status = 200, description = "The job as it ended", body = JobBody),
        (status = 202, description = "Nothing more lands, and the job ends in a moment", body = JobBody),
        (status = 409, description = "It had ended before"),
    ),
)]
pub(super) async fn cancel_job(
    granted: Granted,
    ValidPath(id): ValidPath<Uuid>,
) -> Result<(StatusCode, Json<JobBody>), ApiError> {
    let job = JobBody::of(granted.cancel_job(id).await?);
    let status = if job.is_over() { StatusCode::OK } else { StatusCode::ACCEPTED };
    Ok((status, Json(job)))
}

/// Retry a job
///
/// Puts the failed documents of the job back into the queue, and nothing else. Failed documents are kept for seven days
/// for this purpose.
#[utoipa::path(
    post, path = "/v1/jobs/{id}/retry", tag = "ingest",
    params(("id" = Uuid, Path, description = "Identity of the job")),
    responses(
        (status = 202, description = "The job, queued again", body = JobBody),
        (status = 409, description = "It has not ended, or nothing of it can be retried"),
        (status = 429, description = "The queue has no room for them now"),
    ),
)]
pub(super) async fn retry_job(
    granted: Granted,
    ValidPath(id): ValidPath<Uuid>,
) -> Result<(StatusCode, Json<JobBody>), ApiError> {
    Ok((StatusCode::ACCEPTED, Json(JobBody::of(granted.retry_job(id).await?))))
}
