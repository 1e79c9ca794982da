//! How much a key may do in a day. Days are those of UTC, counted over all processes.

use std::{num::NonZeroU64, time::Duration};

use time::{Date, OffsetDateTime, Time, UtcOffset};

use super::{DailyQuota, ServiceError, context::Context};
use crate::{
    domain::identity::Caller,
    store::{KeyUse, Store},
};

/// Quotas of each key.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Settings {
    /// Most questions of a day; `None` for any number.
    pub(crate) asks: Option<NonZeroU64>,
    /// Most documents that are accepted on a day; `None` for any number.
    pub(crate) documents: Option<NonZeroU64>,
}

/// Counts what keys do against their quotas. Callers without a key are not counted.
#[derive(Clone)]
pub(crate) struct Quotas {
    store: Store,
    settings: Settings,
    context: Context,
}

impl Quotas {
    /// Quotas that are counted in this store.
    #[must_use]
    pub(crate) const fn new(store: Store, settings: Settings, context: Context) -> Self {
        Self { store, settings, context }
    }

    /// Counts a question.
    ///
    /// # Errors
    /// [`ServiceError::TooOften`] when the key has asked as many today; store errors.
    pub(super) async fn count_ask(&self, caller: &Caller) -> Result<(), ServiceError> {
        let Some(limit) = self.settings.asks else { return Ok(()) };
        self.count(caller, KeyUse { asks: 1, documents: 0 }, ("asks", limit)).await
    }

    /// Counts documents that are to be accepted, all of them or none.
    ///
    /// # Errors
    /// [`ServiceError::TooOften`] when the key would have brought more today; store errors.
    pub(super) async fn count_documents(&self, caller: &Caller, documents: usize) -> Result<(), ServiceError> {
        let Some(limit) = self.settings.documents.filter(|_| documents > 0) else { return Ok(()) };
        self.count(caller, KeyUse { asks: 0, documents: documents as u64 }, ("documents", limit)).await
    }

    /// Takes documents off the count that were not accepted after all.
    ///
    /// # Errors
    /// Store errors.
    pub(super) async fn return_documents(&self, caller: &Caller, documents: usize) -> Result<(), ServiceError> {
        let Some(key_id) = caller.key_id.as_deref().filter(|_| self.settings.documents.is_some()) else {
            return Ok(());
        };
        let key = (caller.grant.tenant(), key_id);
        let today = today(self.context.clock.now());
        Ok(self.store.access().return_documents(key, today, documents as u64).await?)
    }

    async fn count(
        &self,
        caller: &Caller,
        added: KeyUse,
        (what, limit): (&'static str, NonZeroU64),
    ) -> Result<(), ServiceError> {
        let Some(key_id) = caller.key_id.as_deref() else { return Ok(()) };
        let now = self.context.clock.now();
        let limits = KeyUse { asks: limit.get(), documents: limit.get() };
        let key = (caller.grant.tenant(), key_id);
        if self.store.access().add_key_use(key, today(now), added, limits).await? {
            return Ok(());
        }
        let used = self.store.access().key_use(key, today(now)).await?;
        let used = if added.asks > 0 { used.asks } else { used.documents };
        let quota = DailyQuota { name: what, limit: limit.get(), left: limit.get().saturating_sub(used) };
        Err(ServiceError::TooOften {
            code: "daily_quota",
            title: "The key has used up its day",
            detail: format!(
                "the key has a quota of {limit} {what} a day, which this would exceed; it begins anew at midnight (UTC)"
            ),
            wait: until_midnight(now),
            quota: Some(quota),
        })
    }
}

fn today(now: OffsetDateTime) -> Date {
    now.to_offset(UtcOffset::UTC).date()
}

fn until_midnight(now: OffsetDateTime) -> Duration {
    let passed = now.to_offset(UtcOffset::UTC).time() - Time::MIDNIGHT;
    (time::Duration::DAY - passed).try_into().unwrap_or_default()
}
