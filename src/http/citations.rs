//! `/v1/citations`.

use axum::Json;
use serde::Serialize;
use time::OffsetDateTime;
use utoipa::ToSchema;

use super::{extract::ValidPath, problem::ApiError};
use crate::{
    domain::{citation::Urn, fingerprint::hex},
    service::{
        citations::{CitedPassage, CitedState},
        granted::Granted,
    },
};

/// The current state of a cited passage.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CitedState)]
pub(super) struct CitedBody {
    /// The URN that was looked up.
    #[schema(example = "cited:handbook/0199c1f0-a1b2-7c3d-8e4f-5a6b7c8d9e0f@2#3")]
    urn: String,
    /// State of the cited version.
    status: CitedStatusBody,
    /// Id of the document.
    document_id: String,
    /// Name of its collection.
    collection: String,
    /// Version that was cited.
    version: u32,
    /// Current version of the document; null if it was deleted.
    current_version: Option<u32>,
    /// When the cited version was replaced.
    #[serde(with = "time::serde::rfc3339::option")]
    superseded_at: Option<OffsetDateTime>,
    /// When the document was deleted.
    #[serde(with = "time::serde::rfc3339::option")]
    deleted_at: Option<OffsetDateTime>,
    /// Whether the current version still contains the passage word for word; null if this is not known.
    still_said: Option<bool>,
    /// The passage as it was cited; null if its document was deleted, or was replaced before versions were kept.
    passage: Option<CitedPassageBody>,
}

/// State of a cited version.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = CitedStatus)]
pub(super) enum CitedStatusBody {
    /// The cited version is the document's current version.
    Current,
    /// The document has a newer version.
    Superseded,
    /// The document was deleted.
    Deleted,
}

/// A passage of a version of a document.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CitedPassage)]
pub(super) struct CitedPassageBody {
    /// The caller's own name for the document.
    source: String,
    /// Title of the document.
    title: String,
    /// Where the document was read from.
    uri: String,
    /// SHA-256 of the document's bytes, hexadecimal.
    content_hash: String,
    /// When this version was stored.
    #[serde(with = "time::serde::rfc3339")]
    stored_at: OffsetDateTime,
    /// Page from 1, where the format has pages.
    page: Option<i32>,
    /// Headings above the passage, outermost first.
    heading: Vec<String>,
    /// Caption and header of the table that the passage begins in, if they stand in an earlier one: they name its columns,
    /// and are no part of its text.
    #[schema(example = json!(null))]
    table_header: Option<String>,
    /// The passage, word for word.
    text: String,
    /// Start of the passage in that version's text, in Unicode code points.
    start: u32,
    /// End of the passage, exclusive, in Unicode code points.
    end: u32,
}

impl CitedBody {
    pub(super) fn new(urn: &Urn, state: CitedState) -> Self {
        let mut body = Self {
            urn: urn.to_string(),
            status: CitedStatusBody::Current,
            document_id: urn.document().to_owned(),
            collection: urn.collection().to_owned(),
            version: urn.version(),
            current_version: Some(urn.version()),
            superseded_at: None,
            deleted_at: None,
            still_said: Some(true),
            passage: None,
        };
        match state {
            CitedState::Current(passage) => body.passage = Some(passage.into()),
            CitedState::Superseded { passage, current_version, superseded_at, is_still_said } => {
                body.status = CitedStatusBody::Superseded;
                body.current_version = Some(current_version);
                body.superseded_at = superseded_at;
                body.still_said = is_still_said;
                body.passage = passage.map(CitedPassageBody::from);
            }
            CitedState::Deleted { deleted_at } => {
                body.status = CitedStatusBody::Deleted;
                body.current_version = None;
                body.deleted_at = Some(deleted_at);
                body.still_said = Some(false);
            }
        }
        body
    }
}

impl From<CitedPassage> for CitedPassageBody {
    fn from(passage: CitedPassage) -> Self {
        Self {
            source: passage.source,
            title: passage.title,
            uri: passage.uri,
            content_hash: hex(&passage.content_hash),
            stored_at: passage.stored_at,
            page: passage.page,
            heading: passage.heading,
            table_header: passage.table_header,
            text: passage.text,
            start: passage.start_char,
            end: passage.end_char,
        }
    }
}

/// Look up a citation
///
/// Returns the passage that a URN names as it was when it was cited, and the state of its version: `current`,
/// `superseded` by a newer version, or `deleted`. The ranges are those of the cited version. Nothing is shown of a
/// deleted document. In the path the URN is percent-encoded as a whole: `/` as `%2F`, `#` as `%23`, `%` as `%25`.
#[utoipa::path(
    get, path = "/v1/citations/{urn}", tag = "ask",
    params(("urn" = String, Path, description = "`urn` of a citation or source, percent-encoded",
        example = "cited:handbook/0199c1f0-a1b2-7c3d-8e4f-5a6b7c8d9e0f@2#3")),
    responses(
        (status = 200, description = "What became of the passage", body = CitedBody),
        (status = 404, description = "There never was a passage of this name"),
        (status = 422, description = "This is no URN of a passage"),
    ),
)]
pub(super) async fn get_citation(
    granted: Granted,
    ValidPath(urn): ValidPath<String>,
) -> Result<Json<CitedBody>, ApiError> {
    let urn = parse_urn(&urn)?;
    let cited = granted.citation(&urn).await?;
    Ok(Json(CitedBody::new(&urn, cited)))
}

/// Reads the URN of a passage that is stored.
pub(super) fn parse_urn(urn: &str) -> Result<Urn, ApiError> {
    let urn: Urn = urn.parse().map_err(|error| {
        let hint = "percent-encode the whole URN in the path, # as %23 above all: what follows a plain # is never sent";
        ApiError::invalid_field("urn", format!("{urn:?} names no passage: {error}; {hint}"))
    })?;
    stored(urn)
}

/// Refuses the URN of a page of the web.
pub(super) fn stored(urn: Urn) -> Result<Urn, ApiError> {
    if let Some(url) = urn.web_url() {
        let detail = format!("of pages of the web nothing is kept; what was cited may still stand at {url}");
        return Err(ApiError::not_found(detail));
    }
    Ok(urn)
}
