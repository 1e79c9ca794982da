//! Looks up passages by their permanent names, in any state of their documents.

use std::ops::RangeInclusive;

use serde::Deserialize;
use sqlx::types::Json;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::identity::TenantId;
use crate::store::{Documents, StoreError, Tx};

/// A chunk of a replaced version. The database stores it as an array of these values.
#[derive(Debug, Deserialize)]
struct KeptChunk {
    start_char: u32,
    end_char: u32,
    page: Option<i32>,
    heading: Vec<String>,
    table_header: Option<String>,
}

/// The permanent name of a passage within a tenant.
#[derive(Clone, Debug)]
pub(crate) struct CitedChunks<'a> {
    /// Name of the collection.
    pub(crate) collection: &'a str,
    /// The document.
    pub(crate) document_id: Uuid,
    /// Its version.
    pub(crate) version: u32,
    /// Ordinals of the chunks in that version.
    pub(crate) chunks: RangeInclusive<u32>,
    /// Numbers of the principals that the caller is; `None` for one from whom no document is hidden.
    pub(crate) caller: Option<Vec<i32>>,
}

/// Current state of a cited passage.
#[derive(Clone, Debug)]
pub(crate) enum CitedState {
    /// The cited version is the document's current one.
    Current(CitedPassage),
    /// The document has a newer version.
    Superseded {
        /// The passage as it was cited; `None` if that version is not kept any more.
        passage: Option<CitedPassage>,
        /// Current version of the document.
        current_version: u32,
        /// When the cited version was replaced, if known.
        superseded_at: Option<OffsetDateTime>,
        /// Whether the current version still contains the passage, word for word; `None` if unknown.
        is_still_said: Option<bool>,
    },
    /// The document was deleted, and its text with it.
    Deleted {
        /// Time of the deletion.
        deleted_at: OffsetDateTime,
    },
}

/// A passage with the fields of its document that are shown.
#[derive(Clone, Debug)]
pub(crate) struct CitedPassage {
    /// Document's source.
    pub(crate) source: String,
    /// Document's URI.
    pub(crate) uri: String,
    /// Document's title.
    pub(crate) title: String,
    /// SHA-256 of the document's bytes.
    pub(crate) content_hash: Vec<u8>,
    /// When this version was stored.
    pub(crate) stored_at: OffsetDateTime,
    /// Page, where known.
    pub(crate) page: Option<i32>,
    /// Heading path, outermost first.
    pub(crate) heading: Vec<String>,
    /// Caption and header of the table that it begins in, if they stand in an earlier chunk.
    pub(crate) table_header: Option<String>,
    /// The passage.
    pub(crate) text: String,
    /// Range in that version's text, code points.
    pub(crate) start_char: u32,
    /// End of the range, exclusive.
    pub(crate) end_char: u32,
}

impl Documents<'_> {
    /// Returns the state of a passage; `None` if a passage of this name never existed, or the caller may not see its document:
    /// the same statements find out both.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn cited(
        &self,
        tenant: TenantId,
        cited: &CitedChunks<'_>,
    ) -> Result<Option<CitedState>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let version = i32::try_from(cited.version).unwrap_or(i32::MAX);
        // The collection is looked up in any case, the document of another one is not told from none by the time of that.
        let found = sqlx::query_scalar!(
            r#"SELECT (SELECT d.version FROM document d
                       WHERE d.tenant_id = $1 AND d.document_id = $2 AND d.collection_id = c.collection_id
                         AND may_see(d.allowed, d.denied, $4)) AS "version?"
               FROM collection c WHERE c.tenant_id = $1 AND c.name = $3"#,
            tenant.0,
            cited.document_id,
            cited.collection,
            cited.caller.as_deref(),
        )
        .fetch_optional(&mut *transaction)
        .await?;
        let state = match found.flatten() {
            None => deleted(&mut transaction, tenant, cited.document_id, version).await?,
            Some(newest) if version > newest => None,
            Some(newest) if version == newest => {
                current(&mut transaction, tenant, cited).await?.map(CitedState::Current)
            }
            Some(newest) => superseded(&mut transaction, tenant, cited, newest.unsigned_abs()).await?,
        };
        transaction.commit().await?;
        Ok(state)
    }
}

