//! The queue: jobs, their items, claims, webhooks, idempotency keys.

pub(in crate::store) mod claim;
pub(in crate::store) mod control;
pub(in crate::store) mod enqueue;
pub(in crate::store) mod finish;
pub(in crate::store) mod idempotency;
pub(in crate::store) mod job;
pub(in crate::store) mod lease;
pub(in crate::store) mod limits;
pub(in crate::store) mod metrics;
pub(in crate::store) mod settle;
pub(in crate::store) mod webhook;

pub use claim::{Claim, ClaimedItem, Phase};
pub use control::{CancelOutcome, RetryOutcome};
pub use enqueue::{AppendOutcome, EnqueueOutcome, FirstAnswer, NewJob, NewJobItem, RefusedItem, RequestKey};
pub use job::{ItemPage, JobCounts, JobDetail, JobFilter, JobItemRow, JobRow};
pub use lease::{ItemFailure, Lease, MAX_CLAIMS};
pub use limits::{QueueFull, QueueLimits};
pub use metrics::{StageWork, Work};
pub use webhook::{DueWebhook, WebhookOutcome, WebhookRow};

use crate::store::Store;

/// The queue: jobs, their items, claims, webhooks, idempotency keys.
#[derive(Clone, Copy, Debug)]
pub struct Jobs<'s> {
    pub(in crate::store) store: &'s Store,
}
