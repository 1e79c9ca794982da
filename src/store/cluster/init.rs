//! Turns the schema of a database into one that is split up by tenants, in one transaction: a process that is killed meanwhile
//! leaves everything as it was. What is done already is left out, so that it can be repeated, and has to be after a release
//! that brought a table or changed a function.

use std::collections::BTreeSet;

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};

use crate::store::{
    StoreError,
    cluster::{
        Coordinator, functions,
        layout::{FIRST, Place, TABLES, tables_of},
        unsuitable,
    },
};

/// Settings of the transaction. Foreign keys to tables that are on every node want one statement after the other; triggers
/// that write rows of the same tenant are called unsafe because Citus cannot know that they do.
const SETTINGS: &str = "SET LOCAL client_min_messages = error; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '30s'; \
     SET LOCAL citus.multi_shard_modify_mode = 'sequential'; SET LOCAL citus.enable_unsafe_triggers = on";

/// The condition of the policies of the queue. A sub-select, which plain Postgres evaluates once, is refused in statements that
/// read it together with distributed tables.
const POLICY: &str = "tenant_id = NULLIF(current_setting('cited.tenant', true), '')::uuid";

/// The condition of the policies of distributed tables that nobody writes without a tenant: such a statement fails, so that the
/// caller tries again ([`StoreError::is_transient`]). A function is sent to the node of its tenant, which has the tenant from it.
/// Where it runs elsewhere, because the rows are just being moved or the coordinator does not trust a node yet, its statements
/// reach the rows without the tenant: they would find none, as if there were none.
const POLICY_OF_TENANT: &str = "tenant_id = current_setting('cited.tenant')::uuid";

/// Settings of every session of the database: a tenant that is set for a transaction is set on the nodes too.
const OF_SESSIONS: [(&str, &str); 2] =
    [("citus.propagate_set_commands", "local"), ("citus.enable_unsafe_triggers", "on")];

/// Key of the lock that one process at a time holds while it splits a database up.
const SPLIT_LOCK: i64 = 20_001;

/// Foreign keys that are not there in a split database: a table of the coordinator that referred to one on every node would
/// be written through Citus, which refuses to copy rows into it under row level security.
const WITHOUT_REFERENCE: [&str; 2] = ["api_key", "principal"];

/// A statement, with its purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Purpose, for operators.
    pub(crate) about: String,
    /// The statement.
    pub(crate) sql: String,
}

/// How the database is to be split.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Split {
    /// Shards of each distributed table.
    pub(crate) shards: u32,
}

impl Coordinator {
    /// Returns what is still to be done, in order; nothing if the schema is split up already.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn plan(&mut self) -> Result<Vec<Step>, StoreError> {
        plan(&mut self.connection).await
    }

    /// Does what is still to be done, all or nothing; returns it.
    ///
    /// # Errors
    /// [`StoreError::Unsuitable`] when services are connected, or the user may not do it. Nothing is changed then.
    pub(crate) async fn split(&mut self, split: Split) -> Result<Vec<Step>, StoreError> {
        if self.plan().await?.is_empty() {
            return Ok(Vec::new());
        }
        refuse_services(&mut self.connection).await?;
        carry_out(&mut self.connection, &format!("{SETTINGS}; SET LOCAL citus.shard_count = {}", split.shards)).await
    }
}

/// Whether a database is split up, maybe by an earlier release.
///
/// # Errors
/// Any [`StoreError`].
pub(in crate::store) async fn is_split(connection: &mut PgConnection) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar("SELECT to_regproc('public.bind_tenant') IS NOT NULL").fetch_one(connection).await?)
}

/// Splits up what migrations of this release brought to a database that is split up. Without that, functions that they changed
/// would find no rows.
///
/// # Errors
/// As of [`Coordinator::split`].
pub(in crate::store) async fn complete(connection: &mut PgConnection) -> Result<(), StoreError> {
    let steps = carry_out(connection, SETTINGS).await?;
    if !steps.is_empty() {
        tracing::info!(steps = steps.len(), "the migrations were carried over to all nodes");
    }
    Ok(())
}

async fn carry_out(connection: &mut PgConnection, settings: &str) -> Result<Vec<Step>, StoreError> {
    let mut transaction = connection.begin().await?;
    transaction.execute(sqlx::raw_sql(AssertSqlSafe(settings.to_owned()))).await?;
    // One process at a time; the others find nothing left.
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(SPLIT_LOCK).execute(&mut *transaction).await?;
    let steps = plan(&mut transaction).await?;
    for step in &steps {
        transaction
            .execute(sqlx::raw_sql(AssertSqlSafe(step.sql.clone())))
            .await
            .map_err(|error| refused(step, error))?;
    }
    transaction.commit().await?;
    Ok(steps)
}

