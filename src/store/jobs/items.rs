//! Inserts the items of a job.

use serde_json::Value;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{access::Acl, identity::TenantId};
use crate::store::{
    NewJobItem, RefusedItem, StoreError, Tx,
    documents::acl::{NumberedAcl, Numbers},
    documents::chunk::array_literal,
};

/// Rows of one job that items are inserted as.
#[derive(Clone, Copy)]
pub(in crate::store) struct ItemRows {
    pub(in crate::store) tenant: TenantId,
    pub(in crate::store) job: Uuid,
    /// Ordinal of the first.
    pub(in crate::store) first: i32,
    /// Current time.
    pub(in crate::store) now: OffsetDateTime,
}

impl ItemRows {
    /// The rows that follow the first `count` of these.
    pub(in crate::store) const fn after(self, count: i32) -> Self {
        Self { first: self.first + count, ..self }
    }

    /// Inserts documents, which then wait for a worker.
    pub(in crate::store) async fn insert(
        self,
        transaction: &mut Tx,
        items: impl IntoIterator<Item = &NewJobItem>,
    ) -> Result<(), StoreError> {
        let items: Vec<&NewJobItem> = items.into_iter().collect();
        if items.is_empty() {
            return Ok(());
        }
        let (mut sources, mut payloads, mut contents, mut phases) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for NewJobItem { source, payload, content, phase, .. } in &items {
            sources.push(source.as_str());
            payloads.push(payload);
            contents.push(content.as_slice());
            phases.push(phase.as_str());
        }
        let lists = self.lists(transaction, &items).await?;
        sqlx::query!(
            "INSERT INTO job_item (tenant_id, job_id, ordinal, source, payload, content, content_bytes, phase, state, available_at,
                                   has_acl, allowed, denied)
             SELECT $1, $2, $3 + ordinality - 1, source, payload, content, length(content), phase, 'queued', $4,
                    has_acl, allowed::int[], denied::int[]
             FROM UNNEST($5::text[], $6::jsonb[], $7::bytea[], $8::text[], $9::bool[], $10::text[], $11::text[]) WITH ORDINALITY
                 AS item (source, payload, content, phase, has_acl, allowed, denied, ordinality)
             ORDER BY ordinality",
            self.tenant.0,
            self.job,
            i64::from(self.first),
            self.now,
            &sources as &[&str],
            &payloads as &[&Value],
            &contents as &[&[u8]],
            &phases as &[&str],
            &lists.are_given,
            &lists.allowed as &[Option<String>],
            &lists.denied,
        )
        .execute(&mut **transaction)
        .await?;
        Ok(())
    }

    /// The access control lists that documents bring, as columns. Where one brings any, the collection is restricted from now
    /// on.
    async fn lists(self, transaction: &mut Tx, items: &[&NewJobItem]) -> Result<ListColumns, StoreError> {
        let mut columns = ListColumns::default();
        let numbers = Numbers::of(transaction, self.tenant, items.iter().filter_map(|item| item.acl.as_ref())).await?;
        for item in items {
            columns.push(item.acl.as_ref(), &numbers);
        }
        if columns.are_given.contains(&true) {
            sqlx::query!(
                "UPDATE collection c SET is_restricted = true FROM job j
                 WHERE j.tenant_id = $1 AND j.job_id = $2 AND c.tenant_id = $1 AND c.collection_id = j.collection_id
                   AND NOT c.is_restricted",
                self.tenant.0,
                self.job,
            )
            .execute(&mut **transaction)
            .await?;
        }
        Ok(columns)
    }

    /// Inserts parts of a request that are not documents, as failed.
    pub(in crate::store) async fn insert_refused(
        self,
        transaction: &mut Tx,
        items: &[RefusedItem],
    ) -> Result<(), StoreError> {
        if items.is_empty() {
            return Ok(());
        }
        let sources: Vec<String> = items.iter().map(|item| item.source.clone()).collect();
        let causes: Vec<String> = items.iter().map(|item| item.cause.to_owned()).collect();
        let messages: Vec<String> = items.iter().map(|item| item.message.clone()).collect();
        sqlx::query!(
            "INSERT INTO job_item (tenant_id, job_id, ordinal, source, content_bytes, state, available_at, stage, cause, message, finished_at)
             SELECT $1, $2, $3 + ordinality - 1, source, 0, 'failed', $4, 'load', cause, message, $4
             FROM UNNEST($5::text[], $6::text[], $7::text[]) WITH ORDINALITY AS item (source, cause, message, ordinality)",
            self.tenant.0,
            self.job,
            i64::from(self.first),
            self.now,
            &sources,
            &causes,
            &messages,
        )
        .execute(&mut **transaction)
        .await?;
        // The trigger counts only items that become settled, and these were settled from the start.
        sqlx::query!(
            "UPDATE job_tally SET failed = failed + $3 WHERE tenant_id = $1 AND job_id = $2",
            self.tenant.0,
            self.job,
            i64::try_from(sources.len()).unwrap_or(i64::MAX),
        )
        .execute(&mut **transaction)
        .await?;
        Ok(())
    }
}

/// Access control lists as columns; arrays of numbers in their text form, because arrays of different lengths cannot be
/// unnested.
#[derive(Default)]
struct ListColumns {
    are_given: Vec<bool>,
    allowed: Vec<Option<String>>,
    denied: Vec<String>,
}

impl ListColumns {
    fn push(&mut self, acl: Option<&Acl>, numbers: &Numbers) {
        let NumberedAcl { allowed, denied } = acl.map(|acl| numbers.numbered(acl)).unwrap_or_default();
        self.are_given.push(acl.is_some());
        self.allowed.push(allowed.map(|allowed| array_literal(allowed.into_iter())));
        self.denied.push(array_literal(denied.into_iter()));
    }
}

/// Converts a number of items to the integer type of Postgres.
pub(in crate::store) fn int(number: usize) -> Result<i32, StoreError> {
    i32::try_from(number).map_err(|_| StoreError::Inconsistent("too many items".to_owned()))
}
