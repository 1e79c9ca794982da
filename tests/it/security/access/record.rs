//! The record of changes and refusals: nothing of it is missing, and nothing can be taken from it unseen.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use sqlx::{ConnectOptions, Connection, Executor};

use super::{
    keys::{SETTINGS, call, create},
    world::{OPERATOR, text},
};
use crate::{
    database,
    harness::{TestApp, send},
    scripted::ModelServer,
    wait,
};

const EVENTS: &str = "/v1/security-events";
pub(super) const VERIFICATION: &str = "/v1/security-events/verification";

pub(super) async fn get(app: &TestApp, key: &str, path: &str) -> Value {
    let answer = call(app, key, Method::GET, path, None).await;
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    answer.body
}

/// The verification once every event has a seal.
pub(super) async fn sealed(app: &TestApp) -> Value {
    sealed_for(app, Some(OPERATOR)).await
}

/// The same, asked for with a key or without.
pub(super) async fn sealed_for(app: &TestApp, key: Option<&str>) -> Value {
    wait::until_ok("all events are sealed", async || {
        let request = app.request(Method::GET, VERIFICATION);
        let state = send(key.into_iter().fold(request, RequestBuilder::bearer_auth)).await.body;
        if state["waiting"] == 0 { Ok(state) } else { Err(state) }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_change_is_on_record_with_its_caller() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &SETTINGS).await;
    let (admin, id) = create(&app, json!({"name": "admin", "scopes": ["admin"]})).await;
    let by_admin = async |method: Method, path: &str, body: Option<Value>| {
        let answer = call(&app, &admin, method, path, body).await;
        assert!(answer.status < 300, "{path}: {answer:?}");
        answer.body
    };
    by_admin(Method::POST, "/v1/collections", Some(json!({"name": "c"}))).await;
    let documents = json!([{"source": "secretsource", "text": "Secretword."}, {"source": "b", "text": "Words."}]);
    let upload = json!({"collection": "c", "documents": documents});
    let job = by_admin(Method::POST, "/v1/documents?wait=true", Some(upload)).await;
    let document = text(&job["items"][0]["document_id"]);
    let path = format!("/v1/documents/{document}");
    by_admin(Method::PATCH, &format!("{path}/acl"), Some(json!({"deny": ["user:bob"]}))).await;
    by_admin(Method::PATCH, "/v1/collections/c/acl", Some(json!({"deny": ["user:bob"]}))).await;
    by_admin(Method::PUT, &path, Some(json!({"text": "Otherword."}))).await;
    by_admin(Method::DELETE, &path, None).await;
    by_admin(Method::DELETE, "/v1/documents?collection=c&source_prefix=b", None).await;
    let (_, other) = create(&app, json!({"name": "other", "scopes": ["ask"]})).await;
    by_admin(Method::POST, &format!("/v1/keys/{other}/rotate"), Some(json!({}))).await;
    by_admin(Method::DELETE, &format!("/v1/keys/{other}"), None).await;
    by_admin(Method::DELETE, "/v1/collections/c", None).await;
    let events = get(&app, &admin, &format!("{EVENTS}?key_id={id}")).await;
    let shown: Vec<(String, Value)> = events["events"]
        .as_array()
        .expect("events")
        .iter()
        .rev()
        .map(|event| (text(&event["action"]), event["things"].clone()))
        .collect();
    let actions: Vec<&str> = shown.iter().map(|(action, _)| action.as_str()).collect();
    assert_eq!(
        actions,
        [
            "create_collection",
            "create_documents",
            "update_document_acl",
            "update_collection_acl",
            "replace_document",
            "delete_document",
            "delete_documents",
            "rotate_key",
            "revoke_key",
            "delete_collection"
        ]
    );
    assert_eq!(shown[1].1, json!(["collection:c", format!("job:{}", text(&job["id"]))]));
    assert_eq!(shown[5].1, json!([format!("document:{document}")]));
    assert_eq!(events["events"][8]["number"], 2, "two documents were handed in");
    assert!(events["events"].as_array().expect("events").iter().all(|event| {
        event["address"] == "127.0.0.1" && event["request_id"].is_string() && event["refusal"].is_null()
    }));
    let stored =
        "SELECT count(*) FROM security_event WHERE to_jsonb(security_event)::text ~* 'secretword|secretsource'";
    assert_eq!(
        database::number(&app.database, stored).await,
        0,
        "no content, and no name that a caller gave a document"
    );
    let page = get(&app, &admin, &format!("{EVENTS}?action=delete_document&refused=false&limit=1")).await;
    assert_eq!((&page["events"][0]["action"], &page["next_cursor"]), (&json!("delete_document"), &Value::Null));
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals_are_on_record_together_and_where_they_belong() {
    let app = TestApp::start(database::create().await, &SETTINGS).await;
    let (asker, id) = create(&app, json!({"name": "asker", "scopes": ["ask"]})).await;
    for _ in 0..3 {
        assert_eq!(call(&app, "a-wrong-key-of-some-length", Method::GET, "/v1/jobs", None).await.status, 401);
    }
    let deletion = call(&app, &asker, Method::DELETE, "/v1/collections/c", None).await;
    deletion.assert_problem(403, "insufficient_scope");
    let foreign = app.request(Method::POST, "/v1/ask").bearer_auth(&asker).header("origin", "https://evil.example");
    assert_eq!(send(foreign.json(&json!({"question": "What?"}))).await.status, 403);
    let refused = format!("{EVENTS}?refused=true");
    let of_deployment = format!("{refused}&deployment=true");
    wait::until("the refusals are written", async || {
        let (own, others) = (get(&app, OPERATOR, &refused).await, get(&app, OPERATOR, &of_deployment).await);
        let wrong: i64 =
            others["events"].as_array().expect("events").iter().filter_map(|event| event["number"].as_i64()).sum();
        own["events"][0]["action"] == "delete_collection" && wrong == 4
    })
    .await;
    let own = get(&app, OPERATOR, &refused).await["events"][0].clone();
    assert_eq!((&own["refusal"], &own["key_id"]), (&json!("insufficient_scope"), &json!(id)));
    let others = get(&app, OPERATOR, &of_deployment).await["events"].clone();
    let codes: Vec<&str> =
        others.as_array().expect("events").iter().filter_map(|event| event["refusal"].as_str()).collect();
    assert!(codes.contains(&"unauthorized") && codes.contains(&"cross_origin"), "{others}");
    let (admin, _) = create(&app, json!({"name": "admin", "scopes": ["admin"]})).await;
    for path in [of_deployment, format!("{VERIFICATION}?deployment=true")] {
        call(&app, &admin, Method::GET, &path, None).await.assert_problem(403, "insufficient_scope");
    }
    app.stop().await;
}

#[tokio::test]
async fn the_runtime_roles_change_and_delete_no_event() {
    let app = TestApp::start(database::create().await, &SETTINGS).await;
    create(&app, json!({"name": "first", "scopes": ["ask"]})).await;
    sealed(&app).await;
    for role in ["cited_app", "cited_worker"] {
        for statement in ["UPDATE {} SET tenant_id = tenant_id", "DELETE FROM {}", "TRUNCATE {}"] {
            for table in ["security_event", "security_seal"] {
                let mut connection = app.database.connect().await.expect("connect");
                connection.execute(sqlx::AssertSqlSafe(format!("SET ROLE {role}"))).await.expect("role");
                let attempt = statement.replace("{}", table);
                let done = connection.execute(sqlx::AssertSqlSafe(attempt.clone())).await;
                let refused = done.expect_err(&attempt).to_string();
                assert!(refused.contains("permission denied"), "{role}: {attempt}: {refused}");
                connection.close().await.expect("close");
            }
        }
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_events_go_and_the_rest_is_still_proven() {
    let database = database::create().await;
    let app = TestApp::start(database.clone(), &SETTINGS).await;
    for name in ["first", "second", "third"] {
        create(&app, json!({"name": name, "scopes": ["ask"]})).await;
        sealed(&app).await;
    }
    let aged = "UPDATE security_seal SET sealed_at = now() - interval '2 days' WHERE number <= 2";
    database::execute(&database, aged).await;
    let settings = [SETTINGS.as_slice(), &[("CITED_SECURITY_EVENT_RETENTION_DAYS", "1")]].concat();
    let sweeping = TestApp::start(database, &settings).await;
    wait::until("the old events are gone", async || {
        let events = get(&sweeping, OPERATOR, EVENTS).await;
        events["events"].as_array().expect("events").len() == 2
    })
    .await;
    let events = get(&sweeping, OPERATOR, EVENTS).await;
    assert_eq!(events["events"][0]["action"], "forget_security_events");
    assert_eq!(events["events"][0]["number"], 2);
    let state = sealed(&sweeping).await;
    assert_eq!((&state["whole"], &state["events"]), (&json!(true), &json!(2)), "{state}");
    app.stop().await;
    sweeping.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_within_a_call_of_a_tool_is_on_record_too() {
    let app = TestApp::start(database::create().await, &SETTINGS).await;
    let (asker, id) = create(&app, json!({"name": "agent", "scopes": ["ask"], "collections": ["c"]})).await;
    let (uploader, _) = create(&app, json!({"name": "uploader", "scopes": ["ingest"], "collections": ["c"]})).await;
    let tool = async |key: &str, name: &str, arguments: Value| {
        let params = json!({"name": name, "arguments": arguments});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let answer = call(&app, key, Method::POST, "/mcp", Some(message)).await;
        assert_eq!((answer.status, &answer.body["result"]["isError"]), (200, &json!(true)), "{answer:?}");
    };
    let documents = json!([{"source": "a", "text": "Words."}]);
    tool(&asker, "ingest", json!({"collection": "c", "documents": documents})).await;
    tool(&uploader, "ingest", json!({"collection": "secretname", "documents": documents})).await;
    let path = format!("{EVENTS}?action=create_documents&refused=true");
    wait::until("both are written", async || {
        get(&app, OPERATOR, &path).await["events"].as_array().is_some_and(|events| events.len() == 2)
    })
    .await;
    let events = get(&app, OPERATOR, &path).await;
    let codes: Vec<&str> =
        events["events"].as_array().expect("events").iter().filter_map(|event| event["refusal"].as_str()).collect();
    assert!(codes.contains(&"insufficient_scope") && codes.contains(&"collection_not_granted"), "{events}");
    let of_agent = get(&app, OPERATOR, &format!("{path}&key_id={id}")).await;
    assert_eq!(of_agent["events"][0]["refusal"], "insufficient_scope", "{of_agent}");
    assert!(!events.to_string().contains("secretname"), "{events}");
    app.stop().await;
}

/// Where the record cannot be written, nothing is changed that is written together with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_without_its_event_is_not_made() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &SETTINGS).await;
    let upload = json!({"collection": "c", "documents": [{"source": "a", "text": "Words."}]});
    let job = call(&app, OPERATOR, Method::POST, "/v1/documents?wait=true", Some(upload)).await.body;
    let document = format!("/v1/documents/{}", text(&job["items"][0]["document_id"]));
    let (reader, id) = create(&app, json!({"name": "reader", "scopes": ["read"]})).await;
    let tenant = call(&app, OPERATOR, Method::POST, "/v1/tenants", Some(json!({"name": "acme"}))).await.body;
    let tenant = format!("/v1/tenants/{}", text(&tenant["id"]));
    let upload = json!({"collection": "c", "documents": [{"source": "empty", "text": " "}]});
    let failed = call(&app, OPERATOR, Method::POST, "/v1/documents?wait=true", Some(upload)).await.body;
    assert_eq!(failed["state"], "failed", "{failed}");
    let of_index = call(&app, OPERATOR, Method::POST, "/v1/collections", Some(json!({"name": "d"}))).await;
    assert_eq!(of_index.status, 201, "{of_index:?}");
    let wanted = Some(json!({"splitter": {"size": 64}}));
    let another = call(&app, OPERATOR, Method::POST, "/v1/collections/d/indexes", wanted).await.body;
    wait::until("the other index is built", async || {
        get(&app, OPERATOR, &format!("/v1/jobs/{}", text(&another["job"]["id"]))).await["finished_at"].is_string()
    })
    .await;
    let another = format!("/v1/collections/d/indexes/{}", text(&another["index"]["id"]));
    server.hold_embeddings(Some("Held"));
    let upload = json!({"collection": "c", "documents": [{"source": "held", "text": "Held."}]});
    let held = call(&app, OPERATOR, Method::POST, "/v1/documents", Some(upload)).await.body;
    wait::until("the job runs", async || {
        get(&app, OPERATOR, &format!("/v1/jobs/{}", text(&held["id"]))).await["state"] == "running"
    })
    .await;
    let state = async || {
        let mut state = Vec::new();
        for path in [
            format!("{document}/acl"),
            "/v1/collections/c".to_owned(),
            "/v1/collections/c/acl".to_owned(),
            tenant.clone(),
        ] {
            state.push(get(&app, OPERATOR, &path).await);
        }
        for counted in [
            "api_key",
            "api_key WHERE revoked_at IS NOT NULL",
            "tenant",
            "document",
            "collection",
            "collection_index",
            "collection WHERE index_id = collection_id",
            "erasure",
            "job",
            "job WHERE cancelled_at IS NOT NULL",
            "job_item WHERE state = 'failed'",
            "idempotency_key",
        ] {
            let count = database::number(&app.database, &format!("SELECT count(*) FROM {counted}")).await;
            state.push(json!(count));
        }
        state
    };
    let before = state().await;
    database::execute(&app.database, "ALTER FUNCTION write_security_events RENAME TO away").await;
    let deny = json!({"deny": ["user:bob"]});
    let uploaded =
        |collection: &str| json!({"collection": collection, "documents": [{"source": "b", "text": "Words."}]});
    for (method, path, body) in [
        (Method::PATCH, format!("{document}/acl"), Some(deny.clone())),
        (Method::PATCH, "/v1/collections/c/acl".to_owned(), Some(deny)),
        (Method::PATCH, "/v1/collections/c".to_owned(), Some(json!({"web_search": true}))),
        (Method::DELETE, document.clone(), None),
        (Method::DELETE, "/v1/documents?collection=c&source_prefix=a".to_owned(), None),
        (Method::DELETE, "/v1/collections/c".to_owned(), None),
        (Method::POST, "/v1/keys".to_owned(), Some(json!({"name": "k", "scopes": ["ask"]}))),
        (Method::POST, format!("/v1/keys/{id}/rotate"), Some(json!({"grace_s": 0}))),
        (Method::DELETE, format!("/v1/keys/{id}"), None),
        (Method::POST, "/v1/tenants".to_owned(), Some(json!({"name": "another"}))),
        (Method::PATCH, tenant.clone(), Some(json!({"quotas": {"documents": 1}}))),
        (Method::DELETE, tenant.clone(), None),
        (Method::POST, "/v1/documents".to_owned(), Some(uploaded("c"))),
        (Method::POST, "/v1/documents".to_owned(), Some(uploaded("new"))),
        (Method::PUT, document.clone(), Some(json!({"text": "Other words."}))),
        (Method::POST, "/v1/collections".to_owned(), Some(json!({"name": "new"}))),
        (Method::POST, "/v1/collections/c/indexes".to_owned(), Some(json!({"splitter": {"size": 64}}))),
        (Method::POST, format!("{another}/activate"), None),
        (Method::DELETE, another.clone(), None),
        (Method::POST, format!("/v1/jobs/{}/cancel", text(&held["id"])), None),
        (Method::POST, format!("/v1/jobs/{}/retry", text(&failed["id"])), None),
        (Method::POST, "/v1/erasures".to_owned(), Some(json!({"collection": "c"}))),
        (Method::POST, "/v1/erasures".to_owned(), Some(json!({"document": job["items"][0]["document_id"]}))),
    ] {
        let answer = call(&app, OPERATOR, method.clone(), &path, body).await;
        assert!(answer.status >= 500, "{method} {path}: {answer:?}");
    }
    let stream = app.request(Method::POST, "/v1/documents/bulk?collection=c").bearer_auth(OPERATOR);
    let stream = stream.header("content-type", "application/x-ndjson").body(r#"{"source": "b", "text": "Words."}"#);
    let streamed = send(stream).await;
    assert!(streamed.status >= 500, "{streamed:?}");
    database::execute(&app.database, "ALTER FUNCTION away RENAME TO write_security_events").await;
    assert_eq!(state().await, before);
    server.hold_embeddings(None);
    assert_eq!(call(&app, &reader, Method::GET, &document, None).await.status, 200, "its secret is what it was");
    app.stop().await;
}
