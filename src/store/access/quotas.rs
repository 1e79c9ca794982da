//! Use of a key in a day: counted within its limits, exact across all processes.

use time::Date;

use crate::{
    domain::identity::TenantId,
    store::{Access, StoreError, signed},
};

/// Asks and documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyUse {
    /// Questions that were asked.
    pub(crate) asks: u64,
    /// Documents that were accepted.
    pub(crate) documents: u64,
}

impl Access<'_> {
    /// Adds to what a key did on a day, unless it would then have done more than the limits; returns whether it was added.
    /// Only limits of what is added matter.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is added then.
    pub(crate) async fn add_key_use(
        &self,
        (tenant, key_id): (TenantId, &str),
        day: Date,
        added: KeyUse,
        limits: KeyUse,
    ) -> Result<bool, StoreError> {
        if added.asks > limits.asks || added.documents > limits.documents {
            return Ok(false);
        }
        let mut transaction = self.store.begin(tenant).await?;
        let changed = sqlx::query!(
            "INSERT INTO key_usage_daily AS u (tenant_id, day, key_id, asks, documents) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (tenant_id, day, key_id) DO UPDATE
                SET asks = u.asks + EXCLUDED.asks, documents = u.documents + EXCLUDED.documents
                WHERE (EXCLUDED.asks = 0 OR u.asks <= $6) AND (EXCLUDED.documents = 0 OR u.documents <= $7)",
            tenant.0,
            day,
            key_id,
            signed(added.asks),
            signed(added.documents),
            signed(limits.asks - added.asks),
            signed(limits.documents - added.documents),
        )
        .execute(&mut *transaction)
        .await?
        .rows_affected();
        transaction.commit().await?;
        Ok(changed == 1)
    }

    /// Returns what a key did on a day.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn key_use(&self, (tenant, key_id): (TenantId, &str), day: Date) -> Result<KeyUse, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let row = sqlx::query!(
            "SELECT asks, documents FROM key_usage_daily WHERE tenant_id = $1 AND day = $2 AND key_id = $3",
            tenant.0,
            day,
            key_id,
        )
        .fetch_optional(&mut *transaction)
        .await?;
        Ok(row.map_or_else(KeyUse::default, |row| KeyUse {
            asks: row.asks.unsigned_abs(),
            documents: row.documents.unsigned_abs(),
        }))
    }

    /// Takes documents off that were counted and then not accepted.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn return_documents(
        &self,
        (tenant, key_id): (TenantId, &str),
        day: Date,
        documents: u64,
    ) -> Result<(), StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        sqlx::query!(
            "UPDATE key_usage_daily SET documents = GREATEST(documents - $4, 0)
             WHERE tenant_id = $1 AND day = $2 AND key_id = $3",
            tenant.0,
            day,
            key_id,
            signed(documents),
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }
}
