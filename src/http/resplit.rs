//! `/v1/collections/{name}/resplit`: other settings for the documents of a collection in use.

use axum::{
    Extension, Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use serde::{Deserialize, Deserializer};
use utoipa::ToSchema;

use super::{
    AppState,
    collections::{ContextBody, SplitterBody},
    extract::{ValidJson, ValidPath},
    fields::Faults,
    jobs::{JobBody, accepted},
    problem::{ApiError, Problem},
};
use crate::{
    domain::{contextual::Contextual, identity::TenantId},
    service::resplit::SettingsChange,
};

/// What changes.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ResplitBody {
    /// How documents are cut from now on; left out, as before. What it leaves out is as in a new collection.
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
/// Changes how its documents are split, and begins a job that splits those that are stored, from their stored text;
/// nothing is uploaded again. Each is replaced in one transaction, by a new version of itself: until then it is found
/// and cited as it was. Chunks that stay the same keep their vectors. Sent again, also with an empty body, the job does
/// only what is left. Documents that were stored before the service kept what splitting needs fail as
/// `layout_missing` and stay as they are.
#[utoipa::path(
    post, path = "/v1/collections/{name}/resplit", tag = "collections", operation_id = "resplit_collection",
    params(("name" = String, Path, description = "Name of the collection")), request_body = ResplitBody,
    responses(
        (status = 202, description = "Accepted; see the job at the Location header", body = JobBody),
        (status = 404, description = "There is no such collection", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "A job is at it", body = Problem, content_type = "application/problem+json"),
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
