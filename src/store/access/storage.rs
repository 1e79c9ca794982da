//! How much tenants keep, and how much they may. The counts are written where documents are stored and deleted
//! (`documents::storage`).

use uuid::Uuid;

use crate::domain::{
    identity::TenantId,
    security_event::SecurityEvent,
    storage::{Growth, OverQuota, StorageQuotaChange, StorageQuotas, StorageUse},
};
use crate::store::{
    Access, StoreError, Tx,
    documents::storage::{StorageChanges, trim},
    security_events::record,
    signed,
};

/// Seed of the hash that names the tenant's advisory lock; it keeps this lock apart from others.
const LOCK: i64 = 0x0063_6974_6564_7133;
/// Documents whose former versions one transaction deletes.
const PAGE: i64 = 500;

impl Access<'_> {
    /// How much a tenant keeps, and the quotas in force.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn storage(&self, tenant: TenantId) -> Result<(StorageUse, StorageQuotas), StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let found = (used(&mut transaction, tenant).await?, self.quotas(&mut transaction, tenant).await?);
        transaction.commit().await?;
        Ok(found)
    }

    /// Refuses to add more than the quotas allow, as far as that is known without waiting for other transactions.
    ///
    /// # Errors
    /// [`StoreError::OverQuota`]; any other [`StoreError`].
    pub(crate) async fn refuse_growth(&self, tenant: TenantId, growth: Growth) -> Result<(), StoreError> {
        let (used, quotas) = self.storage(tenant).await?;
        Ok(quotas.allow(&used, growth)?)
    }

    /// Changes the quotas of a tenant. Former versions that are more than it may keep from now on are deleted.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn change_quotas(
        &self,
        tenant: TenantId,
        change: StorageQuotaChange,
        event: &SecurityEvent,
    ) -> Result<(), StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let own = own_quotas(&mut transaction, tenant).await?;
        let quotas = StorageQuotas {
            documents: change.documents.unwrap_or(own.documents),
            bytes: change.bytes.unwrap_or(own.bytes),
            collections: change.collections.unwrap_or(own.collections),
            former_versions: change.former_versions.unwrap_or(own.former_versions),
        };
        sqlx::query!(
            "INSERT INTO tenant_quota (tenant_id, documents, bytes, collections, former_versions) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (tenant_id) DO UPDATE SET documents = EXCLUDED.documents, bytes = EXCLUDED.bytes,
                 collections = EXCLUDED.collections, former_versions = EXCLUDED.former_versions",
            tenant.0,
            quotas.documents.map(signed),
            quotas.bytes.map(signed),
            quotas.collections.map(signed),
            quotas.former_versions.map(signed),
        )
        .execute(&mut *transaction)
        .await?;
        record(&mut transaction, event).await?;
        transaction.commit().await?;
        match quotas.or(*self.store.quotas).former_versions {
            Some(keep) => self.trim_all(tenant, keep).await,
            None => Ok(()),
        }
    }

    async fn trim_all(&self, tenant: TenantId, keep: u64) -> Result<(), StoreError> {
        while self.trim_page(tenant, keep).await? {}
        Ok(())
    }

    /// Deletes the former versions of some documents of one collection that have too many; returns whether there were any.
    async fn trim_page(&self, tenant: TenantId, keep: u64) -> Result<bool, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let collection = sqlx::query_scalar!(
            "SELECT d.collection_id FROM document_version v JOIN document d USING (tenant_id, document_id)
             WHERE v.tenant_id = $1 AND v.version < d.version - $2::bigint LIMIT 1",
            tenant.0,
            signed(keep),
        )
        .fetch_optional(&mut *transaction)
        .await?;
        let Some(collection) = collection else { return Ok(false) };
        let documents: Vec<Uuid> = sqlx::query_scalar!(
            "SELECT d.document_id FROM document d WHERE d.tenant_id = $1 AND d.collection_id = $2
               AND EXISTS (SELECT FROM document_version v WHERE v.tenant_id = $1 AND v.document_id = d.document_id
                           AND v.version < d.version - $3::bigint)
             ORDER BY d.source LIMIT $4 FOR NO KEY UPDATE",
            tenant.0,
            collection,
            signed(keep),
            PAGE,
        )
        .fetch_all(&mut *transaction)
        .await?;
        let mut changes = StorageChanges::default();
        trim(&mut transaction, tenant, &documents, keep, &mut changes).await?;
        changes.apply(&mut transaction, tenant, collection).await?;
        transaction.commit().await?;
        Ok(true)
    }

    async fn quotas(&self, transaction: &mut Tx, tenant: TenantId) -> Result<StorageQuotas, StoreError> {
        Ok(own_quotas(transaction, tenant).await?.or(*self.store.quotas))
    }
}

