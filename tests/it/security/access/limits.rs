//! How often keys and addresses may be used.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{ConnectOptions, Connection, Executor};
use tokio::task::JoinSet;

use super::{
    keys::{SETTINGS, call, create, status},
    world::{OPERATOR, PEPPER},
};
use crate::{
    database,
    harness::{Answer, TestApp, client, send},
    process::Process,
    scripted::ModelServer,
    wait,
};

async fn limited(limits: &[(&str, &str)]) -> TestApp {
    TestApp::start(database::create().await, &[&SETTINGS[..], limits].concat()).await
}

fn header(answer: &Answer, name: &str) -> String {
    answer.headers[name].to_str().expect("a text").to_owned()
}

/// Lists the collections with a key, by way of a proxy that reports this address.
async fn list_for(app: &TestApp, key: &str, address: &str) -> Answer {
    send(app.request(Method::GET, "/v1/collections").bearer_auth(key).header("x-forwarded-for", address)).await
}

#[tokio::test]
async fn a_key_that_is_used_too_often_waits_and_others_do_not() {
    let app = limited(&[("CITED_KEY_REQUESTS_PER_MINUTE", "2")]).await;
    let (key, _) = create(&app, json!({"name": "desk", "scopes": ["read"]})).await;
    let used = async || call(&app, &key, Method::GET, "/v1/collections", None).await;
    for left in [1, 0] {
        let answer = used().await;
        assert_eq!((answer.status, header(&answer, "ratelimit")), (200, format!("\"key\";r={left}")));
        assert_eq!(header(&answer, "ratelimit-policy"), "\"key\";q=2;w=60");
    }
    let refused = used().await;
    refused.assert_problem(429, "rate_limited");
    let wait: u64 = header(&refused, "retry-after").parse().expect("seconds");
    assert!((1..=30).contains(&wait), "{refused:?}");
    assert_eq!(header(&refused, "ratelimit"), format!("\"key\";r=0;t={wait}"));
    assert_eq!(status(&app, OPERATOR).await, 200);
    app.stop().await;
}

#[tokio::test]
async fn a_key_has_so_many_requests_at_once() {
    let server = ModelServer::start().await;
    server.hold_embeddings(Some("Boats"));
    let settings = [&SETTINGS[..], &[("CITED_KEY_CONCURRENCY", "1")]].concat();
    let app = TestApp::start_with_embeddings(&server, &settings).await;
    let (key, _) = create(&app, json!({"name": "desk", "scopes": ["admin"]})).await;
    let body = json!({"collection": "c", "documents": [{"source": "a.md", "text": "Boats land here."}]});
    let calls = server.embedding_keys().len();
    let request = app.request(Method::POST, "/v1/documents?wait=true").bearer_auth(&key).json(&body);
    let slow = tokio::spawn(send(request));
    wait::until("the slow request is under way", async || server.embedding_keys().len() > calls).await;
    let refused = call(&app, &key, Method::GET, "/v1/collections", None).await;
    refused.assert_problem(429, "too_many_at_once");
    assert_eq!(header(&refused, "retry-after"), "1");
    assert_eq!(header(&refused, "ratelimit-policy"), "\"concurrency\";q=1;qu=\"concurrent-requests\"");
    assert_eq!(header(&refused, "ratelimit"), "\"concurrency\";r=0");
    assert_eq!(status(&app, OPERATOR).await, 200, "another key has its own");
    server.hold_embeddings(None);
    assert_eq!(slow.await.expect("no panic").status, 200);
    wait::until("the key is free again", async || status(&app, &key).await == 200).await;
    app.stop().await;
}

