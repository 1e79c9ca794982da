//! The tool `search`: `POST /v1/search`, in the form that deep research reads.

use rmcp::model::{CallToolResult, Tool};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    super::{
        fields::Faults,
        filter::FilterBody,
        json_object::object,
        number::hundredths,
        problem::ApiError,
        reply::{title_of, url_of},
        schema::{CollectionName, Question},
        stages::{ModeBody, StagesBody},
    },
    session::Session,
    tool::{ToolName, define, reads, structured},
};
use crate::service::{retrieval::Hit, search::SearchRequest};

/// Largest number of results: all of them are read by a model.
const MAX_TOP_K: usize = 50;

/// A search.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchArguments {
    /// The query in words.
    #[schema(value_type = Question)]
    query: String,
    /// Names of the collections to search; all if left out.
    #[serde(default)]
    #[schema(value_type = Vec<CollectionName>)]
    collections: Vec<String>,
    /// Limits which passages may be found.
    #[serde(default, deserialize_with = "object")]
    filter: FilterBody,
    /// Maximum number of passages, 1 to 50.
    #[serde(default = "default_top_k")]
    #[schema(default = 10, minimum = 1, maximum = 50)]
    top_k: usize,
}

const fn default_top_k() -> usize {
    10
}

/// Passages, best first.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FoundPassages {
    results: Vec<FoundPassage>,
}

/// A passage.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FoundPassage {
    /// Permanent name of the passage, for `fetch`.
    id: String,
    /// The document, with its page.
    title: String,
    /// Address of the page that shows the passage in its document.
    url: String,
    /// The passage, word for word.
    text: String,
    /// How well it matches the query, 0 to 1.
    score: f64,
}

impl FoundPassage {
    fn new(base: &str, hit: &Hit) -> Self {
        Self {
            id: hit.urn().to_string(),
            title: title_of(hit, hit.passage.page),
            url: url_of(base, hit),
            score: hundredths(hit.fused),
            text: hit.passage.text.clone(),
        }
    }
}

pub(super) fn definition() -> Tool {
    let description = "Finds passages in the documents, best first. The words of a result are evidence as they stand; fetch \
        reads what stands around them.";
    define::<SearchArguments, FoundPassages>(ToolName::Search, "Search documents", description, reads())
}

pub(super) async fn call(session: &Session, arguments: SearchArguments) -> Result<CallToolResult, ApiError> {
    let SearchArguments { query, collections, filter, top_k } = arguments;
    let mut faults = Faults::default();
    faults.question("/query", &query);
    faults.range("/top_k", top_k, 1, MAX_TOP_K);
    let filter = filter.read("/filter", &mut faults);
    faults.finish()?;
    let request = SearchRequest {
        collections: session.collections(collections).await?,
        query,
        stages: StagesBody::default().read(ModeBody::default()),
        top_k,
        min_score: None,
        filter,
    };
    let found = session.granted.search(&request).await?;
    let results = found.hits.iter().map(|hit| FoundPassage::new(&session.base, hit)).collect();
    Ok(CallToolResult::structured(structured(&FoundPassages { results })?))
}
