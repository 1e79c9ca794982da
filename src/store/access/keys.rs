//! The keys of a tenant: made, listed, given another secret, taken back.

use std::collections::BTreeSet;

use time::OffsetDateTime;

use super::find::{principals_of, scopes_of};
use crate::domain::{
    access::{KeyLifetime, Principal, Scope},
    identity::TenantId,
    security_event::SecurityEvent,
};
use crate::store::{Access, StoreError, security_events::record, signed};

/// A stored key, as far as people may see it.
#[derive(Clone, Debug)]
pub(crate) struct KeyRow {
    /// Its id, which is part of the key as written.
    pub(crate) id: String,
    /// Its name, for people.
    pub(crate) name: String,
    /// Its purposes.
    pub(crate) scopes: BTreeSet<Scope>,
    /// Collections that it is limited to; `None` for all.
    pub(crate) collections: Option<BTreeSet<String>>,
    /// Users and groups that its holder is.
    pub(crate) principals: BTreeSet<Principal>,
    /// When it opens.
    pub(crate) lifetime: KeyLifetime,
    /// When it was made.
    pub(crate) created_at: OffsetDateTime,
    /// Id of the key that made it.
    pub(crate) created_by: Option<String>,
    /// When it last got another secret.
    pub(crate) rotated_at: Option<OffsetDateTime>,
    /// When it was last used, to the minute.
    pub(crate) last_used_at: Option<OffsetDateTime>,
}

/// A key to store.
#[derive(Clone, Debug)]
pub(crate) struct NewKey {
    /// The part of it that people may see.
    pub(crate) row: KeyRow,
    /// Code of the key as written.
    pub(crate) code: Vec<u8>,
}

/// Another secret for a key.
#[derive(Clone, Debug)]
pub(crate) struct Rotation<'a> {
    /// Id of the key.
    pub(crate) id: &'a str,
    /// Code of the key as written from now on.
    pub(crate) code: Vec<u8>,
    /// Until when the former secret opens too.
    pub(crate) grace_until: OffsetDateTime,
    /// Now.
    pub(crate) now: OffsetDateTime,
}

/// Converts a selected row.
macro_rules! key_of {
    ($row:expr) => {{
        let row = $row;
        Ok(KeyRow {
            id: row.key_id,
            name: row.name,
            scopes: scopes_of(&row.scopes)?,
            collections: row.collections.map(BTreeSet::from_iter),
            principals: principals_of(&row.principals)?,
            lifetime: KeyLifetime {
                expires_at: row.expires_at,
                revoked_at: row.revoked_at,
                grace_until: row.grace_until,
            },
            created_at: row.created_at,
            created_by: row.created_by,
            rotated_at: row.rotated_at,
            last_used_at: row.last_used_at,
        })
    }};
}

impl Access<'_> {
    /// Stores a new key. Returns whether there is such a tenant.
    ///
    /// # Errors
    /// Any [`StoreError`]; the constraint `api_key_tenant_id_fkey` if the tenant is deleted at this moment.
    pub(crate) async fn insert_key(
        &self,
        tenant: TenantId,
        new: &NewKey,
        event: &SecurityEvent,
    ) -> Result<bool, StoreError> {
        let NewKey { row, code } = new;
        let scopes: Vec<String> = row.scopes.iter().map(|scope| scope.as_str().to_owned()).collect();
        let collections: Option<Vec<String>> = row.collections.as_ref().map(|names| names.iter().cloned().collect());
        let principals: Vec<&str> = row.principals.iter().map(Principal::as_str).collect();
        let mut transaction = self.store.begin(tenant).await?;
        let inserted = sqlx::query!(
            "INSERT INTO api_key (tenant_id, key_id, name, code, scopes, collections, created_at, created_by, expires_at, principals)
             SELECT t.tenant_id, $2, $3, $4, $5, $6, $7, $8, $9, $10 FROM tenant t WHERE t.tenant_id = $1",
            tenant.0,
            row.id,
            row.name,
            code,
            &scopes,
            collections.as_deref(),
            row.created_at,
            row.created_by,
            row.lifetime.expires_at,
            &principals as &[&str],
        )
        .execute(&mut *transaction)
        .await?
        .rows_affected();
        if inserted == 0 {
            return Ok(false);
        }
        record(&mut transaction, event).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// At most `limit` keys of a tenant, newest first, that come after the one with the id `after`.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn keys(
        &self,
        tenant: TenantId,
        after: Option<&str>,
        limit: i64,
    ) -> Result<Vec<KeyRow>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let rows = sqlx::query!(
            "SELECT key_id, name, scopes, collections, principals, expires_at, revoked_at, grace_until, created_at, created_by,
                    rotated_at, last_used_at
             FROM api_key WHERE tenant_id = $1 AND ($2::text IS NULL OR (created_at, key_id) <
                 (SELECT created_at, key_id FROM api_key WHERE tenant_id = $1 AND key_id = $2))
             ORDER BY created_at DESC, key_id DESC LIMIT $3",
            tenant.0,
            after,
            limit,
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        rows.into_iter().map(|row| key_of!(row)).collect()
    }

    /// One key of a tenant.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn key(&self, tenant: TenantId, id: &str) -> Result<Option<KeyRow>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let row = sqlx::query!(
            "SELECT key_id, name, scopes, collections, principals, expires_at, revoked_at, grace_until, created_at, created_by,
                    rotated_at, last_used_at
             FROM api_key WHERE tenant_id = $1 AND key_id = $2",
            tenant.0,
            id,
        )
        .fetch_optional(&mut *transaction)
        .await?;
        transaction.commit().await?;
        row.map(|row| key_of!(row)).transpose()
    }

    /// Gives a key another secret; the former one opens for a while. Of two former ones the older one ends at once.
    /// Returns whether there is such a key that opens.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn rotate_key(
        &self,
        tenant: TenantId,
        rotation: &Rotation<'_>,
        event: &SecurityEvent,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let changed = sqlx::query!(
            "UPDATE api_key SET former_code = code, code = $3, grace_until = $4, rotated_at = $5
             WHERE tenant_id = $1 AND key_id = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $5)",
            tenant.0,
            rotation.id,
            rotation.code,
            rotation.grace_until,
            rotation.now,
        )
        .execute(&mut *transaction)
        .await?
        .rows_affected();
        if changed > 0 {
            record(&mut transaction, event).await?;
        }
        transaction.commit().await?;
        Ok(changed > 0)
    }

    /// Takes a key back, or every key of the tenant, whose number the event then tells; those that were taken back stay as
    /// they are.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn revoke_keys(
        &self,
        tenant: TenantId,
        one: Option<&str>,
        event: SecurityEvent,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let revoked = sqlx::query!(
            "UPDATE api_key SET revoked_at = $3
             WHERE tenant_id = $1 AND ($2::text IS NULL OR key_id = $2) AND revoked_at IS NULL",
            tenant.0,
            one,
            now,
        )
        .execute(&mut *transaction)
        .await?
        .rows_affected();
        let number = if one.is_some() { event.number } else { signed(revoked) };
        record(&mut transaction, &SecurityEvent { number, ..event }).await?;
        transaction.commit().await?;
        Ok(())
    }
}
