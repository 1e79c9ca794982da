//! Sizes of the database and of its queue, over all tenants: counts only, no row of any.

use crate::{
    metrics::{PoolState, QueueState, TableState},
    store::{Store, StoreError},
};

impl Store {
    /// The queue of all tenants.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn measure_queue(&self) -> Result<QueueState, StoreError> {
        let mut transaction = self.begin_queue().await?;
        let row = sqlx::query!(
            r#"SELECT count(*) AS "jobs!",
                      COALESCE(sum(items - (succeeded + unchanged + failed + cancelled)), 0)::bigint AS "documents!",
                      COALESCE(sum(j.bytes - t.bytes), 0)::bigint AS "bytes!",
                      COALESCE(EXTRACT(EPOCH FROM now() - min(j.created_at)), 0)::float8 AS "oldest_seconds!"
               FROM job j JOIN job_tally t USING (tenant_id, job_id)
               WHERE finished_at IS NULL"#
        )
        .fetch_one(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(QueueState {
            jobs: row.jobs.unsigned_abs(),
            documents: row.documents.unsigned_abs(),
            bytes: row.bytes.unsigned_abs(),
            oldest_seconds: row.oldest_seconds,
        })
    }

    /// The tables of the service.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn measure_tables(&self) -> Result<Vec<TableState>, StoreError> {
        let rows = sqlx::query!(
            r#"SELECT relname::text AS "name!", pg_table_size(oid) AS "bytes!", pg_indexes_size(oid) AS "index_bytes!",
                      GREATEST(reltuples, 0)::float8 AS "rows!"
               FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname NOT LIKE '\_%'
               ORDER BY relname"#
        )
        .fetch_all(self.writer())
        .await?;
        let tables = rows.into_iter().map(|row| TableState {
            name: row.name,
            bytes: row.bytes.unsigned_abs(),
            index_bytes: row.index_bytes.unsigned_abs(),
            rows: row.rows,
        });
        Ok(tables.collect())
    }

    /// The pools of this process.
    #[must_use]
    pub(crate) fn pools(&self) -> [PoolState; 3] {
        let [write, read, queue] = self.all_pools();
        [("write", write), ("read", read), ("queue", queue)].map(|(name, pool)| {
            let idle = pool.num_idle() as u64;
            let in_use = u64::from(pool.size()).saturating_sub(idle);
            PoolState { name, in_use, idle, most: u64::from(pool.options().get_max_connections()) }
        })
    }
}
