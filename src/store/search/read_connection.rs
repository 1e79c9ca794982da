//! Reads on the retrieval pool that are cancelled when their caller stops waiting.
//!
//! A statement continues in the database after the future that waits for it is dropped, because of a timeout or because
//! the client has left; its connection would go back to the pool and wait there for the end of the statement. So the
//! connection of an unfinished read is closed, and the server, which checks its client continuously (see `sessions`),
//! cancels the statement.

use std::ops::{Deref, DerefMut};

use sqlx::{AssertSqlSafe, Executor, PgConnection, Postgres, pool::PoolConnection};

use crate::domain::identity::TenantId;
use crate::store::{
    Store, StoreError,
    connect::tenant_of,
    turns::{Progress, Turn},
};

/// A connection of the retrieval pool, which is returned to it only by [`Reading::end`].
#[derive(Debug)]
pub(in crate::store) struct Reading {
    /// The connection; `Some` until the read ends.
    connection: Option<PoolConnection<Postgres>>,
    is_transaction: bool,
    #[expect(dead_code, reason = "dropped, after the connection, to let the next one have its turn")]
    turn: Turn,
}

impl Store {
    /// Opens a connection for one statement, which calls a function that sets its tenant itself.
    pub(in crate::store) async fn reading(&self, tenant: TenantId) -> Result<Reading, StoreError> {
        self.reading_of(tenant, Progress::Begun).await
    }

    /// The same for the first statement of a search.
    pub(in crate::store) async fn first_reading(&self, tenant: TenantId) -> Result<Reading, StoreError> {
        self.reading_of(tenant, Progress::New).await
    }

    async fn reading_of(&self, tenant: TenantId, progress: Progress) -> Result<Reading, StoreError> {
        let mut reading = self.open(tenant, progress).await?;
        if self.beginnings.are_of_transactions {
            reading.is_transaction = true;
            reading.execute(sqlx::raw_sql(AssertSqlSafe(self.beginnings.read.clone()))).await?;
        }
        Ok(reading)
    }

    async fn open(&self, tenant: TenantId, progress: Progress) -> Result<Reading, StoreError> {
        let turn = self.read_turns.wait(tenant, progress).await?;
        // There is a connection, or room for one: if it does not come, the database is not there.
        Ok(Reading { connection: Some(self.reader().acquire().await?), is_transaction: false, turn })
    }

    /// Opens a transaction that sees one tenant.
    pub(in crate::store) async fn begin_read(&self, tenant: TenantId) -> Result<Reading, StoreError> {
        self.begin_read_with(tenant, "").await
    }

    /// The same for a request of which it is the first reading.
    pub(in crate::store) async fn begin_first_read(&self, tenant: TenantId) -> Result<Reading, StoreError> {
        self.begin_read_of(tenant, Progress::New, "").await
    }

    /// Opens a transaction that sees one tenant, with local settings: `SET LOCAL` commands, each with a semicolon in
    /// front.
    pub(in crate::store) async fn begin_read_with(
        &self,
        tenant: TenantId,
        settings: &str,
    ) -> Result<Reading, StoreError> {
        self.begin_read_of(tenant, Progress::Begun, settings).await
    }

    async fn begin_read_of(&self, tenant: TenantId, progress: Progress, settings: &str) -> Result<Reading, StoreError> {
        let mut reading = self.open(tenant, progress).await?;
        reading.is_transaction = true;
        let begin = format!("{}{}{settings}", self.beginnings.read, tenant_of(tenant));
        reading.execute(sqlx::raw_sql(AssertSqlSafe(begin))).await?;
        Ok(reading)
    }
}

impl Reading {
    /// Ends the transaction, if there is one, and returns the connection to the pool.
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
        // A connection that is detached from the pool is closed when it is dropped.
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
