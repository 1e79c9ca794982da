//! Work done for a job: time by stage, and tokens and cost of its embeddings.

use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{budget::EmbeddingSpent, cost::NanoUsd, identity::TenantId, job::Stage};
use crate::store::{StoreError, Tx, signed};

/// Work that workers did for a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Work {
    /// Work by stage, in the order of the stages.
    pub(crate) stages: Vec<StageWork>,
    /// Tokens that remote embedding models read, and their cost.
    pub(crate) embedding: EmbeddingSpent,
}

impl Work {
    /// Returns whether there is nothing to record.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Work that workers did for a job in one stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StageWork {
    /// The stage.
    pub(crate) stage: Stage,
    /// Number of documents that passed it; a document counts twice if the work was done twice.
    pub(crate) documents: u64,
    /// Seconds that workers spent on it, summed over parallel workers.
    pub(crate) seconds: f64,
}

/// Records work on a job and the heartbeat of its worker; returns `false` when the job has to stop.
pub(in crate::store) async fn record(
    transaction: &mut Tx,
    tenant: TenantId,
    job: Uuid,
    work: &Work,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    let row = sqlx::query!(
        r#"UPDATE job SET heartbeat_at = $3, revision = revision + 1
           WHERE tenant_id = $1 AND job_id = $2 RETURNING cancelled_at IS NULL AND finished_at IS NULL AS "goes_on!""#,
        tenant.0,
        job,
        now
    )
    .fetch_optional(&mut **transaction)
    .await?;
    let Some(row) = row else { return Ok(false) };
    if !work.stages.is_empty() {
        add_stages(transaction, tenant, job, &work.stages).await?;
    }
    if work.embedding != EmbeddingSpent::default() {
        add_embedding(transaction, tenant, job, work.embedding).await?;
    }
    Ok(row.goes_on)
}

async fn add_stages(transaction: &mut Tx, tenant: TenantId, job: Uuid, work: &[StageWork]) -> Result<(), StoreError> {
    let stages: Vec<String> = work.iter().map(|one| one.stage.as_str().to_owned()).collect();
    let documents: Vec<i64> = work.iter().map(|one| signed(one.documents)).collect();
    let seconds: Vec<f64> = work.iter().map(|one| one.seconds).collect();
    sqlx::query!(
        "INSERT INTO job_stage (tenant_id, job_id, stage, documents, seconds)
         SELECT $1, $2, new.* FROM UNNEST($3::text[], $4::bigint[], $5::float8[]) AS new (stage, documents, seconds)
         ON CONFLICT (tenant_id, job_id, stage) DO UPDATE SET
             documents = job_stage.documents + EXCLUDED.documents, seconds = job_stage.seconds + EXCLUDED.seconds",
        tenant.0,
        job,
        &stages,
        &documents,
        &seconds,
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

async fn add_embedding(
    transaction: &mut Tx,
    tenant: TenantId,
    job: Uuid,
    spent: EmbeddingSpent,
) -> Result<(), StoreError> {
    sqlx::query!(
        "INSERT INTO job_embedding (tenant_id, job_id, tokens, cost_nano_usd, has_estimates) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (tenant_id, job_id) DO UPDATE SET
             tokens = job_embedding.tokens + EXCLUDED.tokens,
             cost_nano_usd = job_embedding.cost_nano_usd + EXCLUDED.cost_nano_usd,
             has_estimates = job_embedding.has_estimates OR EXCLUDED.has_estimates",
        tenant.0,
        job,
        signed(spent.tokens),
        signed(spent.cost.nano_usd()),
        spent.has_estimates,
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

/// Returns the work done for a job so far.
pub(in crate::store) async fn of_job(transaction: &mut Tx, tenant: TenantId, job: Uuid) -> Result<Work, StoreError> {
    let stages = sqlx::query!(
        "SELECT stage, documents, seconds FROM job_stage WHERE tenant_id = $1 AND job_id = $2",
        tenant.0,
        job
    )
    .fetch_all(&mut **transaction)
    .await?;
    let mut stages: Vec<StageWork> = stages
        .into_iter()
        .filter_map(|row| {
            let stage = Stage::from_name(&row.stage)?;
            Some(StageWork { stage, documents: row.documents.unsigned_abs(), seconds: row.seconds })
        })
        .collect();
    stages.sort_by_key(|work| work.stage);
    let embedding = sqlx::query!(
        "SELECT tokens, cost_nano_usd, has_estimates FROM job_embedding WHERE tenant_id = $1 AND job_id = $2",
        tenant.0,
        job
    )
    .fetch_optional(&mut **transaction)
    .await?
    .map_or_else(EmbeddingSpent::default, |row| EmbeddingSpent {
        tokens: row.tokens.unsigned_abs(),
        cost: NanoUsd::new(row.cost_nano_usd.unsigned_abs()),
        has_estimates: row.has_estimates,
    });
    Ok(Work { stages, embedding })
}
