//! Activates or drops the next index of a collection.

use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{identity::TenantId, security_event::SecurityEvent};
use crate::store::{
    Collections, StoreError, Tx, access::storage::own_quotas, collections::lock, documents::storage::count_activation,
    security_events::record,
};

/// Result of a request to activate an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ActivationOutcome {
    /// The index is active now: queries use it from here on. The previous one is kept as the next index.
    Done,
    /// The index was active already.
    IsActive,
    /// The collection has no such index.
    NotThere,
    /// The index lacks this many documents in their current version; nothing was changed.
    Incomplete(u64),
}

/// Result of a request to drop an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum IndexDrop {
    /// The index was dropped; the listed jobs were building it.
    Dropped(DroppedIndex, Vec<Uuid>),
    /// The index is the active one and cannot be dropped.
    IsActive,
    /// The collection has no such index.
    NotThere,
}

/// Contents of a dropped index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DroppedIndex {
    /// Documents that had chunks in it.
    pub(crate) documents: u64,
    /// Its chunks.
    pub(crate) chunks: u64,
    /// Their vectors.
    pub(crate) vectors: u64,
}

impl Collections<'_> {
    /// Makes the next index of a collection the active one, if it is complete, in one transaction. The previous index
    /// is kept as the next one. Each document gets a new version.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing changed then.
    pub(crate) async fn activate_index(
        &self,
        tenant: TenantId,
        (collection, index): (Uuid, Uuid),
        event: &SecurityEvent,
        now: OffsetDateTime,
    ) -> Result<ActivationOutcome, StoreError> {
        // Checked first without the exclusive lock, so that a refused request does not make others wait.
        let mut transaction = self.begin_set_based(tenant).await?;
        if let Some(obstacle) = obstacle(&mut transaction, tenant, collection, index).await? {
            return Ok(obstacle);
        }
        transaction.commit().await?;
        let mut transaction = self.begin_set_based(tenant).await?;
        lock::lock_exclusive(&mut transaction, tenant, collection).await?;
        if let Some(obstacle) = obstacle(&mut transaction, tenant, collection, index).await? {
            return Ok(obstacle);
        }
        lock_documents(&mut transaction, tenant, collection).await?;
        keep_previous(&mut transaction, tenant, collection).await?;
        take_next(&mut transaction, tenant, collection, index, now).await?;
        let keep = own_quotas(&mut transaction, tenant).await?.or(*self.store.quotas).former_versions;
        let added = count_activation(&mut transaction, tenant, collection, keep).await?;
        added.apply(&mut transaction, tenant, collection).await?;
        record(&mut transaction, event).await?;
        transaction.commit().await?;
        Ok(ActivationOutcome::Done)
    }

    /// Begins a transaction whose statements each touch thousands of documents. An index that was just built is missing
    /// from the planner's statistics, and a planner that takes it for empty would read all of it once for each
    /// document.
    async fn begin_set_based(&self, tenant: TenantId) -> Result<Tx, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        sqlx::query!("SET LOCAL enable_nestloop = off").execute(&mut *transaction).await?;
        Ok(transaction)
    }

    /// Drops an index that is not the active one, with its chunks and their vectors.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing changed then.
    pub(crate) async fn drop_index(
        &self,
        tenant: TenantId,
        collection: Uuid,
        index: Uuid,
        event: &SecurityEvent,
    ) -> Result<IndexDrop, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        lock::lock_exclusive(&mut transaction, tenant, collection).await?;
        match is_active(&mut transaction, tenant, collection, index).await? {
            None => return Ok(IndexDrop::NotThere),
            Some(true) => return Ok(IndexDrop::IsActive),
            Some(false) => {}
        }
        let dropped = delete_contents(&mut transaction, tenant, index).await?;
        sqlx::query!("DELETE FROM collection_index WHERE tenant_id = $1 AND index_id = $2", tenant.0, index)
            .execute(&mut *transaction)
            .await?;
        let jobs = sqlx::query_scalar!(
            "SELECT job_id FROM job WHERE tenant_id = $1 AND collection_id = $2 AND kind = 'index' AND finished_at IS NULL",
            tenant.0,
            collection
        )
        .fetch_all(&mut *transaction)
        .await?;
        record(&mut transaction, event).await?;
        transaction.commit().await?;
        Ok(IndexDrop::Dropped(dropped, jobs))
    }
}

