//! What an ask takes of its tenant's day, where the deployment limits that.

use time::Date;

use super::{AskError, run::Ask};
use crate::{
    domain::{
        budget::{BudgetExceeded, LimitKind},
        cost::NanoUsd,
        identity::TenantId,
    },
    store::{DailyReservation, Store},
};

/// Reservations of one ask. All count for the day on which it came in.
#[derive(Clone, Debug)]
pub(super) struct Purse {
    store: Store,
    tenant: TenantId,
    day: Date,
    limit: Option<NanoUsd>,
    reserved: NanoUsd,
    /// What of that is kept for a call that was not made yet.
    held: NanoUsd,
}

impl Purse {
    pub(super) const fn new(store: Store, tenant: TenantId, day: Date, limit: Option<NanoUsd>) -> Self {
        Self { store, tenant, day, limit, reserved: NanoUsd::ZERO, held: NanoUsd::ZERO }
    }

    /// Reserves the most that a call may cost. Without a limit, or for what costs nothing, nothing is done.
    async fn reserve(&mut self, most: NanoUsd) -> Result<(), AskError> {
        let held = most.min(self.held);
        self.held = self.held.minus(held);
        let most = most.minus(held);
        let Some(limit) = self.limit.filter(|_| most > NanoUsd::ZERO) else { return Ok(()) };
        match self.store.reserve_daily_cost(self.tenant, self.day, most, limit).await? {
            DailyReservation::Reserved => {
                self.reserved = self.reserved.plus(most);
                Ok(())
            }
            DailyReservation::Refused { spent } => {
                let asked = spent.plus(most).nano_usd();
                Err(BudgetExceeded { limit: LimitKind::DailyCost, value: limit.nano_usd(), asked }.into())
            }
        }
    }

    /// Reserves for a call that may be for nothing, and as much again for the one that has to be made then. Whether
    /// the day can bear both.
    async fn reserve_twice(&mut self, most: NanoUsd) -> Result<bool, AskError> {
        let Some(limit) = self.limit.filter(|_| most > NanoUsd::ZERO) else { return Ok(true) };
        let both = most.plus(most);
        match self.store.reserve_daily_cost(self.tenant, self.day, both, limit).await? {
            DailyReservation::Reserved => {
                self.reserved = self.reserved.plus(both);
                self.held = self.held.plus(most);
                Ok(true)
            }
            DailyReservation::Refused { .. } => Ok(false),
        }
    }

    /// Settles all reservations with what was spent. What cannot be settled stands as reserved.
    pub(super) async fn settle(&mut self, spent: NanoUsd) {
        let reserved = std::mem::take(&mut self.reserved);
        if reserved == NanoUsd::ZERO {
            return;
        }
        if let Err(error) = self.store.settle_daily_cost(self.tenant, self.day, reserved, spent).await {
            tracing::warn!(error = %error, "the cost of an ask could not be settled and stands as reserved");
        }
    }
}

impl Ask<'_> {
    /// Reserves what a call may cost at most of the tenant's day.
    pub(super) async fn reserve_cost(&mut self, most: NanoUsd) -> Result<(), AskError> {
        self.purse.reserve(most).await
    }

    /// The same for a call that may be for nothing; whether the day can bear it.
    pub(super) async fn reserve_cost_twice(&mut self, most: NanoUsd) -> Result<bool, AskError> {
        self.purse.reserve_twice(most).await
    }

    /// What was spent, calls under way as reserved.
    pub(super) fn spent_at_most(&self) -> NanoUsd {
        let spent = self.budget.spent();
        spent.cost.plus(spent.unsettled)
    }
}
