//! Databases that tests have made. They are removed when their tests end: those of all tests are many gigabytes.

use std::{
    cell::RefCell,
    sync::{
        LazyLock,
        mpsc::{self, Sender},
    },
    thread,
};

use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor};

use crate::throw_away_postgres;

/// Databases that are removed together. Each removal is a checkpoint, which costs little right after another one.
const TOGETHER: usize = 16;

/// Databases that the thread of a test has made.
#[derive(Default)]
struct Made(Vec<String>);

thread_local! {
    static MADE: RefCell<Made> = RefCell::default();
}

static REMOVER: LazyLock<Sender<String>> = LazyLock::new(|| {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        // On a cluster each has processes of its own.
        let together = if throw_away_postgres::cluster().is_some() { 1 } else { TOGETHER };
        let mut waiting = Vec::new();
        for database in receiver {
            waiting.push(database);
            if waiting.len() >= together {
                runtime.block_on(remove(waiting.drain(..)));
            }
        }
    });
    sender
});

impl Drop for Made {
    fn drop(&mut self) {
        for database in self.0.drain(..) {
            // The remover is gone at the end of all tests, and the servers with it.
            let _ = REMOVER.send(database);
        }
    }
}

/// Has a database removed when the thread of this test ends.
pub(crate) fn remove_after_this_test(database: &str) {
    MADE.with_borrow_mut(|made| made.0.push(database.to_owned()));
}

async fn remove(databases: impl Iterator<Item = String>) {
    if let Some(cluster) = throw_away_postgres::cluster() {
        for database in databases {
            cluster.remove(&database).await;
        }
        return;
    }
    let options = throw_away_postgres::connect_options().database("postgres");
    let mut connection = options.connect().await.expect("the shared server answers");
    for database in databases {
        let sql = format!("DROP DATABASE IF EXISTS {database} WITH (FORCE)");
        connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.expect("a database less");
    }
    connection.close().await.expect("close");
}
