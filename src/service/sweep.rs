//! Deletes expired data: content of failed documents, jobs, request keys, cached answers, costs, audit rows, security events.

use std::time::Duration;

use time::{OffsetDateTime, UtcOffset};
use tokio_util::sync::CancellationToken;

use super::{ServiceError, background::BackgroundTask, context::Context, error_chain, security_record::SecurityRecord};
use crate::store::Store;

/// Time between two sweeps.
const SWEEP: Duration = Duration::from_hours(1);
/// How long the content of a failed document is kept for a retry.
const RETRYABLE: Duration = Duration::from_hours(7 * 24);
/// How long the cost of a day is kept.
const USAGE_LIFE: Duration = Duration::from_hours(400 * 24);

/// Deletes expired data every hour. Any number of processes may do so concurrently.
#[derive(Clone)]
pub(crate) struct Sweeper {
    store: Store,
    context: Context,
    security_record: SecurityRecord,
    retention: Retention,
}

/// How long rows are kept; `None` keeps them for ever.
#[derive(Clone, Copy, Debug, Default)]
pub struct Retention {
    /// Rows of the audit of asks.
    pub audit: Option<Duration>,
    /// Jobs that have ended.
    pub jobs: Option<Duration>,
    /// Security events.
    pub security_events: Option<Duration>,
}

impl Sweeper {
    /// A sweeper for this store.
    #[must_use]
    pub(crate) const fn new(
        store: Store,
        context: Context,
        security_record: SecurityRecord,
        retention: Retention,
    ) -> Self {
        Self { store, context, security_record, retention }
    }

    /// Sweeps until stopped. No request depends on it, so readiness does not depend on it either.
    #[must_use]
    pub(crate) fn task(self, stop: CancellationToken) -> BackgroundTask {
        let run = Box::pin(async move {
            loop {
                if let Err(error) = self.sweep().await {
                    tracing::warn!(
                        error = error_chain(&error),
                        "expired data could not be deleted; the next try is in an hour"
                    );
                }
                if stop.run_until_cancelled(tokio::time::sleep(SWEEP)).await.is_none() {
                    return;
                }
            }
        });
        BackgroundTask { name: "sweeper".to_owned(), run }
    }

    /// Deletes everything that has expired.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn sweep(&self) -> Result<(), ServiceError> {
        let now = self.context.clock.now();
        self.store.jobs().forget_failed_content(now - RETRYABLE).await?;
        self.store.jobs().forget_old_keys(now).await?;
        if let Some(retention) = self.retention.jobs {
            while self.store.jobs().forget_jobs(now - retention).await? > 0 {}
        }
        self.store.asks().forget_cached_answers().await?;
        self.store.asks().forget_usage((now - USAGE_LIFE).to_offset(UtcOffset::UTC).date()).await?;
        if let Some(retention) = self.retention.security_events {
            self.security_record.forget(now - retention).await?;
        }
        self.forget_audit(now).await
    }

    async fn forget_audit(&self, now: OffsetDateTime) -> Result<(), ServiceError> {
        let Some(retention) = self.retention.audit else { return Ok(()) };
        let mut forgotten = 0;
        loop {
            match self.store.asks().forget_audit(now - retention).await? {
                0 => break,
                rows => forgotten += rows,
            }
        }
        if forgotten > 0 {
            tracing::info!(rows = forgotten, "deleted audit rows older than CITED_AUDIT_RETENTION_DAYS");
        }
        Ok(())
    }
}
