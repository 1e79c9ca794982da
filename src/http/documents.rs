//! `/v1/documents`.

use axum::{
    Extension, Json,
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{
    AppState,
    collections::{DeleteReceiptBody, MAX_LIMIT, default_limit, next_cursor},
    extract::{ValidJson, ValidPath, ValidQuery, parse, read_body},
    fields::Faults,
    jobs::JobBody,
    multipart::{self, Upload},
    problem::{ApiError, Problem},
    search::DEFAULT_COLLECTION,
};
use crate::{
    domain::{fingerprint::hex, identity::TenantId},
    extract::MediaType,
    service::{documents::DocumentList, ingest::IncomingDocument},
    store::{DocumentRow, StoredChunk},
};

/// Most documents of one request.
const MAX_DOCUMENTS: usize = 10_000;

/// Documents to ingest.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"collection": "handbook", "documents": [
    {"source": "leave.md", "title": "Leave", "text": "# Leave\n\nEveryone has 28 days of paid leave a year.", "media_type": "text/markdown", "metadata": {"team": "people"}}
]}))]
pub(super) struct NewDocumentsBody {
    /// Where they go; made if it does not exist.
    #[serde(default = "default_collection")]
    #[schema(default = "default")]
    collection: String,
    /// One or more, each with a `source` of its own.
    documents: Vec<NewDocumentBody>,
}

fn default_collection() -> String {
    DEFAULT_COLLECTION.to_owned()
}

/// A document to ingest.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewDocumentBody {
    /// Your own name for it (path, URL, key), unique in its collection: sending it again replaces the document.
    #[schema(example = "leave.md")]
    source: String,
    /// Its text.
    text: String,
    /// Its title; otherwise its first heading or its name.
    title: Option<String>,
    /// `text/plain` or `text/markdown`; otherwise what the name of the source suggests, else plain text.
    #[schema(example = "text/markdown")]
    media_type: Option<String>,
    /// Where it was read from, if that is something else than `source`.
    uri: Option<String>,
    /// Your own data about it; filters look here.
    #[serde(default)]
    #[schema(value_type = Object)]
    metadata: Map<String, Value>,
}

/// A document to put in place of another.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplacementBody {
    /// Its text.
    text: String,
    /// Its title; otherwise its first heading or its name.
    title: Option<String>,
    /// `text/plain` or `text/markdown`; otherwise as before.
    media_type: Option<String>,
    /// Your own data about it; otherwise as before.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Map<String, Value>>,
}

/// A stored document, without its text.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DocumentBody {
    /// Identity, the same over all versions.
    id: Uuid,
    /// Collection it is in.
    collection: String,
    /// Your own name for it.
    source: String,
    /// Title.
    title: String,
    /// Media type.
    media_type: String,
    /// From 1; plus one with each replacement.
    version: u32,
    /// Length of its text in Unicode code points.
    characters: u32,
    /// Its chunks.
    chunks: u32,
    /// Where it came from.
    provenance: ProvenanceBody,
    /// Your own data about it.
    #[schema(value_type = Object)]
    metadata: Value,
    /// When it was first stored.
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
    /// When this version was stored.
    #[serde(with = "time::serde::rfc3339")]
    updated_at: OffsetDateTime,
}

/// Where a document came from.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ProvenanceBody {
    /// Where it was read from.
    uri: String,
    /// How it came: `json` or `multipart`.
    loader: String,
    /// When it was handed in.
    #[serde(with = "time::serde::rfc3339")]
    fetched_at: OffsetDateTime,
    /// Of the HTTP response it came in.
    etag: Option<String>,
    /// SHA-256 of its bytes, hexadecimal.
    content_hash: String,
}

/// A page of documents.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DocumentPage {
    /// Newest first.
    documents: Vec<DocumentBody>,
    /// Send it as `cursor` for the next page; null on the last.
    next_cursor: Option<String>,
}

/// A document's text.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ContentBody {
    /// The document.
    id: Uuid,
    /// Version that the text belongs to.
    version: u32,
    /// The extracted text; ranges of chunks and quotes count its Unicode code points.
    text: String,
}

