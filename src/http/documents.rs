//! Stored documents: `/v1/documents`.

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{
    AppState,
    collections::DeleteReceiptBody,
    extract::{ValidPath, ValidQuery},
    fields::Faults,
    held_body::until_sent,
    pagination::{default_limit, next_cursor, position, rows_to_fetch},
    problem::ApiError,
    schema::{CollectionName, PlainText, ShortText},
};
use crate::{
    domain::fingerprint::hex,
    service::{
        documents::{DocumentList, DocumentRow, StoredChunk},
        granted::Granted,
    },
};

/// A stored document, without its text.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Document)]
pub(super) struct DocumentBody {
    /// Id of the document, the same for all versions.
    id: Uuid,
    /// Name of the collection that contains the document.
    collection: String,
    /// Your own name for the document.
    source: String,
    /// Title of the document.
    title: String,
    /// Media type of the document.
    media_type: String,
    /// Version, starting at 1 and incremented by each replacement.
    version: u32,
    /// Length of the extracted text in Unicode code points.
    characters: u32,
    /// Number of chunks.
    chunks: u32,
    /// Number of those chunks that have a vector: fewer than `chunks` while the vectors of a `progressive` job are
    /// outstanding.
    embedded_chunks: u32,
    /// Origin of the document.
    provenance: ProvenanceBody,
    /// Your own data about the document.
    #[schema(value_type = Map<String, Value>)]
    metadata: Value,
    /// When the document was first stored.
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
    /// When this version was stored.
    #[serde(with = "time::serde::rfc3339")]
    updated_at: OffsetDateTime,
}

/// Origin of a document.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Provenance)]
pub(super) struct ProvenanceBody {
    /// URI that the document was read from.
    uri: String,
    /// How the document was submitted: `json`, `multipart`, `bulk` or `url`.
    loader: String,
    /// Source of the message that the document was found in, if it is an attachment; it is replaced and deleted with that.
    attached_to: Option<String>,
    /// When the document was submitted or fetched.
    #[serde(with = "time::serde::rfc3339")]
    fetched_at: OffsetDateTime,
    /// `ETag` of the HTTP response that contained the document.
    etag: Option<String>,
    /// `Last-Modified` of that response.
    last_modified: Option<String>,
    /// SHA-256 of the document's bytes, hexadecimal.
    content_hash: String,
}

/// A page of documents.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DocumentPage {
    /// The documents, newest first.
    documents: Vec<DocumentBody>,
    /// Send this as `cursor` to get the next page; null on the last page.
    next_cursor: Option<String>,
}

/// A document's text.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DocumentContent)]
pub(super) struct ContentBody {
    /// Id of the document.
    id: Uuid,
    /// Version that the text belongs to.
    version: u32,
    /// The extracted text; ranges of chunks and quotes count its Unicode code points.
    text: String,
}

/// A chunk of a document.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Chunk)]
pub(super) struct ChunkBody {
    /// Position of the chunk in the document, from 0.
    ordinal: u32,
    /// Start of the chunk in the document's text, in Unicode code points.
    start: u32,
    /// End of the chunk, exclusive, in Unicode code points.
    end: u32,
    /// Page from 1, where the format has pages.
    page: Option<i32>,
    /// Headings above all of the chunk, outermost first.
    heading: Vec<String>,
    /// Caption and header of the table that the chunk begins in, if they stand in an earlier chunk: embedded and indexed
    /// with the chunk, but no part of its text.
    table_header: Option<String>,
    /// Splitter that made the chunk, with its settings.
    splitter: String,
    /// Chunkers that processed the chunk, in order.
    chunkers: Vec<String>,
    /// Number of tokens by the embedding model's tokenizer.
    tokens: u32,
    /// The document's text from `start` to `end`.
    text: String,
    /// Sentence by a model that describes how the chunk relates to its document: embedded and indexed with the chunk,
    /// but never quoted.
    context: Option<String>,
}

