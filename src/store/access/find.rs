//! The key that a request presents.

use std::collections::BTreeSet;

use time::OffsetDateTime;

use crate::domain::{
    access::{KeyLifetime, Principal, Scope},
    identity::TenantId,
};
use crate::store::{Access, StoreError, turns::Progress};

/// A stored key, as far as it is needed to judge a request.
#[derive(Clone, Debug)]
pub(crate) struct FoundKey {
    /// Owner.
    pub(crate) tenant: TenantId,
    /// Code of the key as written.
    pub(crate) code: Vec<u8>,
    /// Code of the key before its last rotation.
    pub(crate) former_code: Option<Vec<u8>>,
    /// Its purposes.
    pub(crate) scopes: BTreeSet<Scope>,
    /// Collections that it is limited to.
    pub(crate) collections: Option<BTreeSet<String>>,
    /// Users and groups that its holder is.
    pub(crate) principals: BTreeSet<Principal>,
    /// When it opens.
    pub(crate) lifetime: KeyLifetime,
}

impl Access<'_> {
    /// Returns those of the keys with these ids that exist, by their ids, whichever tenants own them. Reads the primary: a
    /// replica may not know yet that a key was revoked.
    ///
    /// # Errors
    /// Any [`StoreError`].
    #[tracing::instrument(target = "cited::trace", skip_all, fields(otel.kind = "client", db.system.name = "postgresql"))]
    pub(crate) async fn find_keys(&self, key_ids: &[String]) -> Result<Vec<(String, FoundKey)>, StoreError> {
        // Nobody knows yet whose they are.
        let _turn = self.store.turn(TenantId::DEPLOYMENT, Progress::New).await?;
        let rows = sqlx::query!(
            r#"SELECT presented.key_id AS "key_id!", tenant_id AS "tenant_id!", code AS "code!", former_code, scopes AS "scopes!",
                      collections, principals AS "principals!", grace_until, expires_at, revoked_at
               FROM unnest($1::text[]) AS presented (key_id) CROSS JOIN LATERAL find_api_key(presented.key_id)"#,
            key_ids
        )
        .fetch_all(self.store.writer())
        .await?;
        let keys = rows.into_iter().map(|row| {
            let found = FoundKey {
                tenant: TenantId(row.tenant_id),
                code: row.code,
                former_code: row.former_code,
                scopes: scopes_of(&row.scopes)?,
                collections: row.collections.map(BTreeSet::from_iter),
                principals: principals_of(&row.principals)?,
                lifetime: KeyLifetime {
                    expires_at: row.expires_at,
                    revoked_at: row.revoked_at,
                    grace_until: row.grace_until,
                },
            };
            Ok((row.key_id, found))
        });
        keys.collect()
    }

    /// Notes that a key was used, unless that was noted less than a minute before.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn note_use(&self, tenant: TenantId, key_id: &str, now: OffsetDateTime) -> Result<(), StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        sqlx::query!(
            "UPDATE api_key SET last_used_at = $3
             WHERE tenant_id = $1 AND key_id = $2 AND (last_used_at IS NULL OR last_used_at < $3::timestamptz - interval '1 minute')",
            tenant.0,
            key_id,
            now,
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }
}

/// The scopes of these names, which a constraint of the table restricts.
pub(in crate::store) fn scopes_of(names: &[String]) -> Result<BTreeSet<Scope>, StoreError> {
    let scope = |name: &String| Scope::from_name(name).ok_or_else(|| StoreError::Inconsistent(format!("scope {name}")));
    names.iter().map(scope).collect()
}

/// The principals of these names.
pub(in crate::store) fn principals_of(names: &[String]) -> Result<BTreeSet<Principal>, StoreError> {
    let principal =
        |name: &String| name.parse().map_err(|_| StoreError::Inconsistent(format!("principal {name} of a key")));
    names.iter().map(principal).collect()
}