/// A chunk of a document.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ChunkBody {
    /// Place in the document, from 0.
    ordinal: u32,
    /// Where it starts in the document's text, in Unicode code points.
    start: u32,
    /// Where it ends, exclusive.
    end: u32,
    /// Page from 1, where the format has pages.
    page: Option<i32>,
    /// Headings above it, outermost first.
    heading: Vec<String>,
    /// Splitter that made it, with its settings.
    splitter: String,
    /// Chunkers that worked on it, in order.
    chunkers: Vec<String>,
    /// Tokens by the embedding model's tokenizer.
    tokens: u32,
    /// The document's text at the range.
    text: String,
}

/// A page of chunks.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ChunkPage {
    /// In the document's order.
    chunks: Vec<ChunkBody>,
    /// Chunks of the document in all.
    total: u32,
    /// Send it as `from` for the next page; null on the last.
    next_from: Option<u32>,
}

/// How to ingest.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct IngestQuery {
    /// Answer when the job has ended, with the finished job; if that takes too long, with the job as it is.
    #[serde(default)]
    wait: bool,
}

/// Which documents.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct DocumentsQuery {
    /// Only of this collection.
    collection: Option<String>,
    /// Only with a source that starts so.
    source_prefix: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<Uuid>,
    /// Rows of a page, 1 to 200.
    #[serde(default = "default_limit")]
    #[param(default = 50, minimum = 1, maximum = 200)]
    limit: i64,
}

/// Which chunks.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ChunksQuery {
    /// First chunk shown, from 0.
    #[serde(default)]
    from: u32,
    /// Chunks of a page, 1 to 200.
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
            provenance: ProvenanceBody {
                uri: row.uri,
                loader: row.loader,
                fetched_at: row.fetched_at,
                etag: row.etag,
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
            splitter: chunk.splitter,
            chunkers: chunk.chunkers,
            tokens: chunk.tokens,
            text: chunk.text,
        }
    }
}

impl NewDocumentsBody {
    fn read(self) -> Result<Upload, ApiError> {
        let mut faults = Faults::default();
        faults.collection_name("/collection", &self.collection);
        let documents: Vec<IncomingDocument> = self
            .documents
            .into_iter()
            .enumerate()
            .map(|(index, document)| document.read(&format!("/documents/{index}"), &mut faults))
            .collect();
        check_sources(&documents, &mut faults);
        faults.finish()?;
        Ok(Upload { collection: self.collection, documents })
    }
}

impl NewDocumentBody {
    fn read(self, pointer: &str, faults: &mut Faults) -> IncomingDocument {
        faults.short_text(&format!("{pointer}/source"), &self.source);
        for (name, text) in [("title", &self.title), ("uri", &self.uri), ("media_type", &self.media_type)] {
            if let Some(text) = text {
                faults.short_text(&format!("{pointer}/{name}"), text);
            }
        }
        let metadata = Value::Object(self.metadata);
        faults.metadata(&format!("{pointer}/metadata"), &metadata);
        let media_type = self.media_type.unwrap_or_else(|| media_type_of(&self.source));
        IncomingDocument {
            source: self.source,
            uri: self.uri,
            title: self.title,
            media_type,
            metadata,
            loader: "json",
            content: self.text.into_bytes(),
        }
    }
}

/// What the name suggests, else plain text: JSON brings text, whatever its name.
fn media_type_of(source: &str) -> String {
    MediaType::of_name(source).unwrap_or(MediaType::Plain).as_str().to_owned()
}

/// One to so many documents, each with a source of its own: of two with one source, either could win.
pub(super) fn check_sources(documents: &[IncomingDocument], faults: &mut Faults) {
    if documents.is_empty() || documents.len() > MAX_DOCUMENTS {
        faults.add("/documents", format!("send 1 to {MAX_DOCUMENTS} documents"));
    }
    let mut seen = std::collections::HashSet::new();
    for (index, document) in documents.iter().enumerate() {
        if !seen.insert(document.source.as_str()) {
            faults.add(format!("/documents/{index}/source"), "another document of this request has the same source");
        }
    }
}

