//! What is where in a cluster.

use sqlx::{AssertSqlSafe, Connection, Executor, Row};

use crate::{
    domain::identity::TenantId,
    store::{
        StoreError,
        cluster::{Coordinator, layout::FIRST},
        connect::tenant_of,
    },
};

/// What is where in a cluster.
#[derive(Clone, Debug)]
pub(crate) struct ClusterStatus {
    /// Servers, the coordinator first.
    pub(crate) nodes: Vec<NodeStatus>,
    /// Tenants with their places, the largest first.
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
    /// Shards of distributed tables on it.
    pub(crate) shards: i64,
    /// Their bytes, with indexes.
    pub(crate) bytes: i64,
}

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
        let held: Vec<i64> = self.nodes.iter().filter(|node| node.shards > 0).map(|node| node.bytes).collect();
        let (most, sum) = (held.iter().max()?, held.iter().sum::<i64>());
        #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
        (sum > 0).then(|| *most as f64 * held.len() as f64 / sum as f64)
    }
}

impl Coordinator {
    /// Looks at the cluster.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn status(&mut self) -> Result<ClusterStatus, StoreError> {
        let steps = self.plan().await?.len();
        let nodes = self.nodes().await?;
        let tenants = if steps == 0 { self.tenants().await? } else { Vec::new() };
        let unfinished = sqlx::query_scalar(
            "SELECT COALESCE(sum(result::bigint) FILTER (WHERE success), 0)::bigint
             FROM run_command_on_all_nodes('SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database()')",
        )
        .fetch_one(&mut self.connection)
        .await?;
        Ok(ClusterStatus { nodes, tenants, steps, unfinished })
    }

    async fn nodes(&mut self) -> Result<Vec<NodeStatus>, StoreError> {
        let rows = sqlx::query(
            "SELECT n.nodename || ':' || n.nodeport AS address, n.groupid = 0 AS is_coordinator, n.isactive,
                    count(s.shardid) AS shards, COALESCE(sum(s.shard_size), 0)::bigint AS bytes
             FROM pg_dist_node n
             LEFT JOIN citus_shards s ON s.nodename = n.nodename AND s.nodeport = n.nodeport AND s.citus_table_type = 'distributed'
             WHERE n.noderole = 'primary'
             GROUP BY n.nodeid, n.nodename, n.nodeport, n.groupid, n.isactive ORDER BY n.groupid",
        )
        .fetch_all(&mut self.connection)
        .await?;
        let nodes = rows.into_iter().map(|row| {
            Ok(NodeStatus {
                address: row.try_get("address")?,
                is_coordinator: row.try_get("is_coordinator")?,
                is_active: row.try_get("isactive")?,
                shards: row.try_get("shards")?,
                bytes: row.try_get("bytes")?,
            })
        });
        nodes.collect::<Result<_, sqlx::Error>>().map_err(StoreError::from)
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

    async fn place(&mut self, tenant: TenantId) -> Result<(String, i64), StoreError> {
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

#[cfg(test)]
mod tests {
    use super::{ClusterStatus, NodeStatus};

    #[test]
    fn skew_is_that_of_the_nodes_with_shards() {
        let node = |shards, bytes| NodeStatus {
            address: String::new(),
            is_coordinator: shards == 0,
            is_active: true,
            shards,
            bytes,
        };
        let status = |nodes| ClusterStatus { nodes, tenants: Vec::new(), steps: 0, unfinished: 0 };
        assert_eq!(status(vec![node(0, 0), node(4, 300), node(4, 100)]).skew(), Some(1.5));
        assert_eq!(status(vec![node(0, 0), node(4, 0)]).skew(), None);
        assert_eq!(status(vec![node(0, 0)]).skew(), None);
    }
}