/// A page of chunks.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ChunkPage {
    /// The chunks, in the order of the document.
    chunks: Vec<ChunkBody>,
    /// Total number of chunks of the document.
    total: u32,
    /// Send this as `from` to get the next page; null on the last page.
    next_from: Option<u32>,
}

/// Filters of a list of documents.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DocumentsQuery {
    /// Only documents of this collection.
    #[param(inline, value_type = Option<CollectionName>)]
    collection: Option<String>,
    /// Only documents whose source starts with this text.
    #[param(inline, value_type = Option<PlainText>)]
    source_prefix: Option<String>,
    /// `next_cursor` of the previous page.
    cursor: Option<Uuid>,
    /// Rows per page, 1 to 200.
    #[serde(default = "default_limit")]
    #[param(default = 50, minimum = 1, maximum = 200)]
    limit: i64,
}

/// The documents to delete. Both parameters are required, so that nothing is deleted because one was left out.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DeleteQuery {
    /// Collection of the documents.
    #[param(inline, value_type = CollectionName)]
    collection: String,
    /// Deletes documents whose source starts with this text; must not be empty.
    #[param(inline, value_type = ShortText, example = "hr/2019/")]
    source_prefix: String,
}

/// Range of chunks.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ChunksQuery {
    /// First chunk to return, from 0.
    #[serde(default)]
    #[param(maximum = 2_147_483_647)]
    from: u32,
    /// Chunks per page, 1 to 200.
    #[serde(default = "default_limit")]
    #[param(default = 50, minimum = 1, maximum = 200)]
    limit: i64,
}

impl From<DocumentRow> for DocumentBody {
    fn from(row: DocumentRow) -> Self {
        Self {
            id: row.id,
            collection: row.collection,
            source: row.source,
            title: row.title,
            media_type: row.media_type,
            version: row.version,
            characters: row.characters,
            chunks: row.chunks,
            embedded_chunks: row.embedded_chunks,
            provenance: ProvenanceBody {
                uri: row.uri,
                loader: row.loader,
                attached_to: row.attached_to,
                fetched_at: row.fetched_at,
                etag: row.etag,
                last_modified: row.last_modified,
                content_hash: hex(&row.content_hash),
            },
            metadata: row.metadata,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

impl From<StoredChunk> for ChunkBody {
    fn from(chunk: StoredChunk) -> Self {
        Self {
            ordinal: chunk.ordinal,
            start: chunk.start_char,
            end: chunk.end_char,
            page: chunk.page,
            heading: chunk.heading,
            table_header: chunk.table_header,
            splitter: chunk.splitter,
            chunkers: chunk.chunkers,
            tokens: chunk.tokens,
            text: chunk.text,
            context: chunk.context,
        }
    }
}

/// List documents
#[utoipa::path(
    get, path = "/v1/documents", tag = "documents", params(DocumentsQuery),
    responses(
        (status = 200, description = "Documents, newest first", body = DocumentPage),
        (status = 404, description = "The collection does not exist"),
    ),
)]
pub(super) async fn list_documents(
    granted: Granted,
    ValidQuery(query): ValidQuery<DocumentsQuery>,
) -> Result<Json<DocumentPage>, ApiError> {
    let rows = rows_to_fetch(query.limit)?;
    let list = DocumentList {
        collection: query.collection,
        among: None,
        source_prefix: query.source_prefix,
        caller: None,
        after: query.cursor,
        limit: rows,
    };
    let found = granted.documents(list).await?;
    let mut documents: Vec<DocumentBody> = found.into_iter().map(DocumentBody::from).collect();
    let next_cursor = next_cursor(&mut documents, query.limit, |last| last.id.to_string());
    Ok(Json(DocumentPage { documents, next_cursor }))
}

/// Get a document
#[utoipa::path(
    get, path = "/v1/documents/{id}", tag = "documents",
    params(("id" = Uuid, Path, description = "Identity of the document")),
    responses(
        (status = 200, description = "The document, without its text", body = DocumentBody),
    ),
)]
pub(super) async fn get_document(
    granted: Granted,
    ValidPath(id): ValidPath<Uuid>,
) -> Result<Json<DocumentBody>, ApiError> {
    Ok(Json(granted.document(id).await?.into()))
}

