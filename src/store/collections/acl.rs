//! Access control lists of collections: the list that new documents get.

use crate::domain::{
    access::{Acl, AclChange},
    identity::TenantId,
    security_event::SecurityEvent,
};
use crate::store::{Collections, StoreError, documents::acl::NumberedAcl, security_events::record};

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
}
