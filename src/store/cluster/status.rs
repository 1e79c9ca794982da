//! Servers of a cluster and their contents.

use serde::Deserialize;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};

use crate::{
    domain::identity::TenantId,
    store::{
        StoreError,
        cluster::{Coordinator, examination::on_each_server, layout::FIRST},
        connect::tenant_of,
    },
};

/// The servers of a cluster and their contents.
#[derive(Clone, Debug)]
pub(crate) struct ClusterStatus {
    /// Servers, the coordinator first.
    pub(crate) nodes: Vec<NodeStatus>,
    /// Tenants with their places, the largest first; none while a server does not answer.
    pub(crate) tenants: Vec<TenantPlace>,
    /// Steps that are still to be done until the schema is split up; 0: it is.
    pub(crate) steps: usize,
    /// Commits over several nodes that are not finished yet on some of them.
    pub(crate) unfinished: i64,
}

/// A server of a cluster.
#[derive(Clone, Debug)]
pub(crate) struct NodeStatus {
    /// Its address.
    pub(crate) address: String,
    /// Whether it is the coordinator.
    pub(crate) is_coordinator: bool,
    /// Whether it takes part.
    pub(crate) is_active: bool,
    /// Its standbys; `None` if it does not answer.
    pub(crate) standbys: Option<Standbys>,
    /// Shards of distributed tables on it.
    pub(crate) shards: i64,
    /// Their bytes, with indexes; `None` where they were not read, because a server does not answer.
    pub(crate) bytes: Option<i64>,
}

/// The standbys that follow a server.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Standbys {
    /// How many there are.
    pub(crate) number: i64,
    /// Bytes of the log that the last of them has not replayed.
    pub(crate) behind: i64,
}

/// Read on each server.
const STANDBYS: &str = "SELECT jsonb_build_object(
    'number', count(*), 'behind', COALESCE(max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)), 0)::bigint)
    FROM pg_stat_replication";

/// Where a tenant is, and how much of it.
#[derive(Clone, Debug)]
pub(crate) struct TenantPlace {
    /// The tenant.
    pub(crate) tenant: TenantId,
    /// Its name.
    pub(crate) name: String,
    /// Address of its node.
    pub(crate) node: String,
    /// Number of its shard of collections, which tells tenants that share all their shards.
    pub(crate) shard: i64,
    /// Bytes of its documents and their former versions, without indexes.
    pub(crate) bytes: i64,
}

impl ClusterStatus {
    /// How much more the fullest node holds than the mean of those with shards; 1: all hold the same. `None` where nothing is
    /// held.
    pub(crate) fn skew(&self) -> Option<f64> {
        skew(&self.nodes)
    }
}

/// As [`ClusterStatus::skew`], of these nodes.
pub(super) fn skew(nodes: &[NodeStatus]) -> Option<f64> {
    let held: Vec<i64> = nodes.iter().filter(|node| node.shards > 0).filter_map(|node| node.bytes).collect();
    let (most, sum) = (held.iter().max()?, held.iter().sum::<i64>());
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    (sum > 0).then(|| *most as f64 * held.len() as f64 / sum as f64)
}

impl Coordinator {
    /// Looks at the cluster.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn status(&mut self) -> Result<ClusterStatus, StoreError> {
        let steps = self.plan().await?.len();
        let nodes = nodes(&mut self.connection).await?;
        let is_read = steps == 0 && nodes.iter().all(|node| node.standbys.is_some());
        let tenants = if is_read { self.tenants().await? } else { Vec::new() };
        let unfinished = sqlx::query_scalar(
            "SELECT COALESCE(sum(result::bigint) FILTER (WHERE success), 0)::bigint
             FROM run_command_on_all_nodes('SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database()',
                                           give_warning_for_connection_errors => true)",
        )
        .fetch_one(&mut self.connection)
        .await?;
        Ok(ClusterStatus { nodes, tenants, steps, unfinished })
    }

    /// Reads each tenant as the service would: the policies bind the owner too.
    async fn tenants(&mut self) -> Result<Vec<TenantPlace>, StoreError> {
        self.let_runtime_role_in().await?;
        let mut transaction = self.connection.begin().await?;
        transaction.execute("SET LOCAL ROLE cited_app").await?;
        let rows = sqlx::query("SELECT tenant_id, name FROM list_tenants()").fetch_all(&mut *transaction).await?;
        transaction.commit().await?;
        let mut places = Vec::with_capacity(rows.len());
        for row in rows {
            let tenant = TenantId(row.try_get("tenant_id")?);
            let (node, shard) = self.place(tenant).await?;
            let bytes = self.bytes(tenant).await?;
            places.push(TenantPlace { tenant, name: row.try_get("name")?, node, shard, bytes });
        }
        places.sort_by(|one, other| other.bytes.cmp(&one.bytes).then_with(|| one.name.cmp(&other.name)));
        Ok(places)
    }

    /// The address of the node of a tenant, and the number of its shard of collections.
    pub(super) async fn place(&mut self, tenant: TenantId) -> Result<(String, i64), StoreError> {
        let row = sqlx::query(
            "SELECT n.nodename || ':' || n.nodeport AS address, p.shardid
             FROM pg_dist_placement p JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'
             WHERE p.shardid = get_shard_id_for_distribution_column($1::regclass, $2)",
        )
        .bind(FIRST)
        .bind(tenant.0)
        .fetch_one(&mut self.connection)
        .await?;
        Ok((row.try_get("address")?, row.try_get("shardid")?))
    }

    async fn bytes(&mut self, tenant: TenantId) -> Result<i64, StoreError> {
        let mut transaction = self.connection.begin().await?;
        let begin = format!("SET LOCAL ROLE cited_app{}", tenant_of(tenant));
        transaction.execute(sqlx::raw_sql(AssertSqlSafe(begin))).await?;
        let bytes = sqlx::query_scalar(
            "SELECT COALESCE(sum(bytes + former_bytes), 0)::bigint FROM collection_storage WHERE tenant_id = $1",
        )
        .bind(tenant.0)
        .fetch_one(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(bytes)
    }
}

