//! `/v1/collections/{name}/cut-over`: what a collection in use has beside what is active of it becomes active.

use axum::{Extension, Json, extract::State};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    AppState,
    collections::CollectionBody,
    extract::{ValidJson, ValidPath},
    fields::Faults,
    problem::{ApiError, Problem},
};
use crate::domain::identity::TenantId;

/// What becomes active: exactly one of the two.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(
    min_properties = 1, max_properties = 1,
    examples(json!({"profile": "text-embedding-3-small"}), json!({"chunking": "019dc1e2-7a00-7c3e-9f43-5b1c2d3e4f50"})),
)]
pub(super) struct CutOverBody {
    /// The vectors of this model.
    #[schema(nullable = false)]
    profile: Option<String>,
    /// The chunks of this chunking.
    #[schema(nullable = false)]
    chunking: Option<Uuid>,
}

/// Cut a collection over
///
/// To the vectors of another embedding model (`profile`), if every chunk has one; or to chunks by other settings
/// (`chunking`), if every document is split by them, each of which becomes a new version of itself. In one transaction.
/// What was active before stays beside, up to date with what is ingested, until it is dropped: cutting over to it again
/// undoes this.
#[utoipa::path(
    post, path = "/v1/collections/{name}/cut-over", tag = "collections", operation_id = "cut_over_collection",
    params(("name" = String, Path, description = "Name of the collection")), request_body = CutOverBody,
    responses(
        (status = 200, description = "The collection as it is now", body = CollectionBody),
        (status = 404, description = "There is no such collection, or it has no such vectors or chunks", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "It is active already, not complete, or of a model that the service does not have", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "Neither or both were named, or a value is wrong", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []), ()),
)]
pub(super) async fn cut_over_collection(
    State(state): State<AppState>,
    Extension(tenant): Extension<TenantId>,
    ValidPath(name): ValidPath<String>,
    ValidJson(body): ValidJson<CutOverBody>,
) -> Result<Json<CollectionBody>, ApiError> {
    match (body.profile, body.chunking) {
        (Some(profile), None) => state.services.reembed.cut_over(tenant, &name, &profile).await?,
        (None, Some(chunking)) => state.services.resplit.cut_over(tenant, &name, chunking).await?,
        (named, _) => {
            let mut faults = Faults::default();
            if named.is_some() {
                faults.add("/chunking", "give either profile or chunking, not both");
            } else {
                faults.add("/profile", "is missing; give profile, or chunking");
            }
            faults.finish()?;
        }
    }
    Ok(Json(state.services.collections.get(tenant, &name).await?.into()))
}
