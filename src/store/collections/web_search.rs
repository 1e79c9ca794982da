//! Whether questions to collections may be sent to a search engine.

use uuid::Uuid;

use crate::{
    domain::{identity::TenantId, security_event::SecurityEvent},
    store::{Collections, StoreError, security_events::record},
};

impl Collections<'_> {
    /// Whether each of these collections allows that questions to it are sent to a search engine.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn all_allow_web_search(
        &self,
        tenant: TenantId,
        collections: &[Uuid],
    ) -> Result<bool, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let allowed = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!" FROM collection
               WHERE tenant_id = $1 AND collection_id = ANY ($2) AND web_search"#,
            tenant.0,
            collections,
        )
        .fetch_one(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(usize::try_from(allowed).is_ok_and(|allowed| allowed == collections.len()))
    }

    /// Allows or forbids that questions to a collection are sent to a search engine; returns whether there is such a
    /// collection.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn set_web_search(
        &self,
        tenant: TenantId,
        name: &str,
        allowed: bool,
        event: &SecurityEvent,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let changed = sqlx::query!(
            "UPDATE collection SET web_search = $3 WHERE tenant_id = $1 AND name = $2",
            tenant.0,
            name,
            allowed,
        )
        .execute(&mut *transaction)
        .await?
        .rows_affected();
        if changed == 1 {
            record(&mut transaction, event).await?;
        }
        transaction.commit().await?;
        Ok(changed == 1)
    }
}
