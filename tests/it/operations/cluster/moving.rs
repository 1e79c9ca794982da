//! Tenants that are moved between the servers of a cluster while they send documents and ask.

use tokio::time::sleep;

use super::{
    Cluster,
    clients::{Clients, PAUSE, Processes},
};
use crate::{operations::own_servers::Server, scripted::ModelServer};

/// Nodes with shards.
const HOLDING: &str = "SELECT count(DISTINCT groupid) FROM pg_dist_placement p JOIN pg_dist_shard s USING (shardid)
    JOIN pg_dist_partition t USING (logicalrelid) WHERE t.partmethod = 'h'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres with Citus, named by CITED_TEST_CITUS"]
async fn tenants_that_are_moved_are_served_meanwhile_and_keep_all() {
    let cluster = Cluster::start(3).await;
    let ports: Vec<u16> = cluster.servers.nodes.iter().map(Server::port).collect();
    // The third server comes later.
    cluster.says(&format!("SELECT citus_remove_node('127.0.0.1', {})", ports[2])).await;
    cluster.run(&["migrate"]).await;
    cluster.run(&["cluster", "init", "--shards", "8"]).await;
    assert_eq!(cluster.number(HOLDING).await, 2);
    let models = ModelServer::start().await;
    let processes = Processes::start(&cluster, &models).await;
    let clients = Clients::start(&cluster, &processes, &ports[..2]).await;
    sleep(PAUSE * 50).await;

    clients.anybody_may_fail();
    cluster.says(&format!("SELECT citus_add_node('127.0.0.1', {})", ports[2])).await;
    let planned = cluster.run(&["cluster", "rebalance", "--dry-run"]).await;
    assert!(planned.lines().any(|line| line.ends_with(&format!("to 127.0.0.1:{}", ports[2]))), "{planned}");
    assert_eq!(cluster.number(HOLDING).await, 2, "a dry run moves nothing: {planned}");
    cluster.run(&["cluster", "rebalance"]).await;
    assert_eq!(cluster.number(HOLDING).await, 3);
    clients.assert_at_work();
    for tenant in &clients.tenants {
        let shared = cluster.run(&["cluster", "isolate", &tenant.id, "--dry-run"]).await;
        assert!(shared.contains("shares its shards with"), "{shared}");
        cluster.run(&["cluster", "isolate", &tenant.id]).await;
        let alone = cluster.run(&["cluster", "isolate", &tenant.id, "--dry-run"]).await;
        assert!(alone.contains("with 0 others"), "{alone}");
        clients.assert_at_work();
    }
    // One server after the other is emptied, and filled again: each tenant is moved.
    for port in &ports {
        for holds in [false, true] {
            let set = "SELECT citus_set_node_property('127.0.0.1'";
            cluster.says(&format!("{set}, {port}, 'shouldhaveshards', {holds})")).await;
            cluster.run(&["cluster", "rebalance"]).await;
            assert_eq!(cluster.number(HOLDING).await, if holds { 3 } else { 2 });
            clients.assert_at_work();
            sleep(PAUSE * 10).await;
        }
    }

    clients.end(&cluster, 20).await;
    processes.stop().await;
}
