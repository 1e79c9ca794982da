//! Opens the store: roles, migrations, pools, and the check that row level security applies to the runtime role.

use std::sync::Arc;

use sqlx::{Connection, Executor, PgConnection, PgPool, postgres::PgConnectOptions};

use crate::domain::{
    identity::{EmbeddingProfile, TenantId},
    storage::StorageQuotas,
};
use crate::store::{
    MIGRATOR, PoolSettings, StoreError, Tx,
    asks::audit::AuditRow,
    cluster,
    collections::profile::{self, ProfileId},
    error::sqlstate,
    flush::Flush,
    group_writer::GroupWriter,
    login::RuntimeRole,
    replicas::Readers,
    schema_version::SchemaVersion,
    sessions::{Beginnings, lazy_pool, owner_of, pool},
    turns::{Progress, Turn, Turns},
};

/// Oldest Postgres version with the features that the queries use.
pub(in crate::store) const MINIMUM_POSTGRES: i32 = 160_000;
/// First pgvector version with iterative index scans.
const MINIMUM_PGVECTOR: (u32, u32) = (0, 8);

/// Remedy for roles that do not exist and cannot be created.
pub(in crate::store) const ROLES_REMEDY: &str = "grant it CREATEROLE, or as an administrator run: \
     CREATE ROLE cited_app NOLOGIN; CREATE ROLE cited_worker NOLOGIN IN ROLE cited_app; \
     CREATE ROLE cited_lexical NOLOGIN; CREATE ROLE cited_keys NOLOGIN; CREATE ROLE cited_record NOLOGIN; \
     GRANT cited_app, cited_worker, cited_lexical, cited_keys, cited_record TO <the user>";

/// Settings of a transaction on the queue.
const QUEUE: &str = "; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off";

/// The database, bound to the runtime role.
#[derive(Clone, Debug)]
pub struct Store {
    write: PgPool,
    read: Readers,
    /// Who comes next at the connections of `write`, and of `read`.
    write_turns: Turns,
    pub(in crate::store) read_turns: Turns,
    /// Connections of the background loops: a queue that hangs takes none away from requests.
    queue: PgPool,
    pub(in crate::store) beginnings: Arc<Beginnings>,
    /// The user that owns the tables, for maintenance that the runtime role may not do.
    pub(in crate::store) owner: Arc<PgConnectOptions>,
    /// Quotas of tenants that have none of their own.
    pub(in crate::store) quotas: Arc<StorageQuotas>,
    pub(in crate::store) audit: GroupWriter<AuditRow>,
    pub(in crate::store) flushes: GroupWriter<Flush>,
    /// Whether the rows of tenants are on servers of their own.
    pub(in crate::store) is_split: bool,
}

