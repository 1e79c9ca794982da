//! Servers of a cluster that are lost for good, one after the other, and whose standbys are promoted.

use tokio::time::sleep;

use super::{
    Cluster,
    clients::{Clients, PAUSE, Processes},
};
use crate::{operations::own_servers::Server, scripted::ModelServer, wait};

const NODES: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres with Citus, named by CITED_TEST_CITUS"]
async fn a_standby_that_is_promoted_has_all_that_was_accepted() {
    let mut cluster = Cluster::start(NODES).await;
    cluster.run(&["migrate"]).await;
    cluster.run(&["cluster", "init", "--shards", "6"]).await;
    let mut standbys = Vec::with_capacity(NODES);
    for (number, node) in cluster.servers.nodes.iter().enumerate() {
        let standby = node.standby(cluster.folder.path(), &format!("standby{number}")).await;
        // From now on a commit is one of both.
        node.says("ALTER SYSTEM SET synchronous_standby_names = '*'").await;
        node.says("SELECT pg_reload_conf()").await;
        let synchronous = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        wait::until_count(&node.options("postgres"), synchronous, |standbys| standbys == 1).await;
        standbys.push(standby);
    }
    let models = ModelServer::start().await;
    let mut processes = Processes::start(&cluster, &models).await;
    let ports: Vec<u16> = cluster.servers.nodes.iter().map(Server::port).collect();
    let clients = Clients::start(&cluster, &processes, &ports).await;
    sleep(PAUSE * 50).await;

    for (node, standby) in standbys.into_iter().enumerate() {
        clients.may_fail(node);
        cluster.servers.nodes[node].kill().await;
        // A worker dies with it.
        if node == 1 {
            processes.kill_worker().await;
        }
        sleep(PAUSE * 25).await;
        standby.says("SELECT pg_promote()").await;
        // The coordinator trusts the metadata of no server until it has sent them again.
        clients.anybody_may_fail();
        let (old, new) = (cluster.servers.nodes[node].port(), standby.port());
        let update = "SELECT citus_update_node(nodeid, '127.0.0.1', ";
        cluster.says(&format!("{update}{new}, force => true) FROM pg_dist_node WHERE nodeport = {old}")).await;
        cluster.servers.nodes[node] = standby;
        let synced = "SELECT count(*) FROM pg_dist_node WHERE NOT metadatasynced";
        wait::until_count(&cluster.options(), synced, |others| others == 0).await;
        clients.wait_for(node).await;
        processes.replace_worker().await;
        sleep(PAUSE * 25).await;
    }

    clients.end(&cluster, NODES).await;
    processes.stop().await;
}