/// The quotas that a tenant has of its own.
pub(in crate::store) async fn own_quotas(transaction: &mut Tx, tenant: TenantId) -> Result<StorageQuotas, StoreError> {
    let own = sqlx::query_as!(
        QuotaRow,
        "SELECT documents, bytes, collections, former_versions FROM tenant_quota WHERE tenant_id = $1",
        tenant.0,
    )
    .fetch_optional(&mut **transaction)
    .await?;
    Ok(own.map(StorageQuotas::from).unwrap_or_default())
}

/// Quotas as they are stored.
#[derive(Debug)]
pub(in crate::store) struct QuotaRow {
    pub(in crate::store) documents: Option<i64>,
    pub(in crate::store) bytes: Option<i64>,
    pub(in crate::store) collections: Option<i64>,
    pub(in crate::store) former_versions: Option<i64>,
}

impl From<QuotaRow> for StorageQuotas {
    fn from(row: QuotaRow) -> Self {
        Self {
            documents: row.documents.map(i64::unsigned_abs),
            bytes: row.bytes.map(i64::unsigned_abs),
            collections: row.collections.map(i64::unsigned_abs),
            former_versions: row.former_versions.map(i64::unsigned_abs),
        }
    }
}

/// How much a tenant keeps.
async fn used(transaction: &mut Tx, tenant: TenantId) -> Result<StorageUse, StoreError> {
    let row = sqlx::query!(
        r#"SELECT count(*) AS "collections!", COALESCE(sum(i.documents), 0)::bigint AS "documents!",
                  COALESCE(sum(s.bytes + s.former_bytes), 0)::bigint AS "bytes!",
                  COALESCE(sum(s.former_versions), 0)::bigint AS "former_versions!",
                  COALESCE(sum(s.former_bytes), 0)::bigint AS "former_bytes!"
           FROM collection c
           LEFT JOIN index_statistic i ON i.tenant_id = c.tenant_id AND i.index_id = c.index_id
           LEFT JOIN collection_storage s ON s.tenant_id = c.tenant_id AND s.collection_id = c.collection_id
           WHERE c.tenant_id = $1"#,
        tenant.0,
    )
    .fetch_one(&mut **transaction)
    .await?;
    Ok(StorageUse {
        documents: row.documents.unsigned_abs(),
        bytes: row.bytes.unsigned_abs(),
        collections: row.collections.unsigned_abs(),
        former_versions: row.former_versions.unsigned_abs(),
        former_bytes: row.former_bytes.unsigned_abs(),
    })
}

/// Refuses what the transaction has added, if that is more than the quotas allow. No other transaction of the tenant can
/// add anything from here to the commit, so call it when everything else is written.
pub(in crate::store) async fn settle_growth(
    transaction: &mut Tx,
    tenant: TenantId,
    quotas: StorageQuotas,
    growth: Growth,
) -> Result<(), StoreError> {
    if !quotas.may_refuse(growth) {
        return Ok(());
    }
    // A statement of its own: the one that counts must see the commit of the previous lock holder.
    sqlx::query!("SELECT pg_advisory_xact_lock(hashtextextended($1::uuid::text, $2))", tenant.0, LOCK)
        .fetch_one(&mut **transaction)
        .await?;
    let mut used = used(transaction, tenant).await?;
    used.documents = used.documents.saturating_sub(growth.documents);
    used.bytes = used.bytes.saturating_sub(growth.bytes);
    used.collections = used.collections.saturating_sub(growth.collections);
    Ok(quotas.allow(&used, growth)?)
}

/// Refuses documents that come into a collection, as far as that is known before they are read and without waiting for other
/// transactions: those whose source is stored already are no new documents, and of bytes there has to be room for some.
pub(in crate::store) async fn refuse_arrivals(
    transaction: &mut Tx,
    (tenant, collection): (TenantId, Uuid),
    deployment: StorageQuotas,
    sources: Vec<&str>,
) -> Result<Result<(), OverQuota>, StoreError> {
    if sources.is_empty() {
        return Ok(Ok(()));
    }
    let quotas = own_quotas(transaction, tenant).await?.or(deployment);
    if !quotas.limit_documents() {
        return Ok(Ok(()));
    }
    let new = sqlx::query_scalar!(
        r#"SELECT count(DISTINCT source) AS "new!" FROM unnest($3::text[]) AS source
           WHERE NOT EXISTS (SELECT FROM document d WHERE d.tenant_id = $1 AND d.collection_id = $2 AND d.source = source.source)"#,
        tenant.0,
        collection,
        &sources as &[&str],
    )
    .fetch_one(&mut **transaction)
    .await?;
    let growth = Growth { documents: new.unsigned_abs(), bytes: 1, collections: 0 };
    Ok(quotas.allow(&used(transaction, tenant).await?, growth))
}
