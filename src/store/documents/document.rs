//! Reads documents.

use serde_json::Value;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{fingerprint::Hash, identity::TenantId};
use crate::store::{Documents, StoreError, StoredVector};

/// A document without its text.
#[derive(Clone, Debug)]
pub(crate) struct DocumentRow {
    /// Identity, the same for all versions.
    pub(crate) id: Uuid,
    /// Name of its collection.
    pub(crate) collection: String,
    /// Source: the caller's own name for the document.
    pub(crate) source: String,
    /// URI that it was read from.
    pub(crate) uri: String,
    /// Loader that read it.
    pub(crate) loader: String,
    /// Source of the message that it was found in, if it was.
    pub(crate) attached_to: Option<String>,
    /// When it was uploaded or fetched.
    pub(crate) fetched_at: OffsetDateTime,
    /// `ETag` of the HTTP response that it was fetched in.
    pub(crate) etag: Option<String>,
    /// `Last-Modified` of that response.
    pub(crate) last_modified: Option<String>,
    /// SHA-256 of its bytes.
    pub(crate) content_hash: Vec<u8>,
    /// Title.
    pub(crate) title: String,
    /// Media type.
    pub(crate) media_type: String,
    /// Caller's own metadata object.
    pub(crate) metadata: Value,
    /// Length of its text in code points.
    pub(crate) characters: u32,
    /// Version, from 1.
    pub(crate) version: u32,
    /// Number of chunks of this version.
    pub(crate) chunks: u32,
    /// Number of those chunks that have a vector in the collection's active space.
    pub(crate) embedded_chunks: u32,
    /// When version 1 was stored.
    pub(crate) created_at: OffsetDateTime,
    /// When this version was stored.
    pub(crate) updated_at: OffsetDateTime,
}

/// Text of a document with the version that it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct DocumentText {
    /// Extracted text.
    pub(crate) text: String,
    /// Version of that text.
    pub(crate) version: u32,
}

/// The document stored under a source.
#[derive(Clone, Debug)]
pub(crate) struct StoredAs {
    /// Source: the caller's own name for the document.
    pub(crate) source: String,
    /// Identity.
    pub(crate) document_id: Uuid,
    /// Its version.
    pub(crate) version: i32,
    /// Hash of all inputs that determine the stored result.
    pub(crate) fingerprint: Vec<u8>,
}

/// Validators of a fetch, kept for the next one.
#[derive(Clone, Debug)]
pub(crate) struct FetchRecord {
    /// `ETag` of the response.
    pub(crate) etag: Option<String>,
    /// `Last-Modified` of the response.
    pub(crate) last_modified: Option<String>,
    /// SHA-256 of all inputs, except the content, that determine the stored result.
    pub(crate) request_hash: Hash,
}

/// A stored document with its fetch record.
#[derive(Clone, Debug)]
pub(crate) struct EarlierFetch {
    /// Source: the caller's own name for the document.
    pub(crate) source: String,
    /// Identity.
    pub(crate) document_id: Uuid,
    /// Its version.
    pub(crate) version: i32,
    /// Validators to send with the next fetch, and the hash under which they apply.
    pub(crate) fetch: FetchRecord,
}

/// Which documents to return.
#[derive(Clone, Debug, Default)]
pub(crate) struct DocumentFilter {
    /// Only the document with this id.
    pub(crate) id: Option<Uuid>,
    /// Only documents of this collection.
    pub(crate) collection: Option<Uuid>,
    /// Only documents of collections with these names.
    pub(crate) among: Option<Vec<String>>,
    /// Only documents that sort before this one, that is, older ones.
    pub(crate) before: Option<Uuid>,
    /// Only documents whose source starts with this text.
    pub(crate) source_prefix: Option<String>,
    /// Only documents that a caller who is these principals may see.
    pub(crate) caller: Option<Vec<i32>>,
}

