//! `/v1/erasures`.

use axum::{Json, http::StatusCode};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{
    extract::{ValidJson, ValidPath, ValidQuery},
    fields::Faults,
    pagination::{default_limit, next_cursor, rows_to_fetch},
    problem::ApiError,
    schema::{CollectionName, DocumentSource},
};
use crate::service::{
    erasures::{Erasable, Erased, ErasureRow, Remainder},
    granted::Granted,
};

/// The thing to erase: a `document`, a `collection`, or all that is or was stored under a `source` of a collection.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewErasure, example = json!({"collection": "hr", "source": "applications/ada.pdf"}))]
pub(super) struct NewErasureBody {
    /// Id of a document.
    document: Option<Uuid>,
    /// Name of a collection.
    #[schema(value_type = Option<CollectionName>)]
    collection: Option<String>,
    /// Source of a document of the collection. Its traces go also if it was deleted before.
    #[schema(value_type = Option<DocumentSource>)]
    source: Option<String>,
    /// Whether asks that were answered from what is erased are deleted from the audit; else the receipt says how many
    /// are left.
    #[serde(default)]
    asks: bool,
}

/// The receipt of an erasure.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Erasure)]
pub(super) struct ErasureBody {
    /// Id of the erasure.
    id: Uuid,
    /// When it was done.
    #[serde(with = "time::serde::rfc3339")]
    erased_at: OffsetDateTime,
    /// Id of the key that asked for it.
    key_id: Option<String>,
    /// The erased things, as `document:id` and `collection:id`; no names.
    subject: Vec<String>,
    /// Numbers of rows that are gone, or that name nothing any more.
    erased: ErasedBody,
    /// The remains, with their places, and when they go.
    remains: Vec<RemainderBody>,
}

/// Numbers of what an erasure removed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Erased)]
pub(super) struct ErasedBody {
    /// Documents.
    documents: u64,
    /// Versions of them, the last included.
    versions: u64,
    /// Chunks.
    chunks: u64,
    /// Vectors.
    vectors: u64,
    /// Cached answers that were written from them.
    answers: u64,
    /// Uploads that waited, or were kept for a retry.
    uploads: u64,
    /// Lines in jobs that named them.
    job_items: u64,
    /// Replies that were kept for repeated requests.
    replies: u64,
    /// Rows of the audit of asks.
    asks: u64,
}

/// Something that an erasure leaves.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Remainder)]
pub(super) struct RemainderBody {
    /// Where it is.
    #[schema(example = "security events")]
    place: String,
    /// Its content about the erased things.
    holds: String,
    /// When it goes; null where the service does not know, or never.
    #[serde(with = "time::serde::rfc3339::option")]
    until: Option<OffsetDateTime>,
}

/// Page of erasures.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ErasuresQuery {
    /// `next_cursor` of the previous page.
    cursor: Option<Uuid>,
    /// Rows per page, 1 to 200.
    #[serde(default = "default_limit")]
    #[param(default = 50, minimum = 1, maximum = 200)]
    limit: i64,
}

/// A page of erasures.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ErasurePage {
    /// The receipts, newest first.
    erasures: Vec<ErasureBody>,
    /// Send this as `cursor` to get the next page; null on the last page.
    next_cursor: Option<String>,
}

impl From<ErasureRow> for ErasureBody {
    fn from(row: ErasureRow) -> Self {
        let Erased { documents, versions, chunks, vectors, answers, uploads, job_items, replies, asks } = row.erased;
        let remains = row.remains.into_iter();
        Self {
            id: row.id,
            erased_at: row.erased_at,
            key_id: row.key_id,
            subject: row.subject,
            erased: ErasedBody { documents, versions, chunks, vectors, answers, uploads, job_items, replies, asks },
            remains: remains.map(|Remainder { place, holds, until }| RemainderBody { place, holds, until }).collect(),
        }
    }
}

impl NewErasureBody {
    fn read(self) -> Result<Erasable, ApiError> {
        let mut faults = Faults::default();
        if let Some(name) = &self.collection {
            faults.collection_name("/collection", name);
        }
        if let Some(source) = &self.source {
            faults.source("/source", source);
        }
        faults.finish()?;
        match (self.document, self.collection, self.source) {
            (Some(id), None, None) => Ok(Erasable::Document(id)),
            (None, Some(collection), Some(source)) => Ok(Erasable::Source { collection, source }),
            (None, Some(collection), None) => Ok(Erasable::Collection(collection)),
            _ => Err(ApiError::invalid_field(
                "/document",
                "name either a document, or a collection, or a collection and a source of it",
            )),
        }
    }
}

/// Erase documents
///
/// Deletes a document, a source or a collection with all traces: former versions, vectors, waiting uploads, cached
/// answers, lines of jobs, kept replies, and on request the asks that were answered from it. The receipt is kept.
#[utoipa::path(
    post, path = "/v1/erasures", tag = "documents", request_body = NewErasureBody,
    responses(
        (status = 201, description = "Erased", body = ErasureBody),
        (status = 404, description = "There is no such document or collection"),
    ),
)]
pub(super) async fn create_erasure(
    granted: Granted,
    ValidJson(body): ValidJson<NewErasureBody>,
) -> Result<(StatusCode, Json<ErasureBody>), ApiError> {
    let with_asks = body.asks;
    let row = granted.erase(body.read()?, with_asks).await?;
    Ok((StatusCode::CREATED, Json(row.into())))
}

/// List erasures
#[utoipa::path(
    get, path = "/v1/erasures", tag = "documents", params(ErasuresQuery),
    responses((status = 200, description = "Receipts, newest first", body = ErasurePage)),
)]
pub(super) async fn list_erasures(
    granted: Granted,
    ValidQuery(query): ValidQuery<ErasuresQuery>,
) -> Result<Json<ErasurePage>, ApiError> {
    let rows = rows_to_fetch(query.limit)?;
    let found = granted.erasures(query.cursor, rows).await?;
    let mut erasures: Vec<ErasureBody> = found.into_iter().map(ErasureBody::from).collect();
    let next_cursor = next_cursor(&mut erasures, query.limit, |last| last.id.to_string());
    Ok(Json(ErasurePage { erasures, next_cursor }))
}

/// Get an erasure
#[utoipa::path(
    get, path = "/v1/erasures/{id}", tag = "documents",
    params(("id" = Uuid, Path, description = "Identity of the erasure")),
    responses(
        (status = 200, description = "The receipt", body = ErasureBody),
        (status = 404, description = "There is no such erasure"),
    ),
)]
pub(super) async fn get_erasure(
    granted: Granted,
    ValidPath(id): ValidPath<Uuid>,
) -> Result<Json<ErasureBody>, ApiError> {
    Ok(Json(granted.erasure(id).await?.into()))
}