/// An error of a step, with its remedy where that is known.
fn refused(step: &Step, error: sqlx::Error) -> StoreError {
    let message =
        error.as_database_error().map(|error| (error.code().unwrap_or_default().into_owned(), error.to_string()));
    match message {
        Some((code, message)) if code == "42501" => unsuitable(format!(
            "the user of DATABASE_URL may not do this ({}): {message}; be the owner of the database and its tables, or a superuser",
            step.about
        )),
        Some((code, _)) if code == "55P03" => unsuitable(format!(
            "a table is in use ({}); end what uses the database, and run the command again",
            step.about
        )),
        Some((_, message)) => unsuitable(format!("the database could not be split up ({}): {message}", step.about)),
        None => error.into(),
    }
}

/// Refuses while services work on the database: their sessions would not set their tenants on the nodes.
async fn refuse_services(connection: &mut PgConnection) -> Result<(), StoreError> {
    let sessions: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND usename IN ('cited_app', 'cited_worker')",
    )
    .fetch_one(connection)
    .await?;
    if sessions > 0 {
        return Err(unsuitable(format!(
            "services or workers are connected to the database ({sessions} sessions); stop all of them first"
        )));
    }
    Ok(())
}

async fn plan(connection: &mut PgConnection) -> Result<Vec<Step>, StoreError> {
    let placed: BTreeSet<String> =
        strings(connection, "SELECT logicalrelid::regclass::text FROM pg_dist_partition").await?;
    refuse_unknown(connection).await?;
    let everywhere: Vec<&str> = tables_of(Place::Everywhere).filter(|table| !placed.contains(*table)).collect();
    let of_tenant: Vec<&str> = tables_of(Place::OfTenant).filter(|table| !placed.contains(*table)).collect();
    let moved: Vec<&str> = everywhere.iter().chain(&of_tenant).copied().collect();
    let keys = foreign_keys(connection, &moved).await?;
    let mut steps = Vec::new();
    policies(connection, &mut steps).await?;
    for key in &keys {
        steps.push(step(
            format!("the foreign key {} goes, so that its tables can be moved one after the other", key.name),
            format!("ALTER TABLE {} DROP CONSTRAINT {}", key.table, key.name),
        ));
    }
    let forced: BTreeSet<String> =
        strings(connection, "SELECT relname::text FROM pg_class WHERE relforcerowsecurity").await?;
    let forced: Vec<&str> = moved.iter().copied().filter(|table| forced.contains(*table)).collect();
    for table in &forced {
        let about = format!("the owner, who moves the rows of {table}, sees them");
        steps.push(step(about, format!("ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")));
    }
    for table in &everywhere {
        steps.push(step(reason(table), format!("SELECT create_reference_table('{table}')")));
    }
    for table in &of_tenant {
        let next_to = if *table == FIRST { "default" } else { FIRST };
        steps.push(step(
            reason(table),
            format!("SELECT create_distributed_table('{table}', 'tenant_id', colocate_with => '{next_to}')"),
        ));
    }
    for key in keys.iter().filter(|key| !WITHOUT_REFERENCE.contains(&key.table.as_str())) {
        let add = format!("ALTER TABLE {} ADD CONSTRAINT {} {}", key.table, key.name, key.definition);
        steps.push(step(format!("the foreign key {} again", key.name), add));
    }
    for table in &forced {
        let about = format!("row level security binds the owner of {table} again");
        steps.push(step(about, format!("ALTER TABLE {table} FORCE ROW LEVEL SECURITY")));
    }
    functions_by_tenant(connection, &mut steps).await?;
    sessions(connection, &mut steps).await?;
    Ok(steps)
}

fn step(about: impl Into<String>, sql: impl Into<String>) -> Step {
    Step { about: about.into(), sql: sql.into() }
}

fn reason(table: &str) -> String {
    TABLES
        .iter()
        .find(|(name, _, _)| *name == table)
        .map_or_else(|| table.to_owned(), |(_, place, reason)| format!("{table} is {}: {reason}", place.as_str()))
}

async fn strings(connection: &mut PgConnection, sql: &'static str) -> Result<BTreeSet<String>, StoreError> {
    Ok(sqlx::query_scalar::<_, String>(sql).fetch_all(connection).await?.into_iter().collect())
}