impl Store {
    /// Migrates roles and schema to this build's version, under an advisory lock, with the rights of `owner`.
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
        if cluster::is_split(&mut connection).await? {
            cluster::complete(&mut connection).await?;
        }
        connection.close().await?;
        Ok(())
    }

    /// Registers a vector space, with the rights of `owner`.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn ensure_profile(owner: &PgConnectOptions, profile: &EmbeddingProfile) -> Result<ProfileId, StoreError> {
        let mut connection = PgConnection::connect_with(owner).await?;
        let id = profile::ensure(&mut connection, profile).await?;
        connection.close().await?;
        Ok(id)
    }

    /// Opens the pools: `primary` for everything, `replicas` (if there are any) for retrieval. A replica that does not answer
    /// is left out until it does.
    ///
    /// # Errors
    /// [`StoreError::Unsuitable`] when a role that the service works as, or logs in as, could bypass row level security,
    /// or a table does not force it.
    pub async fn connect(
        primary: &PgConnectOptions,
        replicas: &[PgConnectOptions],
        settings: &PoolSettings,
    ) -> Result<Self, StoreError> {
        let owner = owner_of(primary, settings);
        let login = RuntimeRole::Requests.login(&owner, primary).await?;
        let write = pool(login.clone(), settings, settings.write_timeout).await?;
        let home = pool(login.clone(), settings, settings.statement_timeout).await?;
        let is_split = cluster::is_split(&mut *write.acquire().await?).await?;
        if is_split {
            refuse_beside_cluster(replicas, settings)?;
        }
        let of_replica = |replica| lazy_pool(login.at(&owner, replica), settings, settings.statement_timeout);
        let replicas = replicas.iter().map(of_replica).collect::<Result<_, _>>()?;
        let read = Readers::new(replicas, home, write.clone());
        let for_queue = PoolSettings { max_connections: settings.max_connections.div_ceil(2), ..settings.clone() };
        let login = RuntimeRole::Queue.login(&owner, primary).await?;
        let queue = pool(login, &for_queue, settings.write_timeout).await?;
        for pool in [&write, &queue] {
            refuse_bypass(pool).await?;
        }
        refuse_unforced(&write).await?;
        let (audit, flushes) = (GroupWriter::start(write.clone()), GroupWriter::start(write.clone()));
        let (owner, quotas) = (Arc::new(owner.application_name("cited maintenance")), Arc::default());
        let turns = || Turns::new(settings.max_connections, settings.acquire_timeout, settings.statement_timeout);
        let (write_turns, read_turns, beginnings) = (turns(), turns(), Beginnings::of(settings));
        Ok(Self { write, read, write_turns, read_turns, queue, beginnings, owner, quotas, audit, flushes, is_split })
    }

    /// The same with these quotas for tenants that have none of their own.
    #[must_use]
    pub(crate) fn with_quotas(self, quotas: StorageQuotas) -> Self {
        Self { quotas: Arc::new(quotas), ..self }
    }

    /// Closes the pools and waits for their connections.
    pub async fn close(&self) {
        self.read.close().await;
        self.queue.close().await;
        self.write.close().await;
    }

    /// Resolves, with the reason, only if a background task of the store has died. The service should stop then.
    pub(crate) fn failed(&self) -> impl Future<Output = String> + Send + use<> {
        let (audit, flushes) = (self.audit.failed(), self.flushes.failed());
        async move {
            tokio::select! {
                reason = audit => reason,
                reason = flushes => reason,
            }
        }
    }

    /// Checks that the database answers.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when it does not.
    pub(crate) async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query!("SELECT 1 AS one").fetch_one(&self.write).await?;
        Ok(())
    }

    /// Waits for a turn at the general pool, to be held as long as a connection of it.
    pub(in crate::store) async fn turn(&self, tenant: TenantId, progress: Progress) -> Result<Turn, StoreError> {
        self.write_turns.wait(tenant, progress).await
    }

    async fn write_with(&self, tenant: TenantId, beginning: String) -> Result<Tx, StoreError> {
        Tx::begin(&self.write, Some(self.turn(tenant, Progress::New).await?), beginning).await
    }

    /// Begins a transaction that sees only one tenant's rows.
    pub(in crate::store) async fn begin(&self, tenant: TenantId) -> Result<Tx, StoreError> {
        self.write_with(tenant, format!("{}{}", self.beginnings.write, tenant_of(tenant))).await
    }

    /// Returns the retrieval pool.
    pub(in crate::store) fn reader(&self) -> &PgPool {
        self.read.current()
    }

    /// Sees to it that retrieval finds all that is committed at this moment.
    pub(in crate::store) async fn catch_up(&self) -> Result<(), StoreError> {
        self.read.catch_up(&self.write).await
    }

    /// Returns the general pool, for a statement that touches no tenant's rows.
    pub(in crate::store) const fn writer(&self) -> &PgPool {
        &self.write
    }

    /// Returns the general pool, that of retrieval and that of the queue.
    pub(in crate::store) fn all_pools(&self) -> [&PgPool; 3] {
        [&self.write, self.read.current(), &self.queue]
    }

    /// Begins a transaction that sees the queue of every tenant with all rows that belong to its jobs, and the rows
    /// that maintenance deletes by age (audit, usage, cached answers), but no documents. The queue is always read in
    /// the order of one of its indexes: without statistics a planner would choose to sort all waiting items.
    pub(in crate::store) async fn begin_queue(&self) -> Result<Tx, StoreError> {
        Tx::begin(&self.queue, None, format!("{}{QUEUE}", self.beginnings.write)).await
    }

    /// The same for a claim, unflushed: one that is lost was never made, and its items wait. Its statements find rows by
    /// their keys whatever the values are, so they are planned once for each connection.
    pub(in crate::store) async fn begin_claim(&self) -> Result<Tx, StoreError> {
        Tx::begin(&self.queue, None, format!("{}{QUEUE}{KEYED}{UNFLUSHED}{GENERIC}", self.beginnings.write)).await
    }

    /// Begins a transaction that sees only one tenant's rows, which it finds by their keys, and whose commit does not wait for
    /// the disk, so that its locks are free at once. Whoever is told of it must be told after [`Self::flush`], or another
    /// commit that is flushed.
    pub(in crate::store) async fn begin_unflushed(&self, tenant: TenantId) -> Result<Tx, StoreError> {
        // Of another node nothing would be flushed by a commit that comes after it.
        let unflushed = if self.is_split { "" } else { UNFLUSHED };
        self.write_with(tenant, format!("{}{}{KEYED}{unflushed}", self.beginnings.write, tenant_of(tenant))).await
    }

    /// The same for a request, which waits for no lock for longer than a second.
    pub(in crate::store) async fn begin_impatient(&self, tenant: TenantId) -> Result<Tx, StoreError> {
        const IMPATIENT: &str = "; SET LOCAL lock_timeout = '1s'";
        let unflushed = if self.is_split { "" } else { UNFLUSHED };
        let beginning = format!("{}{}{KEYED}{unflushed}{IMPATIENT}", self.beginnings.write, tenant_of(tenant));
        self.write_with(tenant, beginning).await
    }

    /// Begins a transaction that sees only one tenant's rows, and finds them by their keys.
    pub(in crate::store) async fn begin_keyed(&self, tenant: TenantId) -> Result<Tx, StoreError> {
        self.write_with(tenant, format!("{}{}{KEYED}", self.beginnings.write, tenant_of(tenant))).await
    }

    /// The same for a reading whose statements look each row up by all of its key, so that they are planned once for each
    /// connection. On a cluster they are planned with their values, which tell the server.
    pub(in crate::store) async fn begin_look_up(&self, tenant: TenantId) -> Result<Tx, StoreError> {
        let generic = if self.is_split { "" } else { GENERIC };
        self.write_with(tenant, format!("{}{}{KEYED}{generic}", self.beginnings.write, tenant_of(tenant))).await
    }
}

