//! Inserts the items of a job.

use serde_json::Value;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::identity::TenantId;
use crate::store::{NewJobItem, RefusedItem, StoreError, Tx};

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
        let (mut sources, mut payloads, mut contents, mut phases) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for NewJobItem { source, payload, content, phase } in items {
            sources.push(source.as_str());
            payloads.push(payload);
            contents.push(content.as_slice());
            phases.push(phase.as_str());
        }
        if sources.is_empty() {
            return Ok(());
        }
        sqlx::query!(
            "INSERT INTO job_item (tenant_id, job_id, ordinal, source, payload, content, content_bytes, phase, state, available_at)
             SELECT $1, $2, $3 + ordinality - 1, source, payload, content, length(content), phase, 'queued', $4
             FROM UNNEST($5::text[], $6::jsonb[], $7::bytea[], $8::text[]) WITH ORDINALITY
                 AS item (source, payload, content, phase, ordinality)
             ORDER BY ordinality",
            self.tenant.0,
            self.job,
            i64::from(self.first),
            self.now,
            &sources as &[&str],
            &payloads as &[&Value],
            &contents as &[&[u8]],
            &phases as &[&str],
        )
        .execute(&mut **transaction)
        .await?;
        Ok(())
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

/// Converts a number of items to the integer type of Postgres.
pub(in crate::store) fn int(number: usize) -> Result<i32, StoreError> {
    i32::try_from(number).map_err(|_| StoreError::Inconsistent("too many items".to_owned()))
}