/// Ingest documents
///
/// JSON text (`application/json`) or files (`multipart/form-data`: parts `file`, repeatable, and `collection`,
/// `metadata` as a JSON object for all files, `title` for a single one; a file's name is its source). Once this
/// answers, the documents are kept: each of them ends as stored, unchanged or failed with a cause.
#[utoipa::path(
    post, path = "/v1/documents", tag = "ingest", operation_id = "create_documents", params(IngestQuery),
    request_body(content((NewDocumentsBody = "application/json"), (multipart::UploadForm = "multipart/form-data"))),
    responses(
        (status = 202, description = "Accepted; see the job at the Location header", body = JobBody),
        (status = 200, description = "The finished job (with wait=true)", body = JobBody),
        (status = 400, description = "The body cannot be read", body = Problem, content_type = "application/problem+json"),
        (status = 401, description = "No valid key", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "The body is too large", body = Problem, content_type = "application/problem+json"),
        (status = 415, description = "Neither JSON nor multipart", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "A value is wrong; nothing was accepted", body = Problem, content_type = "application/problem+json"),
        (status = 503, description = "The database cannot be reached; nothing was accepted", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []), ()),
)]
pub(super) async fn create_documents(
    State(state): State<AppState>,
    Extension(tenant): Extension<TenantId>,
    ValidQuery(query): ValidQuery<IngestQuery>,
    request: Request,
) -> Result<Response, ApiError> {
    let content_type =
        request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let upload = match essence.as_str() {
        "application/json" => parse::<NewDocumentsBody>(&read_body(request, &state).await?)?.read()?,
        "multipart/form-data" => multipart::read(request, &state).await?,
        _ => return Err(ApiError::media_type("application/json or multipart/form-data")),
    };
    ingest(&state, tenant, upload, query.wait).await
}

async fn ingest(state: &AppState, tenant: TenantId, upload: Upload, wait: bool) -> Result<Response, ApiError> {
    let service = &state.services.ingest;
    let id = service.accept(tenant, &upload.collection, upload.documents).await?;
    let job: JobBody = if wait {
        service.wait(tenant, id, state.longest_wait).await?.into()
    } else {
        service.job(tenant, id, 0, MAX_LIMIT).await?.into()
    };
    let status = if wait && job.is_over() { StatusCode::OK } else { StatusCode::ACCEPTED };
    let location = format!("/v1/jobs/{}", job.id());
    let mut response = (status, Json(job)).into_response();
    if let Ok(value) = HeaderValue::from_str(&location) {
        response.headers_mut().insert(header::LOCATION, value);
    }
    Ok(response)
}

/// List documents
#[utoipa::path(
    get, path = "/v1/documents", tag = "documents", operation_id = "list_documents", params(DocumentsQuery),
    responses(
        (status = 200, description = "Documents, newest first", body = DocumentPage),
        (status = 401, description = "No valid key", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "The collection does not exist", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "A parameter is wrong", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []), ()),
)]
pub(super) async fn list_documents(
    State(state): State<AppState>,
    Extension(tenant): Extension<TenantId>,
    ValidQuery(query): ValidQuery<DocumentsQuery>,
) -> Result<Json<DocumentPage>, ApiError> {
    let mut faults = Faults::default();
    faults.range("?limit", query.limit, 1, MAX_LIMIT);
    faults.finish()?;
    let list = DocumentList {
        collection: query.collection,
        source_prefix: query.source_prefix,
        after: query.cursor,
        limit: query.limit + 1,
    };
    let found = state.services.documents.list(tenant, &list).await?;
    let mut documents: Vec<DocumentBody> = found.into_iter().map(DocumentBody::from).collect();
    let next_cursor = next_cursor(&mut documents, query.limit, |last| last.id.to_string());
    Ok(Json(DocumentPage { documents, next_cursor }))
}

/// Get a document
#[utoipa::path(
    get, path = "/v1/documents/{id}", tag = "documents", operation_id = "get_document",
    params(("id" = Uuid, Path, description = "Identity of the document")),
    responses(
        (status = 200, description = "The document, without its text", body = DocumentBody),
        (status = 401, description = "No valid key", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "There is no such document", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []), ()),
)]
pub(super) async fn get_document(
    State(state): State<AppState>,
    Extension(tenant): Extension<TenantId>,
    ValidPath(id): ValidPath<Uuid>,
) -> Result<Json<DocumentBody>, ApiError> {
    Ok(Json(state.services.documents.get(tenant, id).await?.into()))
}

