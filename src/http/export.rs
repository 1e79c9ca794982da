//! Export of a collection: `GET /v1/collections/{name}/export`.

use axum::{
    body::{Body, Bytes},
    http::header,
    response::{IntoResponse, Response},
};
use futures::{StreamExt, stream};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::{acl::AclBody, extract::ValidPath, problem::ApiError};
use crate::service::{
    ServiceError,
    documents::{DocumentList, DocumentRow},
    error_chain,
    granted::Granted,
};

/// Documents that are read at once.
const PAGE: i64 = 50;

/// A document as `POST /v1/documents/bulk` takes it.
#[derive(Debug, Serialize)]
struct ExportedDocument {
    source: String,
    /// If it is not the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    title: String,
    media_type: &'static str,
    metadata: Value,
    acl: AclBody,
    text: String,
}

/// Export a collection
///
/// Every document with its extracted text, metadata and access control list, one JSON object per line, newest first. The
/// lines can be sent to `POST /v1/documents/bulk` as they are. Documents that are deleted meanwhile are left out; a
/// response that breaks off is not complete.
#[utoipa::path(
    get, path = "/v1/collections/{name}/export", tag = "collections",
    params(("name" = String, Path, description = "Name of the collection")),
    responses(
        (status = 200, description = "Documents, one per line", body = String, content_type = "application/x-ndjson"),
        (status = 404, description = "There is no such collection"),
    ),
)]
pub(super) async fn export_collection(
    granted: Granted,
    ValidPath(name): ValidPath<String>,
) -> Result<Response, ApiError> {
    // A collection that is not there is told before anything is sent.
    granted.collection(&name).await?;
    let pages = stream::unfold(Some(None), move |position: Option<Option<Uuid>>| {
        let (granted, name) = (granted.clone(), name.clone());
        async move {
            let after = position?;
            let wanted = DocumentList { collection: Some(name), after, limit: PAGE, ..DocumentList::default() };
            let page = granted.documents(wanted).await;
            let last = page.as_ref().ok().and_then(|page| page.last()).map(|row| row.id);
            let lines = match page {
                Ok(page) => lines(&granted, page).await,
                Err(error) => Err(error),
            };
            // After the last page, and after an error, nothing follows.
            let next = last.filter(|_| lines.is_ok()).map(Some);
            Some((lines, next))
        }
    });
    let body = Body::from_stream(pages.inspect(|lines| {
        if let Err(error) = lines {
            tracing::warn!(error = error_chain(error), "an export broke off");
        }
    }));
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], body).into_response())
}

/// The lines of these documents.
async fn lines(granted: &Granted, rows: Vec<DocumentRow>) -> Result<Bytes, ServiceError> {
    let mut lines = Vec::new();
    for row in rows {
        match line(granted, row).await {
            Ok(document) => {
                // It holds nothing that JSON cannot say.
                serde_json::to_writer(&mut lines, &document).unwrap_or_default();
                lines.push(b'\n');
            }
            Err(ServiceError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(lines.into())
}

async fn line(granted: &Granted, row: DocumentRow) -> Result<ExportedDocument, ServiceError> {
    Ok(ExportedDocument {
        acl: granted.document_acl(row.id).await?.into(),
        text: granted.document_text(row.id).await?.text,
        media_type: exported_type(&row.media_type),
        uri: Some(row.uri).filter(|uri| *uri != row.source),
        source: row.source,
        title: row.title,
        metadata: row.metadata,
    })
}

/// The media type of the text that a document of this type became.
fn exported_type(media_type: &str) -> &'static str {
    if media_type == "text/markdown" { "text/markdown" } else { "text/plain" }
}
