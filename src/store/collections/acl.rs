//! Access control lists of collections: the list that new documents get, and what a caller may see of a collection.

use std::collections::HashMap;

use uuid::Uuid;

use crate::domain::{
    access::{Acl, AclChange},
    identity::TenantId,
    security_event::SecurityEvent,
};
use crate::store::{Collections, Seen, SeenChunks, StoreError, documents::acl::NumberedAcl, security_events::record};

/// How much of an index a caller may see.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SeenCounts {
    /// Documents in their current version.
    pub(crate) documents: u64,
    /// Their chunks.
    pub(crate) chunks: u64,
    /// Number of those chunks that have no vector.
    pub(crate) unembedded_chunks: u64,
}

impl Collections<'_> {
    /// Returns the list that new documents of a collection get; `None` if there is no such collection.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn acl(&self, tenant: TenantId, name: &str) -> Result<Option<Acl>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let found = sqlx::query_as!(
            NumberedAcl,
            "SELECT allowed, denied FROM collection WHERE tenant_id = $1 AND name = $2",
            tenant.0,
            name,
        )
        .fetch_optional(&mut *transaction)
        .await?;
        let acl = match found {
            Some(found) => Some(found.named(&mut transaction, tenant).await?),
            None => None,
        };
        transaction.commit().await?;
        Ok(acl)
    }

    /// Changes the list that new documents of a collection get; returns it, `None` if there is no such collection. Stored
    /// documents keep theirs.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is changed then.
    pub(crate) async fn change_acl(
        &self,
        tenant: TenantId,
        name: &str,
        change: AclChange,
        event: &SecurityEvent,
    ) -> Result<Option<Acl>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let Some(found) = sqlx::query_as!(
            NumberedAcl,
            "SELECT allowed, denied FROM collection WHERE tenant_id = $1 AND name = $2 FOR NO KEY UPDATE",
            tenant.0,
            name,
        )
        .fetch_optional(&mut *transaction)
        .await?
        else {
            return Ok(None);
        };
        let (acl, NumberedAcl { allowed, denied }) = found.changed(&mut transaction, tenant, change).await?;
        sqlx::query!(
            "UPDATE collection SET allowed = $3, denied = $4, is_restricted = is_restricted OR $5
             WHERE tenant_id = $1 AND name = $2",
            tenant.0,
            name,
            allowed.as_deref(),
            &denied,
            acl != Acl::default(),
        )
        .execute(&mut *transaction)
        .await?;
        record(&mut transaction, event).await?;
        transaction.commit().await?;
        Ok(Some(acl))
    }

    /// Returns how much of the active indexes of collections a caller who is these principals may see, by index. An index
    /// without documents is left out.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn seen(
        &self,
        tenant: TenantId,
        collections: &[Uuid],
        caller: &[i32],
    ) -> Result<HashMap<Uuid, Seen>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let rows = sqlx::query!(
            r#"SELECT c.index_id, seen.is_all AS "is_all!", seen.chunks AS "chunks!", seen.embedded_chunks AS "embedded_chunks!"
               FROM (SELECT d.collection_id, bool_and(d.is_seen) AS is_all,
                            COALESCE(sum(d.chunks) FILTER (WHERE d.is_seen), 0) AS chunks,
                            COALESCE(sum(d.chunks - d.unembedded_chunks) FILTER (WHERE d.is_seen), 0) AS embedded_chunks
                     FROM (SELECT collection_id, chunks, unembedded_chunks, may_see(allowed, denied, $3) AS is_seen
                           FROM document WHERE tenant_id = $1 AND collection_id = ANY ($2)) d
                     GROUP BY d.collection_id) seen
               JOIN collection c ON c.tenant_id = $1 AND c.collection_id = seen.collection_id"#,
            tenant.0,
            collections,
            caller,
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        let part = |chunks: i64, embedded: i64| {
            Seen::Part(SeenChunks { chunks: chunks.unsigned_abs(), embedded_chunks: embedded.unsigned_abs() })
        };
        let seen = rows
            .into_iter()
            .map(|row| (row.index_id, if row.is_all { Seen::All } else { part(row.chunks, row.embedded_chunks) }));
        Ok(seen.collect())
    }

    /// Returns how much a caller who is these principals may see of the indexes of collections, by index. An index without a
    /// document that the caller may see is left out.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn seen_counts(
        &self,
        tenant: TenantId,
        collections: &[Uuid],
        caller: &[i32],
    ) -> Result<HashMap<Uuid, SeenCounts>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let rows = sqlx::query!(
            r#"WITH seen AS MATERIALIZED (
                   SELECT d.document_id, d.collection_id, d.version, d.chunks, d.unembedded_chunks FROM document d
                   WHERE d.tenant_id = $1 AND d.collection_id = ANY ($2) AND may_see(d.allowed, d.denied, $3)),
               counted AS (
                   SELECT c.index_id, d.chunks, d.unembedded_chunks FROM seen d
                   JOIN collection c ON c.tenant_id = $1 AND c.collection_id = d.collection_id
                   UNION ALL
                   SELECT n.index_id, n.chunks, CASE n.version WHEN 0 THEN n.chunks ELSE 0 END
                   FROM seen d JOIN document_index n ON n.tenant_id = $1 AND n.document_id = d.document_id
                       AND n.version IN (0, d.version))
               SELECT index_id AS "index_id!", count(*) AS "documents!", sum(chunks) AS "chunks!",
                      sum(unembedded_chunks) AS "unembedded_chunks!"
               FROM counted GROUP BY index_id"#,
            tenant.0,
            collections,
            caller,
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        let counts = |documents: i64, chunks: i64, unembedded: i64| SeenCounts {
            documents: documents.unsigned_abs(),
            chunks: chunks.unsigned_abs(),
            unembedded_chunks: unembedded.unsigned_abs(),
        };
        Ok(rows
            .into_iter()
            .map(|row| (row.index_id, counts(row.documents, row.chunks, row.unembedded_chunks)))
            .collect())
    }
}
