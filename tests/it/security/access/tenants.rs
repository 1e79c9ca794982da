//! The life of a tenant.

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{ConnectOptions, Connection, Executor, Row};

use super::world::{OPERATOR, PEPPER, text};
use crate::{
    database,
    harness::{Answer, TestApp, send},
    scripted::ModelServer,
};

async fn post(app: &TestApp, key: &str, path: &str, body: Value) -> Answer {
    send(app.request(Method::POST, path).bearer_auth(key).json(&body)).await
}

/// Names of the tables that hold rows of tenants.
async fn tables_of_tenants(app: &TestApp) -> Vec<String> {
    let names = "SELECT table_name::text FROM information_schema.columns
        WHERE table_schema = 'public' AND column_name = 'tenant_id'";
    let mut connection = app.database.connect().await.expect("connect");
    let rows = connection.fetch_all(names).await.expect("tables");
    connection.close().await.expect("close");
    let tables: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert!(tables.len() >= 25, "{tables:?}");
    tables
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_has_its_own_of_everything_and_leaves_nothing_behind() {
    let server = ModelServer::start().await;
    let settings = [("CITED_API_KEYS", OPERATOR), ("CITED_KEY_PEPPER", PEPPER)];
    let app = TestApp::start_with_embeddings(&server, &settings).await;
    let made = post(&app, OPERATOR, "/v1/tenants", json!({"name": "acme"})).await;
    assert_eq!(made.status, 201, "{made:?}");
    post(&app, OPERATOR, "/v1/tenants", json!({"name": "acme"})).await.assert_problem(409, "tenant_exists");
    let tenant = text(&made.body["id"]);
    let admin = json!({"name": "first", "scopes": ["admin"]});
    let key = post(&app, OPERATOR, &format!("/v1/tenants/{tenant}/keys"), admin).await;
    let key = text(&key.body["secret"]);
    // The same names, sources and names of requests in both.
    for (by, words) in [(OPERATOR, "Ours is one."), (key.as_str(), "Theirs is two.")] {
        let body = json!({"collection": "c", "documents": [{"source": "a", "text": words}]});
        let upload = app.request(Method::POST, "/v1/documents?wait=true").bearer_auth(by).json(&body);
        let done = send(upload.header("idempotency-key", "same")).await;
        assert_eq!((done.status, &done.body["counts"]["documents"]), (200, &json!(1)), "{done:?}");
        let ask = json!({"question": "What is it?", "collections": ["c"], "cache": {"ttl_s": 300}});
        let answer = post(&app, by, "/v1/ask", ask).await;
        assert!(answer.body["sources"].to_string().contains(words), "{answer:?}");
    }
    let owned = format!("SELECT count(*) FROM ask_audit WHERE tenant_id = '{tenant}'");
    assert_eq!(database::number(&app.database, &owned).await, 1);
    let path = format!("/v1/tenants/{tenant}");
    let delete = |path: String| send(app.request(Method::DELETE, &path).bearer_auth(OPERATOR));
    let gone = delete(path.clone()).await;
    assert_eq!((gone.status, &gone.body), (200, &json!({"collections": 1, "documents": 1})));
    post(&app, &key, "/v1/collections", json!({"name": "late"})).await.assert_problem(401, "unauthorized");
    assert_eq!(delete(path).await.status, 404);
    for table in tables_of_tenants(&app).await {
        let rest = format!("SELECT count(*) FROM {table} WHERE tenant_id = '{tenant}'");
        assert_eq!(database::number(&app.database, &rest).await, 0, "{table}");
    }
    let default = "00000000-0000-7000-8000-000000000001";
    delete(format!("/v1/tenants/{default}")).await.assert_problem(409, "tenant_default");
    let ours = send(app.request(Method::GET, "/v1/collections/c").bearer_auth(OPERATOR)).await;
    assert_eq!(ours.body["documents"], 1, "{ours:?}");
    app.stop().await;
}
