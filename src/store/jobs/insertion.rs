//! Writes new jobs with their items, within the limits of the queue.

use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{identity::TenantId, storage::StorageQuotas};
use crate::store::{
    EnqueueOutcome, NewJob, NewJobItem, QueueLimits, RefusedItem, StoreError, Tx,
    access::storage::refuse_arrivals,
    documents::chunk::array_literal,
    jobs::idempotency,
    jobs::items::{self, insert_refused, int, numbered},
    jobs::limits::QueueSlot,
    jobs::webhook,
    security_events::record_all,
};

/// Accepts complete jobs for one collection in a transaction, and commits it if there is room for all of them. The quotas
/// are those of tenants that have none of their own.
pub(in crate::store) async fn insert_jobs(
    mut transaction: Tx,
    (tenant, quotas): (TenantId, StorageQuotas),
    jobs: &[(&NewJob<'_>, &[NewJobItem])],
) -> Result<Vec<EnqueueOutcome>, StoreError> {
    let names = jobs.iter().map(|(job, _)| (job.key, job.id, job.now));
    let earlier = idempotency::claim_all(&mut transaction, tenant, names).await?;
    let queued = jobs.iter().zip(&earlier).filter(|(_, earlier)| earlier.is_none());
    let queued = queued.map(|((job, items), _)| (*job, *items, &[] as &[RefusedItem])).collect();
    let insertion = Insertion { tenant, quotas, receiving_until: None, jobs: queued };
    match insertion.commit(transaction).await? {
        None => Ok(earlier.into_iter().map(|earlier| earlier.unwrap_or(EnqueueOutcome::Queued)).collect()),
        Some(refused) => Ok(vec![refused; jobs.len()]),
    }
}

/// Jobs that are accepted by one transaction.
pub(in crate::store) struct Insertion<'a> {
    pub(in crate::store) tenant: TenantId,
    /// Of tenants that have none of their own.
    pub(in crate::store) quotas: StorageQuotas,
    /// More may be appended to the jobs until then; without it they are complete.
    pub(in crate::store) receiving_until: Option<OffsetDateTime>,
    pub(in crate::store) jobs: Vec<(&'a NewJob<'a>, &'a [NewJobItem], &'a [RefusedItem])>,
}

impl<'a> Insertion<'a> {
    /// Adds a job, unless its name is taken.
    pub(in crate::store) async fn add(
        &mut self,
        transaction: &mut Tx,
        job: &'a NewJob<'a>,
        items: &'a [NewJobItem],
        refused: &'a [RefusedItem],
    ) -> Result<EnqueueOutcome, StoreError> {
        if let Some(key) = job.key
            && let Some(earlier) = idempotency::claim(transaction, self.tenant, key, job.id, job.now).await?
        {
            return Ok(earlier);
        }
        self.jobs.push((job, items, refused));
        Ok(EnqueueOutcome::Queued)
    }

    /// Writes the jobs, and commits; if they exceed a limit, returns the outcome that names it.
    pub(in crate::store) async fn commit(self, mut transaction: Tx) -> Result<Option<EnqueueOutcome>, StoreError> {
        let Some((first, ..)) = self.jobs.first() else { return Ok(None) };
        let (count, bytes) = size_of(self.jobs.iter().flat_map(|(_, items, _)| *items))?;
        let slot = slot_for(self.tenant, first.limits, count, bytes);
        if let Some(full) = slot.look(&mut transaction).await? {
            return Ok(Some(EnqueueOutcome::Full(full)));
        }
        let items = self.jobs.iter().flat_map(|(_, items, _)| *items);
        let place = (self.tenant, first.collection);
        if let Err(over) = refuse_arrivals(&mut transaction, place, self.quotas, sources_of(items)).await? {
            return Ok(Some(EnqueueOutcome::OverQuota(over)));
        }
        let ids = self.write(&mut transaction, first.now).await?;
        if let Some(full) = slot.take(&mut transaction, &ids).await? {
            return Ok(Some(EnqueueOutcome::Full(full)));
        }
        transaction.commit().await?;
        Ok(None)
    }

    async fn write(&self, transaction: &mut Tx, now: OffsetDateTime) -> Result<Vec<Uuid>, StoreError> {
        let tenant = self.tenant;
        let mut rows = JobColumns::default();
        let mut numbered_items = Vec::new();
        for (job, items, refused) in &self.jobs {
            let (count, bytes) = size_of(*items)?;
            rows.push(job, count + int(refused.len())?, bytes);
            numbered_items.extend(numbered(job.id, 0, *items));
        }
        rows.insert(transaction, tenant, self.receiving_until, now).await?;
        let events: Vec<_> = self.jobs.iter().map(|(job, ..)| job.event).collect();
        record_all(transaction, &events).await?;
        items::insert(transaction, tenant, &numbered_items, now).await?;
        for (job, items, refused) in &self.jobs {
            insert_refused(transaction, tenant, job.id, int(items.len())?, refused, now).await?;
            if let Some(url) = job.webhook {
                webhook::add(transaction, tenant, job.id, url).await?;
            }
        }
        Ok(rows.ids)
    }
}

/// New jobs as columns.
#[derive(Default)]
struct JobColumns<'a> {
    ids: Vec<Uuid>,
    collections: Vec<Uuid>,
    collection_names: Vec<&'a str>,
    items: Vec<i32>,
    bytes: Vec<i64>,
    indexings: Vec<&'static str>,
    makers: Vec<Option<&'a str>>,
    /// In the text form of arrays, which cannot be unnested.
    principals: Vec<Option<String>>,
}

