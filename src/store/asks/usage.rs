//! Daily cost of a tenant's asks: reserved before a call, settled after it, exact across all processes.

use std::time::Duration;

use time::Date;

use crate::domain::{cost::NanoUsd, identity::TenantId};
use crate::store::{Asks, StoreError, signed, turns::Progress};

/// First pause between two attempts to get a connection.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Longest pause between two attempts to get a connection.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Result of a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DailyReservation {
    /// The amount is reserved.
    Reserved,
    /// The reservation would exceed the day's limit; nothing is reserved.
    Refused {
        /// Cost of the day so far, including other reservations.
        spent: NanoUsd,
    },
}

impl Asks<'_> {
    /// Reserves an amount against a day's limit.
    ///
    /// # Errors
    /// Any [`StoreError`]; nothing is reserved then.
    #[tracing::instrument(target = "cited::trace", skip_all, fields(otel.kind = "client", db.system.name = "postgresql"))]
    pub(crate) async fn reserve_daily_cost(
        &self,
        tenant: TenantId,
        day: Date,
        amount: NanoUsd,
        limit: NanoUsd,
    ) -> Result<DailyReservation, StoreError> {
        let _turn = self.store.turn(tenant, Progress::Begun).await?;
        let row = sqlx::query!(
            r#"SELECT is_reserved AS "is_reserved!", cost_nano_usd AS "cost!" FROM reserve_daily_cost($1, $2, $3, $4)"#,
            tenant.0,
            day,
            signed(amount.nano_usd()),
            signed(limit.nano_usd()),
        )
        .fetch_one(self.store.writer())
        .await?;
        Ok(if row.is_reserved {
            DailyReservation::Reserved
        } else {
            DailyReservation::Refused { spent: NanoUsd::new(row.cost.unsigned_abs()) }
        })
    }

    /// Replaces the reserved amount with the amount spent. Waits for a connection as long as it takes, so that a
    /// missing connection does not leave the day's cost too high. A statement that was sent once is not sent again,
    /// since it may have been executed.
    ///
    /// # Errors
    /// Any [`StoreError`]; the reservation then stays, unless the error came after it was settled.
    pub(crate) async fn settle_daily_cost(
        &self,
        tenant: TenantId,
        day: Date,
        reserved: NanoUsd,
        spent: NanoUsd,
    ) -> Result<(), StoreError> {
        let mut pause = FIRST_PAUSE;
        let mut connection = loop {
            match self.store.writer().acquire().await {
                Ok(connection) => break connection,
                Err(error @ sqlx::Error::PoolClosed) => return Err(error.into()),
                Err(_) => tokio::time::sleep(pause).await,
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        };
        sqlx::query!(
            "SELECT settle_daily_cost($1, $2, $3, $4)",
            tenant.0,
            day,
            signed(reserved.nano_usd()),
            signed(spent.nano_usd())
        )
        .execute(&mut *connection)
        .await?;
        Ok(())
    }

    /// Deletes the usage of days before this one, of every tenant, and returns how many.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn forget_usage(&self, before: Date) -> Result<u64, StoreError> {
        let mut transaction = self.store.begin_queue().await?;
        let forgotten =
            sqlx::query!("DELETE FROM usage_daily WHERE day < $1", before).execute(&mut *transaction).await?;
        let of_keys =
            sqlx::query!("DELETE FROM key_usage_daily WHERE day < $1", before).execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(forgotten.rows_affected() + of_keys.rows_affected())
    }
}
