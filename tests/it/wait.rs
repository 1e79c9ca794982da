//! Waiting for what happens in a service, another process or the database, of which nothing tells the test.

use std::{fmt::Debug, time::Duration};

use sqlx::postgres::PgConnectOptions;
use tokio::time::{Instant, sleep};

use crate::database;

/// Longest wait, also on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// Repeats the attempt until it succeeds; fails after two minutes with what was awaited and the last failure.
pub(crate) async fn until_ok<T, E: Debug>(awaited: &str, mut attempt: impl AsyncFnMut() -> Result<T, E>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match attempt().await {
            Ok(outcome) => return outcome,
            Err(last) => assert!(Instant::now() < deadline, "waited in vain: {awaited}: {last:?}"),
        }
        sleep(PAUSE).await;
    }
}

/// Waits until the condition holds.
pub(crate) async fn until(awaited: &str, mut holds: impl AsyncFnMut() -> bool) {
    until_ok(awaited, async || if holds().await { Ok(()) } else { Err("it does not hold") }).await;
}

/// Waits until the statement counts as many as are wanted.
pub(crate) async fn until_count(database: &PgConnectOptions, sql: &str, wanted: impl Fn(i64) -> bool) {
    let count = async || Some(database::number(database, sql).await).filter(|count| !wanted(*count));
    until_ok(sql, async || count().await.map_or(Ok(()), Err)).await;
}
