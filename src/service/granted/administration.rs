//! Keys and the record of the caller's tenant, and for the operator tenants.

use std::time::Duration;

use uuid::Uuid;

use super::Granted;
use crate::{
    domain::{
        identity::TenantId,
        security_event::{Change, NotedSeal, SecurityEvent},
        storage::{StorageQuotaChange, StorageQuotas, StorageUse},
    },
    service::{
        ServiceError,
        access::{IssuedKey, KeyRow, TenantReceipt, TenantRow, WantedKey},
        ingest::ReceiverSecret,
        security_record::{
            Changed, EventFilter, RecordState,
            things::{key, tenant as tenant_named},
        },
    },
};

/// A record of changes and refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordOf {
    /// That of the caller's tenant.
    Tenant,
    /// That of what concerns no tenant, for the operator.
    Deployment,
}

impl Granted {
    /// Makes a key for the caller's tenant.
    ///
    /// # Errors
    /// As [`AccessService::create_key`](crate::service::access::AccessService::create_key).
    pub(crate) async fn create_key(&self, wanted: WantedKey) -> Result<IssuedKey, ServiceError> {
        self.create_key_of(self.tenant(), wanted).await
    }

    /// Makes a key for another tenant; for the operator.
    ///
    /// # Errors
    /// As [`Self::create_key`], and [`ServiceError::NotFound`] when there is no such tenant.
    pub(crate) async fn create_tenant_key(&self, tenant: Uuid, wanted: WantedKey) -> Result<IssuedKey, ServiceError> {
        self.create_key_of(TenantId(tenant), wanted).await
    }

    async fn create_key_of(&self, tenant: TenantId, wanted: WantedKey) -> Result<IssuedKey, ServiceError> {
        let event = |id: &str| self.event_in(tenant, Changed::one(Change::CreateKey, [key(id)]));
        self.parts.access.create_key(tenant, wanted, self.caller.key_id.clone(), event).await
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
        let event = self.event(Changed::one(Change::RotateKey, [key(id)]));
        self.parts.access.rotate_key(self.tenant(), id, grace, &event).await
    }

    /// Takes a key back.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn revoke_key(&self, id: &str) -> Result<KeyRow, ServiceError> {
        let event = self.event(Changed::one(Change::RevokeKey, [key(id)]));
        self.parts.access.revoke_key(self.tenant(), id, event).await
    }

    /// The secret by which the receiver at a URL checks the webhooks of the caller's tenant.
    ///
    /// # Errors
    /// As [`IngestService::webhook_secret`](crate::service::ingest::IngestService::webhook_secret).
    pub(crate) async fn webhook_secret(&self, url: &str) -> Result<ReceiverSecret, ServiceError> {
        let found = self.parts.ingest.webhook_secret(self.tenant(), url)?;
        let shown = Changed::one(Change::ShowWebhookSecret, [format!("receiver:{}", found.endpoint)]);
        self.parts.security_record.write(&self.caller, shown).await?;
        Ok(found)
    }

    /// Makes a tenant; for the operator.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] when the name is taken.
    pub(crate) async fn create_tenant(&self, name: String) -> Result<TenantRow, ServiceError> {
        let event = |id| self.event_in(TenantId::DEPLOYMENT, Changed::one(Change::CreateTenant, [tenant_named(id)]));
        self.parts.access.create_tenant(name, event).await
    }

    /// Every tenant by name; for the operator.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn tenants(&self) -> Result<Vec<TenantRow>, ServiceError> {
        self.parts.access.tenants().await
    }

    /// One tenant; for the operator.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn tenant_of(&self, id: Uuid) -> Result<TenantRow, ServiceError> {
        self.parts.access.tenant(id).await
    }

    /// How much a tenant keeps, and the quotas in force; for the operator.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn storage_of(&self, tenant: &TenantRow) -> Result<(StorageUse, StorageQuotas), ServiceError> {
        self.parts.access.storage(tenant.id).await
    }

    /// How much the caller's tenant keeps, and the quotas in force.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn storage(&self) -> Result<(StorageUse, StorageQuotas), ServiceError> {
        self.parts.access.storage(self.tenant()).await
    }

    /// Changes how much a tenant may keep; for the operator.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn change_quotas(&self, id: Uuid, change: StorageQuotaChange) -> Result<(), ServiceError> {
        let event = self.event_in(TenantId::DEPLOYMENT, Changed::one(Change::UpdateTenant, [tenant_named(id)]));
        self.parts.access.change_quotas(id, change, event).await
    }

    /// Deletes a tenant; for the operator.
    ///
    /// # Errors
    /// As [`AccessService::delete_tenant`](crate::service::access::AccessService::delete_tenant).
    pub(crate) async fn delete_tenant(&self, id: Uuid) -> Result<TenantReceipt, ServiceError> {
        let event = self.event_in(TenantId::DEPLOYMENT, Changed::one(Change::DeleteTenant, [tenant_named(id)]));
        self.parts.access.delete_tenant(id, event).await
    }

    /// Security events, newest first: of the caller's tenant, or for the operator those of the deployment.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn security_events(
        &self,
        of: RecordOf,
        filter: &EventFilter,
        limit: i64,
    ) -> Result<Vec<SecurityEvent>, ServiceError> {
        self.parts.security_record.list(self.recorded(of), filter, limit).await
    }

    /// Proves that the record is whole.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn verify_security_events(
        &self,
        of: RecordOf,
        noted: Option<&NotedSeal>,
    ) -> Result<RecordState, ServiceError> {
        self.parts.security_record.verify(self.recorded(of), noted).await
    }

    fn recorded(&self, of: RecordOf) -> TenantId {
        match of {
            RecordOf::Tenant => self.tenant(),
            RecordOf::Deployment => TenantId::DEPLOYMENT,
        }
    }

    /// The event of a change in a tenant, or of the deployment, to be written in the transaction that makes it.
    fn event_in(&self, tenant: TenantId, changed: Changed) -> SecurityEvent {
        self.parts.security_record.event_by(tenant, &self.caller, changed)
    }
}
