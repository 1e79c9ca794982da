//! The use case of keys: makes, lists, rotates and revokes them.

use std::{collections::BTreeSet, time::Duration};

use ring::rand::{SecureRandom, SystemRandom};
use secrecy::SecretString;
use time::OffsetDateTime;

use super::{AccessService, Pepper};
pub(crate) use crate::store::KeyRow;
use crate::{
    domain::{
        access::{KEY_ID_BYTES, KEY_SECRET_BYTES, KeyLifetime, Principal, Scope, write_key, written_id},
        identity::TenantId,
        security_event::SecurityEvent,
    },
    service::ServiceError,
    store::{NewKey, Rotation, StoreError},
};

/// A key to be made.
#[derive(Clone, Debug)]
pub(crate) struct WantedKey {
    /// Its name, for people.
    pub(crate) name: String,
    /// Its purposes.
    pub(crate) scopes: BTreeSet<Scope>,
    /// Collections that it is limited to; `None` for all.
    pub(crate) collections: Option<BTreeSet<String>>,
    /// Users and groups that its holder is.
    pub(crate) principals: BTreeSet<Principal>,
    /// When it ends.
    pub(crate) expires_at: Option<OffsetDateTime>,
}

/// A key with the secret that nobody can see again.
#[derive(Clone, Debug)]
pub(crate) struct IssuedKey {
    /// The key as written.
    pub(crate) secret: SecretString,
    /// The part of it that people may see.
    pub(crate) row: KeyRow,
}

impl AccessService {
    /// Makes a key for a tenant, with an event that is made for its id.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] without a pepper; [`ServiceError::NotFound`] when there is no such tenant; store
    /// errors.
    pub(crate) async fn create_key(
        &self,
        tenant: TenantId,
        wanted: WantedKey,
        created_by: Option<String>,
        event: impl FnOnce(&str) -> SecurityEvent + Send,
    ) -> Result<IssuedKey, ServiceError> {
        let pepper = self.required_pepper()?;
        let id = random::<KEY_ID_BYTES>()?;
        let written = write_key(&written_id(id), random::<KEY_SECRET_BYTES>()?);
        let row = KeyRow {
            id: written_id(id),
            name: wanted.name,
            scopes: wanted.scopes,
            collections: wanted.collections,
            principals: wanted.principals,
            lifetime: KeyLifetime { expires_at: wanted.expires_at, ..KeyLifetime::default() },
            created_at: self.context.clock.now(),
            created_by,
            rotated_at: None,
            last_used_at: None,
        };
        let new = NewKey { code: pepper.code(&written), row };
        let no_tenant = || ServiceError::NotFound { what: "tenant", name: tenant.0.to_string() };
        let inserted = self.store.access().insert_key(tenant, &new, &event(&new.row.id)).await;
        let is_stored = inserted.map_err(|error| match error {
            StoreError::Constraint { constraint, .. } if constraint == "api_key_tenant_id_fkey" => no_tenant(),
            other => other.into(),
        })?;
        if !is_stored {
            return Err(no_tenant());
        }
        Ok(IssuedKey { secret: written.into(), row: new.row })
    }

    /// Keys of a tenant, newest first, that come after the one with the id `after`.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn keys(
        &self,
        tenant: TenantId,
        after: Option<&str>,
        limit: i64,
    ) -> Result<Vec<KeyRow>, ServiceError> {
        Ok(self.store.access().keys(tenant, after, limit).await?)
    }

    /// One key.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn key(&self, tenant: TenantId, id: &str) -> Result<KeyRow, ServiceError> {
        let found = self.store.access().key(tenant, id).await?;
        found.ok_or_else(|| ServiceError::NotFound { what: "key", name: id.to_owned() })
    }

    /// Gives a key another secret. The former one opens for the time of `grace`, so that clients can change over.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Conflict`] when it opens nothing any more, or without a pepper.
    pub(crate) async fn rotate_key(
        &self,
        tenant: TenantId,
        id: &str,
        grace: Duration,
        event: &SecurityEvent,
    ) -> Result<IssuedKey, ServiceError> {
        let pepper = self.required_pepper()?;
        self.key(tenant, id).await?;
        let written = write_key(id, random::<KEY_SECRET_BYTES>()?);
        let now = self.context.clock.now();
        let rotation = Rotation { id, code: pepper.code(&written), grace_until: now + grace, now };
        if !self.store.access().rotate_key(tenant, &rotation, event).await? {
            return Err(ServiceError::Conflict {
                code: "key_over",
                detail: "the key was revoked or its time is over, it gets no other secret; make a new key".to_owned(),
            });
        }
        self.known.forget(id);
        Ok(IssuedKey { secret: written.into(), row: self.key(tenant, id).await? })
    }

    /// Takes a key back. It opens nothing any more: at once in this process, in others within a second.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn revoke_key(
        &self,
        tenant: TenantId,
        id: &str,
        event: SecurityEvent,
    ) -> Result<KeyRow, ServiceError> {
        self.key(tenant, id).await?;
        self.store.access().revoke_keys(tenant, Some(id), event, self.context.clock.now()).await?;
        self.known.forget(id);
        self.key(tenant, id).await
    }

    fn required_pepper(&self) -> Result<&Pepper, ServiceError> {
        self.pepper.as_ref().ok_or_else(|| ServiceError::Conflict {
            code: "keys_unavailable",
            detail: "this service can make no keys: its operator has not set CITED_KEY_PEPPER".to_owned(),
        })
    }
}

/// Random bytes of the operating system.
fn random<const BYTES: usize>() -> Result<[u8; BYTES], ServiceError> {
    let mut bytes = [0; BYTES];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| StoreError::Inconsistent("the operating system has no random bytes".to_owned()))?;
    Ok(bytes)
}
