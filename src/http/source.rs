//! The body of a passage, as search and ask return it.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::schema::{GradeSchema, OriginSchema};
use crate::{
    domain::{corrective::Grade, fingerprint::hex, origin::Origin},
    service::retrieval::{Hit, Passage, urn_of},
};

/// A passage of a document.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Source)]
pub(super) struct SourceBody {
    /// Permanent name of the passage: collection, document, version, chunk; `#3-4` for chunks merged into one source.
    /// `cited-web:…` for text found on the web.
    #[schema(example = "cited:handbook/0199c1f0-a1b2-7c3d-8e4f-5a6b7c8d9e0f@2#3")]
    pub(super) urn: String,
    /// Origin of the passage: `document`, or `web` for text found by a web search, which is not stored.
    #[schema(value_type = OriginSchema)]
    pub(super) origin: Origin,
    /// Id of the document; null for the web.
    pub(super) document_id: Option<Uuid>,
    /// Name of the document's collection; empty for the web.
    pub(super) collection: String,
    /// The caller's own name for the document; the URL for the web.
    #[schema(example = "leave.md")]
    pub(super) source: String,
    /// Title of the document.
    pub(super) title: String,
    /// URI that the document was read from.
    pub(super) uri: String,
    /// Page from 1, where the format has pages.
    pub(super) page: Option<i32>,
    /// Headings above the passage, outermost first.
    pub(super) heading: Vec<String>,
    /// Caption and header of the table that the passage begins in, if they stand in an earlier one: they name its columns,
    /// and are no part of its text.
    #[schema(example = json!(null))]
    pub(super) table_header: Option<String>,
    /// The passage, word for word.
    pub(super) text: String,
    /// Start of the passage in the document's text, in Unicode code points.
    pub(super) start: u32,
    /// End of the passage, exclusive, in Unicode code points.
    pub(super) end: u32,
    /// Version of the document.
    pub(super) version: u32,
    /// SHA-256 of the document's bytes, hexadecimal.
    pub(super) content_hash: String,
    /// How well the passage matches the query, by each measure.
    pub(super) scores: ScoresBody,
    /// Other documents that contain the same text, best first.
    pub(super) duplicates: Vec<DuplicateBody>,
    /// Verdict of the grader on the passage; null in search results.
    #[schema(value_type = Option<GradeSchema>)]
    pub(super) grade: Option<Grade>,
    /// Metadata of the document.
    #[schema(value_type = Map<String, Value>)]
    pub(super) metadata: Value,
}

/// Another document that contains the passage.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Duplicate)]
pub(super) struct DuplicateBody {
    /// Permanent name of the passage in that document.
    #[schema(example = "cited:handbook/0199c1f0-a1b2-7c3d-8e4f-5a6b7c8d9e0f@1#7")]
    pub(super) urn: String,
    /// Id of the document.
    pub(super) document_id: Uuid,
    /// Name of the document's collection.
    pub(super) collection: String,
    /// The caller's own name for the document.
    pub(super) source: String,
    /// Title of the document.
    pub(super) title: String,
    /// URI that the document was read from.
    pub(super) uri: String,
    /// Start of the passage in that document's text, in Unicode code points.
    pub(super) start: u32,
    /// End of the passage, exclusive, in Unicode code points.
    pub(super) end: u32,
}

impl DuplicateBody {
    fn new(passage: &Passage) -> Self {
        Self {
            urn: urn_of(passage, passage.key.ordinal).to_string(),
            document_id: passage.key.document_id,
            collection: passage.collection.clone(),
            source: passage.source.clone(),
            title: passage.title.clone(),
            uri: passage.uri.clone(),
            start: passage.start_char,
            end: passage.end_char,
        }
    }
}

/// How well a passage matches a query.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[schema(as = Scores)]
pub(super) struct ScoresBody {
    /// Cosine similarity, -1 to 1; null where vectors were not searched or the passage has none.
    pub(super) dense: Option<f64>,
    /// BM25 score, 0 or more; null if the lexical search did not find the passage.
    pub(super) lexical: Option<f64>,
    /// Fused score of both halves, 0 to 1, or the only score of a one-sided search.
    pub(super) fused: f64,
    /// Score that orders the first results if they were reranked: the fused score plus the amount that their text adds,
    /// or the score of the reranking model on its own scale. Null for the results after those, which keep the fused
    /// order, and without reranking.
    pub(super) reranked: Option<f64>,
}

impl SourceBody {
    pub(super) fn new(hit: Hit, grade: Option<Grade>) -> Self {
        let urn = hit.urn().to_string();
        let duplicates = hit.duplicates.iter().map(|passage| DuplicateBody::new(passage)).collect();
        let Hit { passage, dense, lexical, fused, reranked, .. } = hit;
        let passage = Arc::unwrap_or_clone(passage);
        Self {
            urn,
            origin: passage.origin,
            document_id: (passage.origin == Origin::Document).then_some(passage.key.document_id),
            collection: passage.collection,
            source: passage.source,
            title: passage.title,
            uri: passage.uri,
            page: passage.page,
            heading: passage.heading,
            table_header: passage.table_header,
            text: passage.text,
            start: passage.start_char,
            end: passage.end_char,
            version: passage.version,
            content_hash: hex(&passage.content_hash),
            scores: ScoresBody { dense, lexical, fused, reranked },
            duplicates,
            grade,
            metadata: passage.metadata,
        }
    }
}
