//! Idempotency keys: names that clients give to requests, so that a request can be repeated safely (Idempotency-Key,
//! IETF draft draft-ietf-httpapi-idempotency-key-header).

use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::domain::{fingerprint::Hash, identity::TenantId};
use crate::store::{EnqueueOutcome, FirstAnswer, Jobs, ReplyContent, RequestKey, StoreError, Tx};

/// How long a request can be repeated after it was first sent.
pub(crate) const KEY_LIFE: Duration = Duration::hours(24);

impl Jobs<'_> {
    /// Returns the first response to the request with this name; `None` if there was no such request.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn earlier_request(
        &self,
        tenant: TenantId,
        key: RequestKey<'_>,
        now: OffsetDateTime,
    ) -> Result<Option<EnqueueOutcome>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        find(&mut transaction, tenant, key, now).await
    }

    /// Stores the first response to a request; if its job is over, so that it would be told again if this were lost, without
    /// waiting for the disk.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn keep_answer(
        &self,
        tenant: TenantId,
        (key, job): (&str, Uuid),
        answer: &ReplyContent,
        is_over: bool,
    ) -> Result<(), StoreError> {
        let mut transaction =
            if is_over { self.store.begin_unflushed(tenant).await? } else { self.store.begin(tenant).await? };
        sqlx::query!(
            "UPDATE idempotency_key SET status = $4, body = $5
             WHERE tenant_id = $1 AND key = $2 AND job_id = $3 AND status IS NULL",
            tenant.0,
            key,
            job,
            i16::try_from(answer.status).unwrap_or(i16::MAX),
            answer.body,
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Deletes names older than [`KEY_LIFE`].
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn forget_old_keys(&self, now: OffsetDateTime) -> Result<u64, StoreError> {
        let mut transaction = self.store.begin_queue().await?;
        let forgotten = sqlx::query!("DELETE FROM idempotency_key WHERE created_at < $1", now - KEY_LIFE)
            .execute(&mut *transaction)
            .await?
            .rows_affected();
        transaction.commit().await?;
        Ok(forgotten)
    }
}

/// Reserves names for jobs, in the order of names, so that nobody waits for somebody who waits for them. Returns for each job the
/// state of the request that has its name, if that is taken.
pub(in crate::store) async fn claim_all<'k>(
    transaction: &mut Tx,
    tenant: TenantId,
    jobs: impl Iterator<Item = (Option<RequestKey<'k>>, Uuid, OffsetDateTime)>,
) -> Result<Vec<Option<EnqueueOutcome>>, StoreError> {
    let mut named = Vec::new();
    let mut earlier = Vec::new();
    for (place, (key, job, now)) in jobs.enumerate() {
        named.extend(key.map(|key| (key, place, job, now)));
        earlier.push(None);
    }
    named.sort_by_key(|(key, ..)| key.key);
    for (key, place, job, now) in named {
        let taken = claim(transaction, tenant, key, job, now).await?;
        if let Some(earlier) = earlier.get_mut(place) {
            *earlier = taken;
        }
    }
    Ok(earlier)
}

/// Reserves a name for a job; if the name is taken, returns the state of that request. Waits for a transaction that is
/// reserving the same name at this moment.
pub(in crate::store) async fn claim(
    transaction: &mut Tx,
    tenant: TenantId,
    key: RequestKey<'_>,
    job: Uuid,
    now: OffsetDateTime,
) -> Result<Option<EnqueueOutcome>, StoreError> {
    let taken = sqlx::query!(
        "INSERT INTO idempotency_key AS k (tenant_id, key, request_hash, job_id, created_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (tenant_id, key) DO UPDATE SET
             request_hash = EXCLUDED.request_hash, job_id = EXCLUDED.job_id, created_at = EXCLUDED.created_at,
             status = NULL, body = NULL
         WHERE k.created_at < $6",
        tenant.0,
        key.key,
        key.request_hash.as_ref().map(|hash| &hash[..]),
        job,
        now,
        now - KEY_LIFE,
    )
    .execute(&mut **transaction)
    .await?
    .rows_affected();
    if taken == 1 { Ok(None) } else { find(transaction, tenant, key, now).await }
}

async fn find(
    transaction: &mut Tx,
    tenant: TenantId,
    key: RequestKey<'_>,
    now: OffsetDateTime,
) -> Result<Option<EnqueueOutcome>, StoreError> {
    let row = sqlx::query!(
        "SELECT request_hash, job_id, status, body FROM idempotency_key
         WHERE tenant_id = $1 AND key = $2 AND created_at >= $3",
        tenant.0,
        key.key,
        now - KEY_LIFE,
    )
    .fetch_optional(&mut **transaction)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let Some(hash) = row.request_hash else { return Ok(Some(EnqueueOutcome::KeyInProgress)) };
    if key.request_hash.is_some_and(|asked| asked[..] != hash[..]) {
        return Ok(Some(EnqueueOutcome::KeyReused));
    }
    let answer = row.status.zip(row.body).map(|(status, body)| ReplyContent { status: status.unsigned_abs(), body });
    Ok(Some(EnqueueOutcome::Repeated(FirstAnswer { job: row.job_id, answer })))
}

/// Completes the name of a job that has arrived, or releases the name of a job that broke off.
pub(in crate::store) async fn settle(
    transaction: &mut Tx,
    tenant: TenantId,
    job: Uuid,
    request_hash: Option<Hash>,
) -> Result<(), StoreError> {
    match request_hash {
        Some(hash) => {
            sqlx::query!(
                "UPDATE idempotency_key SET request_hash = $3
                 WHERE tenant_id = $1 AND job_id = $2 AND request_hash IS NULL",
                tenant.0,
                job,
                &hash[..],
            )
            .execute(&mut **transaction)
            .await?;
        }
        None => {
            sqlx::query!(
                "DELETE FROM idempotency_key WHERE tenant_id = $1 AND job_id = $2 AND request_hash IS NULL",
                tenant.0,
                job
            )
            .execute(&mut **transaction)
            .await?;
        }
    }
    Ok(())
}
