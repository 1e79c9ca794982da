//! Jobs as a use case: returns, lists, awaits, follows, cancels and retries them.

use std::time::Duration;

use futures::future::join_all;
use uuid::Uuid;

use super::IngestService;
use crate::{
    domain::{
        identity::TenantId,
        job::{JobState, Pace, Share},
        security_event::SecurityEvent,
    },
    service::{ServiceError, together::Together},
    store::{
        CancelOutcome, ItemPage, JobDetail, JobFilter, JobItemRow, JobRow, ReportedJob, RetryOutcome, Store, StoreError,
    },
};

/// Interval at which a waiting request checks whether its job has ended, in addition to notifications.
const WAIT_POLL: Duration = Duration::from_millis(250);

/// Time after which a waiting request reads its job first, unless a part of it is settled before.
const FIRST_LOOK: Duration = Duration::from_millis(50);

/// Longest time for which a cancel request waits for the end of the job.
const SETTLING: Duration = Duration::from_millis(700);
/// Most items that are returned with a finished job: more than a request can contain, except a stream.
const MOST_ITEMS: i64 = 10_000;

/// Looks at jobs, by tenant: which job, and whether details and items are wanted though it is not over.
pub(super) type Looks = Together<TenantId, (Uuid, bool), Result<Option<ReportedJob>, StoreError>>;

/// A job as it is now.
#[derive(Clone, Debug)]
pub(crate) struct JobSnapshot {
    /// The job.
    pub(crate) job: JobRow,
    /// Work by stage, failures by cause.
    pub(crate) detail: JobDetail,
    /// Throughput, while the job runs.
    pub(crate) pace: Option<Pace>,
    /// Seconds since the last heartbeat of a worker on the job, while it runs.
    pub(crate) heartbeat_age_s: Option<f64>,
}

/// A job with a page of its items.
#[derive(Clone, Debug)]
pub(crate) struct JobReport {
    /// The job.
    pub(crate) snapshot: JobSnapshot,
    /// Items from the requested position on.
    pub(crate) items: Vec<JobItemRow>,
}

impl JobSnapshot {
    /// Whether the job is final, unless it is retried.
    #[must_use]
    pub(crate) const fn is_over(&self) -> bool {
        !matches!(self.job.state, JobState::Queued | JobState::Running)
    }

    /// Revision of this snapshot among those of the job: different snapshots have different revisions.
    #[must_use]
    pub(crate) fn revision(&self) -> String {
        let counts = &self.job.counts;
        format!("{}-{}-{}", self.job.revision, counts.settled(), counts.found_by_words)
    }
}

