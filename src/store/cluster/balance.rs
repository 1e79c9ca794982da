//! Moves tenants between nodes. While rows are moved, writes to them wait and reads go on.

use sqlx::{AssertSqlSafe, Connection, Executor, Row};
use uuid::Uuid;

use crate::{
    domain::identity::TenantId,
    store::{
        StoreError,
        cluster::{
            Coordinator,
            layout::{FIRST, Place, tables_of},
            unsuitable,
        },
        error::sqlstate,
    },
};

/// How often the tables are tried to be locked, each time for as long as the setting says: writers that hold one of them may
/// wait for another.
const ATTEMPTS: u32 = 12;

const IMPATIENT: &str = "SET LOCAL lock_timeout = '5s'";

/// Deadlock, and a lock that was not had in time.
const HELD: [&str; 2] = ["40P01", "55P03"];

/// Shards that are to be moved from one node to another.
#[derive(Clone, Debug)]
pub(crate) struct Move {
    /// Address of the node that they are on.
    pub(crate) source: String,
    /// Address of the node that they go to.
    pub(crate) target: String,
    /// How many.
    pub(crate) shards: i64,
    /// Their bytes.
    pub(crate) bytes: i64,
}

impl Coordinator {
    /// Gives a tenant shards of its own, on the node where it is, so that it can be moved by itself.
    ///
    /// # Errors
    /// [`StoreError::Unsuitable`] when there is no such tenant, it is alone already, or the schema is not split up.
    pub(crate) async fn isolate(&mut self, tenant: Uuid) -> Result<(), StoreError> {
        self.require_tenant(tenant).await?;
        for attempt in 1.. {
            match self.try_to_isolate(tenant).await {
                Err(error) if attempt < ATTEMPTS && is_held(&error) => {}
                done => return done.map_err(moving),
            }
        }
        Ok(())
    }

    /// Returns where a tenant is, and with how many others it shares its shards; changes nothing.
    ///
    /// # Errors
    /// [`StoreError::Unsuitable`] when there is no such tenant, or the schema is not split up.
    pub(crate) async fn neighbours(&mut self, tenant: Uuid) -> Result<(String, i64), StoreError> {
        self.require_tenant(tenant).await?;
        let (node, shard) = self.place(TenantId(tenant)).await?;
        let others = sqlx::query_scalar(
            "SELECT count(*) FROM list_tenants()
             WHERE tenant_id <> $1 AND get_shard_id_for_distribution_column($2::text::regclass, tenant_id) = $3",
        )
        .bind(tenant)
        .bind(FIRST)
        .bind(shard)
        .fetch_one(&mut self.connection)
        .await?;
        Ok((node, others))
    }

    /// Returns the moves that [`rebalance`](Self::rebalance) would make, with shards and bytes between two nodes together.
    ///
    /// # Errors
    /// As of it.
    pub(crate) async fn moves(&mut self) -> Result<Vec<Move>, StoreError> {
        self.require_split().await?;
        let rows = sqlx::query(
            "SELECT sourcename || ':' || sourceport AS source, targetname || ':' || targetport AS target,
                    count(*) AS shards, sum(shard_size)::bigint AS bytes
             FROM get_rebalance_table_shards_plan() GROUP BY source, target ORDER BY source, target",
        )
        .fetch_all(&mut self.connection)
        .await
        .map_err(moving)?;
        let moves = rows.into_iter().map(|row| {
            Ok(Move {
                source: row.try_get("source")?,
                target: row.try_get("target")?,
                shards: row.try_get("shards")?,
                bytes: row.try_get("bytes")?,
            })
        });
        moves.collect::<Result<_, sqlx::Error>>().map_err(StoreError::from)
    }

    /// Moves shards until all nodes hold about as many bytes; returns whether some had to be moved. The server goes on with it
    /// if this process ends.
    ///
    /// # Errors
    /// [`StoreError::Unsuitable`] when shards cannot be moved, or the schema is not split up.
    pub(crate) async fn rebalance(&mut self) -> Result<bool, StoreError> {
        self.require_split().await?;
        let job: Option<i64> =
            sqlx::query_scalar("SELECT citus_rebalance_start(shard_transfer_mode => 'block_writes')")
                .fetch_one(&mut self.connection)
                .await
                .map_err(moving)?;
        let Some(job) = job else { return Ok(false) };
        sqlx::query("SELECT citus_job_wait($1)").bind(job).execute(&mut self.connection).await.map_err(moving)?;
        Ok(true)
    }

    /// All writers of all tenants wait meanwhile, before their statements are planned: an `INSERT … SELECT` that Citus plans
    /// while it splits the shard up inserts nothing, and says that all went well.
    async fn try_to_isolate(&mut self, tenant: Uuid) -> Result<(), sqlx::Error> {
        let mut transaction = self.connection.begin().await?;
        transaction.execute(IMPATIENT).await?;
        // Writers begin with documents: those that wait for them hold nothing else that is waited for here.
        let others = tables_of(Place::OfTenant).filter(|table| *table != "document");
        let tables: Vec<&str> = std::iter::once("document").chain(others).collect();
        let lock = format!("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE", tables.join(", "));
        transaction.execute(sqlx::raw_sql(AssertSqlSafe(lock))).await?;
        sqlx::query("SELECT isolate_tenant_to_new_shard($1::text::regclass, $2::text, 'CASCADE', shard_transfer_mode => 'block_writes')")
            .bind(FIRST)
            .bind(tenant.to_string())
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await
    }

    async fn require_tenant(&mut self, tenant: Uuid) -> Result<(), StoreError> {
        self.require_split().await?;
        let known = sqlx::query_scalar::<_, bool>("SELECT EXISTS (SELECT FROM list_tenants() WHERE tenant_id = $1)");
        if known.bind(tenant).fetch_one(&mut self.connection).await? {
            return Ok(());
        }
        Err(unsuitable(format!("there is no tenant {tenant}; cited tenants list tells those that there are")))
    }

    async fn require_split(&mut self) -> Result<(), StoreError> {
        match self.plan().await?.len() {
            0 => Ok(()),
            steps => Err(unsuitable(format!(
                "the schema is not split up: {steps} steps are to be done; run cited cluster init"
            ))),
        }
    }
}

fn is_held(error: &sqlx::Error) -> bool {
    sqlstate(error).is_some_and(|code| HELD.contains(&code.as_str()))
}

/// An error of a move, in the words of the server.
fn moving(error: sqlx::Error) -> StoreError {
    match error.as_database_error().map(ToString::to_string) {
        Some(message) => unsuitable(format!("the server moved nothing more: {message}")),
        None => error.into(),
    }
}
