//! The use case of tenants: the operator makes, lists and deletes them.

use std::sync::Arc;

use uuid::Uuid;

use super::AccessService;
pub(crate) use crate::store::TenantRow;
use crate::{
    domain::{
        identity::TenantId,
        security_event::{Change, SecurityEvent},
        storage::{StorageQuotaChange, StorageQuotas, StorageUse},
    },
    service::{ServiceError, run_detached, security_record::things},
    store::{Store, StoreError},
};

/// Collections that are read at once to delete them.
const PAGE: i64 = 100;

/// Counts of what was deleted with a tenant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TenantReceipt {
    /// Number of collections.
    pub(crate) collections: u64,
    /// Number of documents.
    pub(crate) documents: u64,
}

impl AccessService {
    /// Makes a tenant, with an event that is made for its id. It has no key yet.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] when the name is taken.
    pub(crate) async fn create_tenant(
        &self,
        name: String,
        event: impl FnOnce(Uuid) -> SecurityEvent + Send,
    ) -> Result<TenantRow, ServiceError> {
        let id = TenantId(self.context.ids.next());
        let tenant = TenantRow { id, name, created_at: self.context.clock.now() };
        match self.store.access().insert_tenant(&tenant, &event(id.0)).await {
            Ok(()) => Ok(tenant),
            Err(StoreError::Constraint { constraint, .. }) if constraint == "tenant_name_unique" => {
                Err(ServiceError::Conflict {
                    code: "tenant_exists",
                    detail: format!("there is a tenant {:?} already; use it, or choose another name", tenant.name),
                })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Every tenant by name.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn tenants(&self) -> Result<Vec<TenantRow>, ServiceError> {
        Ok(self.store.access().tenants().await?)
    }

    /// One tenant.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn tenant(&self, id: Uuid) -> Result<TenantRow, ServiceError> {
        let found = self.tenants().await?.into_iter().find(|tenant| tenant.id.0 == id);
        found.ok_or_else(|| ServiceError::NotFound { what: "tenant", name: id.to_string() })
    }

    /// How much a tenant keeps, and the quotas in force.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn storage(&self, tenant: TenantId) -> Result<(StorageUse, StorageQuotas), ServiceError> {
        Ok(self.store.access().storage(tenant).await?)
    }

    /// Changes how much a tenant may keep.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn change_quotas(
        &self,
        id: Uuid,
        change: StorageQuotaChange,
        event: SecurityEvent,
    ) -> Result<(), ServiceError> {
        let (tenant, store) = (self.tenant(id).await?.id, self.store.clone());
        Ok(run_detached(async move { store.access().change_quotas(tenant, change, &event).await }).await?)
    }

    /// Deletes a tenant with all that is its own. Its keys open nothing from the beginning of that. Each of its transactions
    /// has an event beside the given one, which is that of the last.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Conflict`] for the default tenant, or when requests of the tenant
    /// were still under way.
    pub(crate) async fn delete_tenant(&self, id: Uuid, event: SecurityEvent) -> Result<TenantReceipt, ServiceError> {
        let tenant = self.tenant(id).await?.id;
        if tenant == TenantId::DEFAULT {
            return Err(ServiceError::Conflict {
                code: "tenant_default",
                detail: "this is the operator's own tenant, which stays; delete its collections instead".to_owned(),
            });
        }
        let (store, now, ids) = (self.store.clone(), self.context.clock.now(), self.context.ids.clone());
        let known = Arc::clone(&self.known);
        let deletion = async move {
            let beside = |change, more: Option<String>| {
                event.beside(ids.next(), change, [things::tenant(id)].into_iter().chain(more).collect())
            };
            store.access().revoke_keys(tenant, None, beside(Change::RevokeKey, None), now).await?;
            known.forget_all_of(tenant);
            let of_collection = |name: &str| beside(Change::DeleteCollection, Some(things::collection(name)));
            let receipt = delete_collections(&store, tenant, of_collection, now).await?;
            let event = SecurityEvent { number: i64::try_from(receipt.documents).unwrap_or(i64::MAX), ..event.clone() };
            store.access().delete_tenant(tenant, &event).await?;
            Ok(receipt)
        };
        run_detached(deletion).await.map_err(|error| match error {
            StoreError::Constraint { .. } => ServiceError::Conflict {
                code: "tenant_busy",
                detail: "requests of the tenant were still under way; its keys are revoked, send the request again"
                    .to_owned(),
            },
            other => other.into(),
        })
    }
}

async fn delete_collections(
    store: &Store,
    tenant: TenantId,
    event: impl Fn(&str) -> SecurityEvent,
    now: time::OffsetDateTime,
) -> Result<TenantReceipt, StoreError> {
    let mut receipt = TenantReceipt::default();
    loop {
        let found = store.collections().collection_summaries(tenant, None, None, PAGE).await?;
        if found.is_empty() {
            return Ok(receipt);
        }
        for summary in found {
            let name = &summary.collection.name;
            let deleted = store.documents().delete_collection(tenant, name, event(name), now).await?;
            receipt.collections += 1;
            receipt.documents += deleted.map_or(0, |deleted| deleted.documents);
        }
    }
}
