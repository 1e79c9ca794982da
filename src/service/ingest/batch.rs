//! What is worked on together, and by which claim.

use std::{collections::HashMap, sync::Arc};

use uuid::Uuid;

use super::{document::SplitPlan, job_metrics::JobMetrics};
use crate::{
    domain::{identity::TenantId, job::Indexing},
    store::{Claim, ClaimedItem, Collection, ReadDocument},
};

/// Documents that are worked on together, and what that needs.
#[derive(Clone, Copy)]
pub(super) struct Batch<'a> {
    pub(super) handle: ClaimHandle,
    pub(super) collection: &'a Collection,
    /// Stored documents, by item, that are built into the next index: that of `collection`.
    pub(super) rebuilt: Option<&'a HashMap<i32, ReadDocument>>,
    pub(super) plan: SplitPlan,
    pub(super) indexing: Indexing,
    /// How often each item was tried.
    pub(super) tries: &'a HashMap<i32, Tries>,
    pub(super) metrics: &'a Arc<JobMetrics>,
}

impl Batch<'_> {
    /// The item that is alone in the claim because it may be what ends its workers.
    pub(super) fn suspect(&self) -> Option<i32> {
        self.tries.iter().find(|(_, tries)| tries.is_suspected).map(|(item, _)| *item)
    }
}

/// How often an item was tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tries {
    /// Claims, this one included.
    pub(super) claims: i32,
    /// Claims that ended in a failure of its own that may pass.
    pub(super) failures: i32,
    /// Whether it may be what ends its workers: it is alone in its claim.
    pub(super) is_suspected: bool,
}

impl Tries {
    /// Those of the items of a claim, by ordinal.
    pub(super) fn of(claim: &Claim) -> HashMap<i32, Self> {
        let of_item = |item: &ClaimedItem| Self {
            claims: item.attempts,
            failures: item.failures,
            is_suspected: item.is_suspected,
        };
        claim.items.iter().map(|item| (item.ordinal, of_item(item))).collect()
    }
}

/// Which claim is being worked on.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClaimHandle {
    pub(super) tenant: TenantId,
    pub(super) job_id: Uuid,
    pub(super) fence: i64,
}

impl ClaimHandle {
    pub(super) const fn of(claim: &Claim) -> Self {
        Self { tenant: claim.tenant, job_id: claim.job_id, fence: claim.fence }
    }
}