#[tokio::test]
async fn an_address_is_that_of_the_client_only_where_the_proxy_is_trusted() {
    let direct = limited(&[("CITED_ADDRESS_REQUESTS_PER_MINUTE", "2")]).await;
    for (address, expected) in [("192.0.2.1", 200), ("192.0.2.2", 200), ("192.0.2.3", 429)] {
        assert_eq!(list_for(&direct, OPERATOR, address).await.status, expected, "{address}");
    }
    assert_eq!(direct.get("/livez").await.status, 200, "probes need no turn");
    direct.stop().await;

    let trusted = [("CITED_ADDRESS_REQUESTS_PER_MINUTE", "2"), ("CITED_TRUSTED_PROXIES", "127.0.0.0/8, ::1")];
    let behind = limited(&trusted).await;
    for address in ["192.0.2.1", "192.0.2.2"] {
        for expected in [200, 200, 429] {
            let answer = list_for(&behind, OPERATOR, address).await;
            assert_eq!(answer.status, expected, "{address}: {answer:?}");
        }
    }
    // It is refused before anything is known of its key.
    let refused = list_for(&behind, "no key at all", "192.0.2.1").await;
    refused.assert_problem(429, "rate_limited");
    assert_eq!(header(&refused, "ratelimit-policy"), "\"address\";q=2;w=60");
    behind.stop().await;
}

#[tokio::test]
async fn wrong_keys_are_logged_and_slowed_down() {
    let database = database::create().await;
    let url = database::url(&database);
    let service = Process::serve(&[
        ("DATABASE_URL", url.as_str()),
        ("CITED_API_KEYS", OPERATOR),
        ("CITED_KEY_PEPPER", PEPPER),
        ("CITED_REFUSALS_PER_MINUTE", "2"),
    ])
    .await;
    let present =
        async |key: &str| send(client().get(format!("{}/v1/collections", service.base)).bearer_auth(key)).await;
    for _ in 0..2 {
        present("a-guessed-key-of-some-length").await.assert_problem(401, "unauthorized");
    }
    let refused = present("a-guessed-key-of-some-length").await;
    refused.assert_problem(429, "rate_limited");
    assert_eq!(header(&refused, "ratelimit-policy"), "\"wrong-keys\";q=2;w=60");
    assert_eq!(present(OPERATOR).await.status, 200, "a valid key of the same address is served");
    let bare = send(client().get(format!("{}/v1/collections", service.base))).await;
    bare.assert_problem(401, "unauthorized");
    let logged = service.logged();
    let warnings: Vec<Value> = logged.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let named = |line: &&Value| line["client"] == "127.0.0.1" && line["reason"] == "malformed";
    assert_eq!(warnings.iter().filter(named).count(), 2, "{logged:#?}");
    assert!(!logged.iter().any(|line| line.contains("a-guessed-key")), "{logged:#?}");
    service.stop().await;
}

/// The database is so slow that look-ups pile up: wrong keys have one connection of it, and a valid key stands among them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_keys_share_their_look_ups_and_keep_no_valid_key_out() {
    let app = limited(&[("CITED_REFUSALS_PER_MINUTE", "5")]).await;
    let (key, _) = create(&app, json!({"name": "desk", "scopes": ["read"]})).await;
    let mut connection = app.database.connect().await.expect("a connection");
    let mut lock = connection.begin().await.expect("a transaction");
    lock.execute("LOCK TABLE api_key IN ACCESS EXCLUSIVE MODE").await.expect("locked");
    let mut requests = JoinSet::new();
    for number in 0..40 {
        let guess = domain::access::write_key(&domain::access::written_id([number; 8]), [9; 32]);
        let key = if number == 20 { key.clone() } else { guess };
        requests.spawn(send(app.request(Method::GET, "/v1/collections").bearer_auth(key)));
    }
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    wait::until_count(&app.database, waiting, |waiting| waiting > 0).await;
    for _ in 0..20 {
        assert_eq!(status(&app, OPERATOR).await, 200, "others have the database");
    }
    assert_eq!(database::number(&app.database, waiting).await, 1);
    lock.rollback().await.expect("unlocked");
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    for answer in requests.join_all().await {
        *statuses.entry(answer.status).or_default() += 1;
    }
    assert_eq!(statuses, BTreeMap::from([(200, 1), (401, 5), (429, 34)]));
    app.stop().await;
}
