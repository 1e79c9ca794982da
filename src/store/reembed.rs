//! Further vector spaces of a collection: begun, filled, made the active one, dropped.
//!
//! Whoever changes the spaces of a collection locks its row; whoever stores documents holds it shared, and stores a
//! vector in each space that there is then. So no document is left out between the two.

use serde_json::Value;
use sqlx::{Postgres, Transaction};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{
    ProfileId, Store, StoreError, chunkings,
    turn::{self, Active},
};
use crate::domain::{
    identity::{EmbeddingProfile, TenantId},
    job::JobKind,
};

type Tx = Transaction<'static, Postgres>;

/// A space beside the active one.
#[derive(Clone, Debug)]
pub struct Companion {
    /// Its collection.
    pub collection: Uuid,
    /// The space in this database.
    pub profile_id: ProfileId,
    /// The space.
    pub profile: EmbeddingProfile,
    /// Chunks that have a vector in it.
    pub vectors: u64,
    /// Latest job that fills it.
    pub job: Option<Uuid>,
}

/// What became of the wish to fill a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReembedOutcome {
    /// A job does it.
    Queued,
    /// It is the active one.
    IsActive,
    /// This job is at it.
    IsRunning(Uuid),
    /// The collection has another chunking beside the active one.
    HasChunking(Uuid),
    /// The collection is gone.
    CollectionGone,
}

/// What became of the wish to make a space, or a chunking, the active one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutOverOutcome {
    /// Queries use it from now on; the one before is kept.
    Done,
    /// It is the active one.
    IsActive,
    /// The collection has no such space or chunking.
    NotThere,
    /// So many chunks have no vector in the space, or so many documents no chunks as they are now; nothing was changed.
    Incomplete(u64),
}

/// What became of the wish to drop a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropOutcome {
    /// So many vectors went; with the latest job that filled it.
    Dropped(u64, Option<Uuid>),
    /// It is the active one.
    IsActive,
    /// The collection has no such space.
    NotThere,
}

impl Store {
    /// Adds a space to a collection and queues a job of all documents that fills it.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing changed then.
    pub async fn begin_reembedding(
        &self,
        tenant: TenantId,
        collection: (Uuid, &str),
        profile: ProfileId,
        (job, payload): (Uuid, Value),
        now: OffsetDateTime,
    ) -> Result<ReembedOutcome, StoreError> {
        let mut transaction = self.begin(tenant).await?;
        match turn::alone(&mut transaction, tenant, collection.0).await? {
            None => return Ok(ReembedOutcome::CollectionGone),
            Some(active) if active.profile == profile => return Ok(ReembedOutcome::IsActive),
            Some(_) => {}
        }
        if let Some(beside) = chunkings::beside(&mut transaction, tenant, collection.0).await? {
            return Ok(ReembedOutcome::HasChunking(beside.id));
        }
        let running = sqlx::query_scalar!(
            "SELECT j.job_id FROM collection_profile p JOIN job j USING (tenant_id, job_id)
             WHERE p.tenant_id = $1 AND p.collection_id = $2 AND p.profile_id = $3 AND j.finished_at IS NULL",
            tenant.0,
            collection.0,
            profile.0
        )
        .fetch_optional(&mut *transaction)
        .await?;
        if let Some(running) = running {
            return Ok(ReembedOutcome::IsRunning(running));
        }
        sqlx::query!(
            "INSERT INTO collection_profile (tenant_id, collection_id, profile_id, job_id, created_at) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (tenant_id, collection_id, profile_id) DO UPDATE SET job_id = EXCLUDED.job_id",
            tenant.0,
            collection.0,
            profile.0,
            job,
            now
        )
        .execute(&mut *transaction)
        .await?;
        queue_stored(&mut transaction, tenant, (collection, None), JobKind::Reembed, (job, &payload), now).await?;
        transaction.commit().await?;
        Ok(ReembedOutcome::Queued)
    }

