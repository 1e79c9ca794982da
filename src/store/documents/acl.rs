//! Access control lists: who may see the documents of a tenant. The function `may_see` of the database judges by them.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::Serialize;
use sqlx::types::Json;
use uuid::Uuid;

use crate::domain::{
    access::{Acl, AclChange, Principal},
    identity::TenantId,
    security_event::SecurityEvent,
};
use crate::store::{
    CommitBatch, Documents, StoreError, Tx, collections::statistics::StatisticChanges, jobs::claim::ItemColumns,
    security_events::record,
};

/// A list as it is stored: with the numbers of its principals.
#[derive(Clone, Debug, Default)]
pub(in crate::store) struct NumberedAcl {
    /// Those who may see the document; `None` for everybody.
    pub(in crate::store) allowed: Option<Vec<i32>>,
    /// Those who may not.
    pub(in crate::store) denied: Vec<i32>,
}

/// The numbers of principals.
#[derive(Debug, Default)]
pub(in crate::store) struct Numbers(HashMap<String, i32>);

impl Numbers {
    /// Numbers the principals of these lists. A new principal gets a number here.
    pub(in crate::store) async fn of<'a>(
        transaction: &mut Tx,
        tenant: TenantId,
        lists: impl IntoIterator<Item = &'a Acl>,
    ) -> Result<Self, StoreError> {
        let listed = lists.into_iter().flat_map(|acl| acl.allow.iter().flatten().chain(&acl.deny));
        let names: BTreeSet<&str> = listed.map(Principal::as_str).collect();
        if names.is_empty() {
            return Ok(Self::default());
        }
        let names: Vec<&str> = names.into_iter().collect();
        sqlx::query!(
            "INSERT INTO principal (tenant_id, name) SELECT $1, name FROM UNNEST($2::text[]) AS name
             ON CONFLICT ON CONSTRAINT principal_name_unique DO NOTHING",
            tenant.0,
            &names as &[&str],
        )
        .execute(&mut **transaction)
        .await?;
        let rows = sqlx::query!(
            "SELECT principal_id, name FROM principal WHERE tenant_id = $1 AND name = ANY ($2)",
            tenant.0,
            &names as &[&str],
        )
        .fetch_all(&mut **transaction)
        .await?;
        Ok(Self(rows.into_iter().map(|row| (row.name, row.principal_id)).collect()))
    }

    /// A list by these numbers.
    pub(in crate::store) fn numbered(&self, acl: &Acl) -> NumberedAcl {
        let numbers = |principals: &BTreeSet<Principal>| {
            principals.iter().filter_map(|principal| self.0.get(principal.as_str()).copied()).collect()
        };
        NumberedAcl { allowed: acl.allow.as_ref().map(numbers), denied: numbers(&acl.deny) }
    }
}

impl NumberedAcl {
    /// The list by the names of its principals.
    pub(in crate::store) async fn named(&self, transaction: &mut Tx, tenant: TenantId) -> Result<Acl, StoreError> {
        let all: Vec<i32> = self.allowed.iter().flatten().chain(&self.denied).copied().collect();
        let rows = sqlx::query!(
            "SELECT principal_id, name FROM principal WHERE tenant_id = $1 AND principal_id = ANY ($2)",
            tenant.0,
            &all,
        )
        .fetch_all(&mut **transaction)
        .await?;
        let by_number: HashMap<i32, Principal> = rows
            .into_iter()
            .map(|row| {
                let principal = row.name.parse();
                principal.map(|principal| (row.principal_id, principal)).map_err(|_| unknown(&row.name))
            })
            .collect::<Result<_, _>>()?;
        let names = |numbers: &[i32]| numbers.iter().filter_map(|number| by_number.get(number).cloned()).collect();
        Ok(Acl { allow: self.allowed.as_deref().map(names), deny: names(&self.denied) })
    }

    /// The list after a change, by names and by numbers. A new principal gets a number here.
    pub(in crate::store) async fn changed(
        &self,
        transaction: &mut Tx,
        tenant: TenantId,
        change: AclChange,
    ) -> Result<(Acl, Self), StoreError> {
        let acl = change.apply(self.named(transaction, tenant).await?);
        let numbered = Numbers::of(transaction, tenant, [&acl]).await?.numbered(&acl);
        Ok((acl, numbered))
    }
}

fn unknown(name: &str) -> StoreError {
    StoreError::Inconsistent(format!("principal {name}"))
}

