//! `POST /v1/search`.

use std::collections::HashSet;

use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    extract::ValidJson,
    fields::Faults,
    filter::FilterBody,
    json_object::object,
    problem::ApiError,
    schema::{CollectionNames, Question},
    source::SourceBody,
    stages::{ModeBody, StagesBody, scan_name, stages_json},
};
use crate::service::{granted::Granted, search::SearchRequest};

/// Largest number of results of a search: the most that the vector index finds at once.
const MAX_TOP_K: usize = 1_000;

/// A search.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SearchRequest, example = json!({"query": "days of parental leave", "collections": ["handbook"], "top_k": 5}))]
pub(super) struct SearchBody {
    /// The query in words; must not be only white space.
    #[schema(value_type = Question)]
    query: String,
    /// Collections to search; all must exist.
    #[serde(default = "default_collections")]
    #[schema(value_type = CollectionNames, default = json!(["default"]))]
    collections: Vec<String>,
    /// Which halves of retrieval run: vectors, BM25, or both.
    #[serde(default)]
    mode: ModeBody,
    /// Maximum number of results, 1 to 1000.
    #[serde(default = "default_top_k")]
    #[schema(default = 10, minimum = 1, maximum = 1000)]
    top_k: usize,
    /// Leaves out results below this score: the fused score, or the only score if one half of retrieval runs alone.
    /// Without it no result is left out.
    min_score: Option<f64>,
    /// Limits which passages may be found.
    #[serde(default, deserialize_with = "object")]
    filter: FilterBody,
    /// How the passages found are fused, reranked and merged.
    #[serde(default, deserialize_with = "object")]
    stages: StagesBody,
    /// Additions to the response.
    #[serde(default)]
    #[schema(value_type = Vec<SearchIncludeBody>)]
    include: HashSet<SearchIncludeBody>,
}

/// The collection used if the request names none.
pub(super) fn default_collections() -> Vec<String> {
    vec![DEFAULT_COLLECTION.to_owned()]
}

/// The collection used if a request names none.
pub(super) const DEFAULT_COLLECTION: &str = "default";

const fn default_top_k() -> usize {
    10
}

/// An addition to the response of a search.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = SearchInclude)]
pub(super) enum SearchIncludeBody {
    /// The work of each stage.
    Trace,
}

/// Results of a search.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SearchResults {
    /// The passages, best first.
    results: Vec<SourceBody>,
    /// How vectors were searched: `exact` (all vectors that may be found) or `iterative` (through the index, until
    /// enough passed the filter); null if vectors were not searched.
    vector_scan: Option<&'static str>,
    /// The work of each stage, if requested; `filter` contains the approximate number of chunks that pass, and whether
    /// the search started from their `documents` or from its `indexes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Map<String, Value>>, nullable = false)]
    trace: Option<Value>,
}

/// Search
///
/// Runs retrieval alone: returns the best passages with every score, without grading or generation.
#[utoipa::path(
    post, path = "/v1/search", tag = "ask", request_body = SearchBody,
    responses(
        (status = 200, description = "Passages, best first", body = SearchResults),
        (status = 404, description = "A collection does not exist"),
        (status = 409, description = "A collection lives in another vector space"),
        (status = 503, description = "Database or embedding provider not available"),
    ),
)]
pub(super) async fn search(
    granted: Granted,
    ValidJson(body): ValidJson<SearchBody>,
) -> Result<Json<SearchResults>, ApiError> {
    let mut faults = Faults::default();
    faults.question("/query", &body.query);
    faults.collections("/collections", &body.collections);
    faults.range("/top_k", body.top_k, 1, MAX_TOP_K);
    faults.score("/min_score", body.min_score);
    let filter = body.filter.read("/filter", &mut faults);
    faults.finish()?;
    let request = SearchRequest {
        collections: body.collections,
        query: body.query,
        stages: body.stages.read(body.mode),
        top_k: body.top_k,
        min_score: body.min_score,
        filter,
    };
    let found = granted.search(&request).await?;
    let trace = body.include.contains(&SearchIncludeBody::Trace);
    Ok(Json(SearchResults {
        trace: trace.then(|| stages_json(request.stages, &found.stages, found.scan)),
        vector_scan: found.scan.map(scan_name),
        results: found.hits.into_iter().map(|hit| SourceBody::new(hit, None)).collect(),
    }))
}
