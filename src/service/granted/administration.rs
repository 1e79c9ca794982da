//! Keys of the caller's tenant, and for the operator tenants.

use std::time::Duration;

use uuid::Uuid;

use super::Granted;
use crate::{
    domain::identity::TenantId,
    service::{
        ServiceError,
        access::{IssuedKey, KeyRow, TenantReceipt, TenantRow, WantedKey},
    },
};

impl Granted {
    /// Makes a key for the caller's tenant.
    ///
    /// # Errors
    /// As [`AccessService::create_key`](crate::service::access::AccessService::create_key).
    pub(crate) async fn create_key(&self, wanted: WantedKey) -> Result<IssuedKey, ServiceError> {
        self.parts.access.create_key(self.tenant(), wanted, self.caller.key_id.clone()).await
    }

    /// Makes a key for another tenant; for the operator.
    ///
    /// # Errors
    /// As [`Self::create_key`], and [`ServiceError::NotFound`] when there is no such tenant.
    pub(crate) async fn create_tenant_key(&self, tenant: Uuid, wanted: WantedKey) -> Result<IssuedKey, ServiceError> {
        self.parts.access.create_key(TenantId(tenant), wanted, self.caller.key_id.clone()).await
    }

    /// Keys of the tenant, newest first, that come after the one with the id `after`.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn keys(&self, after: Option<&str>, limit: i64) -> Result<Vec<KeyRow>, ServiceError> {
        self.parts.access.keys(self.tenant(), after, limit).await
    }

    /// One key.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn key(&self, id: &str) -> Result<KeyRow, ServiceError> {
        self.parts.access.key(self.tenant(), id).await
    }

    /// Gives a key another secret.
    ///
    /// # Errors
    /// As [`AccessService::rotate_key`](crate::service::access::AccessService::rotate_key).
    pub(crate) async fn rotate_key(&self, id: &str, grace: Duration) -> Result<IssuedKey, ServiceError> {
        self.parts.access.rotate_key(self.tenant(), id, grace).await
    }

    /// Takes a key back.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn revoke_key(&self, id: &str) -> Result<KeyRow, ServiceError> {
        self.parts.access.revoke_key(self.tenant(), id).await
    }

    /// Makes a tenant; for the operator.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] when the name is taken.
    pub(crate) async fn create_tenant(&self, name: String) -> Result<TenantRow, ServiceError> {
        self.parts.access.create_tenant(name).await
    }

    /// Every tenant by name; for the operator.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn tenants(&self) -> Result<Vec<TenantRow>, ServiceError> {
        self.parts.access.tenants().await
    }

    /// Deletes a tenant; for the operator.
    ///
    /// # Errors
    /// As [`AccessService::delete_tenant`](crate::service::access::AccessService::delete_tenant).
    pub(crate) async fn delete_tenant(&self, id: Uuid) -> Result<TenantReceipt, ServiceError> {
        self.parts.access.delete_tenant(id).await
    }
}
