//! The splitting itself: interrupted and repeated, and a place for each table.

use std::{fs, path::Path};

use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor};

use super::{Cluster, SPLIT};
use crate::{database, process::command, wait};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres with Citus, named by CITED_TEST_CITUS"]
async fn a_split_that_is_killed_leaves_everything_as_it_was_and_is_repeated() {
    let cluster = Cluster::start(2).await;
    let url = cluster.url();
    let refusal = cluster.refused(&url, &["cluster", "init"]).await;
    assert!(refusal.contains("cited migrate"), "{refusal}");
    cluster.run(&["migrate"]).await;
    let of_node = database::url(&cluster.servers.nodes[0].options("cited").host("127.0.0.1"));
    let refusal = cluster.refused(&of_node, &["cluster", "init"]).await;
    assert!(refusal.contains("is a worker"), "{refusal}");
    let without = database::url(&cluster.servers.coordinator.options("postgres"));
    let refusal = cluster.refused(&without, &["cluster", "status"]).await;
    assert!(refusal.contains("CREATE EXTENSION citus"), "{refusal}");

    for table in ["principal", "document", "answer_source", "tenant_quota"] {
        let mut holder = cluster.options().connect().await.expect("connect");
        let lock = format!("BEGIN; LOCK TABLE {table} IN ROW SHARE MODE");
        holder.execute(sqlx::raw_sql(AssertSqlSafe(lock))).await.expect("locked");
        let mut init = command(&["cluster", "init"], &[("DATABASE_URL", &url)]).spawn().expect("it starts");
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'cited' AND wait_event_type = 'Lock'";
        wait::until_count(&cluster.options(), waits, |waiting| waiting > 0).await;
        init.kill().await.expect("killed");
        holder.close().await.expect("close");
        wait::until_count(&cluster.options(), waits, |waiting| waiting == 0).await;
        let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'cited' AND backend_type = 'client backend'
            AND pid <> pg_backend_pid() AND state <> 'idle'";
        wait::until_count(&cluster.options(), others, |busy| busy == 0).await;
        assert_eq!(cluster.number(SPLIT).await, 0, "{table}");
    }
    cluster.run(&["cluster", "init", "--shards", "4"]).await;
    assert_eq!(cluster.number("SELECT count(*) FROM pg_dist_partition WHERE partmethod = 'h'").await, 19);
    let unforced = "SELECT count(*) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
        WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND NOT (c.relrowsecurity AND c.relforcerowsecurity)";
    assert_eq!(cluster.number(unforced).await, 0);
}

/// Reads nothing but the folder: the layout names each table of the schema.
#[test]
fn every_table_has_its_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let layout = fs::read_to_string(root.join("src/store/cluster/layout.rs")).expect("readable");
    let migrations = fs::read_dir(root.join("migrations")).expect("a folder");
    for file in migrations {
        let text = fs::read_to_string(file.expect("a file").path()).expect("readable");
        for table in text.split("\nCREATE TABLE ").skip(1).filter_map(|rest| rest.split(' ').next()) {
            assert!(layout.contains(&format!("(\"{table}\", Place::")), "{table} has no place in a cluster");
        }
    }
}
