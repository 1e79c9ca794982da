//! What an ask takes of its tenant's day, where the deployment limits that.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use time::Date;

use super::{AskError, aftermath::wait_for, run::Ask};
use crate::{
    domain::{
        budget::{BudgetExceeded, LimitKind},
        cost::NanoUsd,
        identity::TenantId,
    },
    store::{DailyReservation, Store, StoreError},
};

/// Reservations of one ask. All count for the day on which it came in.
#[derive(Clone, Debug)]
pub(super) struct Purse {
    store: Store,
    tenant: TenantId,
    day: Date,
    limit: Option<NanoUsd>,
    account: Arc<Mutex<Account>>,
    /// What of the reservations is kept for a call that was not made yet.
    held: NanoUsd,
}

/// Shared with reservations under way: one may come through when its ask has given up waiting for it.
#[derive(Debug, Default)]
struct Account {
    reserved: NanoUsd,
    is_closed: bool,
}

impl Purse {
    pub(super) fn new(store: Store, tenant: TenantId, day: Date, limit: Option<NanoUsd>) -> Self {
        Self { store, tenant, day, limit, account: Arc::default(), held: NanoUsd::ZERO }
    }

    /// Reserves the most that a call may cost. Without a limit, or for what costs nothing, nothing is done.
    async fn reserve(&mut self, most: NanoUsd) -> Result<(), AskError> {
        let held = most.min(self.held);
        self.held = self.held.minus(held);
        let most = most.minus(held);
        let Some(limit) = self.limit.filter(|_| most > NanoUsd::ZERO) else { return Ok(()) };
        match self.take(most, limit).await? {
            DailyReservation::Reserved => Ok(()),
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
        match self.take(most.plus(most), limit).await? {
            DailyReservation::Reserved => {
                self.held = self.held.plus(most);
                Ok(true)
            }
            DailyReservation::Refused { .. } => Ok(false),
        }
    }

    /// Takes an amount of the day. The database cannot be told that nobody waits for it any more, so what it still
    /// reserves after the end of the ask is given back.
    async fn take(&self, amount: NanoUsd, limit: NanoUsd) -> Result<DailyReservation, StoreError> {
        let purse = self.clone();
        let taking = tokio::spawn(async move {
            let reservation = purse.store.reserve_daily_cost(purse.tenant, purse.day, amount, limit).await?;
            if reservation == DailyReservation::Reserved && !purse.note(amount) {
                purse.put_back(amount, NanoUsd::ZERO).await;
            }
            Ok(reservation)
        });
        taking.await.expect("a reservation does not panic")
    }

    /// Counts an amount as reserved, unless the ask is over.
    fn note(&self, amount: NanoUsd) -> bool {
        let mut account = self.lock();
        if !account.is_closed {
            account.reserved = account.reserved.plus(amount);
        }
        !account.is_closed
    }

    /// Settles all reservations with what was spent, and closes the account. Begun at once; the future only waits.
    pub(super) fn settle(&self, spent: NanoUsd) -> impl Future<Output = ()> + Send + use<> {
        let mut account = self.lock();
        account.is_closed = true;
        let reserved = std::mem::take(&mut account.reserved);
        drop(account);
        let purse = self.clone();
        let settling = async move { purse.put_back(reserved, spent).await };
        wait_for((reserved > NanoUsd::ZERO).then(|| tokio::spawn(settling)))
    }

    /// Puts what was spent in place of what was reserved. What cannot be settled stands as reserved.
    async fn put_back(&self, reserved: NanoUsd, spent: NanoUsd) {
        if let Err(error) = self.store.settle_daily_cost_in_the_end(self.tenant, self.day, reserved, spent).await {
            tracing::warn!(error = %error, "the cost of an ask could not be settled and stands as reserved");
        }
    }

    /// No thread panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
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
