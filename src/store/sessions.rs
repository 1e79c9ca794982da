//! Pools of connections, and the settings that statements run under.
//!
//! Sessions that are the service's own are set once, when they begin. A pooler in transaction mode gives each transaction to
//! any session of its own, so there the settings go with the transaction.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use sqlx::{
    AssertSqlSafe, Connection, Executor, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use crate::store::{StoreError, login::Login};

/// Settings of every session. Vector searches continue until they have enough rows that pass the filter. Notices are
/// suppressed, because the usual one (no transaction to roll back after a cancelled statement) requires no action.
const SETTINGS: [(&str, &str); 4] = [
    ("hnsw.iterative_scan", "relaxed_order"),
    ("jit", "off"),
    ("client_min_messages", "error"),
    ("default_transaction_isolation", "'read committed'"),
];

/// Interval at which the server looks whether the client of a statement is still there, and cancels it if not. A server on
/// Windows cannot detect that.
const WATCH_CLIENT: &str =
    "SELECT set_config('client_connection_check_interval', '500ms', LOCAL) WHERE version() !~ 'Visual C|mingw'";

/// Time after which the server ends a session that leaves a transaction open: no work is done within one, so whoever
/// holds it has hung, and holds back others and the cleaning of tables.
const IDLE_IN_TRANSACTION_TIMEOUT: Duration = Duration::from_mins(1);

/// Sizes and limits of the pools.
#[derive(Clone, Debug)]
pub struct PoolSettings {
    /// Most connections of each of the pools that serve requests; the pool of the queue has half as many.
    pub max_connections: u32,
    /// How long a request waits for a connection before it is refused; a search, for the first of those that it needs.
    pub acquire_timeout: Duration,
    /// Statement timeout of the retrieval pool.
    pub statement_timeout: Duration,
    /// Statement timeout of the general pool, whose longest statements delete large collections.
    pub write_timeout: Duration,
    /// Time limit for a lock.
    pub lock_timeout: Duration,
    /// Postgres itself, if the pools reach it through a pooler in transaction mode.
    pub direct: Option<Box<PgConnectOptions>>,
}

impl Default for PoolSettings {
    fn default() -> Self {
        Self {
            max_connections: connections(),
            acquire_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_mins(10),
            lock_timeout: Duration::from_mins(1),
            direct: None,
        }
    }
}

/// Returns the default pool size. With more connections, statements would compete for the database's processors instead
/// of waiting here, where they are served by turns. In addition, each new connection costs the database
/// tens of milliseconds to start, and most of them are opened under load.
fn connections() -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    u32::try_from(4 * cores).unwrap_or(u32::MAX).clamp(8, 24)
}

/// How the transactions of pools begin.
#[derive(Clone, Debug)]
pub(super) struct Beginnings {
    /// Of the general pool and that of the queue.
    pub(super) write: String,
    /// Of the retrieval pool.
    pub(super) read: String,
    /// Whether single statements of the retrieval pool need a transaction to have their settings.
    pub(super) are_of_transactions: bool,
}

impl Beginnings {
    /// Of pools with these settings.
    pub(super) fn of(settings: &PoolSettings) -> Arc<Self> {
        let begin = |statement_timeout| match settings.direct {
            None => "BEGIN".to_owned(),
            Some(_) => begin_with_settings(settings, statement_timeout),
        };
        Arc::new(Self {
            write: begin(settings.write_timeout),
            read: begin(settings.statement_timeout),
            are_of_transactions: settings.direct.is_some(),
        })
    }
}

/// Begins a transaction and sets all that a session of the service's own has from its beginning, in one round trip.
fn begin_with_settings(settings: &PoolSettings, statement_timeout: Duration) -> String {
    let of_session = SETTINGS.iter().filter(|(name, _)| !name.starts_with("default_"));
    let of_session = of_session.map(|(name, value)| format!("; SET LOCAL {name} = {value}"));
    let timeouts = timeouts(settings, statement_timeout).map(|(name, limit)| format!("; SET LOCAL {name} = {limit}"));
    let all: String = of_session.chain(timeouts).collect();
    format!("BEGIN ISOLATION LEVEL READ COMMITTED{all}; {}", WATCH_CLIENT.replace("LOCAL", "true"))
}

fn timeouts(settings: &PoolSettings, statement_timeout: Duration) -> [(&'static str, u128); 3] {
    [
        ("statement_timeout", statement_timeout.as_millis()),
        ("lock_timeout", settings.lock_timeout.as_millis()),
        ("idle_in_transaction_session_timeout", IDLE_IN_TRANSACTION_TIMEOUT.as_millis()),
    ]
}

/// Opens a pool that logs in so.
pub(super) async fn pool(
    login: Login,
    settings: &PoolSettings,
    statement_timeout: Duration,
) -> Result<PgPool, StoreError> {
    let (pool, options) = described(login, settings, statement_timeout)?;
    Ok(pool.connect_with(options).await?)
}

/// The same without a connection until one is needed.
pub(super) fn lazy_pool(
    login: Login,
    settings: &PoolSettings,
    statement_timeout: Duration,
) -> Result<PgPool, StoreError> {
    let (pool, options) = described(login, settings, statement_timeout)?;
    Ok(pool.connect_lazy_with(options))
}

fn described(
    login: Login,
    settings: &PoolSettings,
    statement_timeout: Duration,
) -> Result<(PgPoolOptions, PgConnectOptions), StoreError> {
    let is_pooled = settings.direct.is_some();
    let login = if is_pooled { login.by_itself()? } else { login };
    let options = login.options.application_name("cited");
    let (options, session) = if is_pooled {
        (options, None)
    } else {
        let set_role = login.set_role.map_or_else(String::new, |role| format!("SET ROLE {}; ", role.name()));
        let set: String = SETTINGS.iter().map(|(name, value)| format!("SET {name} = {value}; ")).collect();
        let session = format!("{set_role}{set}{}", WATCH_CLIENT.replace("LOCAL", "false"));
        (options.options(timeouts(settings, statement_timeout)), Some(session))
    };
    let pool = PgPoolOptions::new()
        .max_connections(settings.max_connections)
        .acquire_timeout(settings.acquire_timeout)
        .test_before_acquire(false)
        .before_acquire(|connection, meta| {
            Box::pin(async move {
                // A recently used connection is not pinged: that would double the round trips.
                if meta.idle_for > Duration::from_secs(1) {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
        .after_connect(move |connection, _| {
            let session = session.clone().map(AssertSqlSafe);
            Box::pin(async move {
                if let Some(session) = session {
                    connection.execute(sqlx::raw_sql(session)).await?;
                }
                Ok(())
            })
        })
        .after_release(|connection, _| {
            Box::pin(async move {
                // A connection would keep what the largest statement took that it ever sent.
                connection.shrink_buffers();
                Ok(true)
            })
        });
    Ok((pool, options))
}

/// The server itself, past a pooler: for its owner, who migrates, makes roles and builds graphs in sessions of its own.
pub(super) fn owner_of(primary: &PgConnectOptions, settings: &PoolSettings) -> PgConnectOptions {
    settings.direct.as_deref().unwrap_or(primary).clone()
}
