//! Ingest of documents: `POST /v1/documents`, `PUT /v1/documents/{id}`.

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::{IntoParams, IntoResponses, ToSchema};
use uuid::Uuid;

use super::{
    AppState,
    acl::NewAclBody,
    extract::{ValidPath, ValidQuery, parse_body},
    fields::Faults,
    in_flight::RoomyJson,
    jobs::{JobBody, place_of},
    multipart::{self, Upload},
    problem::ApiError,
    schema::{CollectionName, DocumentSource, IndexingSchema, PlainText, ShortText, WebUrl},
    search::DEFAULT_COLLECTION,
};
use crate::{
    domain::job::Indexing,
    service::{
        granted::Granted,
        ingest::{
            Accepted, Content, IncomingDocument, JobReport, MediaType, Replacement, ReplyContent, ReplyOptions,
            Submission,
        },
    },
};

/// Largest number of documents in one request.
const MAX_DOCUMENTS: usize = 10_000;
/// Longest Idempotency-Key, in characters.
const MAX_KEY: usize = 255;

/// Documents to ingest.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewDocuments, example = json!({"collection": "handbook", "documents": [
    {"source": "leave.md", "title": "Leave", "text": "# Leave\n\nEveryone has 28 days of paid leave a year.", "media_type": "text/markdown", "metadata": {"team": "people"}},
    {"source": "travel.md", "text": "Book flights a week ahead.", "metadata": {"team": "people"}}
]}))]
pub(super) struct NewDocumentsBody {
    /// Collection that the documents go to; created if it does not exist.
    #[serde(default = "default_collection")]
    #[schema(value_type = CollectionName, default = "default")]
    collection: String,
    /// When the documents can be found; by default as configured for the collection. `progressive`: by words as soon as
    /// they are split, while their vectors follow; the job ends when the vectors are stored.
    #[schema(value_type = Option<IndexingSchema>)]
    indexing: Option<Indexing>,
    /// One or more documents, each with a different `source`.
    #[schema(min_items = 1, max_items = 10_000)]
    documents: Vec<NewDocumentBody>,
}

pub(super) fn default_collection() -> String {
    DEFAULT_COLLECTION.to_owned()
}

/// A document to ingest: either its `text`, or the `url` that it is fetched from.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewDocument)]
pub(super) struct NewDocumentBody {
    /// Your own name for the document (path, URL, key), unique in its collection: sending it again replaces the
    /// document. 1 to 2,048 bytes of UTF-8. Required with `text`; with `url` it defaults to the URL.
    #[schema(value_type = Option<DocumentSource>)]
    source: Option<String>,
    /// Text of the document.
    text: Option<String>,
    /// URL that a worker fetches the document from: http or https, on the public internet, without a password.
    /// Redirects are followed. If the URL is sent again, the worker requests it with the `ETag` and `Last-Modified` of
    /// the previous response, and the document counts as unchanged if the server confirms that. Errors are reported in
    /// the item of the job.
    #[schema(value_type = Option<WebUrl>)]
    url: Option<String>,
    /// Title of the document; if left out, its first heading or its name.
    #[schema(value_type = Option<ShortText>)]
    title: Option<String>,
    /// Media type of `text`, which may be that of any text format; if left out, the type that the source's name
    /// suggests, else plain text. With `url`, the type to use instead of the one that the server sends.
    #[schema(value_type = Option<ShortText>)]
    media_type: Option<String>,
    /// URI that `text` was read from, if it differs from `source`: http, https, or a path.
    #[schema(value_type = Option<ShortText>)]
    uri: Option<String>,
    /// Your own data about the document; filters search in it. At most 64 KiB of JSON, 256 keys (those of objects
    /// within it included) and 16 levels.
    #[serde(default)]
    metadata: Map<String, Value>,
    /// The people who may see the document. If left out, a stored document keeps its list, and a new one gets that of its collection.
    acl: Option<NewAclBody>,
}

/// A document that replaces another.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Replacement)]
pub(super) struct ReplacementBody {
    /// Text of the document.
    text: String,
    /// Title of the document; if left out, the title given before, its first heading, or its name.
    #[schema(value_type = Option<ShortText>)]
    title: Option<String>,
    /// Media type of `text`; if left out, as before.
    #[schema(value_type = Option<ShortText>)]
    media_type: Option<String>,
    /// Your own data about the document; if left out, as before.
    metadata: Option<Map<String, Value>>,
    /// When the document can be found; by default as configured for its collection.
    #[schema(value_type = Option<IndexingSchema>)]
    indexing: Option<Indexing>,
}

/// Options of an ingest request.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct IngestQuery {
    /// Whether to respond only when the job has ended, with the finished job; if that takes too long, the response has
    /// the job in its current state.
    #[serde(default)]
    wait: bool,
    /// A URL that is notified when the job ends: a POST in the format of Standard Webhooks, signed with the operator's
    /// secret, retried for about three days. Must be http or https and lead to the public internet.
    #[param(inline, value_type = Option<PlainText>)]
    webhook_url: Option<String>,
}