/// Appended to the beginning of a transaction: its commit does not wait for the disk. It is lost only with a crash of the
/// database server, and only if no other commit was flushed after it.
const UNFLUSHED: &str = "; SET LOCAL synchronous_commit = off";

/// Appended to the beginning of a transaction: no table is read whole. A plan that is made while a table is new and small
/// would do that, and go on to do it until the table has statistics.
const KEYED: &str = "; SET LOCAL enable_seqscan = off";

/// Appended to the beginning of a transaction: its statements are planned whatever their values are.
const GENERIC: &str = "; SET LOCAL plan_cache_mode = force_generic_plan";

/// Returns the statement that sets the tenant of a transaction; the text of a UUID cannot carry SQL.
pub(in crate::store) fn tenant_of(tenant: TenantId) -> String {
    format!("; SET LOCAL cited.tenant = '{}'", tenant.0)
}

/// Refuses roles that row level security would not apply to, be it the one that a connection works as, or the one that it
/// logged in as and could go back to.
async fn refuse_bypass(pool: &PgPool) -> Result<(), StoreError> {
    let bypassing = sqlx::query!(
        r#"SELECT rolname::text AS "name!", rolname = current_user AS "is_current!"
           FROM pg_roles WHERE rolname IN (current_user, session_user) AND (rolsuper OR rolbypassrls)
           ORDER BY 2 DESC LIMIT 1"#
    )
    .fetch_optional(pool)
    .await?;
    let Some(role) = bypassing else { return Ok(()) };
    Err(StoreError::Unsuitable(if role.is_current {
        format!(
            "the database role {} can bypass row level security; take SUPERUSER and BYPASSRLS away from it",
            role.name
        )
    } else {
        format!(
            "the service has to log in as {}, which can bypass row level security, because the server does not let \
             cited_app and cited_worker in; let them in (pg_hba.conf), or use a user without SUPERUSER and BYPASSRLS",
            role.name
        )
    }))
}

/// Refuses tables of tenants whose policies do not bind their owner: somebody has changed the schema by hand.
async fn refuse_unforced(pool: &PgPool) -> Result<(), StoreError> {
    let unforced = sqlx::query_scalar!(
        r#"SELECT string_agg(c.relname, ', ' ORDER BY c.relname)
           FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
           WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace
             AND NOT (c.relrowsecurity AND c.relforcerowsecurity)"#
    )
    .fetch_one(pool)
    .await?;
    unforced.map_or(Ok(()), |tables| {
        Err(StoreError::Unsuitable(format!(
            "row level security is not forced on {tables}, so that tenants could see each other's rows; run ALTER TABLE \
             … ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY on each"
        )))
    })
}

/// Refuses what does not work with a database that is split up by tenants: a function that is called within a transaction does
/// not run on the node of its tenant, and replicas of a coordinator hold no rows of tenants.
fn refuse_beside_cluster(replicas: &[PgConnectOptions], settings: &PoolSettings) -> Result<(), StoreError> {
    let refused = match (&settings.direct, replicas) {
        (Some(_), _) => {
            "a pooler in transaction mode; let DATABASE_URL name the coordinator itself, without DATABASE_DIRECT_URL"
        }
        (None, [_, ..]) => "replicas; leave DATABASE_READ_URL away",
        (None, []) => return Ok(()),
    };
    Err(StoreError::Unsuitable(format!("a database that is split up by tenants does not work with {refused}")))
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

/// Returns whether this version of pgvector lacks features that the queries use.
pub(in crate::store) fn is_old_pgvector(version: &str) -> bool {
    let mut numbers = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < MINIMUM_PGVECTOR
}

/// Creates the roles that the migrations grant rights to. Roles belong to the whole server, so two databases may race
/// to create them; the loser finds them already created.
async fn ensure_roles(connection: &mut PgConnection) -> Result<(), StoreError> {
    const CREATE: &str = "
        DO $$
        DECLARE wanted text;
        BEGIN
            FOREACH wanted IN ARRAY ARRAY['cited_app', 'cited_worker', 'cited_lexical', 'cited_keys', 'cited_record'] LOOP
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
            IF NOT pg_has_role('cited_worker', 'cited_app', 'USAGE') THEN
                GRANT cited_app TO cited_worker;
            END IF;
        END $$";
    connection.execute(sqlx::raw_sql(CREATE)).await.map_err(|error| {
        if sqlstate(&error).is_some_and(|code| code == "42501") {
            StoreError::Unsuitable(format!("the database user may not create roles; {ROLES_REMEDY}"))
        } else {
            error.into()
        }
    })?;
    Ok(())
}
