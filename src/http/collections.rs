//! `/v1/collections`.

use axum::{Json, http::StatusCode};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{
    extract::{ValidJson, ValidPath, ValidQuery},
    fields::{Faults, not_null},
    json_object::object_or_null,
    pagination::{default_limit, next_cursor, rows_to_fetch},
    problem::ApiError,
    schema::{CollectionName, IndexingSchema, PlainText},
    splitting::{ContextBody, SplitterBody},
};
use crate::{
    domain::{contextual::Contextual, identity::EmbeddingProfile, job::Indexing, lexical::language::Language},
    service::{
        collections::{CollectionSettings, CollectionSummary, DeleteReceipt},
        granted::Granted,
    },
};

/// A collection to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewCollection, example = json!({"name": "policies", "language": "en"}))]
pub(super) struct NewCollectionBody {
    /// Name of the collection: 1 to 128 characters, unique.
    #[schema(value_type = CollectionName)]
    name: String,
    /// How documents are cut into chunks. It can be changed later by another index (`POST
    /// /v1/collections/{name}/indexes`).
    #[serde(default, deserialize_with = "object_or_null")]
    splitter: Option<SplitterBody>,
    /// Language for stemming and stop words: word endings are removed, so that "Verträge" finds "Vertrag", and stop
    /// words are left out. One of `ar`, `ca`, `cs`, `da`, `de`, `el`, `en`, `es`, `et`, `fi`, `fr`, `hi`, `hu`, `id`,
    /// `it`, `lt`, `nl`, `no`, `pl`, `pt`, `ro`, `ru`, `sv`, `ta`, `tr`, `uk` (ISO 639-1), or `none` for texts in many
    /// languages. If left out, the language configured for the service, by default `en`. It cannot be changed later.
    #[schema(value_type = Option<String>, example = "en")]
    language: Option<Language>,
    /// When documents can be found, unless a request specifies otherwise: `complete`, by words and by meaning at once,
    /// or `progressive`, by words as soon as they are split, and by meaning as their vectors are made.
    #[serde(default)]
    #[schema(value_type = IndexingSchema, default = "complete")]
    indexing: Indexing,
    /// Lets a chat model write a sentence for each chunk that describes how the chunk relates to its document; the
    /// sentence is embedded and indexed with the chunk, but never quoted. If left out, no sentences are written.
    #[serde(default, deserialize_with = "object_or_null")]
    context: Option<ContextBody>,
    /// Whether questions to the collection may be sent to the deployment's search engine when its documents do not suffice. An
    /// ask of several collections searches the web only if each of them allows it.
    #[serde(default)]
    web_search: bool,
}

/// Settings of a collection to change; those that are left out stay.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = CollectionChange, example = json!({"web_search": true}))]
pub(super) struct CollectionChangeBody {
    /// Whether questions to the collection may be sent to the deployment's search engine when its documents do not suffice.
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = bool, required = false)]
    web_search: Option<bool>,
}

/// A collection with its counts.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Collection)]
pub(super) struct CollectionBody {
    /// Name of the collection in requests and URNs.
    #[schema(example = "handbook")]
    name: String,
    /// Number of documents, each counted in its current version.
    documents: u64,
    /// Chunks of those documents.
    chunks: u64,
    /// Number of those chunks that have a vector: fewer than `chunks` while vectors of `progressive` jobs are
    /// outstanding.
    embedded_chunks: u64,
    /// Id of the active index, which is the one that is searched; the following fields describe it.
    index_id: Uuid,
    /// Id of the other index, if there is one: either it is being built, or it was active before.
    next_index_id: Option<Uuid>,
    /// The vector space of its chunks and of queries.
    embedding: EmbeddingBody,
    /// How documents are cut into chunks.
    splitter: SplitterBody,
    /// Language for stemming: an ISO 639-1 code, or `none`.
    #[schema(value_type = String, example = "en")]
    language: Language,
    /// How sentences are written that describe how a chunk relates to its document; null if none are written.
    context: Option<ContextBody>,
    /// When documents can be found, unless a request specifies otherwise.
    #[schema(value_type = IndexingSchema)]
    indexing: Indexing,
    /// Whether questions to it may be sent to the deployment's search engine when its documents do not suffice.
    web_search: bool,
    /// When the collection was created.
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
}

/// A vector space.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VectorSpace)]
pub(super) struct EmbeddingBody {
    /// Name of the embedding model.
    #[schema(example = "minilm")]
    model: String,
    /// Dimensions: how many numbers a vector has.
    #[schema(example = 384)]
    dimension: usize,
}

/// A page of collections.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CollectionPage {
    /// The collections, ordered by name.
    collections: Vec<CollectionBody>,
    /// Send this as `cursor` to get the next page; null on the last page.
    next_cursor: Option<String>,
}

/// Counts of everything that a delete removed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DeleteReceipt, example = json!({"documents": 2, "chunks": 31, "vectors": 31, "terms": 940, "answers": 3, "queue_items": 1, "failed_items": 0}))]
pub(super) struct DeleteReceiptBody {
    /// Number of documents.
    documents: u64,
    /// Number of their chunks.
    chunks: u64,
    /// Number of vectors of those chunks.
    vectors: u64,
    /// Number of entries of the lexical statistics that were reduced or removed.
    terms: u64,
    /// Number of cached answers that were written from the documents.
    answers: u64,
    /// Number of documents that were waiting or being processed and will not be indexed; stored documents that were to
    /// be built into the next index count too.
    queue_items: u64,
    /// Number of failed documents that had been kept for a retry.
    failed_items: u64,
}

