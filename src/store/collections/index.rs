//! The indexes of a collection: the active one, which is searched, and at most one next to it, which is being built
//! with other settings or was active before.
//!
//! A transaction that changes the indexes locks the collection exclusively. A transaction that stores documents holds
//! the lock shared, and queues those documents for the next index in the same transaction. So no document is missed
//! between the two.

use serde_json::Value;
use sqlx::types::Json;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{
    contextual::Contextual,
    identity::{EmbeddingProfile, TenantId},
    security_event::SecurityEvent,
    split::SplitterSettings,
};
use crate::store::{
    Collection, CollectionSettings, Collections, CommitBatch, ProfileId, StoreError, Tx,
    collections::build_jobs::{BuildJob, queue_build},
    collections::lock,
    security_events::record,
};

/// An index of a collection, with its settings and counts.
#[derive(Clone, Debug)]
pub(crate) struct CollectionIndex {
    /// Identity.
    pub(crate) id: Uuid,
    /// Whether it is the active index, which is searched.
    pub(crate) is_active: bool,
    /// How documents are split in it.
    pub(crate) splitter: SplitterSettings,
    /// How to write the sentences that relate a chunk to its document; `None` writes none.
    pub(crate) context: Option<Contextual>,
    /// The vector space of its chunks.
    pub(crate) profile: EmbeddingProfile,
    /// Id of that vector space in this database.
    pub(crate) profile_id: ProfileId,
    /// Number of documents that it has in their current version.
    pub(crate) documents: u64,
    /// Its chunks.
    pub(crate) chunks: u64,
    /// Number of those chunks that have no vector yet.
    pub(crate) unembedded_chunks: u64,
    /// Latest job that was queued to build it from stored documents.
    pub(crate) job: Option<Uuid>,
    /// When it was created.
    pub(crate) created_at: OffsetDateTime,
}

/// Settings in which the next index differs from the active one; `None` keeps a setting.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IndexChange {
    /// How to split its documents.
    pub(crate) splitter: Option<SplitterSettings>,
    /// How to write the sentences that relate a chunk to its document; `Some(None)` stops writing them.
    #[expect(clippy::option_option, reason = "kept, turned off, or set: the form of a change to any optional setting")]
    pub(crate) context: Option<Option<Contextual>>,
    /// Its vector space.
    pub(crate) profile: Option<ProfileId>,
}

/// An index to build: created under `id` unless the collection already has one next to the active one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewIndex<'a> {
    /// Identity to create it with.
    pub(crate) id: Uuid,
    /// Its collection.
    pub(crate) collection: Uuid,
    /// Name of the collection.
    pub(crate) collection_name: &'a str,
    /// How it differs from the active one.
    pub(crate) change: IndexChange,
    /// The job that builds it.
    pub(crate) job: Uuid,
    /// Content of the items of that job.
    pub(crate) payload: &'a Value,
    /// Time of the request.
    pub(crate) now: OffsetDateTime,
}

/// Result of a request to build an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BuildOutcome {
    /// The job was queued to build this index.
    Queued(Uuid),
    /// This job is building the index already.
    IsBuilding(Uuid),
    /// There already is an index with other settings next to the active one.
    HasAnother(Uuid),
    /// The collection does not exist any more.
    CollectionGone,
}

impl Collections<'_> {
    /// Creates the next index of a collection, unless it exists, and queues a job that builds it from all documents; `event`
    /// makes the event that records it, by the index.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing changed then.
    pub(crate) async fn build_index(
        &self,
        tenant: TenantId,
        new: &NewIndex<'_>,
        event: impl FnOnce(Uuid) -> SecurityEvent + Send,
    ) -> Result<BuildOutcome, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        if lock::lock_exclusive(&mut transaction, tenant, new.collection).await?.is_none() {
            return Ok(BuildOutcome::CollectionGone);
        }
        let index = match next_index(&mut transaction, tenant, new.collection).await? {
            Some(NextIndex { building: Some(job), .. }) => return Ok(BuildOutcome::IsBuilding(job)),
            Some(next) if next.differs(&new.change) => return Ok(BuildOutcome::HasAnother(next.id)),
            Some(next) => {
                set_job(&mut transaction, tenant, next.id, new.job).await?;
                next.id
            }
            None => {
                insert(&mut transaction, tenant, new).await?;
                new.id
            }
        };
        let job = BuildJob {
            id: new.job,
            collection: new.collection,
            collection_name: new.collection_name,
            payload: new.payload,
            now: new.now,
        };
        queue_build(&mut transaction, tenant, &job, None).await?;
        record(&mut transaction, &event(index)).await?;
        transaction.commit().await?;
        Ok(BuildOutcome::Queued(index))
    }

    /// Returns a collection with its next index in place of the active one, and the settings of that index.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn collection_with_next_index(
        &self,
        tenant: TenantId,
        collection: &Collection,
    ) -> Result<Option<(Collection, CollectionSettings)>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let next = next_index(&mut transaction, tenant, collection.id).await?;
        transaction.commit().await?;
        Ok(next.map(|next| {
            let NextIndex { id, splitter, context, profile_id, profile, .. } = next;
            let (language, indexing) = (collection.language, collection.indexing);
            let settings = CollectionSettings { splitter, language, context, indexing };
            (Collection { index: id, profile_id, profile, ..collection.clone() }, settings)
        }))
    }

    /// Returns the indexes of a collection, the active one first.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn indexes(&self, tenant: TenantId, collection: Uuid) -> Result<Vec<CollectionIndex>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let rows = sqlx::query!(
            r#"SELECT i.index_id, i.splitter AS "splitter: Json<SplitterSettings>", i.context AS "context: Json<Contextual>",
                      i.profile_id, p.model, p.dimension, i.job_id, i.created_at, c.index_id = i.index_id AS "is_active!",
                      s.chunks, s.unembedded_chunks, CASE WHEN c.index_id = i.index_id THEN s.documents ELSE
                          (SELECT count(*) FROM document_index o JOIN document d USING (tenant_id, document_id, version)
                           WHERE o.tenant_id = $1 AND o.index_id = i.index_id) END AS "documents!"
               FROM collection_index i
               JOIN collection c USING (tenant_id, collection_id)
               JOIN embedding_profile p USING (profile_id)
               JOIN index_statistic s ON s.tenant_id = i.tenant_id AND s.index_id = i.index_id
               WHERE i.tenant_id = $1 AND i.collection_id = $2 ORDER BY 9 DESC, i.created_at"#,
            tenant.0,
            collection
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(rows
            .into_iter()
            .map(|row| CollectionIndex {
                id: row.index_id,
                is_active: row.is_active,
                splitter: row.splitter.0,
                context: row.context.map(|context| context.0),
                profile: EmbeddingProfile { model: row.model, dimension: usize::try_from(row.dimension).unwrap_or(0) },
                profile_id: ProfileId(row.profile_id),
                documents: row.documents.unsigned_abs(),
                chunks: row.chunks.unsigned_abs(),
                unembedded_chunks: row.unembedded_chunks.unsigned_abs(),
                job: row.job_id,
                created_at: row.created_at,
            })
            .collect())
    }
}

