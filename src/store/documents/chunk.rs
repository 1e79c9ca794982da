//! Chunks as written and as read.

use std::{ops::Range, sync::Arc};

use pgvector::{HalfVector, SparseVector};
use sqlx::types::Json;
use uuid::Uuid;

use crate::domain::{fingerprint::Hash, identity::TenantId, lexical::term_id::MAX_TERM_ID};
use crate::store::{Documents, NewDocument, StoreError, Tx, collections::statistics::StatisticChanges};

/// A vector as it is stored: in half precision.
#[derive(Clone, Debug)]
pub(crate) struct StoredVector(pub(in crate::store) HalfVector);

impl StoredVector {
    /// The stored form of a vector.
    #[must_use]
    pub(crate) fn of(vector: &[f32]) -> Self {
        Self(half(vector))
    }
}

/// A chunk that is ready to be stored. Its text is a range in that of its document, and its weights are made when it is
/// written: a large document is held once.
#[derive(Clone, Debug)]
pub(crate) struct NewChunk {
    /// Range in the document's text, bytes.
    pub(crate) bytes: Range<usize>,
    /// The same in code points.
    pub(crate) start_char: i32,
    /// End of the range, exclusive.
    pub(crate) end_char: i32,
    /// Page from 1, where known.
    pub(crate) page: Option<i32>,
    /// Heading path, outermost first.
    pub(crate) heading: Vec<String>,
    /// Caption and header of the table that it begins in, if they stand in an earlier chunk.
    pub(crate) table_header: Option<String>,
    /// Tokens of the text by the embedder's tokenizer.
    pub(crate) tokens: i32,
    /// Text that is indexed in front of it.
    pub(crate) indexed_front: Arc<str>,
    /// Sentence that relates it to its document, and the hash of the inputs that the sentence was written for.
    pub(crate) context: Option<(String, Hash)>,
    /// Hash of the text that was embedded.
    pub(crate) embedding_hash: Hash,
    /// Its vector, unit length; `None` while it is still to be made.
    pub(crate) embedding: Option<StoredVector>,
}

/// A chunk as the API returns it.
#[derive(Clone, Debug)]
pub(crate) struct StoredChunk {
    /// Position in the document, from 0.
    pub(crate) ordinal: u32,
    /// Range in the document's text, code points.
    pub(crate) start_char: u32,
    /// End of the range, exclusive.
    pub(crate) end_char: u32,
    /// Page from 1, where known.
    pub(crate) page: Option<i32>,
    /// Heading path, outermost first.
    pub(crate) heading: Vec<String>,
    /// Caption and header of the table that it begins in, if they stand in an earlier chunk.
    pub(crate) table_header: Option<String>,
    /// Splitter with its settings.
    pub(crate) splitter: String,
    /// Chunkers applied after the splitter.
    pub(crate) chunkers: Vec<String>,
    /// Tokens by the embedder's tokenizer.
    pub(crate) tokens: u32,
    /// The document's text at the range.
    pub(crate) text: String,
    /// Sentence that relates it to its document, if one was written.
    pub(crate) context: Option<String>,
}

/// Converts weights to pgvector's sparse vector.
pub(in crate::store) fn sparse(weights: &[(i32, f32)]) -> SparseVector {
    // Term ids count from 1; this constructor's indices count from 0.
    let entries: Vec<(i32, f32)> = weights.iter().map(|(term, weight)| (term - 1, *weight)).collect();
    SparseVector::from_map(entries.iter().map(|(index, weight)| (index, weight)), MAX_TERM_ID)
}

/// Converts a vector to pgvector's half-precision vector.
pub(in crate::store) fn half(vector: &[f32]) -> HalfVector {
    HalfVector::from_f32_slice(vector)
}

impl Documents<'_> {
    /// Returns at most `limit` chunks of a document, in order, starting at ordinal `from`.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn chunks(
        &self,
        tenant: TenantId,
        document: Uuid,
        from: i32,
        limit: i64,
    ) -> Result<Vec<StoredChunk>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let rows = sqlx::query!(
            r#"SELECT ordinal, start_char, end_char, page, heading AS "heading: sqlx::types::Json<Vec<String>>",
                      table_header, splitter, chunkers, tokens, c.text, context
               FROM document d
               JOIN collection l USING (tenant_id, collection_id)
               JOIN chunk c USING (tenant_id, document_id, index_id)
               WHERE d.tenant_id = $1 AND d.document_id = $2 AND ordinal >= $3
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
                table_header: row.table_header,
                splitter: row.splitter,
                chunkers: row.chunkers,
                tokens: row.tokens.unsigned_abs(),
                text: row.text,
                context: row.context,
            })
            .collect())
    }
}

