//! Documents that are split again: the change of settings that asks for it, and what is stored of them.

use serde_json::Value;
use sqlx::types::Json;
use time::OffsetDateTime;
use uuid::Uuid;

use super::{CollectionSettings, FetchRecord, Store, StoreError, reembed};
use crate::domain::{
    contextual::Contextual, fingerprint::Hash, identity::TenantId, job::JobKind, split::SplitterSettings,
};

/// What of a collection's settings is to change.
#[derive(Clone, Copy, Debug, Default)]
pub struct SettingsChange {
    /// How its documents are split.
    pub splitter: Option<SplitterSettings>,
    /// How sentences are written that say how a chunk relates to its document; `Some(None)` for no more of them.
    pub context: Option<Option<Contextual>>,
}

/// What became of the wish to split a collection again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResplitOutcome {
    /// A job does it; the settings are changed.
    Queued,
    /// This job is at it.
    IsRunning(Uuid),
    /// The collection is gone.
    CollectionGone,
}

/// A stored document with what it was made of.
#[derive(Clone, Debug)]
pub struct StoredDocument {
    /// Identity.
    pub id: Uuid,
    /// Its version.
    pub version: i32,
    /// Place in the queue of the upload that it came with.
    pub position: i64,
    /// Caller's own name.
    pub source: String,
    /// Where it was read from.
    pub uri: String,
    /// How it came.
    pub loader: String,
    /// When it was handed in or fetched.
    pub fetched_at: OffsetDateTime,
    /// If it was fetched.
    pub fetch: Option<FetchRecord>,
    /// SHA-256 of its bytes.
    pub content_hash: Hash,
    /// Everything that decided the stored result.
    pub fingerprint: Hash,
    /// Media type by its content.
    pub media_type: String,
    /// Caller's own object.
    pub metadata: Value,
    /// Extracted text.
    pub text: String,
    /// What splitting needs beside the text; none in documents of earlier versions of the service.
    pub layout: Option<Value>,
}

impl Store {
    /// Changes settings of a collection and queues a job of all its documents that splits them again.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing changed then.
    pub async fn begin_resplitting(
        &self,
        tenant: TenantId,
        collection: (Uuid, &str),
        change: SettingsChange,
        (job, payload): (Uuid, Value),
        now: OffsetDateTime,
    ) -> Result<ResplitOutcome, StoreError> {
        let mut transaction = self.begin(tenant).await?;
        if reembed::lock(&mut transaction, tenant, collection.0).await?.is_none() {
            return Ok(ResplitOutcome::CollectionGone);
        }
        let running = sqlx::query_scalar!(
            "SELECT job_id FROM job WHERE tenant_id = $1 AND collection_id = $2 AND kind = 'resplit' AND finished_at IS NULL",
            tenant.0,
            collection.0
        )
        .fetch_optional(&mut *transaction)
        .await?;
        if let Some(running) = running {
            return Ok(ResplitOutcome::IsRunning(running));
        }
        sqlx::query!(
            "UPDATE collection SET splitter = COALESCE($3, splitter), context = CASE WHEN $4 THEN $5 ELSE context END
             WHERE tenant_id = $1 AND collection_id = $2",
            tenant.0,
            collection.0,
            change.splitter.map(Json) as Option<Json<SplitterSettings>>,
            change.context.is_some(),
            change.context.flatten().map(Json) as Option<Json<Contextual>>,
        )
        .execute(&mut *transaction)
        .await?;
        reembed::queue_stored(&mut transaction, tenant, collection, JobKind::Resplit, (job, payload), now).await?;
        transaction.commit().await?;
        Ok(ResplitOutcome::Queued)
    }

    /// The documents of these sources of a collection.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn stored_documents(
        &self,
        tenant: TenantId,
        collection: Uuid,
        sources: &[String],
    ) -> Result<Vec<StoredDocument>, StoreError> {
        let mut transaction = self.begin(tenant).await?;
        let rows = sqlx::query!(
            "SELECT document_id, version, position, source, uri, loader, fetched_at, etag, last_modified, request_hash, content_hash,
                    fingerprint, media_type, metadata, text, layout
             FROM document WHERE tenant_id = $1 AND collection_id = $2 AND source = ANY ($3)",
            tenant.0,
            collection,
            sources
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        let hash = |bytes: Vec<u8>| {
            Hash::try_from(bytes).map_err(|_| StoreError::Inconsistent("a hash of a document is no SHA-256".to_owned()))
        };
        rows.into_iter()
            .map(|row| {
                let fetched =
                    |request_hash| FetchRecord { etag: row.etag, last_modified: row.last_modified, request_hash };
                Ok(StoredDocument {
                    id: row.document_id,
                    version: row.version,
                    position: row.position,
                    source: row.source,
                    uri: row.uri,
                    loader: row.loader,
                    fetched_at: row.fetched_at,
                    fetch: row.request_hash.map(hash).transpose()?.map(fetched),
                    content_hash: hash(row.content_hash)?,
                    fingerprint: hash(row.fingerprint)?,
                    media_type: row.media_type,
                    metadata: row.metadata,
                    text: row.text,
                    layout: row.layout,
                })
            })
            .collect()
    }
}

impl CollectionSettings {
    /// These with a change.
    #[must_use]
    pub fn changed(self, change: SettingsChange) -> Self {
        Self {
            splitter: change.splitter.unwrap_or(self.splitter),
            context: change.context.unwrap_or(self.context),
            ..self
        }
    }
}
