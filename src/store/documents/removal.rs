//! Removes documents from the indexes of their collection, within a transaction that holds its lock.

use uuid::Uuid;

use crate::domain::identity::TenantId;
use crate::store::{
    DeleteReceipt, StoreError, Tx, asks::cache::forget_written_from, collections::statistics::StatisticChanges,
    documents::chunk::delete_chunks, documents::storage::StorageChanges,
};

/// Deletes documents of a locked collection, page by page.
pub(in crate::store) struct Removal {
    tenant: TenantId,
    collection: Uuid,
    indexes: Vec<LockedIndex>,
    storage: StorageChanges,
}

/// A locked index of a collection, from which documents are deleted.
struct LockedIndex {
    index: Uuid,
    is_active: bool,
    changes: StatisticChanges,
}

impl LockedIndex {
    /// Returns how many of these documents have chunks in the index.
    async fn documents(&self, transaction: &mut Tx, tenant: TenantId, page: &[Uuid]) -> Result<i64, StoreError> {
        if self.is_active {
            return Ok(i64::try_from(page.len()).unwrap_or(i64::MAX));
        }
        let count = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!" FROM document_index WHERE tenant_id = $1 AND document_id = ANY ($2) AND index_id = $3"#,
            tenant.0,
            page,
            self.index
        );
        Ok(count.fetch_one(&mut **transaction).await?)
    }
}

impl Removal {
    /// Begins to delete from a locked collection.
    pub(in crate::store) async fn begin(
        transaction: &mut Tx,
        tenant: TenantId,
        collection: Uuid,
        active: Uuid,
    ) -> Result<Self, StoreError> {
        let indexes = sqlx::query_scalar!(
            "SELECT index_id FROM collection_index WHERE tenant_id = $1 AND collection_id = $2 ORDER BY index_id",
            tenant.0,
            collection
        )
        .fetch_all(&mut **transaction)
        .await?;
        let locked = |index| LockedIndex { index, is_active: index == active, changes: StatisticChanges::default() };
        let indexes = indexes.into_iter().map(locked).collect();
        Ok(Self { tenant, collection, indexes, storage: StorageChanges::default() })
    }

    /// Deletes locked documents with their chunks, their former versions and the answers that were written from them. The
    /// statistics are still to be settled.
    pub(in crate::store) async fn remove(
        &mut self,
        transaction: &mut Tx,
        documents: &[Uuid],
    ) -> Result<DeleteReceipt, StoreError> {
        let tenant = self.tenant;
        let answers = forget_written_from(transaction, tenant, documents).await?;
        let mut receipt = DeleteReceipt { answers, ..DeleteReceipt::default() };
        for locked in &mut self.indexes {
            let before = locked.changes.chunks;
            receipt.vectors += delete_chunks(transaction, tenant, locked.index, documents, &mut locked.changes).await?;
            receipt.chunks += locked.changes.chunks.abs_diff(before);
            locked.changes.documents -= locked.documents(transaction, tenant, documents).await?;
        }
        let gone = sqlx::query!(
            r#"WITH former AS (
                   SELECT count(*) AS versions, COALESCE(sum(bytes), 0)::bigint AS bytes
                   FROM document_version WHERE tenant_id = $1 AND document_id = ANY ($2)
               ), gone AS (DELETE FROM document WHERE tenant_id = $1 AND document_id = ANY ($2) RETURNING bytes)
               SELECT count(*) AS "documents!", COALESCE(sum(gone.bytes), 0)::bigint AS "bytes!",
                      (SELECT versions FROM former) AS "former_versions!", (SELECT bytes FROM former) AS "former_bytes!"
               FROM gone"#,
            tenant.0,
            documents,
        )
        .fetch_one(&mut **transaction)
        .await?;
        self.storage.bytes -= gone.bytes;
        self.storage.former_versions -= gone.former_versions;
        self.storage.former_bytes -= gone.former_bytes;
        receipt.documents = gone.documents.unsigned_abs();
        Ok(receipt)
    }

    /// Writes the statistics; returns how many entries were lowered or removed.
    pub(in crate::store) async fn settle(self, transaction: &mut Tx) -> Result<u64, StoreError> {
        let mut lowered = 0;
        for LockedIndex { index, changes, .. } in self.indexes {
            let terms = changes.apply(transaction, self.tenant, index).await?;
            lowered += u64::try_from(terms.len()).unwrap_or(u64::MAX);
            forget_unused_terms(transaction, self.tenant, index, &terms).await?;
        }
        self.storage.apply(transaction, self.tenant, self.collection).await?;
        Ok(lowered)
    }
}

/// Deletes the statistics of terms that no chunk contains any more; their rows are locked already.
async fn forget_unused_terms(
    transaction: &mut Tx,
    tenant: TenantId,
    index: Uuid,
    terms: &[i32],
) -> Result<(), StoreError> {
    sqlx::query!(
        "DELETE FROM term_statistic
         WHERE tenant_id = $1 AND index_id = $2 AND term_id = ANY ($3) AND document_frequency = 0",
        tenant.0,
        index,
        terms
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}
