//! Reads the audit.

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
}
