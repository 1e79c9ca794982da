//! Counts how much a collection keeps, in the transactions that store and delete.

use uuid::Uuid;

use crate::domain::{identity::TenantId, storage::StorageQuotas};
use crate::store::{StoreError, Tx, access::storage::QuotaRow, signed};

/// Changes that a transaction makes to how much a collection keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::store) struct StorageChanges {
    /// Change in the bytes of documents.
    pub(in crate::store) bytes: i64,
    /// Change in the number of former versions.
    pub(in crate::store) former_versions: i64,
    /// Change in their bytes.
    pub(in crate::store) former_bytes: i64,
}

impl StorageChanges {
    /// Writes the changes, and returns the quotas that the tenant has of its own. Other writers of the collection wait from
    /// here to the commit.
    pub(in crate::store) async fn apply(
        self,
        transaction: &mut Tx,
        tenant: TenantId,
        collection: Uuid,
    ) -> Result<StorageQuotas, StoreError> {
        let own = sqlx::query_as!(
            QuotaRow,
            "WITH changed AS (
                 INSERT INTO collection_storage AS s (tenant_id, collection_id, bytes, former_versions, former_bytes)
                 VALUES ($1, $2, $3, $4, $5)
                 ON CONFLICT (tenant_id, collection_id) DO UPDATE SET bytes = s.bytes + EXCLUDED.bytes,
                     former_versions = s.former_versions + EXCLUDED.former_versions, former_bytes = s.former_bytes + EXCLUDED.former_bytes)
             SELECT documents, bytes, collections, former_versions FROM tenant_quota WHERE tenant_id = $1",
            tenant.0,
            collection,
            self.bytes,
            self.former_versions,
            self.former_bytes,
        )
        .fetch_optional(&mut **transaction)
        .await?;
        Ok(own.map(StorageQuotas::from).unwrap_or_default())
    }

    /// Counts the versions that the transaction has replaced in these documents.
    pub(in crate::store) async fn count_replaced(
        &mut self,
        transaction: &mut Tx,
        tenant: TenantId,
        documents: &[Uuid],
    ) -> Result<(), StoreError> {
        let replaced = sqlx::query!(
            r#"SELECT count(*) AS "versions!", COALESCE(sum(v.bytes), 0)::bigint AS "bytes!"
               FROM document d JOIN document_version v
                 ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version - 1
               WHERE d.tenant_id = $1 AND d.document_id = ANY ($2)"#,
            tenant.0,
            documents,
        )
        .fetch_one(&mut **transaction)
        .await?;
        self.bytes -= replaced.bytes;
        self.former_versions += replaced.versions;
        self.former_bytes += replaced.bytes;
        Ok(())
    }
}

/// Deletes the oldest former versions of locked documents that have more than `keep`.
pub(in crate::store) async fn trim(
    transaction: &mut Tx,
    tenant: TenantId,
    documents: &[Uuid],
    keep: u64,
    changes: &mut StorageChanges,
) -> Result<(), StoreError> {
    let gone = sqlx::query!(
        r#"WITH gone AS (
               DELETE FROM document_version v USING document d
               WHERE v.tenant_id = $1 AND v.document_id = ANY ($2)
                 AND d.tenant_id = $1 AND d.document_id = v.document_id AND v.version < d.version - $3::bigint
               RETURNING v.bytes)
           SELECT count(*) AS "versions!", COALESCE(sum(bytes), 0)::bigint AS "bytes!" FROM gone"#,
        tenant.0,
        documents,
        signed(keep),
    )
    .fetch_one(&mut **transaction)
    .await?;
    changes.former_versions -= gone.versions;
    changes.former_bytes -= gone.bytes;
    Ok(())
}

/// Counts what the activation of an index added to a collection: a former version of each of its documents, which are
/// locked, with all that it had. More than `keep` of a document are deleted.
pub(in crate::store) async fn count_activation(
    transaction: &mut Tx,
    tenant: TenantId,
    collection: Uuid,
    keep: Option<u64>,
) -> Result<StorageChanges, StoreError> {
    let added = sqlx::query!(
        r#"SELECT count(*) AS "versions!", COALESCE(sum(bytes), 0)::bigint AS "bytes!"
           FROM document WHERE tenant_id = $1 AND collection_id = $2"#,
        tenant.0,
        collection,
    )
    .fetch_one(&mut **transaction)
    .await?;
    let mut changes = StorageChanges { bytes: 0, former_versions: added.versions, former_bytes: added.bytes };
    if let Some(keep) = keep {
        let documents = sqlx::query_scalar!(
            "SELECT document_id FROM document WHERE tenant_id = $1 AND collection_id = $2",
            tenant.0,
            collection
        )
        .fetch_all(&mut **transaction)
        .await?;
        trim(transaction, tenant, &documents, keep, &mut changes).await?;
    }
    Ok(changes)
}
