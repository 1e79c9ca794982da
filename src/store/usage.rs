//! What a tenant's asks cost on a day: reserved before a call, settled after it, exact over all processes.

use time::Date;

use super::{Store, StoreError};
use crate::domain::{cost::NanoUsd, identity::TenantId};

/// What became of a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DailyReservation {
    /// It is counted.
    Reserved,
    /// The day would cost more than it may; nothing is counted.
    Refused {
        /// What the day has cost so far, other reservations included.
        spent: NanoUsd,
    },
}

impl Store {
    /// Counts an amount against a day's limit.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is counted then.
    pub async fn reserve_daily_cost(
        &self,
        tenant: TenantId,
        day: Date,
        amount: NanoUsd,
        limit: NanoUsd,
    ) -> Result<DailyReservation, StoreError> {
        let row = sqlx::query!(
            r#"SELECT is_reserved AS "is_reserved!", cost_nano_usd AS "cost!" FROM reserve_daily_cost($1, $2, $3, $4)"#,
            tenant.0,
            day,
            signed(amount),
            signed(limit),
        )
        .fetch_one(self.writer())
        .await?;
        Ok(if row.is_reserved {
            DailyReservation::Reserved
        } else {
            DailyReservation::Refused { spent: NanoUsd::new(row.cost.unsigned_abs()) }
        })
    }

    /// Puts what was spent in place of what was reserved.
    ///
    /// # Errors
    /// Any [`StoreError`]; the reservation stands then.
    pub async fn settle_daily_cost(
        &self,
        tenant: TenantId,
        day: Date,
        reserved: NanoUsd,
        spent: NanoUsd,
    ) -> Result<(), StoreError> {
        sqlx::query!("SELECT settle_daily_cost($1, $2, $3, $4)", tenant.0, day, signed(reserved), signed(spent))
            .execute(self.writer())
            .await?;
        Ok(())
    }

    /// Deletes days before this one, of every tenant; how many.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn forget_usage(&self, before: Date) -> Result<u64, StoreError> {
        let mut transaction = self.begin_queue().await?;
        let forgotten =
            sqlx::query!("DELETE FROM usage_daily WHERE day < $1", before).execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(forgotten.rows_affected())
    }
}

fn signed(amount: NanoUsd) -> i64 {
    i64::try_from(amount.nano_usd()).unwrap_or(i64::MAX)
}