impl Documents<'_> {
    /// Returns one document of a tenant.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn document(&self, tenant: TenantId, id: Uuid) -> Result<Option<DocumentRow>, StoreError> {
        let filter = DocumentFilter { id: Some(id), ..DocumentFilter::default() };
        Ok(self.documents(tenant, &filter, 1).await?.pop())
    }

    /// Returns at most `limit` documents that pass the filter, by descending identity (newest first).
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn documents(
        &self,
        tenant: TenantId,
        filter: &DocumentFilter,
        limit: i64,
    ) -> Result<Vec<DocumentRow>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let rows = sqlx::query!(
            "SELECT d.document_id, c.name AS collection, d.source, d.uri, d.loader, d.attached_to, d.fetched_at, d.etag, d.last_modified, d.content_hash,
                    d.title, d.media_type, d.metadata, d.characters, d.version, d.chunks, d.unembedded_chunks, d.created_at, d.updated_at
             FROM document d JOIN collection c USING (tenant_id, collection_id)
             WHERE d.tenant_id = $1 AND ($2::uuid IS NULL OR d.collection_id = $2) AND ($3::uuid IS NULL OR d.document_id = $3)
               AND ($4::uuid IS NULL OR d.document_id < $4) AND ($5::text IS NULL OR starts_with(d.source, $5))
               AND ($7::text[] IS NULL OR c.name = ANY ($7)) AND may_see(d.allowed, d.denied, $8)
             ORDER BY d.document_id DESC LIMIT $6",
            tenant.0,
            filter.collection,
            filter.id,
            filter.before,
            filter.source_prefix,
            limit,
            filter.among.as_deref(),
            filter.caller.as_deref(),
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
                attached_to: row.attached_to,
                fetched_at: row.fetched_at,
                etag: row.etag,
                last_modified: row.last_modified,
                content_hash: row.content_hash,
                title: row.title,
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

    /// Returns the extracted text of a document.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn document_text(&self, tenant: TenantId, id: Uuid) -> Result<Option<DocumentText>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let row =
            sqlx::query!("SELECT text, version FROM document WHERE tenant_id = $1 AND document_id = $2", tenant.0, id)
                .fetch_optional(&mut *transaction)
                .await?;
        transaction.commit().await?;
        Ok(row.map(|row| DocumentText { text: row.text, version: row.version.unsigned_abs() }))
    }

    /// Returns the documents that are stored under these sources of a collection.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn stored_as(
        &self,
        tenant: TenantId,
        collection: Uuid,
        sources: &[String],
    ) -> Result<Vec<StoredAs>, StoreError> {
        let mut transaction = self.store.begin_look_up(tenant).await?;
        let rows = sqlx::query!(
            // By the index of sources in the order of bytes: a planner without statistics goes by that in any case, and would
            // read all documents of the collection if the comparison were another.
            r#"SELECT known.source AS "source!", known.document_id AS "document_id!", known.version AS "version!",
                      known.fingerprint AS "fingerprint!"
               FROM UNNEST($3::text[]) AS wanted (source)
               CROSS JOIN LATERAL (SELECT d.source, d.document_id, d.version, d.fingerprint FROM document d
                   WHERE d.tenant_id = $1 AND d.collection_id = $2
                       AND d.source COLLATE "C" = wanted.source COLLATE "C" LIMIT 1) known"#,
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
            })
            .collect())
    }

    /// Returns the fetch records of the documents with these sources of a collection, for those that were fetched.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn earlier_fetches(
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

    /// Returns the vectors of these embedded texts, for those that the tenant has in this space.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn vectors_by_hash(
        &self,
        tenant: TenantId,
        profile: crate::store::ProfileId,
        hashes: &[Hash],
        caller: Option<&[i32]>,
    ) -> Result<Vec<(Vec<u8>, StoredVector)>, StoreError> {
        let wanted: Vec<Vec<u8>> = hashes.iter().map(|hash| hash.to_vec()).collect();
        let mut transaction = self.store.begin_look_up(tenant).await?;
        let rows = sqlx::query!(
            // One index probe per hash: for a query with all hashes at once, a planner without statistics reads the
            // whole collection.
            r#"SELECT wanted.hash AS "embedding_hash!", known.embedding AS "embedding!: pgvector::HalfVector"
               FROM UNNEST($3::bytea[]) AS wanted (hash)
               CROSS JOIN LATERAL (SELECT e.embedding FROM chunk_embedding e
                   WHERE e.tenant_id = $1 AND e.profile_id = $2 AND e.embedding_hash = wanted.hash
                       AND ($4::int[] IS NULL OR EXISTS (SELECT FROM document d WHERE d.tenant_id = $1
                           AND d.document_id = e.document_id AND may_see(d.allowed, d.denied, $4))) LIMIT 1) known"#,
            tenant.0,
            profile.0,
            &wanted,
            caller,
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(rows.into_iter().map(|row| (row.embedding_hash, StoredVector(row.embedding))).collect())
    }
}
