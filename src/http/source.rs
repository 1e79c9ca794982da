//! A passage as search and ask show it.

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
    /// Names the passage for good: collection, document, version, chunk; `#3-4` for chunks merged into one source.
    /// `cited-web:…` for words found on the web.
    #[schema(example = "cited:handbook/0199c1f0-a1b2-7c3d-8e4f-5a6b7c8d9e0f@2#3")]
    pub(super) urn: String,
    /// Where it comes from: `document`, or `web` for words that a search of the web found, of which nothing is stored.
    #[schema(value_type = OriginSchema)]
    pub(super) origin: Origin,
    /// The document; null for the web.
    pub(super) document_id: Option<Uuid>,
    /// Name of its collection; empty for the web.
    pub(super) collection: String,
    /// Caller's own name for the document; the URL for the web.
    #[schema(example = "leave.md")]
    pub(super) source: String,
    /// Title of the document.
    pub(super) title: String,
    /// Where the document was read from.
    pub(super) uri: String,
    /// Page from 1, where the format has pages.
    pub(super) page: Option<i32>,
    /// Headings above the passage, outermost first.
    pub(super) heading: Vec<String>,
    /// The passage, word for word.
    pub(super) text: String,
    /// Where it starts in the document's text, in Unicode code points.
    pub(super) start: u32,
    /// Where it ends, exclusive.
    pub(super) end: u32,
    /// Version of the document.
    pub(super) version: u32,
    /// SHA-256 of the document's bytes, hexadecimal.
    pub(super) content_hash: String,
    /// How well it matches, by each measure.
    pub(super) scores: ScoresBody,
    /// Other places where the same stands, best first: documents that hold these words too.
    pub(super) duplicates: Vec<DuplicateBody>,
    /// What the grader says of it; null in search results.
    #[schema(value_type = Option<GradeSchema>)]
    pub(super) grade: Option<Grade>,
    /// Metadata of the document.
    #[schema(value_type = Map<String, Value>)]
    pub(super) metadata: Value,
}

/// Another place where a passage stands.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Duplicate)]
pub(super) struct DuplicateBody {
    /// Names the passage there for good.
    #[schema(example = "cited:handbook/0199c1f0-a1b2-7c3d-8e4f-5a6b7c8d9e0f@1#7")]
    pub(super) urn: String,
    /// The document.
    pub(super) document_id: Uuid,
    /// Name of its collection.
    pub(super) collection: String,
    /// Caller's own name for the document.
    pub(super) source: String,
    /// Title of the document.
    pub(super) title: String,
    /// Where the document was read from.
    pub(super) uri: String,
    /// Where it starts in that document's text, in Unicode code points.
    pub(super) start: u32,
    /// Where it ends, exclusive.
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
    /// Cosine similarity, -1 to 1; null when the vector search did not find it.
    pub(super) dense: Option<f64>,
    /// BM25, from 0; null when the lexical search did not find it.
    pub(super) lexical: Option<f64>,
    /// Both in one, 0 to 1, or the one score of a one-sided search.
    pub(super) fused: f64,
    /// What the first results are ordered by, where they were reranked: the fused score and what their text
    /// adds to it, or the score of the reranking model on its own scale; null for those behind, which keep the fused
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
