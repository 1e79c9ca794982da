//! Documents: read.

use serde_json::Value;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{fingerprint::Hash, identity::TenantId};
use crate::store::{Documents, StoreError};

/// A document without its text.
#[derive(Clone, Debug)]
pub struct DocumentRow {
    /// Identity over all versions.
    pub id: Uuid,
    /// Collection it is in.
    pub collection: String,
    /// Caller's own name.
    pub source: String,
    /// Where it was read from.
    pub uri: String,
    /// How it came.
    pub loader: String,
    /// When it was handed in or fetched.
    pub fetched_at: OffsetDateTime,
    /// Of the HTTP response it came in.
    pub etag: Option<String>,
    /// `Last-Modified` of that response.
    pub last_modified: Option<String>,
    /// SHA-256 of its bytes.
    pub content_hash: Vec<u8>,
    /// Title.
    pub title: String,
    /// The same if it came with the document, and was not found in it.
    pub given_title: Option<String>,
    /// Media type.
    pub media_type: String,
    /// Caller's own object.
    pub metadata: Value,
    /// Code points of its text.
    pub characters: u32,
    /// From 1.
    pub version: u32,
    /// Chunks of this version.
    pub chunks: u32,
    /// Those of them that have a vector in the collection's active space.
    pub embedded_chunks: u32,
    /// When version 1 was stored.
    pub created_at: OffsetDateTime,
    /// When this version was stored.
    pub updated_at: OffsetDateTime,
}

/// A document's text and what it is a text of.
#[derive(Clone, Debug)]
pub struct DocumentText {
    /// Extracted text.
    pub text: String,
    /// Version it belongs to.
    pub version: u32,
}

/// What is stored under a source now.
#[derive(Clone, Debug)]
pub struct StoredAs {
    /// Caller's own name.
    pub source: String,
    /// Identity.
    pub document_id: Uuid,
    /// Its version.
    pub version: i32,
    /// Everything that decides the stored result.
    pub fingerprint: Vec<u8>,
    /// Its chunks.
    pub chunks: u32,
}

/// How a document was fetched, for the next time.
#[derive(Clone, Debug)]
pub struct FetchRecord {
    /// `ETag` of the answer.
    pub etag: Option<String>,
    /// `Last-Modified` of the answer.
    pub last_modified: Option<String>,
    /// SHA-256 of all but the content that decides the stored result.
    pub request_hash: Hash,
}

/// How a stored document was fetched.
#[derive(Clone, Debug)]
pub struct EarlierFetch {
    /// Caller's own name.
    pub source: String,
    /// Identity.
    pub document_id: Uuid,
    /// Its version.
    pub version: i32,
    /// What to send the next time, and when it holds.
    pub fetch: FetchRecord,
}

