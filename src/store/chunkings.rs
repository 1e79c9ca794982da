//! The chunkings of a collection: one that is searched, and at most one beside it, which is being made with other settings
//! or was searched before.
//!
//! Whoever changes them locks the collection; whoever stores documents holds it shared, and has what is stored split
//! by the one beside as well. So no document is left out between the two.

use serde_json::Value;
use sqlx::{Postgres, Transaction, types::Json};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{
    Collection, CollectionSettings, CommitBatch, SettingsChange, Store, StoreError,
    reembed::{self, queue_stored},
    turn,
};
use crate::domain::{contextual::Contextual, identity::TenantId, job::JobKind, split::SplitterSettings};

type Tx = Transaction<'static, Postgres>;

/// A chunking beside the active one.
#[derive(Clone, Debug)]
pub struct Chunking {
    /// Identity.
    pub id: Uuid,
    /// Its collection.
    pub collection: Uuid,
    /// How documents are split in it.
    pub splitter: SplitterSettings,
    /// How sentences are written that say how a chunk relates to its document; `None` writes none.
    pub context: Option<Contextual>,
    /// Documents that are in it as they are now.
    pub documents: u64,
    /// Its chunks.
    pub chunks: u64,
    /// Latest job that fills it with stored documents.
    pub job: Option<Uuid>,
    /// When it was made.
    pub created_at: OffsetDateTime,
}

/// What became of the wish to split a collection again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResplitOutcome {
    /// A job does it.
    Queued,
    /// This job is at it.
    IsRunning(Uuid),
    /// There is a chunking with other settings beside the active one.
    HasAnother(Uuid),
    /// There are vectors of another model beside the active ones.
    HasProfiles,
    /// The collection is gone.
    CollectionGone,
}

impl Store {
    /// Makes a chunking with changed settings beside the active one, unless it is there, and queues a job of all
    /// documents that fills it.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing changed then.
    pub async fn begin_resplitting(
        &self,
        tenant: TenantId,
        collection: (Uuid, &str),
        (new, change): (Uuid, SettingsChange),
        (job, payload): (Uuid, Value),
        now: OffsetDateTime,
    ) -> Result<ResplitOutcome, StoreError> {
        let mut transaction = self.begin(tenant).await?;
        if turn::alone(&mut transaction, tenant, collection.0).await?.is_none() {
            return Ok(ResplitOutcome::CollectionGone);
        }
        if !reembed::companions(&mut transaction, tenant, collection.0).await?.is_empty() {
            return Ok(ResplitOutcome::HasProfiles);
        }
        if let Some(beside) = beside(&mut transaction, tenant, collection.0).await? {
            if let Some(running) = beside.running {
                return Ok(ResplitOutcome::IsRunning(running));
            }
            if change.splitter.is_some_and(|splitter| splitter != beside.splitter)
                || change.context.is_some_and(|context| context != beside.context)
            {
                return Ok(ResplitOutcome::HasAnother(beside.id));
            }
            sqlx::query!(
                "UPDATE chunking SET job_id = $3 WHERE tenant_id = $1 AND chunking_id = $2",
                tenant.0,
                beside.id,
                job
            )
            .execute(&mut *transaction)
            .await?;
        } else {
            insert(&mut transaction, tenant, collection.0, (new, change), job, now).await?;
        }
        queue_stored(&mut transaction, tenant, (collection, None), JobKind::Resplit, (job, &payload), now).await?;
        transaction.commit().await?;
        Ok(ResplitOutcome::Queued)
    }

