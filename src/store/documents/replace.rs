//! Replaces a stored document by a request that keeps some of its fields.

use serde_json::Value;
use sqlx::Connection;
use uuid::Uuid;

use crate::domain::identity::TenantId;
use crate::store::{Documents, EnqueueOutcome, NewJob, NewJobItem, StoreError, Tx, jobs::insertion::insert_jobs};

/// Seed of the hash that names the document's advisory lock; it keeps this lock apart from others.
const LOCK: i64 = 0x0063_6974_6564_7132;

/// The fields of a stored document that a replacement may keep.
#[derive(Clone, Debug)]
pub(crate) struct Replaceable {
    /// Source: the caller's own name for the document.
    pub(crate) source: String,
    /// URI that it was read from.
    pub(crate) uri: String,
    /// The title, if it was given with the document rather than found in it.
    pub(crate) given_title: Option<String>,
    /// Media type.
    pub(crate) media_type: String,
    /// Caller's own metadata object.
    pub(crate) metadata: Value,
    /// Description of its newest upload that is accepted but not stored yet.
    pub(crate) waiting: Option<Value>,
}

impl Documents<'_> {
    /// Accepts a job with one item that replaces a document. `make` creates the item from the current document, in the
    /// same transaction; returns `None` if there is no such document.
    ///
    /// Replacements of one document are accepted one after the other, and each sees all that were accepted before it,
    /// stored or waiting. So none restores a value that another one changed.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is accepted then.
    pub(crate) async fn enqueue_replacement(
        &self,
        tenant: TenantId,
        job: &NewJob<'_>,
        document: Uuid,
        make: impl FnOnce(Replaceable) -> NewJobItem + Send,
    ) -> Result<Option<EnqueueOutcome>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        // A statement of its own: the one that reads must see the commit of the previous lock holder.
        sqlx::query!("SELECT pg_advisory_xact_lock(hashtextextended($1::uuid::text, $2))", document, LOCK)
            .fetch_one(&mut *transaction)
            .await?;
        let Some(name) = sqlx::query!(
            "SELECT collection_id, source FROM document WHERE tenant_id = $1 AND document_id = $2",
            tenant.0,
            document,
        )
        .fetch_optional(&mut *transaction)
        .await?
        else {
            return Ok(None);
        };
        // The queue first, then the document: an upload that is being stored at this moment is seen either as waiting or as
        // stored. Neither collection nor source of a document change meanwhile.
        let newest = sqlx::query!(
            "SELECT i.payload, i.position FROM job j JOIN job_item i USING (tenant_id, job_id)
             WHERE j.tenant_id = $1 AND j.collection_id = $2 AND j.kind = 'ingest' AND j.finished_at IS NULL
               AND i.source = $3 AND i.state IN ('queued', 'running') AND i.phase <> 'embed'
             ORDER BY i.position DESC LIMIT 1",
            tenant.0,
            name.collection_id,
            name.source,
        )
        .fetch_optional(&mut *transaction)
        .await?;
        if self.store.is_split {
            wait_for_its_commit(&mut transaction, tenant, document).await?;
        }
        let row = sqlx::query!(
            "SELECT uri, layout ->> 'given_title' AS given_title, media_type, metadata, position
             FROM document WHERE tenant_id = $1 AND document_id = $2",
            tenant.0,
            document,
        )
        .fetch_optional(&mut *transaction)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let waiting = newest.filter(|newest| newest.position > row.position).and_then(|newest| newest.payload);
        let item = make(Replaceable {
            source: name.source,
            uri: row.uri,
            given_title: row.given_title,
            media_type: row.media_type,
            metadata: row.metadata,
            waiting,
        });
        Ok(insert_jobs(transaction, (tenant, *self.store.quotas), &[(job, &[item])]).await?.pop())
    }
}

/// Waits until what is being stored of a document is stored, as long as a statement waits for a lock. The queue and the
/// document may be on different servers: for a moment an item is settled and its document not yet the new version, but locked.
async fn wait_for_its_commit(transaction: &mut Tx, tenant: TenantId, document: Uuid) -> Result<(), StoreError> {
    // Undone at once, so that the lock is not kept while others are waited for.
    let mut look = transaction.begin().await?;
    sqlx::query!(
        "SELECT document_id FROM document WHERE tenant_id = $1 AND document_id = $2 FOR SHARE",
        tenant.0,
        document,
    )
    .fetch_optional(&mut *look)
    .await?;
    look.rollback().await?;
    Ok(())
}