impl Documents<'_> {
    /// Returns the list of a document; `None` if there is no such document.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn acl(&self, tenant: TenantId, document: Uuid) -> Result<Option<Acl>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let found = sqlx::query_as!(
            NumberedAcl,
            "SELECT allowed, denied FROM document WHERE tenant_id = $1 AND document_id = $2",
            tenant.0,
            document,
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

    /// Changes the list of a document, and gives the same list to what was found in it; returns the list, `None` if there is
    /// no such document.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is changed then.
    pub(crate) async fn change_acl(
        &self,
        tenant: TenantId,
        document: Uuid,
        change: AclChange,
        event: &SecurityEvent,
    ) -> Result<Option<Acl>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        sqlx::query!(
            "UPDATE collection c SET is_restricted = true FROM document d
             WHERE d.tenant_id = $1 AND d.document_id = $2 AND c.tenant_id = $1 AND c.collection_id = d.collection_id
               AND NOT c.is_restricted",
            tenant.0,
            document,
        )
        .execute(&mut *transaction)
        .await?;
        let Some(found) = sqlx::query_as!(
            NumberedAcl,
            "SELECT allowed, denied FROM document WHERE tenant_id = $1 AND document_id = $2 FOR UPDATE",
            tenant.0,
            document,
        )
        .fetch_optional(&mut *transaction)
        .await?
        else {
            return Ok(None);
        };
        let (acl, NumberedAcl { allowed, denied }) = found.changed(&mut transaction, tenant, change).await?;
        sqlx::query!(
            "UPDATE document SET allowed = $3, denied = $4
             WHERE tenant_id = $1 AND document_id = ANY (ARRAY(
                 SELECT $2::uuid
                 UNION ALL
                 SELECT a.document_id FROM document m JOIN document a USING (tenant_id, collection_id)
                 WHERE m.tenant_id = $1 AND m.document_id = $2 AND a.attached_to = m.source))",
            tenant.0,
            document,
            allowed.as_deref(),
            &denied,
        )
        .execute(&mut *transaction)
        .await?;
        record(&mut transaction, event).await?;
        renew_revisions(&mut transaction, tenant, document).await?;
        transaction.commit().await?;
        Ok(Some(acl))
    }

    /// Returns those of the documents that a caller who is these principals may see.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn visible(
        &self,
        tenant: TenantId,
        documents: &[Uuid],
        caller: &[i32],
    ) -> Result<HashSet<Uuid>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let visible = sqlx::query_scalar!(
            "SELECT document_id FROM document
             WHERE tenant_id = $1 AND document_id = ANY ($2) AND may_see(allowed, denied, $3)",
            tenant.0,
            documents,
            caller,
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(visible.into_iter().collect())
    }
}

/// Gives the indexes of a document's collection another revision: what a caller may see of them is counted anew.
async fn renew_revisions(transaction: &mut Tx, tenant: TenantId, document: Uuid) -> Result<(), StoreError> {
    // In the order in which those who delete lock them.
    let indexes = sqlx::query_scalar!(
        "SELECT k.index_id FROM document d JOIN collection_index k USING (tenant_id, collection_id)
         WHERE d.tenant_id = $1 AND d.document_id = $2 ORDER BY k.index_id",
        tenant.0,
        document,
    )
    .fetch_all(&mut **transaction)
    .await?;
    for index in indexes {
        StatisticChanges::default().apply(transaction, tenant, index).await?;
    }
    Ok(())
}

/// A list that an upload brings.
#[derive(Serialize)]
struct Brought {
    source: String,
    position: i64,
    allowed: Option<Vec<i32>>,
    denied: Vec<i32>,
    maker_principals: Option<Vec<i32>>,
}

/// Gives the documents of a batch, and what was found in them, the lists that their uploads bring. A list of an upload that
/// is older than the document is left out, and so is one for a document that its maker may not see: it would open former
/// versions. Documents that this transaction has made (`new`) have nothing to hide. The documents are locked.
pub(in crate::store) async fn take_over(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
    new: &[Uuid],
) -> Result<(), StoreError> {
    let items: ItemColumns = batch.items().into_iter().collect();
    // The queue and the documents may be on different servers, so each is read by itself.
    let brought = sqlx::query_as!(
        Brought,
        "SELECT i.source, i.position, i.allowed, i.denied, j.maker_principals
         FROM job_item i JOIN job j ON j.tenant_id = $1 AND j.job_id = i.job_id
         WHERE i.tenant_id = $1 AND i.job_id = ANY ($2) AND i.ordinal = ANY ($3) AND i.has_acl
           AND (i.job_id, i.ordinal) IN (SELECT * FROM UNNEST($2::uuid[], $3::int[]))",
        batch.tenant.0,
        &items.jobs,
        &items.ordinals,
    )
    .fetch_all(&mut **transaction)
    .await?;
    if brought.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        // Each document is looked up: what a planner without statistics thinks of the tables does not matter.
        "WITH brought AS MATERIALIZED (
             SELECT m.document_id, m.source, i.allowed, i.denied, i.maker_principals
             FROM jsonb_to_recordset($2) AS i (source text, position bigint, allowed int[], denied int[], maker_principals int[])
             CROSS JOIN LATERAL (
                 SELECT d.document_id, d.source FROM document d
                 WHERE d.tenant_id = $1 AND d.collection_id = $3 AND d.source = i.source AND d.position <= i.position
                   AND (d.document_id = ANY ($4) OR may_see(d.allowed, d.denied, i.maker_principals))
                 OFFSET 0) m),
         bound AS MATERIALIZED (
             SELECT document_id, allowed, denied FROM brought
             UNION ALL
             SELECT a.document_id, b.allowed, b.denied FROM brought b CROSS JOIN LATERAL (
                 SELECT d.document_id FROM document d
                 WHERE d.tenant_id = $1 AND d.collection_id = $3 AND d.attached_to = b.source
                   AND (d.document_id = ANY ($4) OR may_see(d.allowed, d.denied, b.maker_principals))
                 OFFSET 0) a)
         UPDATE document d SET allowed = b.allowed, denied = b.denied FROM bound b
         WHERE d.tenant_id = $1 AND d.document_id = ANY (ARRAY(SELECT document_id FROM bound)) AND d.document_id = b.document_id",
        batch.tenant.0,
        Json(&brought) as _,
        batch.collection.id,
        new,
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}
