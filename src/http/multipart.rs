//! Documents uploaded as files: `multipart/form-data` (RFC 7578).

use axum::{
    extract::{
        FromRequest, Multipart, Request,
        multipart::{Field, MultipartError},
    },
    http::StatusCode,
};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{
    AppState,
    acl::NewAclBody,
    extract::BodyLimit,
    fields::Faults,
    ingest::check_sources,
    problem::ApiError,
    schema::{CollectionName, IndexingSchema, ShortText},
    search::DEFAULT_COLLECTION,
};
use crate::{
    domain::job::Indexing,
    service::ingest::{Content, IncomingDocument, MediaType},
};

/// The documents of a form and their options.
#[derive(Debug)]
pub(super) struct Upload {
    pub(super) collection: String,
    pub(super) indexing: Option<Indexing>,
    pub(super) documents: Vec<IncomingDocument>,
}

/// A form with documents as files.
#[derive(ToSchema)]
#[schema(as = DocumentForm)]
#[expect(dead_code, reason = "describes the form; its parts are read one by one")]
pub(super) struct UploadForm {
    /// A file; repeat the part for more files. The file's name becomes the document's `source`.
    #[schema(value_type = Vec<String>, format = Binary, content_media_type = "application/octet-stream")]
    file: Vec<u8>,
    /// Collection that the documents go to; created if it does not exist.
    #[schema(value_type = Option<CollectionName>, nullable = false)]
    collection: Option<String>,
    /// When the documents can be found; by default as configured for the collection.
    #[schema(value_type = Option<IndexingSchema>, nullable = false)]
    indexing: Option<String>,
    /// Your own data about all the files, a JSON object.
    #[schema(nullable = false)]
    metadata: Option<String>,
    /// The people who may see the files, a JSON object as `acl` of a document in JSON.
    #[schema(nullable = false)]
    acl: Option<String>,
    /// Title of the document, only if the form has one file.
    #[schema(value_type = Option<ShortText>, nullable = false)]
    title: Option<String>,
}

/// Reads the form.
///
/// # Errors
/// 400 for a broken form, 413 over the limit, 422 for wrong parts.
pub(super) async fn read(request: Request, state: &AppState) -> Result<Upload, ApiError> {
    let BodyLimit(limit) = BodyLimit::of(&request);
    let mut form =
        Multipart::from_request(request, state).await.map_err(|error| ApiError::unreadable(error.body_text()))?;
    let failed = |error: MultipartError| part_error(&error, limit);
    let mut parts = FormParts::default();
    while let Some(part) = form.next_field().await.map_err(failed)? {
        parts.read(part).await.map_err(failed)?;
    }
    parts.finish(limit)
}

/// The parts of a form as they were sent, and their faults.
#[derive(Default)]
struct FormParts {
    collection: Option<String>,
    indexing: Option<Indexing>,
    metadata: Map<String, Value>,
    acl: Option<NewAclBody>,
    title: Option<String>,
    documents: Vec<IncomingDocument>,
    faults: Faults,
}

impl FormParts {
    async fn read(&mut self, part: Field<'_>) -> Result<(), MultipartError> {
        let name = part.name().unwrap_or_default().to_owned();
        let file_name = part.file_name().map(str::to_owned);
        match (name.as_str(), file_name) {
            ("file" | "files" | "file[]" | "files[]", Some(source)) => self.read_file(source, part).await?,
            ("file" | "files", None) => self.faults.add("/file", "the part has no file name; send it as a file"),
            ("collection", _) => self.collection = Some(part.text().await?),
            ("indexing", _) => {
                self.indexing = Indexing::from_name(&part.text().await?);
                if self.indexing.is_none() {
                    self.faults.add("/indexing", "must be complete or progressive");
                }
            }
            ("title", _) => self.title = Some(part.text().await?),
            ("metadata", _) => match serde_json::from_str(&part.text().await?) {
                Ok(object) => self.metadata = object,
                Err(error) => self.faults.add("/metadata", format!("must be a JSON object: {error}")),
            },
            ("acl", _) => match serde_json::from_str(&part.text().await?) {
                Ok(acl) => self.acl = Some(acl),
                Err(error) => self.faults.add("/acl", format!("must be an access control list in JSON: {error}")),
            },
            _ => self.faults.add(
                format!("/{name}"),
                "is not a part of this form; use file, collection, indexing, metadata, acl and title",
            ),
        }
        Ok(())
    }

    async fn read_file(&mut self, source: String, part: Field<'_>) -> Result<(), MultipartError> {
        let media_type = part.content_type().map(str::to_owned);
        let bytes = part.bytes().await?.into();
        self.faults.source(&format!("/documents/{}/source", self.documents.len()), &source);
        let media_type = MediaType::choose(&source, media_type);
        self.documents.push(IncomingDocument {
            source,
            uri: None,
            title: None,
            metadata: Value::Null,
            loader: "multipart",
            acl: None,
            content: Content::Given { media_type, bytes },
        });
        Ok(())
    }

    /// Checks what concerns the form as a whole; each document gets a copy of the metadata.
    fn finish(self, limit: usize) -> Result<Upload, ApiError> {
        let Self { collection, indexing, metadata, acl, title, mut documents, mut faults } = self;
        let collection = collection.unwrap_or_else(|| DEFAULT_COLLECTION.to_owned());
        faults.collection_name("/collection", &collection);
        let metadata = Value::Object(metadata);
        let each = faults.metadata("/metadata", &metadata);
        if each.saturating_mul(documents.len()) > limit {
            let files = documents.len();
            let all = format!("has {each} bytes and belongs to {files} files; together the limit is {limit}");
            faults.add("/metadata", all);
        }
        if let Some(title) = title {
            faults.short_text("/title", &title);
            match documents.as_mut_slice() {
                [only] => only.title = Some(title),
                _ => faults.add("/title", "a title goes with a single file"),
            }
        }
        let acl = acl.map(|acl| acl.read("/acl", &mut faults));
        for document in &mut documents {
            document.metadata = metadata.clone();
            document.acl.clone_from(&acl);
        }
        check_sources(&documents, &mut faults);
        faults.finish()?;
        Ok(Upload { collection, indexing, documents })
    }
}

fn part_error(error: &MultipartError, limit: usize) -> ApiError {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        ApiError::too_large(limit)
    } else {
        ApiError::unreadable(format!("the form cannot be read: {}", error.body_text()))
    }
}
