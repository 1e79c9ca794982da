//! Reads while the coordinator does not trust the metadata of a server, as after another one took its place.

use reqwest::Method;
use serde_json::json;

use super::{Cluster, DEFAULT_TENANT, OPERATOR, Tenant, operator, service};
use crate::{harness::send, scripted::ModelServer};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres with Citus, named by CITED_TEST_CITUS"]
async fn what_is_not_sent_to_the_server_of_its_tenant_is_refused_until_it_is() {
    let cluster = Cluster::start(1).await;
    cluster.run(&["migrate"]).await;
    cluster.run(&["cluster", "init", "--shards", "2"]).await;
    let models = ModelServer::start().await;
    let app = service(&cluster, &models).await;
    let default = Tenant { app: &app, id: DEFAULT_TENANT.to_owned(), key: OPERATOR.to_owned() };
    default.store(json!([{"source": "a", "text": "The ferry leaves at nine."}])).await;
    let query = json!({"query": "ferry", "collections": ["c"], "mode": "lexical"});
    assert_eq!(default.found(query.clone()).await, ["a"]);

    // The coordinator sends the metadata again some time later, by itself.
    cluster.says("UPDATE pg_dist_node SET metadatasynced = false WHERE groupid > 0").await;
    // Each connection of the service has its own view of the servers.
    for _ in 0..8 {
        let question = json!({"question": "When does the ferry leave?", "collections": ["c"]});
        for (path, body) in [("/v1/search", query.clone()), ("/v1/ask", question)] {
            let refused = operator(&app, Method::POST, path, body).await;
            refused.assert_problem(503, "database_unavailable");
            assert!(refused.headers.contains_key("retry-after"), "{refused:?}");
        }
        let listed = send(default.request(Method::GET, "/v1/documents?collection=c")).await;
        assert!([200, 503].contains(&listed.status), "{listed:?}");
        assert!(
            listed.status == 503 || listed.body["documents"].as_array().is_some_and(|all| all.len() == 1),
            "{listed:?}"
        );
    }

    cluster.says("UPDATE pg_dist_node SET metadatasynced = true WHERE groupid > 0").await;
    assert_eq!(default.found(query).await, ["a"]);
    app.end().await;
}
