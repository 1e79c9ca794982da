//! Opening the store: roles, migrations, pools, and the check that row level security binds us.

use std::{num::NonZeroUsize, time::Duration};

use sqlx::{
    AssertSqlSafe, Connection, Executor, PgConnection, PgPool, Postgres, Transaction,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use crate::domain::identity::{EmbeddingProfile, TenantId};
use crate::store::{
    MIGRATOR, StoreError,
    asks::audit_writer::AuditWriter,
    collections::profile::{self, ProfileId},
    schema_version::SchemaVersion,
};

/// Oldest server that has what the queries use.
pub(in crate::store) const MINIMUM_POSTGRES: i32 = 160_000;
/// First pgvector with iterative index scans.
const MINIMUM_PGVECTOR: (u32, u32) = (0, 8);

/// What to do when the roles are not there and cannot be made.
pub(in crate::store) const ROLES_REMEDY: &str = "grant it CREATEROLE, or as an administrator run: \
     CREATE ROLE cited_app NOLOGIN; CREATE ROLE cited_lexical NOLOGIN; GRANT cited_app, cited_lexical TO <the user>";

/// What every pooled connection runs first. The role is what row level security binds. Vector searches
/// go on until they have enough rows that pass the filter.
/// A statement whose client has gone is ended within half a second; on Windows a server cannot tell.
/// Notices (no transaction to roll back after a statement that was cancelled) ask nothing of anybody.
const SESSION: &str = "SET ROLE cited_app; SET hnsw.iterative_scan = relaxed_order; \
     SET jit = off; SET client_min_messages = error; SET default_transaction_isolation = 'read committed'; \
     SELECT set_config('client_connection_check_interval', '500ms', false) WHERE version() !~ 'Visual C|mingw'";

/// Sizes and limits of the pools.
#[derive(Clone, Debug)]
pub struct PoolSettings {
    /// Most connections of each pool.
    pub max_connections: u32,
    /// How long a request waits for a free connection before it is told that the database is down.
    pub acquire_timeout: Duration,
    /// Longest statement of the retrieval pool.
    pub statement_timeout: Duration,
}

impl Default for PoolSettings {
    fn default() -> Self {
        Self {
            max_connections: connections(),
            acquire_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(30),
        }
    }
}

/// More than these wait for each other's processor time in the database instead of here, where the first to
/// come is the first to go; and each new one costs the database a start of tens of milliseconds, under load
/// of which there are the most.
fn connections() -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    u32::try_from(4 * cores).unwrap_or(u32::MAX).clamp(8, 24)
}

/// The database, bound to the runtime role.
#[derive(Clone, Debug)]
pub struct Store {
    write: PgPool,
    read: PgPool,
    pub(in crate::store) audit: AuditWriter,
}

impl Store {
    /// Brings roles and schema up to date, under an advisory lock, with the rights of `owner`.
    ///
    /// # Errors
    /// [`StoreError::Unsuitable`] when server or pgvector are too old, the roles cannot be made, or another build or a
    /// newer release made the schema.
    pub async fn migrate(owner: &PgConnectOptions) -> Result<(), StoreError> {
        let mut connection = PgConnection::connect_with(owner).await?;
        check_server(&mut connection).await?;
        ensure_roles(&mut connection).await?;
        SchemaVersion::of(&mut connection).await?.refuse()?;
        MIGRATOR.run(&mut connection).await?;
        check_pgvector(&mut connection).await?;
        connection.close().await?;
        Ok(())
    }

    /// Registers a vector space and makes its index, with the rights of `owner`.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn ensure_profile(owner: &PgConnectOptions, profile: &EmbeddingProfile) -> Result<ProfileId, StoreError> {
        let mut connection = PgConnection::connect_with(owner).await?;
        let id = profile::ensure(&mut connection, profile).await?;
        connection.close().await?;
        Ok(id)
    }

    /// Opens the pools: `primary` for everything, `replica` (if given) for retrieval.
    ///
    /// # Errors
    /// [`StoreError::Unsuitable`] when the runtime role could bypass row level security.
    pub async fn connect(
        primary: &PgConnectOptions,
        replica: Option<&PgConnectOptions>,
        settings: &PoolSettings,
    ) -> Result<Self, StoreError> {
        let write = pool(primary.clone(), settings).await?;
        let timeout = format!("{}ms", settings.statement_timeout.as_millis());
        let reader = replica.unwrap_or(primary).clone().options([("statement_timeout", timeout.as_str())]);
        let read = pool(reader, settings).await?;
        for pool in [&write, &read] {
            refuse_bypass(pool).await?;
        }
        let audit = AuditWriter::start(write.clone());
        Ok(Self { write, read, audit })
    }

    /// Closes both pools and waits for their connections.
    pub async fn close(&self) {
        self.read.close().await;
        self.write.close().await;
    }

    /// Resolves, with the reason, only if a task of the store has died. The service should end then.
    pub fn failed(&self) -> impl Future<Output = String> + Send + use<> {
        self.audit.failed()
    }

    /// Whether the database answers.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when it does not.
    pub async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query!("SELECT 1 AS one").fetch_one(&self.write).await?;
        Ok(())
    }

    /// A transaction that sees one tenant.
    pub(in crate::store) async fn begin(&self, tenant: TenantId) -> Result<Transaction<'static, Postgres>, StoreError> {
        Ok(self.write.begin_with(AssertSqlSafe(begin_for(tenant))).await?)
    }

    /// The retrieval pool.
    pub(in crate::store) const fn reader(&self) -> &PgPool {
        &self.read
    }

    /// The pool for everything, for a statement that touches no tenant's rows.
    pub(in crate::store) const fn writer(&self) -> &PgPool {
        &self.write
    }

    /// A transaction that sees of every tenant the queue with all that belongs to its jobs, and what maintenance
    /// forgets by its age (audit, usage, cached answers); no documents. The queue is always read in the order of one of
    /// its indexes: without statistics a planner would rather sort all that waits.
    pub(in crate::store) async fn begin_queue(&self) -> Result<Transaction<'static, Postgres>, StoreError> {
        const BEGIN: &str = "BEGIN; SET LOCAL cited.queue_worker = 'on'; SET LOCAL enable_bitmapscan = off; \
             SET LOCAL enable_sort = off";
        Ok(self.write.begin_with(BEGIN).await?)
    }
}