/// Deletes the chunks of documents in one index, together with their vectors, and subtracts them from the statistics.
/// Returns how many vectors were deleted. Chunks and vectors are looked up by document (a condition in IS TRUE uses no
/// database index), because an index that the planner has no statistics for yet would be read whole.
pub(in crate::store) async fn delete_chunks(
    transaction: &mut Tx,
    tenant: TenantId,
    index: Uuid,
    documents: &[Uuid],
    changes: &mut StatisticChanges,
) -> Result<u64, StoreError> {
    let vectors = sqlx::query!(
        "DELETE FROM chunk_embedding WHERE tenant_id = $1 AND document_id = ANY ($2) AND (index_id = $3) IS TRUE",
        tenant.0,
        documents,
        index,
    )
    .execute(&mut **transaction)
    .await?
    .rows_affected();
    let rows = sqlx::query!(
        "DELETE FROM chunk WHERE tenant_id = $1 AND document_id = ANY ($2) AND (index_id = $3) IS TRUE RETURNING terms",
        tenant.0,
        documents,
        index
    )
    .fetch_all(&mut **transaction)
    .await?;
    changes.unembedded_chunks -= i64::try_from(rows.len()).unwrap_or(i64::MAX) - i64::try_from(vectors).unwrap_or(0);
    for row in rows {
        changes.count(row.terms.into_iter(), -1);
    }
    Ok(vectors)
}

/// Chunks as columns, so that one statement can insert many.
#[derive(Default)]
pub(in crate::store) struct ChunkColumns<'d> {
    pub(in crate::store) documents: Vec<Uuid>,
    pub(in crate::store) ordinals: Vec<i32>,
    pub(in crate::store) starts: Vec<i32>,
    pub(in crate::store) ends: Vec<i32>,
    pub(in crate::store) pages: Vec<Option<i32>>,
    pub(in crate::store) headings: Vec<Json<&'d [String]>>,
    pub(in crate::store) table_headers: Vec<Option<&'d str>>,
    pub(in crate::store) splitters: Vec<&'d str>,
    pub(in crate::store) tokens: Vec<i32>,
    pub(in crate::store) texts: Vec<&'d str>,
    pub(in crate::store) contexts: Vec<Option<&'d str>>,
    pub(in crate::store) context_keys: Vec<Option<&'d [u8]>>,
    pub(in crate::store) terms: Vec<String>,
    pub(in crate::store) weights: Vec<SparseVector>,
    pub(in crate::store) hashes: Vec<&'d [u8]>,
    pub(in crate::store) vectors: Vec<Option<&'d HalfVector>>,
}

impl<'d> ChunkColumns<'d> {
    /// Adds a chunk, with these weights, of a document that is stored under this identity.
    pub(in crate::store) fn push(
        &mut self,
        (id, document): (Uuid, &'d NewDocument),
        (ordinal, new): (i32, &'d NewChunk),
        weights: &[(i32, f32)],
    ) {
        self.documents.push(id);
        self.ordinals.push(ordinal);
        self.starts.push(new.start_char);
        self.ends.push(new.end_char);
        self.pages.push(new.page);
        self.headings.push(Json(&new.heading));
        self.table_headers.push(new.table_header.as_deref());
        self.splitters.push(&document.splitter);
        self.tokens.push(new.tokens);
        self.texts.push(document.text_of(new));
        self.contexts.push(new.context.as_ref().map(|(sentence, _)| sentence.as_str()));
        self.context_keys.push(new.context.as_ref().map(|(_, key)| key.as_slice()));
        self.terms.push(array_literal(weights.iter().map(|(term, _)| *term)));
        self.weights.push(sparse(weights));
        self.hashes.push(&new.embedding_hash);
        self.vectors.push(new.embedding.as_ref().map(|StoredVector(vector)| vector));
    }
}

/// Returns the text form of an integer array in Postgres: arrays of different lengths cannot be unnested.
pub(in crate::store) fn array_literal(numbers: impl Iterator<Item = i32>) -> String {
    let listed: Vec<String> = numbers.map(|number| number.to_string()).collect();
    format!("{{{}}}", listed.join(","))
}
