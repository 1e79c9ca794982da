//! `cited doctor` before a cluster.

use super::Cluster;
use crate::process::command;

/// Whether it found all well, and what it printed.
async fn examine(cluster: &Cluster) -> (bool, String) {
    let url = cluster.url();
    let settings = [("DATABASE_URL", url.as_str()), ("CITED_LISTEN", "127.0.0.1:0")];
    let output = command(&["doctor"], &settings).output().await.expect("it runs");
    (output.status.success(), String::from_utf8(output.stdout).expect("UTF-8"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres with Citus, named by CITED_TEST_CITUS"]
async fn the_doctor_examines_all_servers_of_a_cluster() {
    let mut cluster = Cluster::start(2).await;
    let (is_well, shown) = examine(&cluster).await;
    assert!(is_well && shown.contains("not split up yet; cited cluster init does that, over 2 servers"), "{shown}");
    cluster.run(&["migrate"]).await;
    cluster.run(&["cluster", "init", "--shards", "4"]).await;
    // The status lets the role of requests in, as a service would.
    cluster.run(&["cluster", "status"]).await;
    let (is_well, shown) = examine(&cluster).await;
    assert!(is_well, "{shown}");
    for part in [
        "split up by tenants, 2 servers beside the coordinator",
        "pgvector 0.",
        "cited_app, let in by all",
        "cited_worker, which is let in with the first start",
        "times the mean",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }

    let node = &cluster.servers.nodes[0];
    node.says("ALTER ROLE cited_app NOLOGIN").await;
    let (is_well, shown) = examine(&cluster).await;
    let closed = format!("cited_app is not let in by 127.0.0.1:{}", node.port());
    assert!(!is_well && shown.contains(&closed) && shown.contains("→ let cited_app in"), "{shown}");

    cluster.servers.nodes[0].crash().await;
    let (is_well, shown) = examine(&cluster).await;
    let away = format!("127.0.0.1:{} does not answer", cluster.servers.nodes[0].port());
    assert!(!is_well && shown.contains(&away), "{shown}");
    let status = cluster.run(&["cluster", "status"]).await;
    assert!(status.contains("does not answer") && status.contains("not read"), "{status}");
}
