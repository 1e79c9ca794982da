//! Reads the audit.

use uuid::Uuid;

use super::ServiceError;
pub(crate) use crate::store::{AuditFilter, AuditRow};
use crate::{domain::identity::TenantId, store::Store};

/// Lists and returns audit rows.
#[derive(Clone)]
pub(crate) struct AuditService {
    store: Store,
}

impl AuditService {
    /// The audit of this store.
    #[must_use]
    pub(crate) const fn new(store: Store) -> Self {
        Self { store }
    }

    /// Rows, newest first.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn list(
        &self,
        tenant: TenantId,
        filter: &AuditFilter,
        limit: i64,
    ) -> Result<Vec<AuditRow>, ServiceError> {
        Ok(self.store.asks().audit(tenant, filter, limit).await?)
    }

    /// One row.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn get(&self, tenant: TenantId, ask: Uuid) -> Result<AuditRow, ServiceError> {
        let filter = AuditFilter { ask_id: Some(ask), ..AuditFilter::default() };
        let found = self.store.asks().audit(tenant, &filter, 1).await?.pop();
        found.ok_or_else(|| ServiceError::NotFound { what: "ask", name: ask.to_string() })
    }
}