/// Shards of each server, without their sizes.
const SHARDS: &str = "SELECT n.nodename || ':' || n.nodeport AS address, n.groupid = 0 AS is_coordinator, n.isactive,
       count(t.logicalrelid) AS shards, NULL::bigint AS bytes
     FROM pg_dist_node n LEFT JOIN pg_dist_placement p ON p.groupid = n.groupid
     LEFT JOIN pg_dist_shard s ON s.shardid = p.shardid
     LEFT JOIN pg_dist_partition t ON t.logicalrelid = s.logicalrelid AND t.partmethod = 'h'
     WHERE n.noderole = 'primary'
     GROUP BY n.nodeid, n.nodename, n.nodeport, n.groupid, n.isactive ORDER BY n.groupid";

/// The same with sizes, for which each server is asked.
const SIZES: &str = "SELECT n.nodename || ':' || n.nodeport AS address, n.groupid = 0 AS is_coordinator, n.isactive,
       count(s.shardid) AS shards, COALESCE(sum(s.shard_size), 0)::bigint AS bytes
     FROM pg_dist_node n
     LEFT JOIN citus_shards s ON s.nodename = n.nodename AND s.nodeport = n.nodeport AND s.citus_table_type = 'distributed'
     WHERE n.noderole = 'primary'
     GROUP BY n.nodeid, n.nodename, n.nodeport, n.groupid, n.isactive ORDER BY n.groupid";

/// The servers with their shards.
pub(super) async fn nodes(connection: &mut PgConnection) -> Result<Vec<NodeStatus>, StoreError> {
    let answers = on_each_server(connection, STANDBYS).await?;
    let standbys = |address: &String| serde_json::from_str(answers.get(address)?.described.as_deref()?).ok();
    let all_answer = answers.values().all(|answer| answer.described.is_some());
    let rows = sqlx::query(if all_answer { SIZES } else { SHARDS }).fetch_all(connection).await?;
    let nodes = rows.into_iter().map(|row| {
        let address: String = row.try_get("address")?;
        Ok(NodeStatus {
            standbys: standbys(&address),
            address,
            is_coordinator: row.try_get("is_coordinator")?,
            is_active: row.try_get("isactive")?,
            shards: row.try_get("shards")?,
            bytes: row.try_get("bytes")?,
        })
    });
    nodes.collect::<Result<_, sqlx::Error>>().map_err(StoreError::from)
}

#[cfg(test)]
mod tests {
    use super::{ClusterStatus, NodeStatus};

    #[test]
    fn skew_is_that_of_the_nodes_with_shards() {
        let node = |shards, bytes| NodeStatus {
            address: String::new(),
            is_coordinator: shards == 0,
            is_active: true,
            standbys: None,
            shards,
            bytes: Some(bytes),
        };
        let status = |nodes| ClusterStatus { nodes, tenants: Vec::new(), steps: 0, unfinished: 0 };
        assert_eq!(status(vec![node(0, 0), node(4, 300), node(4, 100)]).skew(), Some(1.5));
        assert_eq!(status(vec![node(0, 0), node(4, 0)]).skew(), None);
        assert_eq!(status(vec![node(0, 0)]).skew(), None);
    }
}
