//! Transactions of the general pool and of that of the queue.

use std::ops::{Deref, DerefMut};

use sqlx::{AssertSqlSafe, PgConnection, PgPool, Postgres, SqlSafeStr, Transaction};

use crate::store::{StoreError, turns::Turn};

/// A transaction, opened for one tenant or for the queue. Rolled back unless it is committed.
#[derive(Debug)]
pub(in crate::store) struct Tx {
    transaction: Transaction<'static, Postgres>,
    #[expect(dead_code, reason = "dropped, after the connection, to let the next one have its turn")]
    turn: Option<Turn>,
}

impl Tx {
    /// Begins a transaction, in a task that comes to its end also if the caller is dropped: before the reply to its
    /// BEGIN a [`Transaction`] does not know that there is something to roll back, and would give its connection back
    /// to the pool with an open transaction and the tenant of its caller.
    pub(in crate::store) async fn begin(
        pool: &PgPool,
        turn: Option<Turn>,
        statement: String,
    ) -> Result<Self, StoreError> {
        let connection = pool.acquire().await?;
        let beginning = Transaction::begin(connection, Some(AssertSqlSafe(statement).into_sql_str()));
        let transaction = tokio::spawn(beginning).await.map_err(|_| sqlx::Error::WorkerCrashed)??;
        Ok(Self { transaction, turn })
    }

    /// Commits it.
    pub(in crate::store) async fn commit(self) -> Result<(), sqlx::Error> {
        self.transaction.commit().await
    }

    /// Rolls it back.
    pub(in crate::store) async fn rollback(self) -> Result<(), sqlx::Error> {
        self.transaction.rollback().await
    }
}

impl Deref for Tx {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.transaction
    }
}

impl DerefMut for Tx {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.transaction
    }
}