/// Get a document's text
#[utoipa::path(
    get, path = "/v1/documents/{id}/content", tag = "documents", operation_id = "get_document_content",
    params(("id" = Uuid, Path, description = "Identity of the document")),
    responses(
        (status = 200, description = "The extracted text", body = ContentBody),
        (status = 401, description = "No valid key", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "There is no such document", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []), ()),
)]
pub(super) async fn get_document_content(
    State(state): State<AppState>,
    Extension(tenant): Extension<TenantId>,
    ValidPath(id): ValidPath<Uuid>,
) -> Result<Json<ContentBody>, ApiError> {
    let content = state.services.documents.text(tenant, id).await?;
    Ok(Json(ContentBody { id, version: content.version, text: content.text }))
}

/// List a document's chunks
#[utoipa::path(
    get, path = "/v1/documents/{id}/chunks", tag = "documents", operation_id = "list_document_chunks",
    params(("id" = Uuid, Path, description = "Identity of the document"), ChunksQuery),
    responses(
        (status = 200, description = "Chunks in the document's order", body = ChunkPage),
        (status = 401, description = "No valid key", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "There is no such document", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "A parameter is wrong", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []), ()),
)]
pub(super) async fn list_document_chunks(
    State(state): State<AppState>,
    Extension(tenant): Extension<TenantId>,
    ValidPath(id): ValidPath<Uuid>,
    ValidQuery(query): ValidQuery<ChunksQuery>,
) -> Result<Json<ChunkPage>, ApiError> {
    let mut faults = Faults::default();
    faults.range("?limit", query.limit, 1, MAX_LIMIT);
    faults.finish()?;
    let total = state.services.documents.get(tenant, id).await?.chunks;
    let found = state.services.documents.chunks(tenant, id, query.from, query.limit).await?;
    let next_from = found.last().map(|last| last.ordinal + 1).filter(|next| *next < total);
    Ok(Json(ChunkPage { chunks: found.into_iter().map(ChunkBody::from).collect(), total, next_from }))
}

/// Replace a document
///
/// As sending its source again; title, media type and metadata that are not given stay as they are.
#[utoipa::path(
    put, path = "/v1/documents/{id}", tag = "documents", operation_id = "replace_document", request_body = ReplacementBody,
    params(("id" = Uuid, Path, description = "Identity of the document"), IngestQuery),
    responses(
        (status = 202, description = "Accepted; see the job at the Location header", body = JobBody),
        (status = 200, description = "The finished job (with wait=true)", body = JobBody),
        (status = 401, description = "No valid key", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "There is no such document", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "The body is too large", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "A value is wrong; nothing was accepted", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []), ()),
)]
pub(super) async fn replace_document(
    State(state): State<AppState>,
    Extension(tenant): Extension<TenantId>,
    ValidPath(id): ValidPath<Uuid>,
    ValidQuery(query): ValidQuery<IngestQuery>,
    ValidJson(body): ValidJson<ReplacementBody>,
) -> Result<Response, ApiError> {
    let stored = state.services.documents.get(tenant, id).await?;
    let mut faults = Faults::default();
    let document = NewDocumentBody {
        source: stored.source,
        text: body.text,
        title: body.title.or(Some(stored.title)),
        media_type: body.media_type.or(Some(stored.media_type)),
        uri: Some(stored.uri),
        metadata: body.metadata.or_else(|| stored.metadata.as_object().cloned()).unwrap_or_default(),
    }
    .read("", &mut faults);
    faults.finish()?;
    ingest(&state, tenant, Upload { collection: stored.collection, documents: vec![document] }, query.wait).await
}

/// Delete a document
///
/// With its chunks, vectors and its part of the lexical statistics, in one transaction.
#[utoipa::path(
    delete, path = "/v1/documents/{id}", tag = "documents", operation_id = "delete_document",
    params(("id" = Uuid, Path, description = "Identity of the document")),
    responses(
        (status = 200, description = "What was removed", body = DeleteReceiptBody),
        (status = 401, description = "No valid key", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "There is no such document", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []), ()),
)]
pub(super) async fn delete_document(
    State(state): State<AppState>,
    Extension(tenant): Extension<TenantId>,
    ValidPath(id): ValidPath<Uuid>,
) -> Result<Json<DeleteReceiptBody>, ApiError> {
    Ok(Json(state.services.documents.delete(tenant, id).await?.into()))
}