impl IngestService {
    /// Waits until the job ends, at most for the given time or until the service stops; returns its state then.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn wait(&self, tenant: TenantId, job: Uuid, at_most: Duration) -> Result<JobReport, ServiceError> {
        let deadline = tokio::time::Instant::now() + at_most;
        let mut settlements = self.signal.settlements();
        // A job that has just been queued takes some milliseconds: before, there is nothing to read.
        if !self.signal.was_settled(job) {
            tokio::select! {
                () = settlements.of(job) => {}
                () = tokio::time::sleep(FIRST_LOOK) => {}
                () = self.signal.stopping.cancelled() => {}
            }
        }
        loop {
            let is_last = tokio::time::Instant::now() >= deadline || self.signal.stopping.is_cancelled();
            let report = self.look(tenant, job, is_last).await?;
            if is_last || report.snapshot.is_over() {
                return Ok(report);
            }
            tokio::select! {
                () = settlements.of(job) => {}
                () = tokio::time::sleep(WAIT_POLL) => {}
                () = self.signal.stopping.cancelled() => {}
            }
        }
    }

    /// Returns the next snapshot of a job whose revision differs from this one; `None` when the service stops.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn next_snapshot(
        &self,
        tenant: TenantId,
        job: Uuid,
        seen: Option<&str>,
    ) -> Result<Option<JobSnapshot>, ServiceError> {
        let mut settlements = self.signal.settlements();
        loop {
            let row = self.row(tenant, job).await?;
            let snapshot = self.describe(row, JobDetail::default());
            if seen != Some(snapshot.revision().as_str()) {
                let detail = self.store.jobs().job_detail(tenant, job).await?;
                return Ok(Some(JobSnapshot { detail, ..snapshot }));
            }
            tokio::select! {
                () = settlements.of(job) => {}
                () = tokio::time::sleep(WAIT_POLL) => {}
                () = self.signal.stopping.cancelled() => return Ok(None),
            }
        }
    }

    /// A job as it is now.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn snapshot(&self, tenant: TenantId, job: Uuid) -> Result<JobSnapshot, ServiceError> {
        let row = self.row(tenant, job).await?;
        let detail = self.store.jobs().job_detail(tenant, job).await?;
        Ok(self.describe(row, detail))
    }

    /// A job and a page of its items.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn job(&self, tenant: TenantId, job: Uuid, page: ItemPage) -> Result<JobReport, ServiceError> {
        let reports = self.store.jobs().job_reports(tenant, &[job], page, |_| true).await?.pop();
        Ok(self.report(reports.ok_or_else(|| no_job(job))?))
    }

    /// Jobs that pass the filter, newest first.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn jobs(
        &self,
        tenant: TenantId,
        filter: &JobFilter,
        limit: i64,
    ) -> Result<Vec<JobSnapshot>, ServiceError> {
        let rows = self.store.jobs().jobs(tenant, filter, limit).await?;
        Ok(rows.into_iter().map(|row| self.describe(row, JobDetail::default())).collect())
    }

    /// Cancels a job; its state afterwards shows which documents were stored. Once this returns, no more of its
    /// documents are stored. A very large job may need a moment longer to settle its waiting items, and to end.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Conflict`] when it has ended.
    pub(crate) async fn cancel(
        &self,
        tenant: TenantId,
        job: Uuid,
        event: &SecurityEvent,
    ) -> Result<JobSnapshot, ServiceError> {
        match self.store.jobs().cancel_job(tenant, job, event, self.context.clock.now()).await? {
            CancelOutcome::NotFound => Err(no_job(job)),
            CancelOutcome::AlreadyOver => Err(ServiceError::Conflict {
                code: "job_over",
                detail: "the job has ended, there is nothing to stop; to take documents back, delete them".to_owned(),
            }),
            CancelOutcome::Stopped => {
                let now = self.context.clock.now();
                let jobs = self.store.jobs();
                let settle = jobs.settle_cancelled(tenant, job, now);
                // A job may have a million items; workers and the reaper settle the remaining ones.
                if let Ok(result) = tokio::time::timeout(SETTLING, settle).await {
                    result?;
                }
                self.signal.settled(job);
                self.signal.queued();
                self.snapshot(tenant, job).await
            }
        }
    }

    /// Returns the failed documents of a job to the queue.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Conflict`] when it has not ended or nothing can be retried;
    /// [`ServiceError::QueueFull`] while there is no room for them.
    pub(crate) async fn retry(
        &self,
        tenant: TenantId,
        job: Uuid,
        event: &SecurityEvent,
    ) -> Result<JobSnapshot, ServiceError> {
        match self.store.jobs().retry_job(tenant, job, self.limits, event, self.context.clock.now()).await? {
            RetryOutcome::NotFound => Err(no_job(job)),
            RetryOutcome::NotOver => Err(ServiceError::Conflict {
                code: "job_not_over",
                detail: "the job has not ended; wait for its end, or cancel it, and then retry".to_owned(),
            }),
            RetryOutcome::NothingToRetry => Err(ServiceError::Conflict {
                code: "nothing_to_retry",
                detail: "no document of the job failed, or what failed is no longer kept or was deleted; send the \
                         documents again"
                    .to_owned(),
            }),
            RetryOutcome::Full(full) => Err(ServiceError::QueueFull(full)),
            RetryOutcome::Queued(_) => {
                self.signal.queued();
                self.snapshot(tenant, job).await
            }
        }
    }

    async fn row(&self, tenant: TenantId, job: Uuid) -> Result<JobRow, ServiceError> {
        self.store.jobs().job(tenant, job).await?.ok_or_else(|| no_job(job))
    }

    /// A job as it is now, with details and items if it is over or these are wanted anyway. Requests that wait for jobs that
    /// end together share one look.
    async fn look(&self, tenant: TenantId, job: Uuid, is_wanted: bool) -> Result<JobReport, ServiceError> {
        let store = self.store.clone();
        let looked = self.looks.call(tenant, (job, is_wanted), move |wanted| {
            let store = store.clone();
            async move { look_at(&store, tenant, &wanted).await }
        });
        let found = looked.await.ok_or_else(|| StoreError::Inconsistent("a look at jobs broke off".to_owned()))?;
        Ok(self.report(found?.ok_or_else(|| no_job(job))?))
    }

    pub(super) fn report(&self, reported: ReportedJob) -> JobReport {
        let ReportedJob { job, detail, items } = reported;
        JobReport { snapshot: self.describe(job, detail), items }
    }

    fn describe(&self, job: JobRow, detail: JobDetail) -> JobSnapshot {
        let now = self.context.clock.now();
        let is_running = job.finished_at.is_none();
        let since = |moment: time::OffsetDateTime| (now - moment).as_seconds_f64().max(0.0);
        let pace = job.started_at.filter(|_| is_running).and_then(|started| {
            let settled = job.counts.settled();
            let done = Share {
                documents: settled.saturating_sub(job.items_before),
                bytes: job.settled_bytes.saturating_sub(job.bytes_before),
            };
            let left = Share {
                documents: job.counts.items.saturating_sub(settled),
                bytes: job.bytes.saturating_sub(job.settled_bytes),
            };
            Pace::of(since(started), done, left)
        });
        let heartbeat_age_s = job.heartbeat_at.filter(|_| is_running).map(since);
        JobSnapshot { job, detail, pace, heartbeat_age_s }
    }
}

/// Reads jobs of a tenant; if that fails, each is read for itself, so that each has an error of its own.
async fn look_at(
    store: &Store,
    tenant: TenantId,
    wanted: &[(Uuid, bool)],
) -> Vec<Result<Option<ReportedJob>, StoreError>> {
    let read = async |wanted: &[(Uuid, bool)]| {
        let jobs: Vec<Uuid> = wanted.iter().map(|(job, _)| *job).collect();
        let is_wanted = |row: &JobRow| {
            row.finished_at.is_some() || wanted.iter().any(|(job, is_wanted)| *is_wanted && *job == row.id)
        };
        store.jobs().job_reports(tenant, &jobs, ItemPage::first(MOST_ITEMS), is_wanted).await
    };
    match read(wanted).await {
        Ok(found) => {
            wanted.iter().map(|(job, _)| Ok(found.iter().find(|found| found.job.id == *job).cloned())).collect()
        }
        Err(error) if wanted.len() == 1 => vec![Err(error)],
        Err(_) => join_all(wanted.iter().map(async |one| Ok(read(std::slice::from_ref(one)).await?.pop()))).await,
    }
}

/// Error: there is no such job.
pub(crate) fn no_job(job: Uuid) -> ServiceError {
    ServiceError::NotFound { what: "job", name: job.to_string() }
}
