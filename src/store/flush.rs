//! Waits until the disk has what was committed without waiting for it.

use std::sync::Arc;

use sqlx::PgPool;

use crate::store::{Store, StoreError, group_writer::Recorded};

/// Flushes the log. Nothing is stored by it: the log is written in order, so that it brings all that was committed before.
#[derive(Debug)]
pub(in crate::store) struct Flush;

impl Recorded for Flush {
    const RECORD: &'static str = "flushes";

    async fn insert(pool: &PgPool, _flushes: &[&Self]) -> Result<(), sqlx::Error> {
        sqlx::query_scalar!("SELECT pg_logical_emit_message(true, 'cited', '')::text").fetch_one(pool).await?;
        Ok(())
    }
}

impl Store {
    /// Returns when what was committed before is on the disk; one flush serves all that ask for it at the same time.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn flush(&self) -> Result<(), StoreError> {
        self.flushes.write(Arc::new(Flush)).await
    }
}