async fn deleted(
    transaction: &mut Tx,
    tenant: TenantId,
    document: Uuid,
    version: i32,
) -> Result<Option<CitedState>, StoreError> {
    let deleted_at = sqlx::query_scalar!(
        "SELECT deleted_at FROM deleted_document WHERE tenant_id = $1 AND document_id = $2 AND version >= $3",
        tenant.0,
        document,
        version,
    )
    .fetch_optional(&mut **transaction)
    .await?;
    Ok(deleted_at.map(|deleted_at| CitedState::Deleted { deleted_at }))
}

async fn current(
    transaction: &mut Tx,
    tenant: TenantId,
    cited: &CitedChunks<'_>,
) -> Result<Option<CitedPassage>, StoreError> {
    let (first, last) = (ordinal(*cited.chunks.start()), ordinal(*cited.chunks.end()));
    let row = sqlx::query!(
        r#"SELECT d.source, d.uri, d.title, d.content_hash, d.updated_at, f.page, f.start_char, l.end_char,
                  f.heading AS "heading: Json<Vec<String>>", f.table_header,
                  substring(d.text FROM f.start_char + 1 FOR l.end_char - f.start_char) AS "text!"
           FROM document d
           JOIN collection k ON k.tenant_id = d.tenant_id AND k.collection_id = d.collection_id
           JOIN chunk f ON f.tenant_id = d.tenant_id AND f.document_id = d.document_id AND f.index_id = k.index_id
               AND f.ordinal = $3
           JOIN chunk l ON l.tenant_id = d.tenant_id AND l.document_id = d.document_id AND l.index_id = k.index_id
               AND l.ordinal = $4
           WHERE d.tenant_id = $1 AND d.document_id = $2"#,
        tenant.0,
        cited.document_id,
        first,
        last,
    )
    .fetch_optional(&mut **transaction)
    .await?;
    Ok(row.map(|row| CitedPassage {
        source: row.source,
        uri: row.uri,
        title: row.title,
        content_hash: row.content_hash,
        stored_at: row.updated_at,
        page: row.page,
        heading: row.heading.0,
        table_header: row.table_header,
        text: row.text,
        start_char: row.start_char.unsigned_abs(),
        end_char: row.end_char.unsigned_abs(),
    }))
}

async fn superseded(
    transaction: &mut Tx,
    tenant: TenantId,
    cited: &CitedChunks<'_>,
    current_version: u32,
) -> Result<Option<CitedState>, StoreError> {
    let row = sqlx::query!(
        r#"SELECT v.source, v.uri, v.title, v.content_hash, v.stored_at, v.superseded_at, v.text,
                  v.chunks AS "chunks: Json<Vec<KeptChunk>>", d.text AS current_text
           FROM document_version v
           JOIN document d ON d.tenant_id = v.tenant_id AND d.document_id = v.document_id
           WHERE v.tenant_id = $1 AND v.document_id = $2 AND v.version = $3"#,
        tenant.0,
        cited.document_id,
        ordinal(cited.version),
    )
    .fetch_optional(&mut **transaction)
    .await?;
    let Some(row) = row else {
        let gone = CitedState::Superseded { passage: None, current_version, superseded_at: None, is_still_said: None };
        return Ok(Some(gone));
    };
    let chunk = |ordinal: u32| row.chunks.0.get(usize::try_from(ordinal).ok()?);
    let (Some(first), Some(last)) = (chunk(*cited.chunks.start()), chunk(*cited.chunks.end())) else {
        return Ok(None);
    };
    let (start, end) = (first.start_char, last.end_char);
    let length = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX);
    let text: String = row.text.chars().skip(usize::try_from(start).unwrap_or(usize::MAX)).take(length).collect();
    Ok(Some(CitedState::Superseded {
        current_version,
        superseded_at: Some(row.superseded_at),
        is_still_said: Some(row.current_text.contains(text.trim())),
        passage: Some(CitedPassage {
            source: row.source,
            uri: row.uri,
            title: row.title,
            content_hash: row.content_hash,
            stored_at: row.stored_at,
            page: first.page,
            heading: first.heading.clone(),
            table_header: first.table_header.clone(),
            text,
            start_char: start,
            end_char: end,
        }),
    }))
}

fn ordinal(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
