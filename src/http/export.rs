//! Export of a collection: `GET /v1/collections/{name}/export`.

use std::collections::VecDeque;

use axum::{
    body::{Body, Bytes},
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use futures::stream;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::{
    AppState,
    acl::AclBody,
    extract::ValidPath,
    in_flight::{InFlight, Room},
    problem::ApiError,
};
use crate::service::{
    ServiceError,
    documents::{DocumentList, DocumentRow},
    error_chain,
    granted::Granted,
};

/// Documents that are listed at once.
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
    State(state): State<AppState>,
    granted: Granted,
    ValidPath(name): ValidPath<String>,
) -> Result<Response, ApiError> {
    // A collection that is not there is told before anything is sent.
    granted.begin_export(&name).await?;
    let lines =
        Lines { granted, name, downloads: state.downloads.clone(), rows: VecDeque::new(), after: None, room: None };
    let body = Body::from_stream(stream::try_unfold(lines, |mut lines| async move {
        let line = lines.next().await.inspect_err(|error| {
            tracing::warn!(error = error_chain(error), "an export broke off");
        })?;
        Ok::<_, BrokenOff>(line.map(|line| (line, lines)))
    }));
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], body).into_response())
}

/// Why an export ends before its end.
#[derive(Debug, thiserror::Error)]
enum BrokenOff {
    #[error("a document cannot be read")]
    Unreadable(#[from] ServiceError),
    #[error("{0}")]
    Busy(String),
}

/// The lines of an export, of which one is held at a time.
struct Lines {
    granted: Granted,
    name: String,
    downloads: InFlight,
    /// Documents that were listed and are not sent.
    rows: VecDeque<DocumentRow>,
    /// The last document that was listed.
    after: Option<Uuid>,
    /// Room for the line sent last.
    room: Option<Room>,
}

impl Lines {
    /// The next line; `None` after the last.
    async fn next(&mut self) -> Result<Option<Bytes>, BrokenOff> {
        // The line before has been passed on.
        self.room = None;
        while let Some(row) = self.next_row().await? {
            let room = self.downloads.room_of_text(self.granted.caller().grant.tenant(), row.characters).await;
            self.room = room.map_err(|busy| BrokenOff::Busy(busy.detail().to_owned()))?;
            match line(&self.granted, row).await {
                Ok(document) => {
                    let mut line = Vec::new();
                    // It holds nothing that JSON cannot say.
                    serde_json::to_writer(&mut line, &document).unwrap_or_default();
                    line.push(b'\n');
                    return Ok(Some(line.into()));
                }
                Err(ServiceError::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    async fn next_row(&mut self) -> Result<Option<DocumentRow>, ServiceError> {
        if self.rows.is_empty() {
            let (collection, after) = (Some(self.name.clone()), self.after);
            let wanted = DocumentList { collection, after, limit: PAGE, ..DocumentList::default() };
            self.rows = self.granted.documents(wanted).await?.into();
            self.after = self.rows.back().map(|row| row.id);
        }
        Ok(self.rows.pop_front())
    }
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
