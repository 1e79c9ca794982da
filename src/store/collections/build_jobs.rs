//! Jobs that build an index from stored documents: an item for each document, without content.

use serde_json::Value;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{identity::TenantId, job::JobKind};
use crate::store::{StoreError, Tx};

/// A job that builds the next index of a collection.
pub(in crate::store) struct BuildJob<'a> {
    pub(in crate::store) id: Uuid,
    pub(in crate::store) collection: Uuid,
    pub(in crate::store) collection_name: &'a str,
    /// Payload of its items.
    pub(in crate::store) payload: &'a Value,
    pub(in crate::store) now: OffsetDateTime,
}

/// Queues a job with one item for each stored document of the collection, or only for `documents` if given. A job
/// without items succeeds at once.
pub(in crate::store) async fn queue_build(
    transaction: &mut Tx,
    tenant: TenantId,
    job: &BuildJob<'_>,
    documents: Option<&[Uuid]>,
) -> Result<(), StoreError> {
    sqlx::query!(
        "WITH size AS (SELECT count(*)::int AS items, COALESCE(sum(octet_length(text)), 0)::bigint AS bytes
                       FROM document WHERE tenant_id = $1 AND collection_id = $3
                           AND document_id = ANY (COALESCE($7, ARRAY(SELECT document_id FROM document WHERE tenant_id = $1 AND collection_id = $3)))),
         made AS (
             INSERT INTO job (tenant_id, job_id, collection_id, collection_name, kind, items, bytes, created_at, state, finished_at)
             SELECT $1, $2, $3, $4, $6, items, bytes, $5::timestamptz,
                    CASE WHEN items = 0 THEN 'succeeded' ELSE 'queued' END, CASE WHEN items = 0 THEN $5::timestamptz END
             FROM size RETURNING tenant_id, job_id)
         INSERT INTO job_tally (tenant_id, job_id) SELECT tenant_id, job_id FROM made",
        tenant.0,
        job.id,
        job.collection,
        job.collection_name,
        job.now,
        JobKind::Index.as_str(),
        documents
    )
    .execute(&mut **transaction)
    .await?;
    // Content is empty rather than null, so that failed items can be retried.
    sqlx::query!(
        "INSERT INTO job_item (tenant_id, job_id, ordinal, source, payload, content, content_bytes, state, available_at)
         SELECT $1, $2, row_number() OVER (ORDER BY document_id) - 1, source, $4, '', octet_length(text), 'queued', $5
         FROM document WHERE tenant_id = $1 AND collection_id = $3
             AND document_id = ANY (COALESCE($6, ARRAY(SELECT document_id FROM document WHERE tenant_id = $1 AND collection_id = $3)))
         ORDER BY document_id",
        tenant.0,
        job.id,
        job.collection,
        job.payload,
        job.now,
        documents
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}
