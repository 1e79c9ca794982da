//! `/v1/collections/{name}/indexes`: how the documents of a collection in use are made searchable.

use axum::{
    Json,
    http::{HeaderMap, StatusCode},
};
use serde::{Deserialize, Deserializer, Serialize};
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    collections::{CollectionBody, EmbeddingBody},
    extract::{ValidJson, ValidPath},
    fields::{Faults, not_null},
    jobs::{JobBody, accepted},
    json_object::object_or_null,
    problem::ApiError,
    splitting::{ContextBody, SplitterBody},
};
use crate::{
    domain::contextual::Contextual,
    service::{
        granted::Granted,
        indexes::{CollectionIndex, DroppedIndex, WantedIndex},
    },
};

/// Settings in which the next index differs from the active one; `{}` continues the remaining work of the existing next
/// index.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(as = NewIndex, examples(json!({"embedding_model": "text-embedding-3-small"}), json!({"splitter": {"size": 256}, "context": null})))]
pub(super) struct NewIndexBody {
    /// How documents are cut; if left out, as in the active index. Fields left out of it get the defaults of a new
    /// collection.
    #[serde(deserialize_with = "object_or_null")]
    splitter: Option<SplitterBody>,
    /// How sentences are written that describe how a chunk relates to its document; null to stop writing them. If left
    /// out, as in the active index.
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<ContextBody>)]
    #[expect(clippy::option_option, reason = "left out, null or given")]
    context: Option<Option<ContextBody>>,
    /// Model that embeds chunks and queries: the service's own, or one defined by a table of `[embeddings]` in its
    /// configuration. If left out, as in the active index.
    #[serde(deserialize_with = "not_null")]
    #[schema(nullable = false)]
    embedding_model: Option<String>,
}

/// Distinguishes null from a member that is left out.
#[expect(clippy::option_option, reason = "left out, null or given")]
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<ContextBody>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// An index of a collection: how its documents are split, put into context and embedded.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CollectionIndex)]
pub(super) struct IndexBody {
    /// Id of the index, used to activate or drop it.
    id: Uuid,
    /// Whether this index is the one that is searched. The other one is being built, or was active before.
    is_active: bool,
    /// How documents are cut into the chunks of this index.
    splitter: SplitterBody,
    /// How sentences are written that describe how a chunk relates to its document; null if none are written.
    context: Option<ContextBody>,
    /// The vector space of the chunks.
    embedding: EmbeddingBody,
    /// Number of documents that the index contains in their current version. Activating it requires all documents.
    documents: u64,
    /// Number of chunks in the index.
    chunks: u64,
    /// Number of those chunks that have no vector yet: they are found by their words only.
    unembedded_chunks: u64,
    /// Id of the latest job that was requested to build this index from stored documents; null for the first index of a
    /// collection.
    job_id: Option<Uuid>,
    /// When the index was created.
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
}

/// The indexes of a collection.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IndexList)]
pub(super) struct IndexListBody {
    /// The active index, and the other one if there is one.
    indexes: Vec<IndexBody>,
}

/// An index that is being built.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IndexBuild)]
pub(super) struct BuildingBody {
    /// The index.
    index: IndexBody,
    /// The job that builds it.
    job: JobBody,
}

/// Counts of everything that was dropped.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DroppedIndex)]
pub(super) struct DroppedIndexBody {
    /// Number of documents that had chunks in the index.
    documents: u64,
    /// Number of chunks.
    chunks: u64,
    /// Number of vectors of those chunks.
    vectors: u64,
}

impl From<CollectionIndex> for IndexBody {
    fn from(index: CollectionIndex) -> Self {
        let CollectionIndex { id, is_active, splitter, context, profile, documents, chunks, .. } = index;
        Self {
            id,
            is_active,
            splitter: splitter.into(),
            context: context.map(ContextBody::from),
            embedding: EmbeddingBody::from(profile),
            documents,
            chunks,
            unembedded_chunks: index.unembedded_chunks,
            job_id: index.job,
            created_at: index.created_at,
        }
    }
}

