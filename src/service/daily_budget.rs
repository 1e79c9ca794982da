//! The daily cost limit of a tenant. The highest possible cost of a model call is reserved before the call, and its
//! actual cost replaces the reservation afterwards. Asks and ingest count against the same day, over all processes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thiserror::Error;
use time::{Date, OffsetDateTime, UtcOffset};

use super::{ServiceError, wait_briefly};
use crate::{
    domain::{
        budget::{Allowance, Budget, BudgetExceeded, Chat, ChatSize, LimitKind},
        cost::NanoUsd,
        identity::TenantId,
    },
    store::{DailyReservation, Store, StoreError},
};

/// The daily limit of a deployment, if it has one.
#[derive(Clone, Debug)]
pub(crate) struct DailyBudget {
    store: Store,
    limit: Option<NanoUsd>,
}

/// Reservations of one ask, or of one call of an ingest job. All count for the day on which it was opened. A clone
/// shares them.
#[derive(Clone, Debug)]
pub(super) struct DailyAccount {
    budget: DailyBudget,
    tenant: TenantId,
    day: Date,
    balance: Arc<Mutex<Balance>>,
}

/// Shared with pending reservations: one may succeed after its owner has stopped waiting for it.
#[derive(Debug, Default)]
struct Balance {
    reserved: NanoUsd,
    /// The part of it that is reserved for a call that was not made yet.
    spare: NanoUsd,
    is_settled: bool,
}

/// Why an amount was not reserved.
#[derive(Debug, Error)]
pub(super) enum DailyBudgetError {
    /// The cost of the day, or the size of a call, would exceed the limit.
    #[error(transparent)]
    Exceeded(BudgetExceeded),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<DailyBudgetError> for ServiceError {
    fn from(error: DailyBudgetError) -> Self {
        match error {
            DailyBudgetError::Exceeded(exceeded) => exceeded.into(),
            DailyBudgetError::Store(error) => error.into(),
        }
    }
}

impl DailyBudget {
    /// A budget of this amount for each tenant and day; `None` means no limit.
    #[must_use]
    pub(crate) const fn new(store: Store, limit: Option<NanoUsd>) -> Self {
        Self { store, limit }
    }

    /// Opens an account for work that begins now. The day is that of UTC.
    pub(super) fn open(&self, tenant: TenantId, now: OffsetDateTime) -> DailyAccount {
        let day = now.to_offset(UtcOffset::UTC).date();
        DailyAccount { budget: self.clone(), tenant, day, balance: Arc::default() }
    }
}

impl DailyAccount {
    /// Reserves the highest possible cost of a call. Does nothing without a limit, or for a call that costs nothing.
    ///
    /// # Errors
    /// When the cost of the day would exceed the limit, or the database fails; nothing is reserved then.
    pub(super) async fn reserve(&self, most: NanoUsd) -> Result<(), DailyBudgetError> {
        let most = most.minus(self.use_spare(most));
        let Some(limit) = self.limit_for(most) else { return Ok(()) };
        match self.take(most, limit).await? {
            DailyReservation::Reserved => Ok(()),
            DailyReservation::Refused { spent } => {
                let asked = spent.plus(most).nano_usd();
                let exceeded = BudgetExceeded { limit: LimitKind::DailyCost, value: limit.nano_usd(), asked };
                Err(DailyBudgetError::Exceeded(exceeded))
            }
        }
    }

    /// Reserves a call of chat models: its size within a budget, and its highest possible cost on the day.
    ///
    /// # Errors
    /// When one of them does not allow it, or the database fails; nothing is reserved then.
    pub(super) async fn reserve_call(
        &self,
        budget: &Budget,
        size: ChatSize,
    ) -> Result<Allowance<Chat>, DailyBudgetError> {
        let allowance = budget.reserve_chat(size).map_err(DailyBudgetError::Exceeded)?;
        if let Err(error) = self.reserve(size.most_cost).await {
            allowance.take_back();
            return Err(error);
        }
        Ok(allowance)
    }

    /// Reserves for a call whose reply may be useless, and the same amount again for the call that would replace it.
    /// Returns false if the day's limit does not allow both; nothing is reserved then.
    ///
    /// # Errors
    /// When the database fails; nothing is reserved then.
    pub(super) async fn reserve_with_spare(&self, most: NanoUsd) -> Result<bool, StoreError> {
        let Some(limit) = self.limit_for(most) else { return Ok(true) };
        let reservation = self.take(most.plus(most), limit).await?;
        let is_reserved = reservation == DailyReservation::Reserved;
        if is_reserved {
            let mut balance = self.lock();
            balance.spare = balance.spare.plus(most);
        }
        Ok(is_reserved)
    }

    /// Replaces all reservations by what was spent and closes the account. The work begins at once and is done even if
    /// the future is dropped; the future waits for it, but not for long.
    pub(super) fn settle(&self, spent: NanoUsd) -> impl Future<Output = ()> + Send + use<> {
        let mut balance = self.lock();
        balance.is_settled = true;
        let reserved = std::mem::take(&mut balance.reserved);
        drop(balance);
        let account = self.clone();
        let settling = async move { account.replace(reserved, spent).await };
        wait_briefly((reserved > NanoUsd::ZERO).then(|| tokio::spawn(settling)))
    }

    /// The limit, if an amount counts against it.
    fn limit_for(&self, amount: NanoUsd) -> Option<NanoUsd> {
        self.budget.limit.filter(|_| amount > NanoUsd::ZERO)
    }

    /// Takes as much of an amount as possible from the spare part.
    fn use_spare(&self, amount: NanoUsd) -> NanoUsd {
        let mut balance = self.lock();
        let used = amount.min(balance.spare);
        balance.spare = balance.spare.minus(used);
        used
    }

    /// Counts an amount against the day. The statement cannot be withdrawn once it was sent, so it runs in a task of
    /// its own, which returns the amount if the account was settled meanwhile.
    async fn take(&self, amount: NanoUsd, limit: NanoUsd) -> Result<DailyReservation, StoreError> {
        let account = self.clone();
        let taking = tokio::spawn(async move {
            let store = &account.budget.store;
            let reservation = store.asks().reserve_daily_cost(account.tenant, account.day, amount, limit).await?;
            if reservation == DailyReservation::Reserved && !account.note(amount) {
                account.replace(amount, NanoUsd::ZERO).await;
            }
            Ok(reservation)
        });
        taking.await.expect("a reservation does not panic")
    }

    /// Records an amount as reserved; returns false if the account is settled.
    fn note(&self, amount: NanoUsd) -> bool {
        let mut balance = self.lock();
        if !balance.is_settled {
            balance.reserved = balance.reserved.plus(amount);
        }
        !balance.is_settled
    }

    async fn replace(&self, reserved: NanoUsd, spent: NanoUsd) {
        let (store, day) = (&self.budget.store, self.day);
        if let Err(error) = store.asks().settle_daily_cost(self.tenant, day, reserved, spent).await {
            tracing::warn!(
                error = %error, %day, reserved_usd = reserved.usd(), spent_usd = spent.usd(),
                "the daily cost could not be settled: the day counts what was reserved instead of what was spent"
            );
        }
    }

    /// No thread panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, Balance> {
        self.balance.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
