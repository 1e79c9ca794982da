//! Read replicas: a search begins on one that has all that was committed before, or on the primary.
//!
//! A process reads from one server at a time, so that the reads of an ask do not go back and forth between states. Before each
//! ask the server has to have replayed what the primary had flushed by then, which is all that anybody was told; if it has
//! not within a short time, dies, or is promoted, the process goes on to the next replica, and in the end to the primary. A
//! background task goes back to a replica that has caught up.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use sqlx::PgPool;
use tokio::time::{Instant, sleep, timeout_at};

use crate::store::StoreError;

/// Longest wait of an ask for a replica to catch up.
const PATIENCE: Duration = Duration::from_millis(200);
/// Pause between two looks at a replica.
const PAUSE: Duration = Duration::from_millis(4);
/// Time between two looks for a replica that has caught up again.
const WATCH: Duration = Duration::from_secs(1);

/// The pools that retrieval reads from.
#[derive(Clone, Debug)]
pub(super) struct Readers(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// The replicas, in the order in which this process prefers them.
    replicas: Vec<PgPool>,
    /// For retrieval from the primary: where there is no replica, and while none is fit.
    home: PgPool,
    /// Place of the replica that is read from; their number for home.
    current: AtomicUsize,
}

impl Readers {
    /// Reads from the first of the replicas until it turns out to be unfit. Processes prefer different ones.
    pub(super) fn new(mut replicas: Vec<PgPool>, home: PgPool, primary: PgPool) -> Self {
        if !replicas.is_empty() {
            let first = usize::try_from(std::process::id()).unwrap_or(0) % replicas.len();
            replicas.rotate_left(first);
        }
        let readers = Self(Arc::new(Inner { replicas, home, current: AtomicUsize::new(0) }));
        if !readers.0.replicas.is_empty() {
            tokio::spawn(watch(Arc::downgrade(&readers.0), primary));
        }
        readers
    }

    /// The pool to read from.
    pub(super) fn current(&self) -> &PgPool {
        self.0.replicas.get(self.0.current.load(Ordering::SeqCst)).unwrap_or(&self.0.home)
    }

    /// Sees to it that the pool to read from has all that is committed at this moment.
    ///
    /// # Errors
    /// Any [`StoreError`] of the primary.
    pub(super) async fn catch_up(&self, primary: &PgPool) -> Result<(), StoreError> {
        let place = self.0.current.load(Ordering::SeqCst);
        let Some(replica) = self.0.replicas.get(place) else { return Ok(()) };
        let committed = flushed(primary).await?;
        if has_replayed(replica, &committed).await {
            return Ok(());
        }
        for (next, replica) in self.0.replicas.iter().enumerate().filter(|(next, _)| *next != place) {
            if has_replayed(replica, &committed).await {
                self.0.switch(place, next);
                return Ok(());
            }
        }
        self.0.switch(place, self.0.replicas.len());
        Ok(())
    }

    /// Closes the pools and waits for their connections.
    pub(super) async fn close(&self) {
        for pool in &self.0.replicas {
            pool.close().await;
        }
        self.0.home.close().await;
    }
}

impl Inner {
    /// Reads from another place from now on, unless somebody has changed it already.
    fn switch(&self, from: usize, to: usize) {
        if self.current.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            let place = |place: usize| {
                self.replicas.get(place).map_or_else(
                    || "the primary".to_owned(),
                    |pool| format!("{}:{}", pool.connect_options().get_host(), pool.connect_options().get_port()),
                )
            };
            tracing::warn!(
                from = place(from),
                to = place(to),
                "retrieval reads from another server: a replica does not answer, is behind, or is no replica any more, or \
                 has caught up again"
            );
        }
    }
}

/// Goes back to a replica that is preferred and has caught up, for as long as the store is open.
async fn watch(readers: Weak<Inner>, primary: PgPool) {
    loop {
        sleep(WATCH).await;
        let Some(inner) = readers.upgrade() else { return };
        if primary.is_closed() {
            return;
        }
        let place = inner.current.load(Ordering::SeqCst);
        let Ok(committed) = flushed(&primary).await else { continue };
        for (better, replica) in inner.replicas.iter().enumerate().take(place) {
            if has_replayed(replica, &committed).await {
                inner.switch(place, better);
                break;
            }
        }
    }
}

/// The end of what the primary has flushed: all that anybody was told lies before it.
async fn flushed(primary: &PgPool) -> Result<String, StoreError> {
    Ok(sqlx::query_scalar!(r#"SELECT pg_current_wal_flush_lsn()::text AS "end!""#).fetch_one(primary).await?)
}

/// Whether a server is a replica that has replayed so much, or does so in a short time.
async fn has_replayed(replica: &PgPool, end: &str) -> bool {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let look = sqlx::query_scalar!(
            r#"SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() >= $1::text::pg_lsn END AS has"#,
            end
        )
        .fetch_one(replica);
        match timeout_at(deadline, look).await {
            Ok(Ok(Some(true))) => return true,
            Ok(Ok(Some(false))) if Instant::now() + PAUSE < deadline => sleep(PAUSE).await,
            // Behind, promoted, or gone.
            Ok(Ok(Some(false) | None) | Err(_)) | Err(_) => return false,
        }
    }
}
