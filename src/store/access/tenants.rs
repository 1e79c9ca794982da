//! Tenants: made, listed, deleted.

use time::OffsetDateTime;

use crate::domain::{identity::TenantId, security_event::SecurityEvent};
use crate::store::{Access, StoreError, security_events::record};

/// A tenant.
#[derive(Clone, Debug)]
pub(crate) struct TenantRow {
    /// Its id.
    pub(crate) id: TenantId,
    /// Its name, for operators.
    pub(crate) name: String,
    /// When it was made.
    pub(crate) created_at: OffsetDateTime,
}

impl Access<'_> {
    /// Stores a new tenant.
    ///
    /// # Errors
    /// Any [`StoreError`]; the constraint `tenant_name_unique` if another one has its name.
    pub(crate) async fn insert_tenant(&self, tenant: &TenantRow, event: &SecurityEvent) -> Result<(), StoreError> {
        let mut transaction = self.store.begin(tenant.id).await?;
        sqlx::query!(
            "INSERT INTO tenant (tenant_id, name, created_at) VALUES ($1, $2, $3)",
            tenant.id.0,
            tenant.name,
            tenant.created_at,
        )
        .execute(&mut *transaction)
        .await?;
        record(&mut transaction, event).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Every tenant by name.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn tenants(&self) -> Result<Vec<TenantRow>, StoreError> {
        let rows = sqlx::query!(
            r#"SELECT tenant_id AS "tenant_id!", name AS "name!", created_at AS "created_at!" FROM list_tenants()"#
        )
        .fetch_all(self.store.writer())
        .await?;
        Ok(rows
            .into_iter()
            .map(|row| TenantRow { id: TenantId(row.tenant_id), name: row.name, created_at: row.created_at })
            .collect())
    }

    /// Returns whether there is such a tenant.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn tenant_exists(&self, tenant: TenantId) -> Result<bool, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let exists =
            sqlx::query_scalar!(r#"SELECT EXISTS (SELECT FROM tenant WHERE tenant_id = $1) AS "exists!""#, tenant.0)
                .fetch_one(&mut *transaction)
                .await?;
        transaction.commit().await?;
        Ok(exists)
    }

    /// Deletes a tenant that has no collections any more, with its keys, jobs, audit, usage and all else.
    ///
    /// # Errors
    /// Any [`StoreError`]; the constraint `collection_tenant_id_fkey` if it has collections.
    pub(crate) async fn delete_tenant(&self, tenant: TenantId, event: &SecurityEvent) -> Result<(), StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        // Rows of a job are locked in this order by workers too.
        sqlx::query!("DELETE FROM job WHERE tenant_id = $1", tenant.0).execute(&mut *transaction).await?;
        sqlx::query!("DELETE FROM job_item WHERE tenant_id = $1", tenant.0).execute(&mut *transaction).await?;
        sqlx::query!("DELETE FROM webhook WHERE tenant_id = $1", tenant.0).execute(&mut *transaction).await?;
        sqlx::query!("DELETE FROM idempotency_key WHERE tenant_id = $1", tenant.0).execute(&mut *transaction).await?;
        sqlx::query!("DELETE FROM answer_cache WHERE tenant_id = $1", tenant.0).execute(&mut *transaction).await?;
        sqlx::query!("DELETE FROM answer_source WHERE tenant_id = $1", tenant.0).execute(&mut *transaction).await?;
        sqlx::query!("DELETE FROM usage_daily WHERE tenant_id = $1", tenant.0).execute(&mut *transaction).await?;
        sqlx::query!("DELETE FROM key_usage_daily WHERE tenant_id = $1", tenant.0).execute(&mut *transaction).await?;
        sqlx::query!("DELETE FROM deleted_document WHERE tenant_id = $1", tenant.0).execute(&mut *transaction).await?;
        sqlx::query!("DELETE FROM api_key WHERE tenant_id = $1", tenant.0).execute(&mut *transaction).await?;
        sqlx::query!("DELETE FROM principal WHERE tenant_id = $1", tenant.0).execute(&mut *transaction).await?;
        sqlx::query!("DELETE FROM tenant WHERE tenant_id = $1", tenant.0).execute(&mut *transaction).await?;
        record(&mut transaction, event).await?;
        transaction.commit().await?;
        // Events and asks, which only this deletes.
        self.store.security_events().drop_orphaned().await
    }
}