/// Build the next index of a collection
///
/// A job splits each stored document by other settings, or embeds it with another model, from its stored text; nothing
/// is uploaded again. The chunks form a second index: meanwhile the collection is searched and cited through the active
/// index as before, and uploads go into both. Chunks whose text has already been embedded by the same model reuse that
/// vector. When the job has succeeded, activate the index. If the request is sent again, also with an empty body, the
/// job does only the remaining work.
#[utoipa::path(
    post, path = "/v1/collections/{name}/indexes", tag = "collections",
    params(("name" = String, Path, description = "Name of the collection")), request_body = NewIndexBody,
    responses(
        (status = 202, description = "Accepted; see the job at the Location header", body = BuildingBody),
        (status = 409, description = "A job is building it, or there is an index with other settings next to the active one"),
        (status = 422, description = "A setting is not allowed, or the service has no model for it"),
    ),
)]
pub(super) async fn build_index(
    granted: Granted,
    ValidPath(name): ValidPath<String>,
    ValidJson(body): ValidJson<NewIndexBody>,
) -> Result<(StatusCode, HeaderMap, Json<BuildingBody>), ApiError> {
    let mut faults = Faults::default();
    let defaults = granted.collection_defaults().splitter;
    let wanted = WantedIndex {
        splitter: body.splitter.map(|splitter| splitter.read(defaults, &mut faults)),
        context: body.context.map(|context| context.map(Contextual::from)),
        embedding_model: body.embedding_model,
    };
    faults.finish()?;
    let (index, job) = granted.build_index(&name, wanted).await?;
    let (status, headers, Json(job)) = accepted(&granted, job).await?;
    Ok((status, headers, Json(BuildingBody { index: index.into(), job })))
}

/// List the indexes of a collection
#[utoipa::path(
    get, path = "/v1/collections/{name}/indexes", tag = "collections",
    params(("name" = String, Path, description = "Name of the collection")),
    responses(
        (status = 200, description = "The active index, and the one next to it", body = IndexListBody),
    ),
)]
pub(super) async fn list_indexes(
    granted: Granted,
    ValidPath(name): ValidPath<String>,
) -> Result<Json<IndexListBody>, ApiError> {
    let indexes = granted.indexes(&name).await?;
    Ok(Json(IndexListBody { indexes: indexes.into_iter().map(IndexBody::from).collect() }))
}

/// Activate an index
///
/// Possible only if the index contains every document in its current version. In one transaction each document gets a
/// new version, because its chunks differ from then on; existing citations stay valid. The previously active index is
/// kept and receives uploads until it is dropped, so activating it again undoes this.
#[utoipa::path(
    post, path = "/v1/collections/{name}/indexes/{id}/activate", tag = "collections",
    params(
        ("name" = String, Path, description = "Name of the collection"),
        ("id" = Uuid, Path, description = "Id of the index"),
    ),
    responses(
        (status = 200, description = "The collection as it is now", body = CollectionBody),
        (status = 409, description = "It is active already, not complete, or of a model that the service does not have"),
    ),
)]
pub(super) async fn activate_index(
    granted: Granted,
    ValidPath((name, id)): ValidPath<(String, Uuid)>,
) -> Result<Json<CollectionBody>, ApiError> {
    granted.activate_index(&name, id).await?;
    Ok(Json(granted.collection(&name).await?.into()))
}

/// Drop an index
///
/// Drops an index that is not the active one, with its chunks and their vectors; jobs that build it are cancelled.
#[utoipa::path(
    delete, path = "/v1/collections/{name}/indexes/{id}", tag = "collections",
    params(
        ("name" = String, Path, description = "Name of the collection"),
        ("id" = Uuid, Path, description = "Id of the index"),
    ),
    responses(
        (status = 200, description = "What was dropped", body = DroppedIndexBody),
        (status = 409, description = "It is the active one"),
    ),
)]
pub(super) async fn drop_index(
    granted: Granted,
    ValidPath((name, id)): ValidPath<(String, Uuid)>,
) -> Result<Json<DroppedIndexBody>, ApiError> {
    let DroppedIndex { documents, chunks, vectors } = granted.drop_index(&name, id).await?;
    Ok(Json(DroppedIndexBody { documents, chunks, vectors }))
}
