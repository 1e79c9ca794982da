//! A coordinator that is lost for good, and whose standby is promoted.

use tokio::time::sleep;

use super::{
    Cluster,
    clients::{Clients, PAUSE, Processes},
    standbys::standby_of,
};
use crate::{operations::own_servers::Server, scripted::ModelServer};

const NODES: usize = 2;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres with Citus, named by CITED_TEST_CITUS"]
async fn a_standby_of_the_coordinator_that_is_promoted_has_all_that_was_accepted() {
    let mut cluster = Cluster::start(NODES).await;
    let line = cluster.put_coordinator_behind_a_line().await;
    cluster.run(&["migrate"]).await;
    cluster.run(&["cluster", "init", "--shards", "4"]).await;
    let standby = standby_of(cluster.folder.path(), &cluster.servers.coordinator, "standby").await;
    let models = ModelServer::start().await;
    let mut processes = Processes::start(&cluster, &models).await;
    let ports: Vec<u16> = cluster.servers.nodes.iter().map(Server::port).collect();
    let clients = Clients::start(&cluster, &processes, &ports).await;
    sleep(PAUSE * 50).await;

    // All requests need the coordinator.
    clients.anybody_may_fail();
    cluster.servers.coordinator.kill().await;
    processes.kill_worker().await;
    sleep(PAUSE * 25).await;
    clients.assert_at_work();
    standby.says("SELECT pg_promote()").await;
    line.lead_to(standby.port());
    cluster.servers.coordinator = standby;
    processes.replace_worker().await;
    for node in 0..NODES {
        clients.anybody_may_fail();
        clients.wait_for(node).await;
    }
    sleep(PAUSE * 50).await;

    clients.end(&cluster, NODES).await;
    processes.stop().await;
}