    /// The chunking beside the active one, as what a collection with these settings would be if it were the active one.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn collection_beside(
        &self,
        tenant: TenantId,
        collection: &Collection,
    ) -> Result<Option<(Collection, CollectionSettings)>, StoreError> {
        let mut transaction = self.begin(tenant).await?;
        let beside = beside(&mut transaction, tenant, collection.id).await?;
        transaction.commit().await?;
        Ok(beside.map(|beside| {
            let (language, indexing) = (collection.language, collection.indexing);
            let settings =
                CollectionSettings { splitter: beside.splitter, language, indexing, context: beside.context };
            let average_length = beside.average_length;
            (Collection { chunking: beside.id, average_length, ..collection.clone() }, settings)
        }))
    }

    /// The chunkings of these collections beside the active ones, with what is in them.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn describe_chunkings(
        &self,
        tenant: TenantId,
        collections: &[Uuid],
    ) -> Result<Vec<Chunking>, StoreError> {
        let mut transaction = self.begin(tenant).await?;
        let rows = sqlx::query!(
            r#"SELECT k.chunking_id, k.collection_id, k.splitter AS "splitter: Json<SplitterSettings>",
                      k.context AS "context: Json<Contextual>", k.job_id, k.created_at, COALESCE(s.chunks, 0) AS "chunks!",
                      (SELECT count(*) FROM document_chunking o JOIN document d USING (tenant_id, document_id, version)
                       WHERE o.tenant_id = k.tenant_id AND o.chunking_id = k.chunking_id) AS "documents!"
               FROM chunking k
               JOIN collection c ON c.tenant_id = k.tenant_id AND c.collection_id = k.collection_id AND c.chunking_id <> k.chunking_id
               LEFT JOIN chunking_statistic s ON s.tenant_id = k.tenant_id AND s.chunking_id = k.chunking_id
               WHERE k.tenant_id = $1 AND k.collection_id = ANY ($2) ORDER BY k.created_at, k.chunking_id"#,
            tenant.0,
            collections
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(rows
            .into_iter()
            .map(|row| Chunking {
                id: row.chunking_id,
                collection: row.collection_id,
                splitter: row.splitter.0,
                context: row.context.map(|context| context.0),
                documents: row.documents.unsigned_abs(),
                chunks: row.chunks.unsigned_abs(),
                job: row.job_id,
                created_at: row.created_at,
            })
            .collect())
    }
}

/// A chunking beside the active one, as whoever fills it needs it.
pub(super) struct Beside {
    pub(super) id: Uuid,
    splitter: SplitterSettings,
    context: Option<Contextual>,
    average_length: f32,
    /// The job that fills it, if it has not ended.
    running: Option<Uuid>,
}

pub(super) async fn beside(
    transaction: &mut Tx,
    tenant: TenantId,
    collection: Uuid,
) -> Result<Option<Beside>, StoreError> {
    let row = sqlx::query!(
        r#"SELECT k.chunking_id, k.splitter AS "splitter: Json<SplitterSettings>", k.context AS "context: Json<Contextual>",
                  k.average_length,
                  (SELECT j.job_id FROM job j WHERE j.tenant_id = k.tenant_id AND j.job_id = k.job_id AND j.finished_at IS NULL) AS running
           FROM chunking k
           JOIN collection c ON c.tenant_id = k.tenant_id AND c.collection_id = k.collection_id AND c.chunking_id <> k.chunking_id
           WHERE k.tenant_id = $1 AND k.collection_id = $2"#,
        tenant.0,
        collection
    )
    .fetch_optional(&mut **transaction)
    .await?;
    Ok(row.map(|row| Beside {
        id: row.chunking_id,
        splitter: row.splitter.0,
        context: row.context.map(|context| context.0),
        average_length: row.average_length,
        running: row.running,
    }))
}

async fn insert(
    transaction: &mut Tx,
    tenant: TenantId,
    collection: Uuid,
    (new, change): (Uuid, SettingsChange),
    job: Uuid,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    sqlx::query!(
        "WITH made AS (
             INSERT INTO chunking (tenant_id, chunking_id, collection_id, splitter, context, job_id, created_at)
             SELECT $1, $3, $2, COALESCE($4, k.splitter), CASE WHEN $5 THEN $6 ELSE k.context END, $7, $8
             FROM collection c JOIN chunking k USING (tenant_id, chunking_id) WHERE c.tenant_id = $1 AND c.collection_id = $2
             RETURNING tenant_id, chunking_id)
         INSERT INTO chunking_statistic (tenant_id, chunking_id) SELECT tenant_id, chunking_id FROM made",
        tenant.0,
        collection,
        new,
        change.splitter.map(Json) as Option<Json<SplitterSettings>>,
        change.context.is_some(),
        change.context.flatten().map(Json) as Option<Json<Contextual>>,
        job,
        now,
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

/// Queues what was just stored to be split by the chunking beside the active one, if there is one.
pub(super) async fn follow(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
    documents: &[Uuid],
) -> Result<(), StoreError> {
    if documents.is_empty() || beside(transaction, batch.tenant, batch.collection.id).await?.is_none() {
        return Ok(());
    }
    let of = ((batch.collection.id, batch.collection.name.as_str()), Some(documents));
    let (job, payload) = batch.follow_up;
    queue_stored(transaction, batch.tenant, of, JobKind::Resplit, (job, payload), batch.now).await
}