/// The index next to the active one, with the fields that are needed to build it.
struct NextIndex {
    id: Uuid,
    splitter: SplitterSettings,
    context: Option<Contextual>,
    profile_id: ProfileId,
    profile: EmbeddingProfile,
    /// The job that was queued to build it, if that job has not ended.
    building: Option<Uuid>,
}

impl NextIndex {
    /// Returns whether its settings differ from the requested ones.
    fn differs(&self, change: &IndexChange) -> bool {
        change.splitter.is_some_and(|splitter| splitter != self.splitter)
            || change.context.is_some_and(|context| context != self.context)
            || change.profile.is_some_and(|profile| profile != self.profile_id)
    }
}

async fn next_index(transaction: &mut Tx, tenant: TenantId, collection: Uuid) -> Result<Option<NextIndex>, StoreError> {
    let row = sqlx::query!(
        r#"SELECT i.index_id, i.splitter AS "splitter: Json<SplitterSettings>", i.context AS "context: Json<Contextual>",
                  i.profile_id, p.model, p.dimension, j.job_id AS "building?"
           FROM collection_index i
           JOIN collection c ON c.tenant_id = i.tenant_id AND c.collection_id = i.collection_id AND c.index_id <> i.index_id
           JOIN embedding_profile p USING (profile_id)
           LEFT JOIN (SELECT job_id FROM job WHERE tenant_id = $1 AND finished_at IS NULL) j ON j.job_id = i.job_id
           WHERE i.tenant_id = $1 AND i.collection_id = $2"#,
        tenant.0,
        collection
    )
    .fetch_optional(&mut **transaction)
    .await?;
    Ok(row.map(|row| NextIndex {
        id: row.index_id,
        splitter: row.splitter.0,
        context: row.context.map(|context| context.0),
        profile_id: ProfileId(row.profile_id),
        profile: EmbeddingProfile { model: row.model, dimension: usize::try_from(row.dimension).unwrap_or(0) },
        building: row.building,
    }))
}

async fn set_job(transaction: &mut Tx, tenant: TenantId, index: Uuid, job: Uuid) -> Result<(), StoreError> {
    sqlx::query!(
        "UPDATE collection_index SET job_id = $3 WHERE tenant_id = $1 AND index_id = $2",
        tenant.0,
        index,
        job
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

async fn insert(transaction: &mut Tx, tenant: TenantId, new: &NewIndex<'_>) -> Result<(), StoreError> {
    let IndexChange { splitter, context, profile } = new.change;
    sqlx::query!(
        "INSERT INTO collection_index (tenant_id, index_id, collection_id, splitter, context, profile_id, job_id, created_at)
         SELECT c.tenant_id, $3, $2, COALESCE($4, i.splitter), CASE WHEN $5 THEN $6 ELSE i.context END, COALESCE($7, i.profile_id), $8, $9
         FROM collection c JOIN collection_index i USING (tenant_id, index_id) WHERE c.tenant_id = $1 AND c.collection_id = $2",
        tenant.0,
        new.collection,
        new.id,
        splitter.map(Json) as Option<Json<SplitterSettings>>,
        context.is_some(),
        context.flatten().map(Json) as Option<Json<Contextual>>,
        profile.map(|profile| profile.0),
        new.job,
        new.now,
    )
    .execute(&mut **transaction)
    .await?;
    sqlx::query!("INSERT INTO index_statistic (tenant_id, index_id) VALUES ($1, $2)", tenant.0, new.id)
        .execute(&mut **transaction)
        .await?;
    Ok(())
}

/// Queues the documents that were just stored in the active index for the next index, if there is one.
pub(in crate::store) async fn queue_for_next(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
    documents: &[Uuid],
) -> Result<(), StoreError> {
    if documents.is_empty() || next_index(transaction, batch.tenant, batch.collection.id).await?.is_none() {
        return Ok(());
    }
    let job = BuildJob {
        id: batch.follow_up.job,
        collection: batch.collection.id,
        collection_name: &batch.collection.name,
        payload: batch.follow_up.payload,
        now: batch.now,
    };
    queue_build(transaction, batch.tenant, &job, Some(documents)).await
}
