//! The passages of dense and lexical hits.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::{Row, postgres::PgRow};
use uuid::Uuid;

use crate::domain::{
    identity::{ChunkKey, TenantId},
    origin::Origin,
};
use crate::store::{Search, StoreError};

/// The collections to search, with their active indexes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// The collections.
    pub(crate) collections: Vec<Uuid>,
    /// The active index of each collection.
    pub(crate) indexes: Vec<Uuid>,
}

/// A chunk and its BM25 score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LexicalHit {
    /// The chunk.
    pub(crate) key: ChunkKey,
    /// BM25 score.
    pub(crate) score: f32,
}

/// A chunk with the fields that a source shows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Passage {
    /// The chunk.
    pub(crate) key: ChunkKey,
    /// Origin of the passage.
    #[serde(default)]
    pub(crate) origin: Origin,
    /// Name of its collection; empty for the web.
    pub(crate) collection: String,
    /// Document's version.
    pub(crate) version: u32,
    /// Document's source.
    pub(crate) source: String,
    /// Document's URI.
    pub(crate) uri: String,
    /// Document's title.
    pub(crate) title: String,
    /// Document's metadata.
    pub(crate) metadata: Value,
    /// SHA-256 of the document's bytes.
    pub(crate) content_hash: Vec<u8>,
    /// Page, where known.
    pub(crate) page: Option<i32>,
    /// Heading path, outermost first.
    pub(crate) heading: Vec<String>,
    /// Caption and header of the table that it begins in, if they stand in an earlier chunk.
    #[serde(default)]
    pub(crate) table_header: Option<String>,
    /// Text of the chunk.
    pub(crate) text: String,
    /// Range in the document's text, code points.
    pub(crate) start_char: u32,
    /// End of the range, exclusive.
    pub(crate) end_char: u32,
    /// Sentence by a model that relates the chunk to its document, if it has one. It is not part of the source: only
    /// the code that judges the topic of the passage may read it.
    #[serde(skip)]
    pub(crate) context: Option<String>,
}

impl Search<'_> {
    /// Returns the passages with these keys, in any order. Chunks that do not exist any more are left out, and those of
    /// documents that a caller who is these principals may not see.
    ///
    /// # Errors
    /// Any [`StoreError`].
    #[tracing::instrument(target = "cited::trace", skip_all, fields(otel.kind = "client", db.system.name = "postgresql"))]
    pub(crate) async fn passages(
        &self,
        tenant: TenantId,
        keys: &[ChunkKey],
        caller: Option<&[i32]>,
    ) -> Result<Vec<Passage>, StoreError> {
        let documents: Vec<Uuid> = keys.iter().map(|key| key.document_id).collect();
        let ordinals: Vec<i32> = keys.iter().map(|key| i32::try_from(key.ordinal).unwrap_or(i32::MAX)).collect();
        let mut reading = self.store.reading().await?;
        let rows = sqlx::query!(
            r#"SELECT document_id AS "document_id!", ordinal AS "ordinal!", page,
                      heading AS "heading!: sqlx::types::Json<Vec<String>>", text AS "text!", start_char AS "start_char!",
                      end_char AS "end_char!", version AS "version!", source AS "source!", uri AS "uri!",
                      title AS "title!", metadata AS "metadata!", content_hash AS "content_hash!",
                      collection AS "collection!", table_header, context
               FROM find_passages($1, $2, $3, $4)"#,
            tenant.0,
            &documents,
            &ordinals,
            caller,
        )
        .fetch_all(&mut *reading)
        .await?;
        reading.end().await?;
        Ok(rows
            .into_iter()
            .map(|row| Passage {
                key: ChunkKey { document_id: row.document_id, ordinal: row.ordinal.unsigned_abs() },
                origin: Origin::Document,
                collection: row.collection,
                version: row.version.unsigned_abs(),
                source: row.source,
                uri: row.uri,
                title: row.title,
                metadata: row.metadata,
                content_hash: row.content_hash,
                page: row.page,
                heading: row.heading.0,
                table_header: row.table_header,
                text: row.text,
                start_char: row.start_char.unsigned_abs(),
                end_char: row.end_char.unsigned_abs(),
                context: row.context,
            })
            .collect())
    }
}

pub(in crate::store) fn read_lexical_hits(rows: Vec<PgRow>) -> Result<Vec<LexicalHit>, StoreError> {
    rows.into_iter()
        .map(|row| {
            let ordinal: i32 = row.try_get("ordinal")?;
            let key = ChunkKey { document_id: row.try_get("document_id")?, ordinal: ordinal.unsigned_abs() };
            Ok(LexicalHit { key, score: row.try_get("score")? })
        })
        .collect::<Result<_, sqlx::Error>>()
        .map_err(StoreError::from)
}