/// Page of a list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PageQuery {
    /// `next_cursor` of the previous page.
    #[param(inline, value_type = Option<PlainText>)]
    cursor: Option<String>,
    /// Rows per page, 1 to 200.
    #[serde(default = "default_limit")]
    #[param(default = 50, minimum = 1, maximum = 200)]
    limit: i64,
}

impl From<DeleteReceipt> for DeleteReceiptBody {
    fn from(receipt: DeleteReceipt) -> Self {
        let DeleteReceipt { documents, chunks, vectors, terms, answers, queue_items, failed_items } = receipt;
        Self { documents, chunks, vectors, terms, answers, queue_items, failed_items }
    }
}

impl From<CollectionSummary> for CollectionBody {
    fn from(summary: CollectionSummary) -> Self {
        let CollectionSummary { collection, documents, chunks, embedded_chunks, settings, web_search, next_index } =
            summary;
        Self {
            name: collection.name,
            documents,
            chunks,
            embedded_chunks,
            index_id: collection.index,
            next_index_id: next_index,
            embedding: EmbeddingBody::from(collection.profile),
            splitter: settings.splitter.into(),
            context: settings.context.map(ContextBody::from),
            language: collection.language,
            indexing: collection.indexing,
            web_search,
            created_at: collection.created_at,
        }
    }
}

impl From<EmbeddingProfile> for EmbeddingBody {
    fn from(profile: EmbeddingProfile) -> Self {
        let EmbeddingProfile { model, dimension } = profile;
        Self { model, dimension }
    }
}

/// Create a collection
#[utoipa::path(
    post, path = "/v1/collections", tag = "collections", request_body = NewCollectionBody,
    responses(
        (status = 201, description = "Made", body = CollectionBody),
        (status = 409, description = "The name is taken"),
    ),
)]
pub(super) async fn create_collection(
    granted: Granted,
    ValidJson(body): ValidJson<NewCollectionBody>,
) -> Result<(StatusCode, Json<CollectionBody>), ApiError> {
    let mut faults = Faults::default();
    faults.collection_name("/name", &body.name);
    let defaults = granted.collection_defaults();
    let settings = CollectionSettings {
        splitter: body.splitter.map_or(defaults.splitter, |body| body.read(defaults.splitter, &mut faults)),
        language: body.language.unwrap_or(defaults.language),
        context: body.context.map(Contextual::from),
        indexing: body.indexing,
    };
    faults.finish()?;
    let made = granted.create_collection(&body.name, settings, body.web_search).await?;
    Ok((StatusCode::CREATED, Json(made.into())))
}

/// List collections
#[utoipa::path(
    get, path = "/v1/collections", tag = "collections", params(PageQuery),
    responses(
        (status = 200, description = "Collections by name", body = CollectionPage),
    ),
)]
pub(super) async fn list_collections(
    granted: Granted,
    ValidQuery(page): ValidQuery<PageQuery>,
) -> Result<Json<CollectionPage>, ApiError> {
    let rows = rows_to_fetch(page.limit)?;
    let found = granted.collections(page.cursor.as_deref(), rows).await?;
    let mut collections: Vec<CollectionBody> = found.into_iter().map(CollectionBody::from).collect();
    let next_cursor = next_cursor(&mut collections, page.limit, |last| last.name.clone());
    Ok(Json(CollectionPage { collections, next_cursor }))
}

/// Get a collection
#[utoipa::path(
    get, path = "/v1/collections/{name}", tag = "collections",
    params(("name" = String, Path, description = "Name of the collection")),
    responses(
        (status = 200, description = "The collection with its counts", body = CollectionBody),
    ),
)]
pub(super) async fn get_collection(
    granted: Granted,
    ValidPath(name): ValidPath<String>,
) -> Result<Json<CollectionBody>, ApiError> {
    Ok(Json(granted.collection(&name).await?.into()))
}

/// Change a collection
///
/// Changes the settings that are given. The next ask is judged by them; the documents are not touched.
#[utoipa::path(
    patch, path = "/v1/collections/{name}", tag = "collections", request_body = CollectionChangeBody,
    params(("name" = String, Path, description = "Name of the collection")),
    responses(
        (status = 200, description = "The collection with its counts", body = CollectionBody),
    ),
)]
pub(super) async fn update_collection(
    granted: Granted,
    ValidPath(name): ValidPath<String>,
    ValidJson(body): ValidJson<CollectionChangeBody>,
) -> Result<Json<CollectionBody>, ApiError> {
    if let Some(allowed) = body.web_search {
        granted.set_web_search(&name, allowed).await?;
    }
    Ok(Json(granted.collection(&name).await?.into()))
}

/// Delete a collection
///
/// Deletes the collection with its documents, chunks, vectors, statistics and waiting documents, in one transaction.
#[utoipa::path(
    delete, path = "/v1/collections/{name}", tag = "collections",
    params(("name" = String, Path, description = "Name of the collection")),
    responses(
        (status = 200, description = "What was removed", body = DeleteReceiptBody),
    ),
)]
pub(super) async fn delete_collection(
    granted: Granted,
    ValidPath(name): ValidPath<String>,
) -> Result<Json<DeleteReceiptBody>, ApiError> {
    Ok(Json(granted.delete_collection(&name).await?.into()))
}
