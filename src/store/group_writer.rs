//! Group commit of the rows of a record: those that arrive while others are being written share the next write.

use std::{sync::Arc, time::Duration};

use futures::{
    FutureExt,
    future::{BoxFuture, Shared},
};
use sqlx::PgPool;
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinError,
};

use crate::store::StoreError;

/// Longest wait for a row to be written. The answer waits for it, in addition to the time limit of the request.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most rows of one write.
const MOST_ROWS: usize = 64;

/// A row of a record, of whichever tenant.
pub(in crate::store) trait Recorded: Send + Sync + Sized + 'static {
    /// Name of the record in errors.
    const RECORD: &'static str;

    /// Writes rows in one statement; a row that is there already is ignored.
    fn insert(pool: &PgPool, rows: &[&Self]) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
}

/// Writes the rows of all requests of this process.
#[derive(Debug)]
pub(in crate::store) struct GroupWriter<R> {
    waiting: mpsc::Sender<Waiting<R>>,
    pool: PgPool,
    ended: Shared<BoxFuture<'static, String>>,
}

impl<R> Clone for GroupWriter<R> {
    fn clone(&self) -> Self {
        Self { waiting: self.waiting.clone(), pool: self.pool.clone(), ended: self.ended.clone() }
    }
}

#[derive(Debug)]
struct Waiting<R> {
    row: Arc<R>,
    /// Notified when the row is committed; dropped when the joint write failed.
    written: oneshot::Sender<()>,
}

impl<R: Recorded> GroupWriter<R> {
    /// Starts the writer task; it ends when the last clone of the returned handle is dropped.
    pub(in crate::store) fn start(pool: PgPool) -> Self {
        let (waiting, rows) = mpsc::channel(MOST_ROWS);
        let task = tokio::spawn(write_all(pool.clone(), rows));
        let ended = task.map(|ended: Result<(), JoinError>| match ended {
            Ok(()) => format!("the writer of {} ended", R::RECORD),
            Err(error) => format!("the writer of {} died: {error}", R::RECORD),
        });
        Self { waiting, pool, ended: ended.boxed().shared() }
    }

    /// Resolves, with the reason, when the writer task has ended, which must not happen while requests are served.
    pub(in crate::store) fn failed(&self) -> Shared<BoxFuture<'static, String>> {
        self.ended.clone()
    }

    /// Returns when the row is committed. If the joint write failed, the row is retried alone, so that an error in one
    /// row is reported to the request that it belongs to.
    pub(in crate::store) async fn write(&self, row: Arc<R>) -> Result<(), StoreError> {
        let write = async {
            let (written, is_written) = oneshot::channel();
            let sent = self.waiting.send(Waiting { row: Arc::clone(&row), written }).await;
            if sent.is_ok() && is_written.await.is_ok() {
                return Ok(());
            }
            R::insert(&self.pool, &[&row]).await
        };
        Ok(tokio::time::timeout(PATIENCE, write).await.unwrap_or(Err(sqlx::Error::PoolTimedOut))?)
    }
}

async fn write_all<R: Recorded>(pool: PgPool, mut rows: mpsc::Receiver<Waiting<R>>) {
    let mut batch = Vec::with_capacity(MOST_ROWS);
    while rows.recv_many(&mut batch, MOST_ROWS).await > 0 {
        let together: Vec<&R> = batch.iter().map(|waiting| waiting.row.as_ref()).collect();
        let result = tokio::time::timeout(PATIENCE, R::insert(&pool, &together)).await;
        let is_written = matches!(result, Ok(Ok(())));
        for waiting in batch.drain(..) {
            if is_written {
                // A receiver that has gone away no longer needs the notification.
                let _ = waiting.written.send(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use sqlx::postgres::PgConnectOptions;

    use super::*;
    use crate::store::AuditRow;

    #[tokio::test]
    async fn the_end_of_the_writer_is_reported_to_those_who_watch_it() {
        let writer = GroupWriter::<AuditRow>::start(PgPool::connect_lazy_with(PgConnectOptions::new()));
        let failed = writer.failed();
        assert!(writer.failed().now_or_never().is_none(), "it runs");
        drop(writer);
        assert_eq!(failed.await, "the writer of audit rows ended");
    }
}
