//! Documents in: `POST /v1/documents`, `PUT /v1/documents/{id}`.

use axum::{
    Extension, Json,
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{
    AppState,
    collections::MAX_LIMIT,
    extract::{ValidJson, ValidPath, ValidQuery, parse, read_body},
    fields::Faults,
    jobs::JobBody,
    multipart::{self, Upload},
    problem::{ApiError, Problem},
    search::DEFAULT_COLLECTION,
};
use crate::{domain::identity::TenantId, extract::MediaType, service::ingest::IncomingDocument};

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

/// How to ingest.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct IngestQuery {
    /// Answer when the job has ended, with the finished job; if that takes too long, with the job as it is.
    #[serde(default)]
    wait: bool,
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
