//! A cluster that is restored to a point in time, from base backups and logs of each server.

use serde_json::json;

use super::{Cluster, DEFAULT_TENANT, OPERATOR, Tenant, new_tenant, service};
use crate::{database, scripted::ModelServer};

const POINT: &str = "before-the-mistake";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres with Citus, named by CITED_TEST_CITUS"]
async fn a_cluster_is_restored_to_a_point_that_all_servers_have_in_common() {
    let mut cluster = Cluster::start(2).await;
    cluster.servers.coordinator.keep_logs().await;
    for node in &mut cluster.servers.nodes {
        node.keep_logs().await;
    }
    cluster.run(&["migrate"]).await;
    cluster.run(&["cluster", "init", "--shards", "4"]).await;
    let models = ModelServer::start().await;
    let app = service(&cluster, &models).await;
    let mut keys = vec![(DEFAULT_TENANT.to_owned(), OPERATOR.to_owned())];
    for name in ["one", "two", "three", "four", "five", "six"] {
        let tenant = new_tenant(&app, name).await;
        keys.push((tenant.id, tenant.key));
    }
    let store = async |source: &str| {
        for (id, key) in &keys {
            let tenant = Tenant { app: &app, id: id.clone(), key: key.clone() };
            tenant.store(json!([{"source": source, "text": format!("The ferry leaves {source}.")}])).await;
        }
    };
    store("before the backups").await;
    // They are of different moments.
    for (number, server) in cluster.servers.servers().enumerate() {
        server.back_up_for_recovery().await;
        store(&format!("after backup {number}")).await;
    }
    cluster.says(&format!("SELECT citus_create_restore_point('{POINT}')")).await;
    store("after the point").await;
    app.end().await;

    cluster.servers.coordinator.restore(POINT).await;
    for node in &mut cluster.servers.nodes {
        node.restore(POINT).await;
    }
    database::assert_consistent(&cluster.options()).await;
    let app = service(&cluster, &models).await;
    let expected = ["after backup 0", "after backup 1", "after backup 2", "before the backups"];
    for (id, key) in keys {
        let tenant = Tenant { app: &app, id, key };
        let listed = tenant.get("/v1/documents?collection=c").await;
        let mut sources: Vec<&str> = listed.body["documents"]
            .as_array()
            .expect("documents")
            .iter()
            .map(|document| document["source"].as_str().expect("a source"))
            .collect();
        sources.sort_unstable();
        assert_eq!(sources, expected);
        let query = json!({"query": "ferry", "collections": ["c"], "mode": "lexical"});
        assert_eq!(tenant.found(query).await.len(), expected.len());
        tenant.store(json!([{"source": "after the restore", "text": "The ferry leaves at ten."}])).await;
    }
    app.end().await;
}
