//! Replacing a stored document by a request that leaves some of it as it is.

use serde_json::Value;
use uuid::Uuid;

use crate::domain::identity::TenantId;
use crate::store::{
    Documents, EnqueueOutcome, NewJob, NewJobItem, StoreError,
    jobs::enqueue::{NewItems, insert_job},
};

/// Beside the document in the name of its lock, so that other locks have other names.
const LOCK: i64 = 0x0063_6974_6564_7132;

/// A stored document, as far as its replacement may keep it.
#[derive(Clone, Debug)]
pub struct Replaceable {
    /// Caller's own name.
    pub source: String,
    /// Where it was read from.
    pub uri: String,
    /// Title if it came with the document, and was not found in it.
    pub given_title: Option<String>,
    /// Media type.
    pub media_type: String,
    /// Caller's own object.
    pub metadata: Value,
    /// Description of the newest upload of it that is accepted and not stored yet.
    pub waiting: Option<Value>,
}

impl Documents<'_> {
    /// Accepts a job of one item that replaces a document. `make` makes the item of the document as it is, in the same
    /// transaction; `None` if there is no such document.
    ///
    /// Replacements of one document are accepted one after the other, and each sees what was accepted before it, stored
    /// or waiting: none brings back what another one changed.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is accepted then.
    pub async fn enqueue_replacement(
        &self,
        tenant: TenantId,
        job: &NewJob<'_>,
        document: Uuid,
        make: impl FnOnce(Replaceable) -> NewJobItem + Send,
    ) -> Result<Option<EnqueueOutcome>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        // A statement of its own: the one that reads must see what the holder before has committed.
        sqlx::query!("SELECT pg_advisory_xact_lock(hashtextextended($1::uuid::text, $2))", document, LOCK)
            .fetch_one(&mut *transaction)
            .await?;
        // One statement, so that an upload that is stored at this moment is seen either waiting or stored.
        let row = sqlx::query!(
            r#"SELECT d.source, d.uri, d.layout ->> 'given_title' AS given_title, d.media_type, d.metadata,
                   (SELECT i.payload FROM job j JOIN job_item i USING (tenant_id, job_id)
                    WHERE j.tenant_id = d.tenant_id AND j.collection_id = d.collection_id AND j.kind = 'ingest'
                      AND j.finished_at IS NULL AND i.source = d.source AND i.state IN ('queued', 'running')
                      AND i.phase = 'store' AND i.position > d.position
                    ORDER BY i.position DESC LIMIT 1) AS waiting
               FROM document d WHERE d.tenant_id = $1 AND d.document_id = $2"#,
            tenant.0,
            document,
        )
        .fetch_optional(&mut *transaction)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let item = make(Replaceable {
            source: row.source,
            uri: row.uri,
            given_title: row.given_title,
            media_type: row.media_type,
            metadata: row.metadata,
            waiting: row.waiting,
        });
        let new = NewItems { items: vec![item], refused: Vec::new(), receiving_until: None };
        insert_job(transaction, tenant, job, new).await.map(Some)
    }
}
