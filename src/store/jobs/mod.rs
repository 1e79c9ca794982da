//! The queue: jobs, their items, claims, webhooks, idempotency keys.

pub(in crate::store) mod claim;
pub(in crate::store) mod content;
pub(in crate::store) mod control;
pub(in crate::store) mod enqueue;
pub(in crate::store) mod finish;
pub(in crate::store) mod finished;
pub(in crate::store) mod idempotency;
pub(in crate::store) mod insertion;
pub(in crate::store) mod items;
pub(in crate::store) mod job;
pub(in crate::store) mod lease;
pub(in crate::store) mod limits;
pub(in crate::store) mod metrics;
pub(in crate::store) mod report;
pub(in crate::store) mod settle;
pub(in crate::store) mod webhook;

pub use claim::{ItemKey, Phase};
pub use enqueue::{EnqueueOutcome, NewJob, NewJobItem, RequestKey};
pub use job::ItemPage;
pub use lease::{ItemFailure, Lease, MAX_CLAIMS};
pub use limits::QueueLimits;

pub(crate) use claim::{Claim, ClaimHandle, ClaimedItem};
pub(crate) use control::{CancelOutcome, RetryOutcome};
pub(crate) use enqueue::{AppendOutcome, FirstAnswer, NewItems, OpenJob, RefusedItem, ReplyContent};
pub(crate) use job::{JobCounts, JobDetail, JobFilter, JobItemRow, JobRow};
pub(crate) use limits::QueueFull;
pub(crate) use metrics::{StageWork, Work};
pub(crate) use report::ReportedJob;
pub(crate) use webhook::{DueWebhook, Sending, WebhookOutcome, WebhookRow};

use crate::store::Store;

/// The queue: jobs, their items, claims, webhooks, idempotency keys.
#[derive(Clone, Copy, Debug)]
pub struct Jobs<'s> {
    pub(in crate::store) store: &'s Store,
}
