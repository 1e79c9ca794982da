//! Group commit of audit rows: those that arrive while others are being written share the next write.

use std::{sync::Arc, time::Duration};

use futures::{
    FutureExt,
    future::{BoxFuture, Shared},
};
use sqlx::{PgPool, types::Json};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinError,
};

use crate::store::{StoreError, asks::audit::AuditRow};

/// Longest wait for a row to be written. The answer waits for it, in addition to the ask's own time limit.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most rows of one write.
const MOST_ROWS: usize = 64;

/// Writes the rows of all asks of this process.
#[derive(Clone, Debug)]
pub(in crate::store) struct AuditWriter {
    waiting: mpsc::Sender<Waiting>,
    pool: PgPool,
    ended: Shared<BoxFuture<'static, String>>,
}

#[derive(Debug)]
struct Waiting {
    row: Arc<AuditRow>,
    /// Notified when the row is committed; dropped when the joint write failed.
    written: oneshot::Sender<()>,
}

impl AuditWriter {
    /// Starts the writer task; it ends when the last clone of the returned handle is dropped.
    pub(in crate::store) fn start(pool: PgPool) -> Self {
        let (waiting, rows) = mpsc::channel(MOST_ROWS);
        let task = tokio::spawn(write_all(pool.clone(), rows));
        let ended = task.map(|ended: Result<(), JoinError>| match ended {
            Ok(()) => "the audit writer ended".to_owned(),
            Err(error) => format!("the audit writer died: {error}"),
        });
        Self { waiting, pool, ended: ended.boxed().shared() }
    }

    /// Resolves, with the reason, when the writer task has ended, which must not happen while asks are answered.
    pub(in crate::store) fn failed(&self) -> impl Future<Output = String> + Send + use<> {
        self.ended.clone()
    }

    /// Returns when the row is committed. If the joint write failed, the row is retried alone, so that an error in one
    /// row is reported to the ask that it belongs to.
    pub(in crate::store) async fn write(&self, row: Arc<AuditRow>) -> Result<(), StoreError> {
        let write = async {
            let (written, is_written) = oneshot::channel();
            let sent = self.waiting.send(Waiting { row: Arc::clone(&row), written }).await;
            if sent.is_ok() && is_written.await.is_ok() {
                return Ok(());
            }
            insert(&self.pool, &[&row]).await
        };
        Ok(tokio::time::timeout(PATIENCE, write).await.unwrap_or(Err(sqlx::Error::PoolTimedOut))?)
    }
}

async fn write_all(pool: PgPool, mut rows: mpsc::Receiver<Waiting>) {
    let mut batch = Vec::with_capacity(MOST_ROWS);
    while rows.recv_many(&mut batch, MOST_ROWS).await > 0 {
        let together: Vec<&AuditRow> = batch.iter().map(|waiting| waiting.row.as_ref()).collect();
        let result = tokio::time::timeout(PATIENCE, insert(&pool, &together)).await;
        let is_written = matches!(result, Ok(Ok(())));
        for waiting in batch.drain(..) {
            if is_written {
                // A receiver that has gone away no longer needs the notification.
                let _ = waiting.written.send(());
            }
        }
    }
}

async fn insert(pool: &PgPool, rows: &[&AuditRow]) -> Result<(), sqlx::Error> {
    sqlx::query!("SELECT write_ask_audit($1)", Json(rows) as _).execute(pool).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use sqlx::postgres::PgConnectOptions;

    use super::*;

    #[tokio::test]
    async fn the_end_of_the_writer_is_reported_to_those_who_watch_it() {
        let writer = AuditWriter::start(PgPool::connect_lazy_with(PgConnectOptions::new()));
        let failed = writer.failed();
        assert!(writer.failed().now_or_never().is_none(), "it runs");
        drop(writer);
        assert_eq!(failed.await, "the audit writer ended");
    }
}
