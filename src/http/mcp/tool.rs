//! The tools: names, needs, descriptions, and the results of those that fail.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject, Tool, ToolAnnotations};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{
    super::{extract::parse, operations::need, problem::ApiError},
    ask, check, collections, fetch, ingest,
    schema::schema_of,
    search,
};
use crate::domain::access::Need;

/// Member of `_meta` that holds the problem document of a failure. It does not stand in `structuredContent`, which clients
/// hold against the schema of the result.
const PROBLEM: &str = "cited/problem";

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolName {
    Search,
    Fetch,
    Ask,
    Check,
    Collections,
    Ingest,
}

impl ToolName {
    /// All tools, in the order in which they are listed.
    pub(super) const ALL: [Self; 6] =
        [Self::Search, Self::Fetch, Self::Ask, Self::Check, Self::Collections, Self::Ingest];

    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.as_str() == name)
    }

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Fetch => "fetch",
            Self::Ask => "ask",
            Self::Check => "check",
            Self::Collections => "collections",
            Self::Ingest => "ingest",
        }
    }

    /// The operation that does the same.
    pub(super) const fn operation(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Fetch => "get_citation",
            Self::Ask => "ask",
            Self::Check => "check",
            Self::Collections => "list_collections",
            Self::Ingest => "create_documents",
        }
    }

    /// The rights that it needs: those of its operation.
    pub(super) fn need(self) -> Need {
        need(self.operation())
    }

    pub(super) fn definition(self) -> Tool {
        match self {
            Self::Search => search::definition(),
            Self::Fetch => fetch::definition(),
            Self::Ask => ask::definition(),
            Self::Check => check::definition(),
            Self::Collections => collections::definition(),
            Self::Ingest => ingest::definition(),
        }
    }
}

/// A tool with these arguments and this result.
pub(super) fn define<A: ToSchema, R: ToSchema>(
    name: ToolName,
    title: &str,
    description: &'static str,
    hints: ToolAnnotations,
) -> Tool {
    Tool::new(name.as_str(), description, schema_of::<A>())
        .with_title(title)
        .with_raw_output_schema(schema_of::<R>().into())
        .with_annotations(hints)
}

/// Hints of a tool that changes nothing.
pub(super) fn reads() -> ToolAnnotations {
    ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false)
}

/// Reads the arguments of a call.
///
/// # Errors
/// 422 with the pointer of a wrong value.
pub(super) fn read<A: DeserializeOwned>(arguments: &JsonObject) -> Result<A, ApiError> {
    let text = serde_json::to_vec(arguments).map_err(|error| ApiError::internal(error.to_string()))?;
    parse(&text)
}

/// A result as JSON.
pub(super) fn structured(result: &impl Serialize) -> Result<Value, ApiError> {
    serde_json::to_value(result).map_err(|error| ApiError::internal(error.to_string()))
}

/// The result of a call that failed: what happened and what to do, for the model that called.
pub(super) fn failed(error: ApiError, request_id: Option<String>) -> CallToolResult {
    let problem = error.into_problem(None, request_id);
    let text = format!("{}: {}", problem.title, problem.detail);
    let mut meta = MetaObject::new();
    meta.0.insert(PROBLEM.to_owned(), json!(problem));
    CallToolResult::error(vec![ContentBlock::text(text)]).with_meta(Some(meta))
}
