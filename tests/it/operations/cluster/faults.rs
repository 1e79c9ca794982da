//! Servers of a cluster that crash or are cut off, one after the other, while documents come in and questions are asked.

use std::time::Duration;

use tokio::time::sleep;

use super::{
    Cluster,
    clients::{Clients, PAUSE, Processes},
    line::Line,
};
use crate::scripted::ModelServer;

const NODES: usize = 3;
/// How many servers fail, one after the other, where nothing else is said.
const ROUNDS: usize = 4;
/// How long a server is away.
const AWAY: Duration = Duration::from_millis(1500);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres with Citus, named by CITED_TEST_CITUS"]
async fn a_server_that_fails_takes_nothing_from_tenants_of_others_and_loses_nothing() {
    let rounds = std::env::var_os("CITED_TEST_FAULT_ROUNDS")
        .map_or(ROUNDS, |rounds| rounds.to_str().and_then(|rounds| rounds.parse().ok()).expect("a number"));
    let (mut cluster, lines) = Cluster::start_behind_lines(NODES).await;
    cluster.run(&["migrate"]).await;
    cluster.run(&["cluster", "init", "--shards", "6"]).await;
    let models = ModelServer::start().await;
    let mut processes = Processes::start(&cluster, &models).await;
    let ports: Vec<u16> = lines.iter().map(Line::port).collect();
    let clients = Clients::start(&cluster, &processes, &ports).await;

    for round in 0..rounds {
        let node = round % NODES;
        clients.may_fail(node);
        let crashes = (round / NODES).is_multiple_of(2);
        eprintln!("round {round}: server {node} {}", if crashes { "crashes" } else { "is cut off" });
        if crashes {
            cluster.servers.nodes[node].crash().await;
        } else {
            lines[node].cut();
        }
        // A worker dies with it.
        if round % 4 == 3 {
            processes.kill_worker().await;
        }
        if round % 5 == 4 {
            let status = cluster.run(&["cluster", "status"]).await;
            assert!(status.contains("does not answer"), "{status}");
        }
        sleep(AWAY).await;
        if crashes {
            cluster.servers.nodes[node].start().await;
        } else {
            lines[node].mend();
        }
        processes.replace_worker().await;
        clients.wait_for(node).await;
        sleep(PAUSE * 10).await;
    }

    clients.end(&cluster, rounds).await;
    processes.stop().await;
}