/// Refuses a table that has no place here.
async fn refuse_unknown(connection: &mut PgConnection) -> Result<(), StoreError> {
    let tables = strings(
        connection,
        "SELECT c.relname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
         WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace",
    )
    .await?;
    let unknown: Vec<&str> =
        tables.iter().map(String::as_str).filter(|table| !TABLES.iter().any(|(known, _, _)| known == table)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    Err(unsuitable(format!("this release does not know where the tables {} belong", unknown.join(", "))))
}

/// A foreign key of a table that is moved, or to one.
struct ForeignKey {
    table: String,
    name: String,
    definition: String,
}

async fn foreign_keys(connection: &mut PgConnection, moved: &[&str]) -> Result<Vec<ForeignKey>, StoreError> {
    let rows = sqlx::query(
        r#"SELECT conrelid::regclass::text AS "table", conname::text AS name, pg_get_constraintdef(oid) AS definition
           FROM pg_constraint WHERE contype = 'f'
             AND (conrelid::regclass::text = ANY ($1) OR confrelid::regclass::text = ANY ($1)) ORDER BY 1, 2"#,
    )
    .bind(moved)
    .fetch_all(connection)
    .await?;
    let keys = rows.into_iter().map(|row| {
        Ok(ForeignKey {
            table: row.try_get("table")?,
            name: row.try_get("name")?,
            definition: row.try_get("definition")?,
        })
    });
    keys.collect::<Result<_, sqlx::Error>>().map_err(StoreError::from)
}

/// Gives each policy that binds rows to the tenant a condition without a sub-select. Those of the queue too, since it is read
/// together with documents.
async fn policies(connection: &mut PgConnection, steps: &mut Vec<Step>) -> Result<(), StoreError> {
    let of_tenant: Vec<&str> = tables_of(Place::OfTenant).collect();
    // Maintenance forgets the rows of some distributed tables without a tenant.
    let rows = sqlx::query(
        r#"SELECT name, "table", needs_tenant FROM (
               SELECT polname::text AS name, polrelid::regclass::text AS "table", pg_get_expr(polqual, polrelid) AS condition,
                      polrelid::regclass::text = ANY ($1) AND NOT EXISTS (SELECT FROM pg_policy o
                          WHERE o.polrelid = p.polrelid AND o.polname = 'queue_worker') AS needs_tenant
               FROM pg_policy p WHERE polname = 'tenant_only'
           ) AS policies
           WHERE condition LIKE '%SELECT%' OR (needs_tenant AND condition LIKE '%NULLIF%') ORDER BY 2"#,
    )
    .bind(&of_tenant)
    .fetch_all(connection)
    .await?;
    for row in rows {
        let (name, table): (String, String) = (row.try_get("name")?, row.try_get("table")?);
        let policy = if row.try_get("needs_tenant")? { POLICY_OF_TENANT } else { POLICY };
        steps.push(step(
            format!("the policy of {table} compares without a sub-select, which nodes refuse"),
            format!("ALTER POLICY {name} ON {table} USING ({policy})"),
        ));
    }
    Ok(())
}

/// Functions of a tenant run on its node, as a whole, but for those that read or write tables of the coordinator.
async fn functions_by_tenant(connection: &mut PgConnection, steps: &mut Vec<Step>) -> Result<(), StoreError> {
    if !is_split(&mut *connection).await? {
        steps.push(step("a tenant that a function sets is set on the nodes", functions::BIND_TENANT));
    }
    let rows = sqlx::query(
        "SELECT p.oid::regprocedure::text AS name, pg_get_functiondef(p.oid) AS definition,
                EXISTS (SELECT FROM pg_dist_object o WHERE o.classid = 'pg_proc'::regclass AND o.objid = p.oid
                        AND o.distribution_argument_index IS NOT NULL) AS is_split
         FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prokind = 'f' AND p.proargnames[1] = 'in_tenant'
           AND p.proname <> 'bind_tenant' AND p.prosrc ~ 'cited\\.tenant|bind_tenant'
           AND p.prosrc !~ ('(FROM|INTO|JOIN|UPDATE) (' || array_to_string($1::text[], '|') || ')\\M') ORDER BY 1",
    )
    .bind(tables_of(Place::Coordinator).collect::<Vec<_>>())
    .fetch_all(&mut *connection)
    .await?;
    for row in rows {
        let (name, definition): (String, String) = (row.try_get("name")?, row.try_get("definition")?);
        if let Some(form) = functions::split_form(&definition) {
            steps.push(step(format!("{name} names its tenant so that the nodes know it"), form));
        }
        if !row.try_get::<bool, _>("is_split")? {
            steps.push(step(
                format!("{name} runs on the node of its tenant"),
                format!("SELECT create_distributed_function('{name}', 'in_tenant', colocate_with => '{FIRST}')"),
            ));
        }
    }
    let settles: String =
        sqlx::query_scalar("SELECT prosrc FROM pg_proc WHERE oid = to_regproc('public.settle_lexical_index')")
            .fetch_one(connection)
            .await?;
    if !settles.contains(functions::SETTLES_SHARDS) {
        steps.push(step("the lexical index is tidied on all nodes", functions::SETTLE_LEXICAL_INDEX));
    }
    Ok(())
}

/// Settings that every session of the database begins with.
async fn sessions(connection: &mut PgConnection, steps: &mut Vec<Step>) -> Result<(), StoreError> {
    let row = sqlx::query(
        "SELECT quote_ident(current_database()) AS name,
                COALESCE((SELECT setconfig FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
                          WHERE d.datname = current_database() AND s.setrole = 0), '{}') AS settings",
    )
    .fetch_one(connection)
    .await?;
    let (name, settings): (String, Vec<String>) = (row.try_get("name")?, row.try_get("settings")?);
    for (setting, value) in OF_SESSIONS {
        if !settings.contains(&format!("{setting}={value}")) {
            steps.push(step(
                "a tenant that is set for a transaction is set on the nodes, and triggers run there",
                format!("ALTER DATABASE {name} SET {setting} = '{value}'"),
            ));
        }
    }
    Ok(())
}
