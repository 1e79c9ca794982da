//! Chunks as they are written and read.

use pgvector::{HalfVector, SparseVector};
use uuid::Uuid;

use super::{Store, StoreError};
use crate::domain::{fingerprint::Hash, identity::TenantId, lexical::term_id::MAX_TERM_ID};

/// A chunk that is ready to be stored.
#[derive(Clone, Debug)]
pub struct NewChunk {
    /// Range in the document's text, code points.
    pub start_char: i32,
    /// End of the range, exclusive.
    pub end_char: i32,
    /// Page from 1, where known.
    pub page: Option<i32>,
    /// Heading path, outermost first.
    pub heading: Vec<String>,
    /// Tokens of the text by the embedder's tokenizer.
    pub tokens: i32,
    /// The document's text at the range.
    pub text: String,
    /// Terms in it, for BM25.
    pub length: i32,
    /// BM25 document-side weight per term id, ascending.
    pub weights: Vec<(i32, f32)>,
    /// Hash of what was embedded.
    pub embedding_hash: Hash,
    /// Its vector, unit length.
    pub embedding: Vec<f32>,
}

/// A chunk as the API shows it.
#[derive(Clone, Debug)]
pub struct StoredChunk {
    /// Place in the document, from 0.
    pub ordinal: u32,
    /// Range in the document's text, code points.
    pub start_char: u32,
    /// End of the range, exclusive.
    pub end_char: u32,
    /// Page from 1, where known.
    pub page: Option<i32>,
    /// Heading path, outermost first.
    pub heading: Vec<String>,
    /// Splitter with its settings.
    pub splitter: String,
    /// Chunkers applied after the splitter.
    pub chunkers: Vec<String>,
    /// Tokens by the embedder's tokenizer.
    pub tokens: u32,
    /// The document's text at the range.
    pub text: String,
}

/// The weights as pgvector stores them.
pub(super) fn sparse(weights: &[(i32, f32)]) -> SparseVector {
    // Term ids count from 1, pgvector's indices in this constructor from 0.
    let entries: Vec<(i32, f32)> = weights.iter().map(|(term, weight)| (term - 1, *weight)).collect();
    SparseVector::from_map(entries.iter().map(|(index, weight)| (index, weight)), MAX_TERM_ID)
}

/// A vector as pgvector stores it.
pub(super) fn half(vector: &[f32]) -> HalfVector {
    HalfVector::from_f32_slice(vector)
}

impl Store {
    /// Chunks of a document from `from` on, in order, at most `limit`.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn chunks(
        &self,
        tenant: TenantId,
        document: Uuid,
        from: i32,
        limit: i64,
    ) -> Result<Vec<StoredChunk>, StoreError> {
        let mut transaction = self.begin_read(tenant).await?;
        let rows = sqlx::query!(
            r#"SELECT ordinal, start_char, end_char, page, heading AS "heading: sqlx::types::Json<Vec<String>>",
                      splitter, chunkers, tokens, text
               FROM chunk WHERE tenant_id = $1 AND document_id = $2 AND ordinal >= $3
               ORDER BY ordinal LIMIT $4"#,
            tenant.0,
            document,
            from,
            limit,
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(rows
            .into_iter()
            .map(|row| StoredChunk {
                ordinal: row.ordinal.unsigned_abs(),
                start_char: row.start_char.unsigned_abs(),
                end_char: row.end_char.unsigned_abs(),
                page: row.page,
                heading: row.heading.0,
                splitter: row.splitter,
                chunkers: row.chunkers,
                tokens: row.tokens.unsigned_abs(),
                text: row.text,
            })
            .collect())
    }
}
