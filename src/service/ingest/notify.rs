//! Webhooks: notifies the sender of a job that it has ended, in the format of Standard Webhooks.

use std::{collections::HashMap, panic::resume_unwind, time::Duration};

use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use super::{IngestService, JobSnapshot, Webhooks};
use crate::{
    domain::identity::TenantId,
    providers::outbound::OutboundError,
    service::{
        ServiceError,
        background::{BackgroundTask, Heartbeat, Heartbeats},
        error_chain,
    },
    store::{DueWebhook, Sending, WebhookOutcome},
};

/// Waits before each further attempt, seconds: about three days in all, as Standard Webhooks suggests.
const WAITS_S: [i64; 9] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
/// Most webhooks that are sent at once.
const AT_ONCE: usize = 32;
/// Most of them for one tenant: its receivers that hang keep no other tenant waiting.
const AT_ONCE_OF_TENANT: i64 = 4;
/// Most of them to one host and port. More than those of a tenant, so that a receiver that several tenants use is never that of
/// one of them alone.
const AT_ONCE_TO_RECEIVER: usize = 8;
/// Time for which a webhook stays claimed, in addition to that of the longest request: reading the job and recording the result.
const HELD_BESIDE: Duration = Duration::from_secs(90);
/// Interval at which due webhooks are looked for, in addition to the end of a job in this process.
const POLL: Duration = Duration::from_secs(2);
/// Time after which a notifier that has not looked for due webhooks counts as stalled.
const STALLED_AFTER: Duration = Duration::from_mins(5);

/// Sends webhooks; any number of processes may do so.
#[derive(Clone)]
pub(crate) struct Notifier {
    ingest: IngestService,
    webhooks: Webhooks,
}

impl Notifier {
    /// For the jobs of this service.
    #[must_use]
    pub(crate) const fn new(ingest: IngestService, webhooks: Webhooks) -> Self {
        Self { ingest, webhooks }
    }

    /// Returns the task that sends due webhooks until it is stopped.
    #[must_use]
    pub(crate) fn task(self, heartbeats: &Heartbeats, stop: CancellationToken) -> BackgroundTask {
        let name = "notifier".to_owned();
        let heartbeat = heartbeats.expect(&name, STALLED_AFTER);
        BackgroundTask { name, run: Box::pin(async move { self.send_until(&heartbeat, &stop).await }) }
    }

    async fn send_until(&self, heartbeat: &Heartbeat, stop: &CancellationToken) {
        let mut settlements = self.ingest.signal.settlements();
        let mut deliveries = Deliveries::default();
        while !stop.is_cancelled() {
            match self.begin_due(&mut deliveries).await {
                Ok(()) => heartbeat.beat(),
                Err(error) => {
                    tracing::warn!(
                        error = error_chain(&error),
                        "due webhooks could not be read; the next try is in 2 seconds"
                    );
                }
            }
            tokio::select! {
                () = settlements.any() => {}
                () = deliveries.one_ends() => {}
                () = tokio::time::sleep(POLL) => {}
                () = stop.cancelled() => {}
            }
        }
        deliveries.all_end().await;
    }

    /// Begins to send what is due, as far as there is room.
    ///
    /// # Errors
    /// Store errors.
    async fn begin_due(&self, deliveries: &mut Deliveries) -> Result<(), ServiceError> {
        while deliveries.under_way.len() < AT_ONCE {
            let now = self.ingest.context.clock.now();
            let until = now + self.webhooks.longest() + HELD_BESIDE;
            let hook = self.ingest.store.jobs().claim_webhook(now, until, &deliveries.sending()).await?;
            let Some(hook) = hook else { break };
            deliveries.begin(self.clone(), hook);
        }
        Ok(())
    }

    async fn send(&self, hook: DueWebhook) -> Result<(), ServiceError> {
        let snapshot = self.ingest.snapshot(hook.tenant, hook.job).await?;
        let now = self.ingest.context.clock.now();
        let body = message(&snapshot).to_string();
        let id = format!("msg_{}_{}", hook.job, hook.run);
        let result = self.webhooks.send(hook.tenant, &hook.url, (&id, now.unix_timestamp()), body).await;
        let now = self.ingest.context.clock.now();
        let outcome = judge(result, hook.attempts, now);
        tracing::debug!(job_id = %hook.job, attempts = hook.attempts, outcome = ?outcome, "a webhook was sent");
        Ok(self.ingest.store.jobs().settle_webhook(&hook, outcome, now).await?)
    }
}

/// The deliveries of this process. Each ends by itself, and leaves room for another.
#[derive(Default)]
struct Deliveries {
    tasks: JoinSet<()>,
    /// Tenant and receiver of each.
    under_way: HashMap<Id, (TenantId, String)>,
}

impl Deliveries {
    fn begin(&mut self, notifier: Notifier, hook: DueWebhook) {
        let whose = (hook.tenant, hook.receiver.clone());
        let delivery = async move {
            if let Err(error) = notifier.send(hook).await {
                tracing::warn!(
                    error = error_chain(&error),
                    "the outcome of a webhook could not be stored; it is sent again when its claim ends"
                );
            }
        };
        let id = self.tasks.spawn(delivery).id();
        self.under_way.insert(id, whose);
    }

