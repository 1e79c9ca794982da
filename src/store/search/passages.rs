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
    /// Page on which it begins, where known.
    pub(crate) page: Option<i32>,
    /// Of a passage merged from several chunks: where each further one begins that has a page, and this page.
    #[serde(default)]
    pub(crate) later_pages: Vec<(u32, i32)>,
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

impl Passage {
    /// The page of the chunk that holds a place of the document, in code points.
    pub(crate) fn page_at(&self, place: usize) -> Option<i32> {
        let begun =
            self.later_pages.iter().take_while(|(start, _)| usize::try_from(*start).is_ok_and(|start| start <= place));
        begun.last().map(|(_, page)| *page).or(self.page)
    }
}

/// A chunk whose passage is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WantedPassage {
    /// The chunk.
    pub(crate) key: ChunkKey,
    /// The version that the caller has already.
    pub(crate) known_version: Option<u32>,
}

/// A passage that exists and that the caller may see.
#[derive(Clone, Debug)]
pub(crate) enum FoundPassage {
    /// Its document has the version that the caller has already.
    AsKnown(ChunkKey),
    /// The passage.
    Read(Box<Passage>),
}

impl Search<'_> {
    /// Returns the passages of these chunks, in any order. Chunks that do not exist any more are left out, and those of
    /// documents that a caller who is these principals may not see.
    ///
    /// # Errors
    /// Any [`StoreError`].
    #[tracing::instrument(target = "cited::trace", skip_all, fields(otel.kind = "client", db.system.name = "postgresql"))]
    pub(crate) async fn passages(
        &self,
        tenant: TenantId,
        wanted: &[WantedPassage],
        caller: Option<&[i32]>,
    ) -> Result<Vec<FoundPassage>, StoreError> {
        let int = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
        let documents: Vec<Uuid> = wanted.iter().map(|wanted| wanted.key.document_id).collect();
        let ordinals: Vec<i32> = wanted.iter().map(|wanted| int(wanted.key.ordinal)).collect();
        // No document has a version 0.
        let known: Vec<i32> = wanted.iter().map(|wanted| wanted.known_version.map_or(0, int)).collect();
        let mut reading = self.store.reading(tenant).await?;
        let rows = sqlx::query!(
            r#"SELECT document_id AS "document_id!", ordinal AS "ordinal!", page,
                      heading AS "heading: sqlx::types::Json<Vec<String>>", text, start_char, end_char,
                      version AS "version!", source, uri, title, metadata, content_hash, collection, table_header, context
               FROM find_passages($1, $2, $3, $4, $5)"#,
            tenant.0,
            &documents,
            &ordinals,
            &known,
            caller,
        )
        .fetch_all(&mut *reading)
        .await?;
        reading.end().await?;
        Ok(rows
            .into_iter()
            .filter_map(|row| {
                let key = ChunkKey { document_id: row.document_id, ordinal: row.ordinal.unsigned_abs() };
                let Some(text) = row.text else { return Some(FoundPassage::AsKnown(key)) };
                Some(FoundPassage::Read(Box::new(Passage {
                    key,
                    origin: Origin::Document,
                    collection: row.collection?,
                    version: row.version.unsigned_abs(),
                    source: row.source?,
                    uri: row.uri?,
                    title: row.title?,
                    metadata: row.metadata?,
                    content_hash: row.content_hash?,
                    page: row.page,
                    later_pages: Vec::new(),
                    heading: row.heading?.0,
                    table_header: row.table_header,
                    text,
                    start_char: row.start_char?.unsigned_abs(),
                    end_char: row.end_char?.unsigned_abs(),
                    context: row.context,
                })))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Passage;

    #[test]
    fn a_place_is_on_the_page_of_its_chunk() {
        let passage = json!({
            "key": {"document_id": "0199c1f0-a1b2-7c3d-8e4f-5a6b7c8d9e0f", "ordinal": 4}, "collection": "c", "version": 1,
            "source": "s", "uri": "s", "title": "t", "metadata": {}, "content_hash": [], "page": 3, "later_pages": [[120, 4], [200, 7]],
            "heading": [], "text": "…", "start_char": 50, "end_char": 260,
        });
        let passage: Passage = serde_json::from_value(passage).expect("a passage");
        let pages = [50, 119, 120, 199, 200, 259].map(|place| passage.page_at(place));
        assert_eq!(pages, [3, 3, 4, 4, 7, 7].map(Some));
    }
}