/// The idempotency key of a request.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "describes the header; idempotency_key reads it")]
pub(super) struct IdempotencyHeader {
    /// Your own name for this request, 1 to 255 printable ASCII characters, such as a UUID. The same request sent again
    /// within 24 hours gets the first response; another request with the same name is refused with 409.
    #[param(rename = "Idempotency-Key", required = false, min_length = 1, max_length = 255, pattern = "^[ -~]+$")]
    idempotency_key: String,
}

/// The idempotency key of a request. The draft standard requires quotes, but most clients leave them out; both forms
/// name the same key.
pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    let key = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
    if key.is_empty() || key.len() > MAX_KEY || !key.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        return Err(ApiError::invalid_field(
            "Idempotency-Key",
            format!("must hold 1 to {MAX_KEY} printable ASCII characters, such as a UUID"),
        ));
    }
    Ok(Some(key.to_owned()))
}

impl NewDocumentsBody {
    /// The documents, for a job that is waited for, and that nobody is notified of.
    ///
    /// # Errors
    /// 422 with all faults.
    pub(super) fn into_submission(self) -> Result<Submission, ApiError> {
        let Upload { collection, indexing, documents } = self.read()?;
        Ok(Submission { collection, indexing, documents, key: None, webhook: None, is_awaited: true })
    }

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
        Ok(Upload { collection: self.collection, indexing: self.indexing, documents })
    }
}

impl NewDocumentBody {
    pub(super) fn read(self, pointer: &str, faults: &mut Faults) -> IncomingDocument {
        for (name, text) in [("title", &self.title), ("uri", &self.uri), ("media_type", &self.media_type)] {
            if let Some(text) = text {
                faults.short_text(&format!("{pointer}/{name}"), text);
            }
        }
        if let Some(uri) = &self.uri {
            faults.uri(&format!("{pointer}/uri"), uri);
        }
        let metadata = Value::Object(self.metadata);
        faults.metadata(&format!("{pointer}/metadata"), &metadata);
        let acl = self.acl.map(|acl| acl.read(&format!("{pointer}/acl"), faults));
        let Self { source, text, url, title, media_type, uri, .. } = self;
        let source = source.or_else(|| url.clone()).unwrap_or_else(|| {
            faults.add(format!("{pointer}/source"), "is missing; name the document");
            pointer.to_owned()
        });
        faults.source(&format!("{pointer}/source"), &source);
        let (loader, content) = match (text, url) {
            (Some(text), None) => {
                let media_type = media_type.unwrap_or_else(|| media_type_of(&source));
                ("json", Content::Given { media_type, bytes: text.into_bytes() })
            }
            (None, Some(url)) => {
                faults.url(&format!("{pointer}/url"), &url);
                if uri.is_some() {
                    faults.add(format!("{pointer}/uri"), "goes with text; a document that is fetched has its url");
                }
                ("url", Content::At { url, media_type })
            }
            (text, _) => {
                let fault = if text.is_some() {
                    "give either text or a url, not both"
                } else {
                    "is missing; give text, or a url"
                };
                faults.add(format!("{pointer}/text"), fault);
                ("json", Content::Given { media_type: String::new(), bytes: Vec::new() })
            }
        };
        IncomingDocument { source, uri, title, metadata, loader, acl, content }
    }
}

impl ReplacementBody {
    fn read(self, webhook: Option<String>) -> Result<Replacement, ApiError> {
        let mut faults = Faults::default();
        for (pointer, text) in [("/title", &self.title), ("/media_type", &self.media_type)] {
            if let Some(text) = text {
                faults.short_text(pointer, text);
            }
        }
        let metadata = self.metadata.map(Value::Object);
        if let Some(metadata) = &metadata {
            faults.metadata("/metadata", metadata);
        }
        faults.finish()?;
        let Self { text, title, media_type, indexing, .. } = self;
        Ok(Replacement { text, title, media_type, metadata, indexing, webhook })
    }
}

/// The media type that the name suggests, else plain text: JSON carries text, regardless of its name.
fn media_type_of(source: &str) -> String {
    let by_name = MediaType::of_name(source).filter(|known| known.format.is_text());
    by_name.unwrap_or(MediaType::plain()).name.to_owned()
}

/// Checks that there are between one and the maximum number of documents, each with a different source: of two with the
/// same source, either could win.
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

/// The possible responses to a request that submits documents.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "describes the answers; `reply` makes them")]
enum IngestResponses {
    /// Accepted; see the job at the Location header
    #[response(status = 202)]
    Accepted(JobBody),
    /// The finished job (with wait=true)
    #[response(status = 200)]
    Finished(JobBody),
    /// The body is too large (`body_too_large`), or it brings more than the queue takes (`exceeds_queue`)
    #[response(status = 413)]
    TooLarge,
    /// The queue is full, by number of documents or by bytes; nothing was accepted, see Retry-After
    #[response(status = 429)]
    QueueFull,
}

