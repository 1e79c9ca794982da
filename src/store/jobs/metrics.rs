//! Work done for a job: time by stage, and tokens and cost of its embeddings.

use std::collections::HashMap;

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

/// Adds up the work on jobs, whose rows are locked.
pub(in crate::store) async fn record(
    transaction: &mut Tx,
    tenant: TenantId,
    works: &[(Uuid, Work)],
) -> Result<(), StoreError> {
    add_stages(transaction, tenant, works).await?;
    for (job, work) in works.iter().filter(|(_, work)| work.embedding != EmbeddingSpent::default()) {
        add_embedding(transaction, tenant, *job, work.embedding).await?;
    }
    Ok(())
}

async fn add_stages(transaction: &mut Tx, tenant: TenantId, works: &[(Uuid, Work)]) -> Result<(), StoreError> {
    let (mut jobs, mut stages, mut documents, mut seconds) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (job, work) in works {
        for one in &work.stages {
            jobs.push(*job);
            stages.push(one.stage.as_str());
            documents.push(signed(one.documents));
            seconds.push(one.seconds);
        }
    }
    if jobs.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "INSERT INTO job_stage (tenant_id, job_id, stage, documents, seconds)
         SELECT $1, new.* FROM UNNEST($2::uuid[], $3::text[], $4::bigint[], $5::float8[]) AS new (job_id, stage, documents, seconds)
         ON CONFLICT (tenant_id, job_id, stage) DO UPDATE SET
             documents = job_stage.documents + EXCLUDED.documents, seconds = job_stage.seconds + EXCLUDED.seconds",
        tenant.0,
        &jobs,
        &stages as &[&str],
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

/// Returns the work done for jobs so far, where there was any.
pub(in crate::store) async fn of_jobs(
    transaction: &mut Tx,
    tenant: TenantId,
    jobs: &[Uuid],
) -> Result<HashMap<Uuid, Work>, StoreError> {
    let mut works: HashMap<Uuid, Work> = HashMap::new();
    let stages = sqlx::query!(
        "SELECT job_id, stage, documents, seconds FROM job_stage WHERE tenant_id = $1 AND job_id = ANY ($2)",
        tenant.0,
        jobs
    )
    .fetch_all(&mut **transaction)
    .await?;
    for row in stages {
        let Some(stage) = Stage::from_name(&row.stage) else { continue };
        let work = StageWork { stage, documents: row.documents.unsigned_abs(), seconds: row.seconds };
        works.entry(row.job_id).or_default().stages.push(work);
    }
    for work in works.values_mut() {
        work.stages.sort_by_key(|one| one.stage);
    }
    let embeddings = sqlx::query!(
        "SELECT job_id, tokens, cost_nano_usd, has_estimates FROM job_embedding WHERE tenant_id = $1 AND job_id = ANY ($2)",
        tenant.0,
        jobs
    )
    .fetch_all(&mut **transaction)
    .await?;
    for row in embeddings {
        works.entry(row.job_id).or_default().embedding = EmbeddingSpent {
            tokens: row.tokens.unsigned_abs(),
            cost: NanoUsd::new(row.cost_nano_usd.unsigned_abs()),
            has_estimates: row.has_estimates,
        };
    }
    Ok(works)
}