async fn delete_contents(transaction: &mut Tx, tenant: TenantId, index: Uuid) -> Result<DroppedIndex, StoreError> {
    let vectors = sqlx::query!("DELETE FROM chunk_embedding WHERE tenant_id = $1 AND index_id = $2", tenant.0, index)
        .execute(&mut **transaction)
        .await?
        .rows_affected();
    // Found by document: `chunk` has no database index on index_id alone.
    let chunks = sqlx::query!(
        "DELETE FROM chunk WHERE tenant_id = $1 AND index_id = $2
             AND document_id IN (SELECT document_id FROM document_index WHERE tenant_id = $1 AND index_id = $2)",
        tenant.0,
        index
    )
    .execute(&mut **transaction)
    .await?
    .rows_affected();
    let documents = sqlx::query!("DELETE FROM document_index WHERE tenant_id = $1 AND index_id = $2", tenant.0, index)
        .execute(&mut **transaction)
        .await?
        .rows_affected();
    Ok(DroppedIndex { documents, chunks, vectors })
}

/// Returns whether an index is the active one of the collection; `None` if the index does not belong to the collection.
async fn is_active(
    transaction: &mut Tx,
    tenant: TenantId,
    collection: Uuid,
    index: Uuid,
) -> Result<Option<bool>, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"SELECT c.index_id = i.index_id AS "is_active!" FROM collection_index i JOIN collection c USING (tenant_id, collection_id)
           WHERE i.tenant_id = $1 AND i.collection_id = $2 AND i.index_id = $3"#,
        tenant.0,
        collection,
        index
    )
    .fetch_optional(&mut **transaction)
    .await?)
}

/// Returns the reason why an index cannot be activated, if there is one.
async fn obstacle(
    transaction: &mut Tx,
    tenant: TenantId,
    collection: Uuid,
    index: Uuid,
) -> Result<Option<ActivationOutcome>, StoreError> {
    match is_active(transaction, tenant, collection, index).await? {
        None => return Ok(Some(ActivationOutcome::NotThere)),
        Some(true) => return Ok(Some(ActivationOutcome::IsActive)),
        Some(false) => {}
    }
    let missing = sqlx::query_scalar!(
        r#"SELECT count(*) AS "missing!" FROM document d WHERE d.tenant_id = $1 AND d.collection_id = $2
             AND NOT EXISTS (SELECT FROM document_index o WHERE o.tenant_id = d.tenant_id AND o.document_id = d.document_id
                 AND o.index_id = $3 AND o.version = d.version)"#,
        tenant.0,
        collection,
        index
    )
    .fetch_one(&mut **transaction)
    .await?;
    Ok((missing > 0).then(|| ActivationOutcome::Incomplete(missing.unsigned_abs())))
}

/// Locks all documents of a collection, in the same order as other transactions.
async fn lock_documents(transaction: &mut Tx, tenant: TenantId, collection: Uuid) -> Result<(), StoreError> {
    sqlx::query!(
        "SELECT count(*) FROM (
             SELECT FROM document WHERE tenant_id = $1 AND collection_id = $2 ORDER BY source FOR NO KEY UPDATE) locked",
        tenant.0,
        collection
    )
    .fetch_one(&mut **transaction)
    .await?;
    Ok(())
}

/// Records for each document its state in the index that is still active, under the document's next version. A document
/// that lacks vectors counts as outdated there, because no job will make its vectors any more.
async fn keep_previous(transaction: &mut Tx, tenant: TenantId, collection: Uuid) -> Result<(), StoreError> {
    sqlx::query!(
        "INSERT INTO document_index (tenant_id, index_id, document_id, version, fingerprint, request_hash, chunks)
         SELECT d.tenant_id, c.index_id, d.document_id, CASE WHEN d.unembedded_chunks = 0 THEN d.version + 1 ELSE 0 END,
                d.fingerprint, d.request_hash, d.chunks
         FROM collection c JOIN document d USING (tenant_id, collection_id)
         WHERE c.tenant_id = $1 AND c.collection_id = $2",
        tenant.0,
        collection
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

/// Switches each document to its state in the next index, and makes that index the active one.
async fn take_next(
    transaction: &mut Tx,
    tenant: TenantId,
    collection: Uuid,
    index: Uuid,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    // A trigger keeps the chunks of each replaced version: those of the index that is still active.
    sqlx::query!(
        "UPDATE document d SET version = d.version + 1, updated_at = $4, fingerprint = o.fingerprint,
                request_hash = o.request_hash, chunks = o.chunks, unembedded_chunks = 0
         FROM document_index o
         WHERE d.tenant_id = $1 AND d.collection_id = $2
           AND o.tenant_id = d.tenant_id AND o.document_id = d.document_id AND o.index_id = $3",
        tenant.0,
        collection,
        index,
        now
    )
    .execute(&mut **transaction)
    .await?;
    sqlx::query!("DELETE FROM document_index WHERE tenant_id = $1 AND index_id = $2", tenant.0, index)
        .execute(&mut **transaction)
        .await?;
    sqlx::query!(
        "UPDATE collection SET index_id = $3 WHERE tenant_id = $1 AND collection_id = $2",
        tenant.0,
        collection,
        index
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}