/// Ingest documents
///
/// Supported formats: text, Markdown, AsciiDoc, reStructuredText, HTML, PDF, DOCX, DOC, ODT, RTF, PPTX, PPT, ODP, XLSX,
/// XLS, XLSB, ODS, EPUB, EML, MSG, mbox, CSV, TSV, JSON, JSON lines, Jupyter notebooks, manual pages, source code, and pictures
/// (PNG, JPEG, TIFF, WebP) where text recognition (OCR) is installed; each also compressed by gzip. The format is detected
/// by content first, and by name and media type second.
///
/// The body is JSON (`application/json`) with text or with URLs that are fetched, or files (`multipart/form-data`:
/// parts `file`, repeatable, and `collection`, `metadata` and `acl` as JSON objects for all files, `indexing`, `title` for a
/// single one; a file's name is its source). Once the response is sent, the documents are kept durably: each of them
/// ends as stored, unchanged or failed with a cause.
///
/// With an `Idempotency-Key` the request can be sent again for 24 hours: it then gets the first response (with the
/// header `Idempotency-Replayed: true`) and nothing is done twice.
#[utoipa::path(
    post, path = "/v1/documents", tag = "ingest", params(IngestQuery, IdempotencyHeader),
    request_body(content((NewDocumentsBody = "application/json"), (multipart::UploadForm = "multipart/form-data"))),
    responses(
        IngestResponses,
        (status = 400, description = "The body cannot be read"),
        (status = 409, description = "The Idempotency-Key names another request, or a stream that is still arriving; or the collection has another model"),
        (status = 415, description = "Neither JSON nor multipart"),
    ),
)]
pub(super) async fn create_documents(
    State(state): State<AppState>,
    granted: Granted,
    ValidQuery(query): ValidQuery<IngestQuery>,
    request: Request,
) -> Result<Response, ApiError> {
    let key = idempotency_key(request.headers())?;
    let content_type =
        request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let room = state.in_flight.room(&request).await?;
    let upload = match essence.as_str() {
        "application/json" => parse_body::<NewDocumentsBody>(request).await?.read()?,
        "multipart/form-data" => multipart::read(request, &state).await?,
        _ => return Err(ApiError::media_type("application/json or multipart/form-data")),
    };
    let Upload { collection, indexing, documents } = upload;
    let (key_of_request, webhook, is_awaited) = (key.clone(), query.webhook_url, query.wait);
    let submission = Submission { collection, indexing, documents, key: key_of_request, webhook, is_awaited };
    let accepted = granted.accept(submission).await?;
    drop(room);
    reply(&state, &granted, accepted, ReplyTo { key: key.as_deref(), wait: query.wait }).await
}

/// The parts of a request that determine its response.
pub(super) struct ReplyTo<'a> {
    /// Its `Idempotency-Key`.
    pub(super) key: Option<&'a str>,
    /// Whether the response waits for the end of the job.
    pub(super) wait: bool,
}

/// The response to an accepted request.
pub(super) async fn reply(
    state: &AppState,
    granted: &Granted,
    accepted: Accepted,
    options: ReplyTo<'_>,
) -> Result<Response, ApiError> {
    let ReplyTo { key, wait } = options;
    let options = ReplyOptions { key, wait: wait.then_some(state.longest_wait) };
    let reply = granted.reply(accepted, options, |report| render(report, wait)).await?;
    let ReplyContent { status, body } = reply.answer;
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::ACCEPTED);
    let json_type = [(header::CONTENT_TYPE, "application/json")];
    let mut response = (status, place_of(reply.job), json_type, body).into_response();
    if reply.is_replay {
        response.headers_mut().insert("idempotency-replayed", HeaderValue::from_static("true"));
    }
    Ok(response)
}

/// The response body of a job, with its status: 200 for a job that was waited for and has ended.
fn render(report: JobReport, was_waited_for: bool) -> Result<ReplyContent, ApiError> {
    let body = JobBody::from(report);
    let status = if was_waited_for && body.is_over() { StatusCode::OK } else { StatusCode::ACCEPTED };
    let body = serde_json::to_vec(&body).map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(ReplyContent { status: status.as_u16(), body })
}

/// Replace a document
///
/// Has the same effect as sending the document's source again; title, media type and metadata that are not given stay
/// as they are.
#[utoipa::path(
    put, path = "/v1/documents/{id}", tag = "documents", request_body = ReplacementBody,
    params(("id" = Uuid, Path, description = "Identity of the document"), IngestQuery),
    responses(
        IngestResponses,
        (status = 409, description = "The service is not configured for the collection's embedding model"),
    ),
)]
pub(super) async fn replace_document(
    State(state): State<AppState>,
    granted: Granted,
    ValidPath(id): ValidPath<Uuid>,
    ValidQuery(query): ValidQuery<IngestQuery>,
    RoomyJson(body, room): RoomyJson<ReplacementBody>,
) -> Result<Response, ApiError> {
    let IngestQuery { wait, webhook_url } = query;
    let job = granted.replace_document(id, body.read(webhook_url)?).await?;
    drop(room);
    reply(&state, &granted, Accepted::New(job), ReplyTo { key: None, wait }).await
}
