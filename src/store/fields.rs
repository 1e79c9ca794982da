//! The look-up rows of documents' metadata.

use sqlx::{Postgres, Transaction};
use uuid::Uuid;

use super::StoreError;
use crate::domain::identity::TenantId;

/// Writes the rows of the documents' metadata as it is now, in place of those that there were.
pub(super) async fn replace(
    transaction: &mut Transaction<'static, Postgres>,
    tenant: TenantId,
    documents: &[Uuid],
) -> Result<(), StoreError> {
    sqlx::query!(
        "WITH outdated AS (DELETE FROM document_field WHERE tenant_id = $1 AND document_id = ANY ($2))
         INSERT INTO document_field (tenant_id, collection_id, document_id, key, number, text)
         SELECT d.tenant_id, d.collection_id, d.document_id, f.key, f.number, f.text
         FROM document d CROSS JOIN LATERAL metadata_fields(d.metadata) f
         WHERE d.tenant_id = $1 AND d.document_id = ANY ($2)",
        tenant.0,
        documents,
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}
