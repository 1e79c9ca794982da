//! Servers of a cluster that are lost for good, one after the other, and whose standbys are promoted.

use std::path::Path;

use serde_json::json;
use sqlx::{ConnectOptions, Connection, Executor};
use tokio::{process::Child, time::sleep};

use super::{
    Cluster, DEFAULT_TENANT, OPERATOR, Tenant,
    clients::{Clients, PAUSE, Processes},
    new_tenant, service,
};
use crate::{
    database, harness::TestApp, operations::own_servers::Server, process::command, scripted::ModelServer, wait,
};

const NODES: usize = 3;

/// Servers that the coordinator trusts less than the rest: they have not been told the last change.
const UNTOLD: &str = "SELECT count(*) FROM pg_dist_node WHERE NOT metadatasynced";

/// Sessions that wait for the list of servers.
const WAITING: &str = "SELECT count(*) FROM pg_locks WHERE relation = 'pg_dist_node'::regclass AND NOT granted";

fn address(server: &Server) -> String {
    format!("127.0.0.1:{}", server.port())
}

async fn promote(cluster: &Cluster, lost: &Server, standby: &Server) -> String {
    cluster.run(&["cluster", "promote", &address(lost), &address(standby)]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres with Citus, named by CITED_TEST_CITUS"]
async fn a_standby_that_is_promoted_has_all_that_was_accepted() {
    let mut cluster = Cluster::start(NODES).await;
    cluster.run(&["migrate"]).await;
    cluster.run(&["cluster", "init", "--shards", "6"]).await;
    let mut standbys = Vec::with_capacity(NODES);
    for (number, node) in cluster.servers.nodes.iter().enumerate() {
        standbys.push(standby_of(cluster.folder.path(), node, &format!("standby{number}")).await);
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
        // Tenants of the other servers are served all the time.
        let promoted = promote(&cluster, &cluster.servers.nodes[node], &standby).await;
        assert!(promoted.contains("all servers know it"), "{promoted}");
        cluster.servers.nodes[node] = standby;
        clients.wait_for(node).await;
        processes.replace_worker().await;
        sleep(PAUSE * 25).await;
    }

    clients.end(&cluster, NODES).await;
    processes.stop().await;
}

/// A standby of a server, with which each commit waits.
pub(super) async fn standby_of(folder: &Path, node: &Server, name: &str) -> Server {
    let standby = node.standby(folder, name).await;
    // From now on a commit is one of both.
    node.says("ALTER SYSTEM SET synchronous_standby_names = '*'").await;
    node.says("SELECT pg_reload_conf()").await;
    let synchronous = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    wait::until_count(&node.options("postgres"), synchronous, |standbys| standbys == 1).await;
    standby
}

/// Ports under which a server knows the others.
async fn known(server: &Server) -> Vec<i32> {
    let mut connection = server.options("cited").connect().await.expect("connect");
    let ports = sqlx::query_scalar("SELECT nodeport FROM pg_dist_node ORDER BY groupid");
    let ports = ports.fetch_all(&mut connection).await.expect("ports");
    connection.close().await.expect("close");
    ports
}

/// Starts a promotion that waits for a lock on the list of servers, which somebody holds on one of them.
async fn promotion_that_waits_at(cluster: &Cluster, holder: &Server, standby: &Server) -> (Child, sqlx::PgConnection) {
    let mut lock = holder.options("cited").connect().await.expect("connect");
    lock.execute("BEGIN; LOCK TABLE pg_dist_node IN SHARE MODE").await.expect("locked");
    let (url, lost) = (cluster.url(), address(&cluster.servers.nodes[0]));
    let mut promotion = command(&["cluster", "promote", &lost, &address(standby)], &[("DATABASE_URL", &url)]);
    let promotion = promotion.kill_on_drop(true).spawn().expect("it starts");
    wait::until_count(&holder.options("cited"), WAITING, |waiting| waiting == 1).await;
    (promotion, lock)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres with Citus, named by CITED_TEST_CITUS"]
async fn a_promotion_that_is_killed_leaves_the_places_as_they_were_and_is_repeated() {
    let mut cluster = Cluster::start(2).await;
    cluster.run(&["migrate"]).await;
    cluster.run(&["cluster", "init", "--shards", "4"]).await;
    let first = standby_of(cluster.folder.path(), &cluster.servers.nodes[0], "standby").await;
    let other = standby_of(cluster.folder.path(), &cluster.servers.nodes[1], "other").await;
    let models = ModelServer::start().await;
    let app = service(&cluster, &models).await;
    let keys = tenants_with_a_document(&app).await;
    app.end().await;

    let status = cluster.run(&["cluster", "status"]).await;
    let standbys = |server: &Server| -> String {
        let line = status.lines().find(|line| line.starts_with(&address(server))).expect("a line of the server");
        line.split_whitespace().nth(4).expect("standbys").to_owned()
    };
    let numbers = cluster.servers.servers().map(standbys).collect::<Vec<_>>();
    assert_eq!(numbers, ["none", "1", "1"], "{status}");
    let url = cluster.url();
    let lost = address(&cluster.servers.nodes[0]);
    for (arguments, reason) in [
        ([lost.as_str(), &address(&first)], "still answers"),
        (["127.0.0.1:9", &address(&first)], "no server of the cluster is at"),
        ([&address(&cluster.servers.coordinator), &address(&first)], "the coordinator is replaced"),
    ] {
        let refusal = cluster.refused(&url, &["cluster", "promote", arguments[0], arguments[1]]).await;
        assert!(refusal.contains(reason), "{refusal}");
    }
    cluster.servers.nodes[0].kill().await;
    let refusal = cluster.refused(&url, &["cluster", "promote", &lost, &address(&other)]).await;
    assert!(refusal.contains("is no standby of"), "{refusal}");
    let standbys = "SELECT pg_is_in_recovery()::int::bigint";
    for server in [&first, &other] {
        assert_eq!(database::number(&server.options("cited"), standbys).await, 1, "none is promoted");
    }

    let before = known(&cluster.servers.coordinator).await;
    // It is killed when the standby is promoted and the place is not given yet, when the place is given and another server is
    // about to be told, and there the coordinator crashes.
    for (at_node, with_coordinator) in [(false, false), (true, false), (true, true)] {
        let holder = if at_node { &cluster.servers.nodes[1] } else { &cluster.servers.coordinator };
        let (mut promotion, lock) = promotion_that_waits_at(&cluster, holder, &first).await;
        promotion.kill().await.expect("killed");
        if with_coordinator {
            cluster.servers.coordinator.crash().await;
        }
        lock.close().await.expect("close");
        if with_coordinator {
            cluster.servers.coordinator.start().await;
        }
        let busy =
            "SELECT count(*) FROM pg_locks WHERE relation = 'pg_dist_node'::regclass AND mode LIKE '%Exclusive%'";
        for server in [&cluster.servers.coordinator, &cluster.servers.nodes[1], &first] {
            wait::until_count(&server.options("cited"), busy, |busy| busy == 0).await;
            assert_eq!(known(server).await, before, "{at_node} {with_coordinator}");
        }
        assert_eq!(cluster.number(UNTOLD).await, 0);
        assert_eq!(database::number(&first.options("cited"), standbys).await, 0, "it is promoted already");
    }

    let promoted = promote(&cluster, &cluster.servers.nodes[0], &first).await;
    assert!(promoted.contains("all servers know it"), "{promoted}");
    assert_eq!(cluster.number(UNTOLD).await, 0);
    let after = known(&cluster.servers.coordinator).await;
    assert_eq!((after[1], &after[2..]), (i32::from(first.port()), &before[2..]));
    for server in [&cluster.servers.nodes[1], &first] {
        assert_eq!(known(server).await, after);
    }
    let again = promote(&cluster, &cluster.servers.nodes[0], &first).await;
    assert!(again.contains("already"), "{again}");

    let app = service(&cluster, &models).await;
    assert_served(&app, keys).await;
    app.end().await;
}

/// Ids and keys of tenants, of each server some.
async fn tenants_with_a_document(app: &TestApp) -> Vec<(String, String)> {
    let mut keys = vec![(DEFAULT_TENANT.to_owned(), OPERATOR.to_owned())];
    for name in ["one", "two", "three", "four", "five", "six"] {
        let tenant = new_tenant(app, name).await;
        keys.push((tenant.id, tenant.key));
    }
    for (id, key) in &keys {
        let tenant = Tenant { app, id: id.clone(), key: key.clone() };
        tenant.store(json!([{"source": "a", "text": "The ferry leaves at nine."}])).await;
    }
    keys
}

/// All of them are served at once.
async fn assert_served(app: &TestApp, keys: Vec<(String, String)>) {
    for (id, key) in keys {
        let tenant = Tenant { app, id, key };
        let query = json!({"query": "ferry", "collections": ["c"], "mode": "lexical"});
        assert_eq!(tenant.found(query).await, ["a"]);
        tenant.store(json!([{"source": "b", "text": "The late ferry leaves at ten."}])).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres with Citus, named by CITED_TEST_CITUS"]
async fn servers_that_are_lost_together_are_replaced_one_after_the_other() {
    let mut cluster = Cluster::start(2).await;
    cluster.run(&["migrate"]).await;
    cluster.run(&["cluster", "init", "--shards", "4"]).await;
    let models = ModelServer::start().await;
    let app = service(&cluster, &models).await;
    let keys = tenants_with_a_document(&app).await;
    app.end().await;
    let mut standbys = Vec::with_capacity(2);
    for (number, node) in cluster.servers.nodes.iter().enumerate() {
        standbys.push(standby_of(cluster.folder.path(), node, &format!("standby{number}")).await);
    }
    for node in &mut cluster.servers.nodes {
        node.kill().await;
    }

    let other = format!("{} do not answer", address(&cluster.servers.nodes[1]));
    for (node, told) in [(0, other.as_str()), (1, "all servers know it")] {
        let promoted = promote(&cluster, &cluster.servers.nodes[node], &standbys[node]).await;
        assert!(promoted.contains(told), "{promoted}");
    }
    assert_eq!(cluster.number(UNTOLD).await, 0);
    let app = service(&cluster, &models).await;
    assert_served(&app, keys).await;
    app.end().await;
}