/// One round trip opens the transaction and sets its tenant; a UUID's text cannot carry SQL.
pub(in crate::store) fn begin_for(tenant: TenantId) -> String {
    format!("BEGIN; SET LOCAL cited.tenant = '{}'", tenant.0)
}

async fn pool(options: PgConnectOptions, settings: &PoolSettings) -> Result<PgPool, StoreError> {
    let pool = PgPoolOptions::new()
        .max_connections(settings.max_connections)
        .acquire_timeout(settings.acquire_timeout)
        .test_before_acquire(false)
        .before_acquire(|connection, meta| {
            Box::pin(async move {
                // A busy connection is not asked whether it lives: that would double the round trips.
                if meta.idle_for > Duration::from_secs(1) {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
        .after_connect(|connection, _| {
            Box::pin(async move {
                connection.execute(sqlx::raw_sql(SESSION)).await?;
                Ok(())
            })
        })
        .connect_with(options.application_name("cited"))
        .await?;
    Ok(pool)
}

async fn refuse_bypass(pool: &PgPool) -> Result<(), StoreError> {
    let role = sqlx::query!(
        r#"SELECT rolname::text AS "name!", (rolsuper OR rolbypassrls) AS "bypasses!"
           FROM pg_roles WHERE rolname = current_user"#
    )
    .fetch_one(pool)
    .await?;
    if role.bypasses {
        return Err(StoreError::Unsuitable(format!(
            "the database role {} can bypass row level security; take SUPERUSER and BYPASSRLS away from it",
            role.name
        )));
    }
    Ok(())
}

async fn check_server(connection: &mut PgConnection) -> Result<(), StoreError> {
    let version = sqlx::query_scalar!(r#"SELECT current_setting('server_version_num')::int AS "version!""#)
        .fetch_one(connection)
        .await?;
    if version < MINIMUM_POSTGRES {
        return Err(StoreError::Unsuitable(format!(
            "Postgres {} is too old; Cited needs Postgres 16 or newer",
            version / 10_000
        )));
    }
    Ok(())
}

async fn check_pgvector(connection: &mut PgConnection) -> Result<(), StoreError> {
    let version = sqlx::query_scalar!("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
        .fetch_one(connection)
        .await?;
    if is_old_pgvector(&version) {
        return Err(StoreError::Unsuitable(format!(
            "pgvector {version} is too old; install 0.8 or newer and run ALTER EXTENSION vector UPDATE"
        )));
    }
    Ok(())
}

/// Whether this version of pgvector lacks what the queries use.
pub(in crate::store) fn is_old_pgvector(version: &str) -> bool {
    let mut numbers = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < MINIMUM_PGVECTOR
}

/// Makes the roles that the migrations grant rights to. Roles belong to the whole server, so two
/// databases may race for them; the loser finds them there.
async fn ensure_roles(connection: &mut PgConnection) -> Result<(), StoreError> {
    const CREATE: &str = "
        DO $$
        DECLARE wanted text;
        BEGIN
            FOREACH wanted IN ARRAY ARRAY['cited_app', 'cited_lexical'] LOOP
                IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
                    BEGIN
                        EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOBYPASSRLS', wanted);
                    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
                    END;
                END IF;
                IF NOT pg_has_role(current_user, wanted, 'SET') THEN
                    EXECUTE format('GRANT %I TO %I', wanted, current_user);
                END IF;
            END LOOP;
        END $$";
    connection.execute(sqlx::raw_sql(CREATE)).await.map_err(|error| {
        let denied =
            error.as_database_error().and_then(sqlx::error::DatabaseError::code).is_some_and(|code| code == "42501");
        if denied {
            StoreError::Unsuitable(format!("the database user may not create roles; {ROLES_REMEDY}"))
        } else {
            error.into()
        }
    })?;
    Ok(())
}
