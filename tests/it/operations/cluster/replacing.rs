//! A replacement of a document whose former one is committed on the coordinator, and not yet on the server of its tenant.

use reqwest::Method;
use serde_json::json;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor};

use super::{Cluster, DEFAULT_TENANT, OPERATOR, Tenant, service};
use crate::{scripted::ModelServer, wait};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres with Citus, named by CITED_TEST_CITUS"]
async fn a_replacement_waits_for_the_commit_of_the_version_before() {
    let cluster = Cluster::start(1).await;
    cluster.run(&["migrate"]).await;
    cluster.run(&["cluster", "init", "--shards", "1"]).await;
    let models = ModelServer::start().await;
    let app = service(&cluster, &models).await;
    let default = Tenant { app: &app, id: DEFAULT_TENANT.to_owned(), key: OPERATOR.to_owned() };
    let job = default.store(json!([{"source": "a", "text": "The ferry leaves.", "metadata": {"year": 1}}])).await;
    let id = job["items"][0]["document_id"].as_str().expect("an id").to_owned();

    // Another version, as it stands on the server of the tenant until the second half of its commit.
    let node = &cluster.servers.nodes[0];
    let shard = cluster.number("SELECT shardid FROM pg_dist_shard WHERE logicalrelid = 'document'::regclass").await;
    let mut other = node.options("cited").connect().await.expect("connect");
    let half = format!(
        "BEGIN; UPDATE document_{shard} SET version = 2, metadata = '{{\"year\": 2}}' WHERE document_id = '{id}';
"
    );
    other.execute(sqlx::raw_sql(AssertSqlSafe(half))).await.expect("written");
    let replace = async {
        let text = json!({"text": "The ferry leaves at ten."});
        default.call(Method::PUT, &format!("/v1/documents/{id}?wait=true"), text).await
    };
    let finish = async {
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
        wait::until_count(&node.options("cited"), waits, |waiting| waiting > 0).await;
        other.execute("COMMIT").await.expect("committed");
    };
    let (job, ()) = tokio::join!(replace, finish);
    assert_eq!(job["state"], "succeeded", "{job}");
    let document = default.get(&format!("/v1/documents/{id}")).await;
    assert_eq!((&document.body["version"], &document.body["metadata"]["year"]), (&json!(3), &json!(2)), "{document:?}");
    other.close().await.expect("close");
    app.end().await;
}