    /// The spaces of a collection beside the active one.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn companions(&self, tenant: TenantId, collection: Uuid) -> Result<Vec<ProfileId>, StoreError> {
        let mut transaction = self.begin(tenant).await?;
        let companions = companions(&mut transaction, tenant, collection).await?;
        transaction.commit().await?;
        Ok(companions)
    }

    /// The spaces of these collections beside the active ones, with what is in them.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn describe_companions(
        &self,
        tenant: TenantId,
        collections: &[Uuid],
    ) -> Result<Vec<Companion>, StoreError> {
        let mut transaction = self.begin(tenant).await?;
        let rows = sqlx::query!(
            r#"SELECT c.collection_id, c.profile_id, c.job_id, p.model, p.dimension,
                      (SELECT count(*) FROM chunk_embedding e WHERE e.tenant_id = c.tenant_id
                           AND e.chunking_id = l.chunking_id AND e.profile_id = c.profile_id) AS "vectors!"
               FROM collection_profile c JOIN collection l USING (tenant_id, collection_id) JOIN embedding_profile p ON p.profile_id = c.profile_id
               WHERE c.tenant_id = $1 AND c.collection_id = ANY ($2) ORDER BY c.created_at, c.profile_id"#,
            tenant.0,
            collections
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(rows
            .into_iter()
            .map(|row| Companion {
                collection: row.collection_id,
                profile_id: ProfileId(row.profile_id),
                profile: EmbeddingProfile { model: row.model, dimension: usize::try_from(row.dimension).unwrap_or(0) },
                vectors: row.vectors.unsigned_abs(),
                job: row.job_id,
            })
            .collect())
    }

    /// Makes a complete space of a collection the active one, in one transaction; the one before is kept beside it.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing changed then.
    pub async fn cut_over(
        &self,
        tenant: TenantId,
        collection: Uuid,
        profile: ProfileId,
        now: OffsetDateTime,
    ) -> Result<CutOverOutcome, StoreError> {
        let mut transaction = self.begin(tenant).await?;
        let Some(Active { profile: active, .. }) = turn::alone(&mut transaction, tenant, collection).await? else {
            return Ok(CutOverOutcome::NotThere);
        };
        if active == profile {
            return Ok(CutOverOutcome::IsActive);
        }
        if !companions(&mut transaction, tenant, collection).await?.contains(&profile) {
            return Ok(CutOverOutcome::NotThere);
        }
        let bare = sqlx::query_scalar!(
            r#"SELECT count(*) AS "bare!" FROM collection l JOIN chunk c USING (tenant_id, chunking_id)
               WHERE l.tenant_id = $1 AND l.collection_id = $2
                 AND NOT EXISTS (SELECT FROM chunk_embedding e WHERE e.tenant_id = c.tenant_id AND e.document_id = c.document_id
                     AND (e.chunking_id = c.chunking_id) IS TRUE AND e.ordinal = c.ordinal AND e.profile_id = $3)"#,
            tenant.0,
            collection,
            profile.0
        )
        .fetch_one(&mut *transaction)
        .await?;
        if bare > 0 {
            return Ok(CutOverOutcome::Incomplete(bare.unsigned_abs()));
        }
        sqlx::query!(
            "WITH gone AS (DELETE FROM collection_profile WHERE tenant_id = $1 AND collection_id = $2 AND profile_id = $3),
             kept AS (INSERT INTO collection_profile (tenant_id, collection_id, profile_id, created_at) VALUES ($1, $2, $4, $5)),
             -- Nothing is missing in the new one, whatever was in the one before.
             whole AS (UPDATE document SET bare_chunks = 0 WHERE tenant_id = $1 AND collection_id = $2 AND bare_chunks > 0),
             counted AS (UPDATE chunking_statistic s SET bare_chunks = 0 FROM collection c
                 WHERE c.tenant_id = $1 AND c.collection_id = $2 AND s.tenant_id = c.tenant_id AND s.chunking_id = c.chunking_id)
             UPDATE collection SET profile_id = $3 WHERE tenant_id = $1 AND collection_id = $2",
            tenant.0,
            collection,
            profile.0,
            active.0,
            now
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(CutOverOutcome::Done)
    }

    /// Drops a space that is not the active one, with its vectors.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing changed then.
    pub async fn drop_companion(
        &self,
        tenant: TenantId,
        collection: Uuid,
        profile: ProfileId,
    ) -> Result<DropOutcome, StoreError> {
        let mut transaction = self.begin(tenant).await?;
        match turn::alone(&mut transaction, tenant, collection).await? {
            Some(active) if active.profile == profile => return Ok(DropOutcome::IsActive),
            _ => {}
        }
        let row = sqlx::query!(
            "DELETE FROM collection_profile WHERE tenant_id = $1 AND collection_id = $2 AND profile_id = $3 RETURNING job_id",
            tenant.0,
            collection,
            profile.0
        )
        .fetch_optional(&mut *transaction)
        .await?;
        let Some(row) = row else { return Ok(DropOutcome::NotThere) };
        let vectors = sqlx::query!(
            "DELETE FROM chunk_embedding e USING collection c
             WHERE c.tenant_id = $1 AND c.collection_id = $2 AND e.tenant_id = c.tenant_id AND e.chunking_id = c.chunking_id
               AND e.profile_id = $3",
            tenant.0,
            collection,
            profile.0
        )
        .execute(&mut *transaction)
        .await?
        .rows_affected();
        transaction.commit().await?;
        Ok(DropOutcome::Dropped(vectors, row.job_id))
    }
}

/// Queues a job with an item for each stored document of a collection, or for some of them.
pub(super) async fn queue_stored(
    transaction: &mut Tx,
    tenant: TenantId,
    (collection, documents): ((Uuid, &str), Option<&[Uuid]>),
    kind: JobKind,
    (job, payload): (Uuid, &Value),
    now: OffsetDateTime,
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
        job,
        collection.0,
        collection.1,
        now,
        kind.as_str(),
        documents
    )
    .execute(&mut **transaction)
    .await?;
    // Content is empty and not null: what failed can be retried.
    sqlx::query!(
        "INSERT INTO job_item (tenant_id, job_id, ordinal, source, payload, content, content_bytes, state, available_at)
         SELECT $1, $2, row_number() OVER (ORDER BY document_id) - 1, source, $4, '', octet_length(text), 'queued', $5
         FROM document WHERE tenant_id = $1 AND collection_id = $3
             AND document_id = ANY (COALESCE($6, ARRAY(SELECT document_id FROM document WHERE tenant_id = $1 AND collection_id = $3)))
         ORDER BY document_id",
        tenant.0,
        job,
        collection.0,
        payload,
        now,
        documents
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

/// The spaces of a collection beside the active one, in order.
pub(super) async fn companions(
    transaction: &mut Tx,
    tenant: TenantId,
    collection: Uuid,
) -> Result<Vec<ProfileId>, StoreError> {
    let profiles = sqlx::query_scalar!(
        "SELECT profile_id FROM collection_profile WHERE tenant_id = $1 AND collection_id = $2 ORDER BY profile_id",
        tenant.0,
        collection
    )
    .fetch_all(&mut **transaction)
    .await?;
    Ok(profiles.into_iter().map(ProfileId).collect())
}
