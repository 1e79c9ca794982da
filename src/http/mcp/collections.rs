//! The tool `collections`: `GET /v1/collections`, as far as it helps to choose among them.

use rmcp::model::{CallToolResult, ContentBlock, Tool};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    super::{
        pagination::{next_cursor, rows_to_fetch},
        problem::ApiError,
        schema::{CollectionName, PlainText},
    },
    session::Session,
    tool::{ToolName, define, reads, structured},
};
use crate::domain::lexical::language::Language;

/// Collections of a page.
const PAGE: i64 = 200;

/// A page of the list.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CollectionsArguments {
    /// `next_cursor` of the page before.
    #[schema(value_type = Option<PlainText>)]
    cursor: Option<String>,
}

/// Collections, ordered by name.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CollectionNames {
    collections: Vec<NamedCollection>,
    /// Send this as `cursor` to get the next page; null on the last page.
    next_cursor: Option<String>,
}

/// A collection.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct NamedCollection {
    /// Its name, for `search`, `ask` and `ingest`.
    #[schema(value_type = CollectionName)]
    name: String,
    /// Number of its documents.
    documents: u64,
    /// Language of its documents: an ISO 639-1 code, or `none`.
    #[schema(value_type = String, example = "en")]
    language: Language,
}

pub(super) fn definition() -> Tool {
    let description = "Lists the collections of documents, by name. `search` and `ask` look into all of them unless they are \
        given some of these names.";
    define::<CollectionsArguments, CollectionNames>(ToolName::Collections, "List collections", description, reads())
}

pub(super) async fn call(session: &Session, arguments: CollectionsArguments) -> Result<CallToolResult, ApiError> {
    let found = session.granted.collections(arguments.cursor.as_deref(), rows_to_fetch(PAGE)?).await?;
    let mut collections: Vec<NamedCollection> = found
        .into_iter()
        .map(|summary| NamedCollection {
            name: summary.collection.name,
            documents: summary.documents,
            language: summary.collection.language,
        })
        .collect();
    let next_cursor = next_cursor(&mut collections, PAGE, |last| last.name.clone());
    let line = |each: &NamedCollection| {
        let documents = if each.documents == 1 { "document" } else { "documents" };
        format!("- {} ({} {documents})", each.name, each.documents)
    };
    let lines: Vec<String> = collections.iter().map(line).collect();
    let text = if lines.is_empty() { "There are no collections yet.".to_owned() } else { lines.join("\n") };
    let result = structured(&CollectionNames { collections, next_cursor })?;
    let mut answer = CallToolResult::success(vec![ContentBlock::text(text)]);
    answer.structured_content = Some(result);
    Ok(answer)
}