/// Get a document's text
#[utoipa::path(
    get, path = "/v1/documents/{id}/content", tag = "documents",
    params(("id" = Uuid, Path, description = "Identity of the document")),
    responses(
        (status = 200, description = "The extracted text", body = ContentBody),
    ),
)]
pub(super) async fn get_document_content(
    State(state): State<AppState>,
    granted: Granted,
    ValidPath(id): ValidPath<Uuid>,
) -> Result<Response, ApiError> {
    let characters = granted.document(id).await?.characters;
    let room = state.downloads.room_of_text(granted.caller().grant.tenant(), characters).await?;
    let content = granted.document_text(id).await?;
    let body = ContentBody { id, version: content.version, text: content.text };
    let response = Json(body).into_response();
    Ok(match room {
        None => response,
        Some(room) => response.map(|body| until_sent(body, room)),
    })
}

/// List a document's chunks
#[utoipa::path(
    get, path = "/v1/documents/{id}/chunks", tag = "documents",
    params(("id" = Uuid, Path, description = "Identity of the document"), ChunksQuery),
    responses(
        (status = 200, description = "Chunks in the document's order", body = ChunkPage),
    ),
)]
pub(super) async fn list_document_chunks(
    granted: Granted,
    ValidPath(id): ValidPath<Uuid>,
    ValidQuery(query): ValidQuery<ChunksQuery>,
) -> Result<Json<ChunkPage>, ApiError> {
    rows_to_fetch(query.limit)?;
    position("?from", query.from)?;
    let total = granted.document(id).await?.chunks;
    let found = granted.chunks(id, query.from, query.limit).await?;
    let next_from = found.last().map(|last| last.ordinal + 1).filter(|next| *next < total);
    Ok(Json(ChunkPage { chunks: found.into_iter().map(ChunkBody::from).collect(), total, next_from }))
}

/// Delete a document
///
/// Deletes the document with its chunks, its vectors and its part of the lexical statistics, and also everything that
/// is waiting to be stored under its source, in one transaction.
#[utoipa::path(
    delete, path = "/v1/documents/{id}", tag = "documents",
    params(("id" = Uuid, Path, description = "Identity of the document")),
    responses(
        (status = 200, description = "What was removed", body = DeleteReceiptBody),
    ),
)]
pub(super) async fn delete_document(
    granted: Granted,
    ValidPath(id): ValidPath<Uuid>,
) -> Result<Json<DeleteReceiptBody>, ApiError> {
    Ok(Json(granted.delete_document(id).await?.into()))
}

/// Delete documents by source
///
/// Deletes everything in a collection whose source starts with the given text: documents, chunks, vectors, lexical
/// statistics, and documents waiting to be stored there, in one transaction. To empty a collection, delete it.
#[utoipa::path(
    delete, path = "/v1/documents", tag = "documents", params(DeleteQuery),
    responses(
        (status = 200, description = "What was removed; all zero if nothing has such a source", body = DeleteReceiptBody),
        (status = 404, description = "The collection does not exist"),
    ),
)]
pub(super) async fn delete_documents(
    granted: Granted,
    ValidQuery(query): ValidQuery<DeleteQuery>,
) -> Result<Json<DeleteReceiptBody>, ApiError> {
    let mut faults = Faults::default();
    faults.collection_name("?collection", &query.collection);
    faults.short_text("?source_prefix", &query.source_prefix);
    faults.finish()?;
    let receipt = granted.delete_documents(&query.collection, &query.source_prefix).await?;
    Ok(Json(receipt.into()))
}