impl Documents<'_> {
    /// One document of a tenant.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn document(&self, tenant: TenantId, id: Uuid) -> Result<Option<DocumentRow>, StoreError> {
        Ok(self.documents(tenant, None, Some(id), None, None, 1).await?.pop())
    }

    /// Documents by descending identity (newest first): of a collection, or only `id`, or before
    /// `before`, or with a source that starts so; at most `limit`.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn documents(
        &self,
        tenant: TenantId,
        collection: Option<Uuid>,
        id: Option<Uuid>,
        before: Option<Uuid>,
        source_prefix: Option<&str>,
        limit: i64,
    ) -> Result<Vec<DocumentRow>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let rows = sqlx::query!(
            "SELECT d.document_id, c.name AS collection, d.source, d.uri, d.loader, d.fetched_at, d.etag, d.last_modified, d.content_hash,
                    d.title, d.layout ->> 'given_title' AS given_title, d.media_type, d.metadata, d.characters, d.version, d.chunks, d.unembedded_chunks, d.created_at, d.updated_at
             FROM document d JOIN collection c USING (tenant_id, collection_id)
             WHERE d.tenant_id = $1 AND ($2::uuid IS NULL OR d.collection_id = $2) AND ($3::uuid IS NULL OR d.document_id = $3)
               AND ($4::uuid IS NULL OR d.document_id < $4) AND ($5::text IS NULL OR starts_with(d.source, $5))
             ORDER BY d.document_id DESC LIMIT $6",
            tenant.0,
            collection,
            id,
            before,
            source_prefix,
            limit,
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(rows
            .into_iter()
            .map(|row| DocumentRow {
                id: row.document_id,
                collection: row.collection,
                source: row.source,
                uri: row.uri,
                loader: row.loader,
                fetched_at: row.fetched_at,
                etag: row.etag,
                last_modified: row.last_modified,
                content_hash: row.content_hash,
                title: row.title,
                given_title: row.given_title,
                media_type: row.media_type,
                metadata: row.metadata,
                characters: row.characters.unsigned_abs(),
                version: row.version.unsigned_abs(),
                chunks: row.chunks.unsigned_abs(),
                embedded_chunks: (row.chunks - row.unembedded_chunks).unsigned_abs(),
                created_at: row.created_at,
                updated_at: row.updated_at,
            })
            .collect())
    }

    /// The extracted text of a document.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn document_text(&self, tenant: TenantId, id: Uuid) -> Result<Option<DocumentText>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let row =
            sqlx::query!("SELECT text, version FROM document WHERE tenant_id = $1 AND document_id = $2", tenant.0, id)
                .fetch_optional(&mut *transaction)
                .await?;
        transaction.commit().await?;
        Ok(row.map(|row| DocumentText { text: row.text, version: row.version.unsigned_abs() }))
    }

    /// What is stored under these sources of a collection.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn stored_as(
        &self,
        tenant: TenantId,
        collection: Uuid,
        sources: &[String],
    ) -> Result<Vec<StoredAs>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let rows = sqlx::query!(
            "SELECT source, document_id, version, fingerprint, chunks FROM document
             WHERE tenant_id = $1 AND collection_id = $2 AND source = ANY ($3)",
            tenant.0,
            collection,
            sources,
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(rows
            .into_iter()
            .map(|row| StoredAs {
                source: row.source,
                document_id: row.document_id,
                version: row.version,
                fingerprint: row.fingerprint,
                chunks: row.chunks.unsigned_abs(),
            })
            .collect())
    }

    /// How the documents of these sources of a collection were fetched, where they were.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn earlier_fetches(
        &self,
        tenant: TenantId,
        collection: Uuid,
        sources: &[String],
    ) -> Result<Vec<EarlierFetch>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let rows = sqlx::query!(
            r#"SELECT source, document_id, version, etag, last_modified, request_hash AS "request_hash!" FROM document
               WHERE tenant_id = $1 AND collection_id = $2 AND source = ANY ($3) AND request_hash IS NOT NULL"#,
            tenant.0,
            collection,
            sources,
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(rows
            .into_iter()
            .filter_map(|row| {
                let request_hash = Hash::try_from(row.request_hash).ok()?;
                let fetch = FetchRecord { etag: row.etag, last_modified: row.last_modified, request_hash };
                Some(EarlierFetch { source: row.source, document_id: row.document_id, version: row.version, fetch })
            })
            .collect())
    }

    /// Vectors of these embedded texts, where the tenant has them in this space.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn vectors_by_hash(
        &self,
        tenant: TenantId,
        profile: crate::store::ProfileId,
        hashes: &[Hash],
    ) -> Result<Vec<(Vec<u8>, Vec<f32>)>, StoreError> {
        let wanted: Vec<Vec<u8>> = hashes.iter().map(|hash| hash.to_vec()).collect();
        let mut transaction = self.store.begin(tenant).await?;
        let rows = sqlx::query!(
            // One probe of the index per hash: told of all at once, a planner without statistics reads the collection.
            r#"SELECT wanted.hash AS "embedding_hash!", known.embedding AS "embedding!: pgvector::HalfVector"
               FROM UNNEST($3::bytea[]) AS wanted (hash)
               CROSS JOIN LATERAL (SELECT e.embedding FROM chunk_embedding e
                   WHERE e.tenant_id = $1 AND e.profile_id = $2 AND e.embedding_hash = wanted.hash LIMIT 1) known"#,
            tenant.0,
            profile.0,
            &wanted,
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(rows
            .into_iter()
            .map(|row| (row.embedding_hash, row.embedding.as_slice().iter().map(|value| value.to_f32()).collect()))
            .collect())
    }
}