    /// The bounds of the next claim.
    fn sending(&self) -> Sending {
        let mut of_receiver: HashMap<&str, usize> = HashMap::new();
        for (_, receiver) in self.under_way.values() {
            *of_receiver.entry(receiver).or_default() += 1;
        }
        let full = of_receiver.into_iter().filter(|(_, deliveries)| *deliveries >= AT_ONCE_TO_RECEIVER);
        Sending {
            tenants: self.under_way.values().map(|(tenant, _)| tenant.0).collect(),
            most_of_tenant: AT_ONCE_OF_TENANT,
            full_receivers: full.map(|(receiver, _)| receiver.to_owned()).collect(),
        }
    }

    /// Waits until one has ended; for ever if there are none.
    async fn one_ends(&mut self) {
        match self.tasks.join_next_with_id().await {
            Some(ended) => self.forget(ended),
            None => std::future::pending().await,
        }
    }

    async fn all_end(&mut self) {
        while let Some(ended) = self.tasks.join_next_with_id().await {
            self.forget(ended);
        }
    }

    fn forget(&mut self, ended: Result<(Id, ()), JoinError>) {
        let id = match ended {
            Ok((id, ())) => id,
            // One that panics is the end of the notifier, which does not go unnoticed.
            Err(error) => match error.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                Err(error) => error.id(),
            },
        };
        self.under_way.remove(&id);
    }
}

/// Determines the next state of a webhook after its attempt number `attempts`. A receiver that is gone for good (410)
/// and an address that is not allowed are not retried.
fn judge(result: Result<(), OutboundError>, attempts: i32, now: OffsetDateTime) -> WebhookOutcome {
    let Err(error) = result else { return WebhookOutcome::Delivered };
    let asked = match error {
        OutboundError::Refused(_) | OutboundError::Status { status: 410, .. } => {
            return WebhookOutcome::Failed { error: error.to_string() };
        }
        OutboundError::Status { retry_after, .. } => retry_after.and_then(|wait| i64::try_from(wait.as_secs()).ok()),
        OutboundError::Hanging { pause, .. } => i64::try_from(pause.as_secs()).ok(),
        OutboundError::Unreachable(_) | OutboundError::Timeout(_) | OutboundError::TooLarge { .. } => None,
    };
    let place = usize::try_from(attempts - 1).unwrap_or(0);
    match WAITS_S.get(place) {
        None => WebhookOutcome::Failed { error: error.to_string() },
        Some(wait) => {
            let longest = WAITS_S.last().copied().unwrap_or(*wait);
            let seconds = asked.map_or(*wait, |asked| asked.min(longest).max(*wait));
            WebhookOutcome::Again { due_at: now + time::Duration::seconds(seconds), error: error.to_string() }
        }
    }
}

/// The payload: the job without its items.
fn message(snapshot: &JobSnapshot) -> Value {
    let JobSnapshot { job, detail, .. } = snapshot;
    let moment = |time: Option<OffsetDateTime>| time.and_then(|time| time.format(&Rfc3339).ok());
    let failures: Vec<Value> =
        detail.failures.iter().map(|(cause, documents)| json!({"cause": cause, "documents": documents})).collect();
    json!({
        "type": "job.ended",
        "timestamp": moment(job.finished_at),
        "data": {
            "id": job.id,
            "state": job.state,
            "collection": job.collection,
            "indexing": job.indexing,
            "is_incomplete": job.is_incomplete,
            "counts": {
                "items": job.counts.items, "searchable": job.counts.searchable(), "complete": job.counts.complete(),
                "documents": job.counts.documents, "chunks": job.counts.chunks,
                "unchanged": job.counts.unchanged, "failed": job.counts.failed, "cancelled": job.counts.cancelled,
                "embedding_calls": job.counts.embedding_calls, "reused_vectors": job.counts.reused_vectors,
            },
            "failures": failures,
            "cost_usd": detail.cost().usd(),
            "created_at": moment(Some(job.created_at)),
            "finished_at": moment(job.finished_at),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

    fn wait_s(error: OutboundError, attempts: i32) -> Option<i64> {
        match judge(Err(error), attempts, NOW) {
            WebhookOutcome::Again { due_at, .. } => Some((due_at - NOW).whole_seconds()),
            WebhookOutcome::Delivered | WebhookOutcome::Failed { .. } => None,
        }
    }

    #[test]
    fn waits_grow_and_end() {
        let down = || OutboundError::Status { status: 500, retry_after: None };
        assert_eq!(
            (1..=4).map(|attempts| wait_s(down(), attempts)).collect::<Vec<_>>(),
            [Some(5), Some(300), Some(1_800), Some(7_200)]
        );
        assert_eq!(wait_s(down(), 9), Some(86_400));
        assert_eq!(wait_s(down(), 10), None);
    }

    #[test]
    fn a_receiver_decides_about_the_wait_and_the_end() {
        let busy = OutboundError::Status { status: 429, retry_after: Some(Duration::from_mins(1)) };
        assert_eq!(wait_s(busy, 1), Some(60));
        assert_eq!(wait_s(OutboundError::Status { status: 410, retry_after: None }, 1), None);
        assert_eq!(wait_s(OutboundError::Refused("private".to_owned()), 1), None);
        assert!(matches!(judge(Ok(()), 1, NOW), WebhookOutcome::Delivered));
    }
}
