//! The tool `fetch`: a passage with the text around it, in the form that deep research reads.

use rmcp::model::{CallToolResult, Tool};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    super::{
        citations::{CitedBody, stored},
        problem::ApiError,
        reply::{page_of, titled},
        schema::ShortText,
    },
    session::Session,
    tool::{ToolName, define, reads, structured},
};
use crate::{
    domain::citation::Urn,
    service::citations::{Around, CitedInDocument, CitedPassage, CitedState},
};

/// A passage to read.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FetchArguments {
    /// Permanent name of the passage, as `search` and `ask` give it.
    #[schema(value_type = ShortText, example = "cited:handbook/0199c1f0-a1b2-7c3d-8e4f-5a6b7c8d9e0f@2#3")]
    id: String,
}

/// A passage in its document.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FetchedPassage {
    /// Permanent name of the passage.
    id: String,
    /// The document, with the page of the passage.
    title: String,
    /// The passage with the text before and after it, as far as the document still has them.
    text: String,
    /// Address of the page that shows the passage in its document.
    url: String,
    /// State of the passage, with its exact words.
    metadata: CitedBody,
}

pub(super) fn definition() -> Tool {
    let description = "Reads a passage with the text around it, and says whether its document has changed since: metadata.status \
        is current, superseded or deleted.";
    define::<FetchArguments, FetchedPassage>(ToolName::Fetch, "Read a passage", description, reads())
}

pub(super) async fn call(session: &Session, arguments: FetchArguments) -> Result<CallToolResult, ApiError> {
    let (urn, cited) = find(session, &arguments.id).await?;
    let passage = passage_of(&cited.state);
    let title = passage.map(|passage| titled(&passage.title, &passage.source, passage.page));
    let fetched = FetchedPassage {
        id: urn.to_string(),
        title: title.unwrap_or_else(|| format!("A document of {} whose text is not kept", urn.collection())),
        text: text(&cited),
        url: page_of(&session.base, &urn),
        metadata: CitedBody::new(&urn, cited.state),
    };
    Ok(CallToolResult::structured(structured(&fetched)?))
}

/// The text of a passage that is read as a resource.
pub(super) async fn text_of(session: &Session, urn: &str) -> Result<String, ApiError> {
    let (_, cited) = find(session, urn).await?;
    let gone = || ApiError::not_found("nothing is kept of the text of this passage");
    passage_of(&cited.state).map(|passage| passage.text.clone()).ok_or_else(gone)
}

async fn find(session: &Session, name: &str) -> Result<(Urn, CitedInDocument), ApiError> {
    let urn: Urn = name.parse().map_err(|error| {
        ApiError::invalid_field("/id", format!("{name:?} names no passage: {error}; use an id of search or ask"))
    })?;
    let urn = stored(urn)?;
    let cited = session.granted.citation_in_document(&urn).await?;
    Ok((urn, cited))
}

const fn passage_of(state: &CitedState) -> Option<&CitedPassage> {
    match state {
        CitedState::Current(passage) => Some(passage),
        CitedState::Superseded { passage, .. } => passage.as_ref(),
        CitedState::Deleted { .. } => None,
    }
}

/// The passage with what stands around it; empty if nothing of it is kept.
fn text(cited: &CitedInDocument) -> String {
    let Some(passage) = passage_of(&cited.state) else { return String::new() };
    let Some(Around { before, after, is_cut_before, is_cut_after }) = &cited.around else {
        return passage.text.clone();
    };
    let ellipsis = |is_cut: &bool| if *is_cut { "…" } else { "" };
    format!("{}{before}{}{after}{}", ellipsis(is_cut_before), passage.text, ellipsis(is_cut_after))
}
