//! How much of collections a caller may see.

use std::collections::HashMap;

use uuid::Uuid;

use crate::domain::identity::TenantId;
use crate::store::{Collections, SearchedCollection, StoreError};

/// How much of a collection a caller may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Every document.
    All,
    /// A part of it, in chunks.
    Part(SeenChunks),
    /// Not counted: some documents may be hidden.
    Uncounted,
}

/// Number of chunks that a caller may see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SeenChunks {
    /// All of them.
    pub(crate) chunks: u64,
    /// Those that have a vector.
    pub(crate) embedded_chunks: u64,
}

impl SearchedCollection {
    /// Number of chunks that the caller may see; of all where it was not counted. Words are rare and vectors missing by what is
    /// seen; how a search is carried out depends on all.
    pub(crate) const fn seen_chunks(&self) -> SeenChunks {
        match self.seen {
            Seen::Part(chunks) => chunks,
            Seen::All | Seen::Uncounted => SeenChunks { chunks: self.chunks, embedded_chunks: self.embedded_chunks },
        }
    }
}

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
