//! `/v1/collections/{name}/reembed` and `…/profiles`: another embedding model for a collection in use.

use axum::{
    Extension, Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    AppState,
    extract::{ValidJson, ValidPath},
    jobs::{JobBody, accepted},
    problem::{ApiError, Problem},
};
use crate::domain::identity::TenantId;

/// Which embedding model.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ProfileChoiceBody {
    /// Model id: the service's own, or that of a table of `[embeddings]` in its configuration.
    #[schema(example = "text-embedding-3-small")]
    profile: String,
}

/// What was dropped.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DroppedProfileBody {
    /// Vectors that went.
    vectors: u64,
}

/// Embed a collection anew
///
/// A job gives each stored chunk a vector of another embedding model, from its stored text; nothing is uploaded again.
/// Meanwhile the collection is searched as before, and what is ingested gets vectors of both models. When the job has
/// succeeded, cut over. Sent again, the job does only what is left.
#[utoipa::path(
    post, path = "/v1/collections/{name}/reembed", tag = "collections", operation_id = "reembed_collection",
    params(("name" = String, Path, description = "Name of the collection")), request_body = ProfileChoiceBody,
    responses(
        (status = 202, description = "Accepted; see the job at the Location header", body = JobBody),
        (status = 404, description = "There is no such collection", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "The model is the active one, a job is at it, or a second chunking stands beside the active one", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "The service has no such model", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []), ()),
)]
pub(super) async fn reembed_collection(
    State(state): State<AppState>,
    Extension(tenant): Extension<TenantId>,
    ValidPath(name): ValidPath<String>,
    ValidJson(body): ValidJson<ProfileChoiceBody>,
) -> Result<(StatusCode, HeaderMap, Json<JobBody>), ApiError> {
    let job = state.services.reembed.begin(tenant, &name, &body.profile).await?;
    accepted(&state, tenant, job).await
}

/// Drop the vectors of a model
///
/// Of one that is not the active one; a job that makes them is cancelled.
#[utoipa::path(
    delete, path = "/v1/collections/{name}/profiles/{profile}", tag = "collections", operation_id = "drop_profile",
    params(
        ("name" = String, Path, description = "Name of the collection"),
        ("profile" = String, Path, description = "Model id, percent-encoded"),
    ),
    responses(
        (status = 200, description = "What was dropped", body = DroppedProfileBody),
        (status = 404, description = "There is no such collection, or it has no vectors of this model", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "The model is the active one", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []), ()),
)]
pub(super) async fn drop_profile(
    State(state): State<AppState>,
    Extension(tenant): Extension<TenantId>,
    ValidPath((name, profile)): ValidPath<(String, String)>,
) -> Result<Json<DroppedProfileBody>, ApiError> {
    let vectors = state.services.reembed.drop_profile(tenant, &name, &profile).await?;
    Ok(Json(DroppedProfileBody { vectors }))
}
