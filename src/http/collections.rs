//! `/v1/collections`.

use axum::{Extension, Json, extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{
    AppState,
    extract::{ValidJson, ValidPath, ValidQuery},
    fields::Faults,
    pagination::{default_limit, next_cursor, rows_to_fetch},
    problem::ApiError,
    schema::{CollectionName, IndexingSchema, PlainText},
    splitting::{ContextBody, SplitterBody},
};
use crate::{
    domain::{
        contextual::Contextual,
        identity::{EmbeddingProfile, TenantId},
        job::Indexing,
        lexical::language::Language,
    },
    service::collections::{CollectionSettings, CollectionSummary, DeleteReceipt},
};

/// A collection to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewCollection, example = json!({"name": "policies", "language": "en"}))]
pub(super) struct NewCollectionBody {
    /// 1 to 128 characters, unique.
    #[schema(value_type = CollectionName)]
    name: String,
    /// How its documents are cut into chunks. Another index changes it (`POST /v1/collections/{name}/indexes`).
    splitter: Option<SplitterBody>,
    /// Whose endings are cut off words, so that "Verträge" finds "Vertrag", and whose stop words are left out:
    /// `ar`, `ca`, `cs`, `da`, `de`, `el`, `en`, `es`, `et`, `fi`, `fr`, `hi`, `hu`, `id`, `it`, `lt`, `nl`, `no`,
    /// `pl`, `pt`, `ro`, `ru`, `sv`, `ta`, `tr`, `uk` (ISO 639-1), or `none` for texts in many languages. By default
    /// what the service is set to, `en`. It stays so.
    #[schema(value_type = Option<String>, example = "en")]
    language: Option<Language>,
    /// When its documents can be found, unless a request says otherwise: `complete`, by words and by meaning at once,
    /// or `progressive`, by words as soon as they are split, by meaning as their vectors are made.
    #[serde(default)]
    #[schema(value_type = IndexingSchema, default = "complete")]
    indexing: Indexing,
    /// Has a chat model write a sentence for each chunk that says how it relates to its document; embedded and indexed
    /// with the chunk, never quoted. Left out, none is written.
    context: Option<ContextBody>,
}

/// A collection with its counts.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Collection)]
pub(super) struct CollectionBody {
    /// Name in requests and URNs.
    #[schema(example = "handbook")]
    name: String,
    /// Documents in their current version.
    documents: u64,
    /// Chunks of those documents.
    chunks: u64,
    /// Those of them that have a vector: fewer while vectors of `progressive` jobs are to come.
    embedded_chunks: u64,
    /// Its active index, which is searched; how that is made follows.
    index_id: Uuid,
    /// The index next to it, if there is one: being built, or active before.
    next_index_id: Option<Uuid>,
    /// The vector space of its chunks and of queries.
    embedding: EmbeddingBody,
    /// How its documents are cut into chunks.
    splitter: SplitterBody,
    /// What its words are stemmed in: an ISO 639-1 code, or `none`.
    #[schema(value_type = String, example = "en")]
    language: Language,
    /// How sentences are written that say how a chunk relates to its document; null where none are.
    context: Option<ContextBody>,
    /// When its documents can be found, unless a request says otherwise.
    #[schema(value_type = IndexingSchema)]
    indexing: Indexing,
    /// When it was made.
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
}

/// A vector space.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VectorSpace)]
pub(super) struct EmbeddingBody {
    /// Embedding model.
    #[schema(example = "minilm")]
    model: String,
    /// Numbers in a vector.
    #[schema(example = 384)]
    dimension: usize,
}

/// A page of collections.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CollectionPage {
    /// By name.
    collections: Vec<CollectionBody>,
    /// Send it as `cursor` for the next page; null on the last.
    next_cursor: Option<String>,
}

/// What a delete removed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DeleteReceipt, example = json!({"documents": 2, "chunks": 31, "vectors": 31, "terms": 940, "answers": 3, "queue_items": 1, "failed_items": 0}))]
pub(super) struct DeleteReceiptBody {
    /// Documents.
    documents: u64,
    /// Their chunks.
    chunks: u64,
    /// The vectors of those.
    vectors: u64,
    /// Entries of the lexical statistics that were lowered or removed.
    terms: u64,
    /// Cached answers that were written from them.
    answers: u64,
    /// Documents waiting or being worked on that will not be indexed; stored ones that were to be built into the next
    /// index count too.
    queue_items: u64,
    /// Failed ones that were kept for a retry.
    failed_items: u64,
}

/// Which page of a list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PageQuery {
    /// `next_cursor` of the page before.
    #[param(inline, value_type = Option<PlainText>)]
    cursor: Option<String>,
    /// Rows of a page, 1 to 200.
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
        let CollectionSummary { collection, documents, chunks, embedded_chunks, settings, next_index } = summary;
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
    State(state): State<AppState>,
    Extension(tenant): Extension<TenantId>,
    ValidJson(body): ValidJson<NewCollectionBody>,
) -> Result<(StatusCode, Json<CollectionBody>), ApiError> {
    let mut faults = Faults::default();
    faults.collection_name("/name", &body.name);
    let service = &state.services.collections;
    let defaults = service.defaults();
    let settings = CollectionSettings {
        splitter: body.splitter.map_or(defaults.splitter, |body| body.read(defaults.splitter, &mut faults)),
        language: body.language.unwrap_or(defaults.language),
        context: body.context.map(Contextual::from),
        indexing: body.indexing,
    };
    faults.finish()?;
    let made = service.create(tenant, &body.name, settings).await?;
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
    State(state): State<AppState>,
    Extension(tenant): Extension<TenantId>,
    ValidQuery(page): ValidQuery<PageQuery>,
) -> Result<Json<CollectionPage>, ApiError> {
    let rows = rows_to_fetch(page.limit)?;
    let found = state.services.collections.list(tenant, page.cursor.as_deref(), rows).await?;
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
    State(state): State<AppState>,
    Extension(tenant): Extension<TenantId>,
    ValidPath(name): ValidPath<String>,
) -> Result<Json<CollectionBody>, ApiError> {
    Ok(Json(state.services.collections.get(tenant, &name).await?.into()))
}

/// Delete a collection
///
/// With its documents, chunks, vectors, statistics and waiting documents, in one transaction.
#[utoipa::path(
    delete, path = "/v1/collections/{name}", tag = "collections",
    params(("name" = String, Path, description = "Name of the collection")),
    responses(
        (status = 200, description = "What was removed", body = DeleteReceiptBody),
    ),
)]
pub(super) async fn delete_collection(
    State(state): State<AppState>,
    Extension(tenant): Extension<TenantId>,
    ValidPath(name): ValidPath<String>,
) -> Result<Json<DeleteReceiptBody>, ApiError> {
    Ok(Json(state.services.collections.delete(tenant, &name).await?.into()))
}