impl<'a> JobColumns<'a> {
    fn push(&mut self, job: &NewJob<'a>, items: i32, bytes: i64) {
        self.ids.push(job.id);
        self.collections.push(job.collection);
        self.collection_names.push(job.collection_name);
        self.items.push(items);
        self.bytes.push(bytes);
        self.indexings.push(job.indexing.as_str());
        self.makers.push(job.created_by);
        self.principals.push(job.maker_principals.map(|numbers| array_literal(numbers.iter().copied())));
    }

    async fn insert(
        &self,
        transaction: &mut Tx,
        tenant: TenantId,
        receiving_until: Option<OffsetDateTime>,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        sqlx::query!(
            "WITH job AS (
                 INSERT INTO job (tenant_id, job_id, collection_id, collection_name, state, items, bytes, receiving_until, created_at, indexing, created_by, maker_principals)
                 SELECT $1, job_id, collection_id, collection_name, 'queued', items, bytes, $7, $8, indexing, created_by, maker_principals::int[]
                 FROM UNNEST($2::uuid[], $3::uuid[], $4::text[], $5::int[], $6::bigint[], $9::text[], $10::text[], $11::text[])
                     AS new (job_id, collection_id, collection_name, items, bytes, indexing, created_by, maker_principals)
                 RETURNING tenant_id, job_id)
             INSERT INTO job_tally (tenant_id, job_id) SELECT tenant_id, job_id FROM job",
            tenant.0,
            &self.ids,
            &self.collections,
            &self.collection_names as &[&str],
            &self.items,
            &self.bytes,
            receiving_until,
            now,
            &self.indexings as &[&str],
            &self.makers as &[Option<&str>],
            &self.principals as &[Option<String>],
        )
        .execute(&mut **transaction)
        .await?;
        Ok(())
    }
}

/// The sources of documents.
pub(in crate::store) fn sources_of<'a>(items: impl IntoIterator<Item = &'a NewJobItem>) -> Vec<&'a str> {
    items.into_iter().map(|item| item.source.as_str()).collect()
}

pub(in crate::store) fn slot_for(tenant: TenantId, limits: QueueLimits, items: i32, bytes: i64) -> QueueSlot {
    QueueSlot { tenant, limits, items: items.unsigned_abs().into(), bytes: bytes.unsigned_abs() }
}

pub(in crate::store) fn size_of<'a>(items: impl IntoIterator<Item = &'a NewJobItem>) -> Result<(i32, i64), StoreError> {
    let (count, bytes) =
        items.into_iter().fold((0, 0), |(count, bytes), item| (count + 1, bytes + item.content.bytes()));
    let bytes = i64::try_from(bytes).map_err(|_| StoreError::Inconsistent("too many bytes".to_owned()))?;
    Ok((int(count)?, bytes))
}
