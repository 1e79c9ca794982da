//! Reads of the retrieval pool, which end when nobody waits for them any more.
//!
//! A statement goes on in the database when the future that waits for it is dropped, because the time is up or the
//! client has left: its connection would wait for the end of it in the pool. So the connection of a read that was not
//! brought to its end is closed, and the server, which looks for its client all along (see `SESSION`), ends the
//! statement.

use std::ops::{Deref, DerefMut};

use sqlx::{AssertSqlSafe, Executor, PgConnection, Postgres, pool::PoolConnection};

use crate::domain::identity::TenantId;
use crate::store::{Store, StoreError, connect::begin_for};

/// A connection of the retrieval pool, which goes back there at [`Reading::end`] and nowhere else.
#[derive(Debug)]
pub(in crate::store) struct Reading {
    /// There until the end.
    connection: Option<PoolConnection<Postgres>>,
    is_transaction: bool,
}

impl Store {
    /// For one statement, which calls a function that sets its tenant itself.
    pub(in crate::store) async fn reading(&self) -> Result<Reading, StoreError> {
        Ok(Reading { connection: Some(self.reader().acquire().await?), is_transaction: false })
    }

    /// In a transaction that sees one tenant.
    pub(in crate::store) async fn begin_read(&self, tenant: TenantId) -> Result<Reading, StoreError> {
        self.begin_read_with(tenant, "").await
    }

    /// The same, with settings that hold in it: `SET LOCAL` commands, each with a semicolon in front.
    pub(in crate::store) async fn begin_read_with(
        &self,
        tenant: TenantId,
        settings: &str,
    ) -> Result<Reading, StoreError> {
        let mut reading = self.reading().await?;
        reading.is_transaction = true;
        let begin = begin_for(tenant) + settings;
        reading.execute(sqlx::raw_sql(AssertSqlSafe(begin))).await?;
        Ok(reading)
    }
}

impl Reading {
    /// Ends the transaction, if it is one, and gives the connection back.
    pub(in crate::store) async fn end(mut self) -> Result<(), StoreError> {
        if self.is_transaction {
            self.execute(sqlx::raw_sql("COMMIT")).await?;
        }
        drop(self.connection.take());
        Ok(())
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        // A connection outside of the pool is closed when it is dropped.
        drop(self.connection.take().map(PoolConnection::detach));
    }
}

impl Deref for Reading {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        self.connection.as_ref().expect("only the end takes it")
    }
}

impl DerefMut for Reading {
    fn deref_mut(&mut self) -> &mut PgConnection {
        self.connection.as_mut().expect("only the end takes it")
    }
}
