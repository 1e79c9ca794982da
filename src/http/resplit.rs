//! `/v1/collections/{name}/resplit` and `…/chunkings`: other settings for the documents of a collection in use.

use axum::{
    Extension, Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    AppState,
    extract::{ValidJson, ValidPath},
    fields::Faults,
    jobs::{JobBody, accepted},
    problem::{ApiError, Problem},
    splitting::{ContextBody, SplitterBody},
};
use crate::{
    domain::{contextual::Contextual, identity::TenantId},
    service::resplit::{DroppedChunking, SettingsChange},
};

/// What changes.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ResplitBody {
    /// How documents are cut; left out, as before. What it leaves out is as in a new collection.
    splitter: Option<SplitterBody>,
    /// How sentences are written that say how a chunk relates to its document; null for no more of them, left out, as
    /// before.
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<ContextBody>)]
    #[expect(clippy::option_option, reason = "left out, null or given")]
    context: Option<Option<ContextBody>>,
}

/// Tells null from what is left out.
#[expect(clippy::option_option, reason = "left out, null or given")]
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<ContextBody>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Split a collection anew
///
/// A job splits each stored document by other settings, from its stored text; nothing is uploaded again. Its chunks make a
/// chunking beside the active one: meanwhile the collection is searched and cited as before, and what is ingested is
/// split by both. Chunks that are the same have their vectors already. When the job has succeeded, cut
/// over to it: its id is `chunkings[].id` of the collection. Sent again,
/// also with an empty body, the job does only what is left.
#[utoipa::path(
    post, path = "/v1/collections/{name}/resplit", tag = "collections", operation_id = "resplit_collection",
    params(("name" = String, Path, description = "Name of the collection")), request_body = ResplitBody,
    responses(
        (status = 202, description = "Accepted; see the job at the Location header", body = JobBody),
        (status = 404, description = "There is no such collection", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "A job is at it, or other chunks or vectors are beside the active ones", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "A setting is not allowed, or the service has no model for it", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []), ()),
)]
pub(super) async fn resplit_collection(
    State(state): State<AppState>,
    Extension(tenant): Extension<TenantId>,
    ValidPath(name): ValidPath<String>,
    ValidJson(body): ValidJson<ResplitBody>,
) -> Result<(StatusCode, HeaderMap, Json<JobBody>), ApiError> {
    let mut faults = Faults::default();
    let defaults = state.services.collections.defaults().splitter;
    let change = SettingsChange {
        splitter: body.splitter.map(|splitter| splitter.read(defaults, &mut faults)),
        context: body.context.map(|context| context.map(Contextual::from)),
    };
    faults.finish()?;
    let job = state.services.resplit.begin(tenant, &name, change).await?;
    accepted(&state, tenant, job).await
}

/// What was dropped.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DroppedChunkingBody {
    /// Documents that had chunks in it.
    documents: u64,
    /// Its chunks.
    chunks: u64,
    /// Their vectors.
    vectors: u64,
}

/// Drop a chunking
///
/// One that is not the active one, with its chunks and their vectors; jobs that fill it are cancelled.
#[utoipa::path(
    delete, path = "/v1/collections/{name}/chunkings/{id}", tag = "collections", operation_id = "drop_chunking",
    params(
        ("name" = String, Path, description = "Name of the collection"),
        ("id" = Uuid, Path, description = "Its `chunkings[].id`"),
    ),
    responses(
        (status = 200, description = "What was dropped", body = DroppedChunkingBody),
        (status = 404, description = "There is no such collection, or it has no such chunking", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "It is the active one", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []), ()),
)]
pub(super) async fn drop_chunking(
    State(state): State<AppState>,
    Extension(tenant): Extension<TenantId>,
    ValidPath((name, id)): ValidPath<(String, Uuid)>,
) -> Result<Json<DroppedChunkingBody>, ApiError> {
    let DroppedChunking { documents, chunks, vectors } =
        state.services.resplit.drop_chunking(tenant, &name, id).await?;
    Ok(Json(DroppedChunkingBody { documents, chunks, vectors }))
}
