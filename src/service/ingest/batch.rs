//! Batches of documents that are processed together.

use std::{collections::HashMap, sync::Arc};

use super::{document::SplitPlan, job_metrics::JobMetrics};
use crate::{
    domain::{identity::TenantId, job::Indexing},
    store::{Claim, ClaimHandle, ClaimedItem, Collection, ItemKey, Makers, ReadDocument},
};

/// Documents that are processed together, with the data that this requires.
#[derive(Clone, Copy)]
pub(super) struct Batch<'a> {
    pub(super) handle: ClaimHandle,
    pub(super) collection: &'a Collection,
    /// Stored documents, by item, that are built into the next index: that of `collection`.
    pub(super) rebuilt: Option<&'a HashMap<ItemKey, ReadDocument>>,
    pub(super) plan: SplitPlan,
    pub(super) indexing: Indexing,
    /// Number of attempts of each item.
    pub(super) tries: &'a HashMap<ItemKey, Tries>,
    pub(super) makers: &'a Makers,
    pub(super) metrics: &'a Arc<JobMetrics>,
}

/// Where documents are stored, and where the work on them is counted.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) tenant: TenantId,
    pub(super) collection: &'a Collection,
    /// Makers of the jobs from whom documents are hidden.
    pub(super) makers: &'a Makers,
    pub(super) metrics: &'a Arc<JobMetrics>,
}

impl Batch<'_> {
    pub(super) const fn target(&self) -> Target<'_> {
        Target { tenant: self.handle.tenant, collection: self.collection, makers: self.makers, metrics: self.metrics }
    }

    /// The item that is alone in the claim because it may be the cause of lost workers.
    pub(super) fn suspect(&self) -> Option<ItemKey> {
        self.tries.iter().find(|(_, tries)| tries.is_suspected).map(|(item, _)| *item)
    }
}

/// Number of attempts of an item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tries {
    /// Claims, this one included.
    pub(super) claims: i32,
    /// Claims that ended in a transient failure of the item itself.
    pub(super) failures: i32,
    /// Whether the item may be the cause of lost workers; it is then alone in its claim.
    pub(super) is_suspected: bool,
}

impl Tries {
    /// Those of the items of a claim.
    pub(super) fn of(claim: &Claim) -> HashMap<ItemKey, Self> {
        let of_item = |item: &ClaimedItem| Self {
            claims: item.attempts,
            failures: item.failures,
            is_suspected: item.is_suspected,
        };
        claim.items.iter().map(|item| (item.key, of_item(item))).collect()
    }
}
