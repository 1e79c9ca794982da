//! Requests that repeat those of others: an idempotency key shows its job to those who may see it, and of two keys in one
//! request neither counts.

use reqwest::Method;
use serde_json::{Value, json};

use super::{
    keys::{SETTINGS, create},
    world::OPERATOR,
};
use crate::{
    harness::{Answer, TestApp, send},
    scripted::ModelServer,
};

const LINE: &str = r#"{"source": "a", "text": "The vault opens with marigold."}"#;

/// Uploads with an idempotency key that everybody knows.
async fn upload(app: &TestApp, key: &str, collection: &str) -> Answer {
    let document = json!({"source": "a", "text": "The vault opens with marigold.", "acl": {"allow": ["user:ada"]}});
    let body = json!({"collection": collection, "documents": [document]});
    let request = app.request(Method::POST, "/v1/documents?wait=true").bearer_auth(key);
    send(request.header("idempotency-key", "nightly").json(&body)).await
}

async fn stream(app: &TestApp, key: &str, collection: &str) -> Answer {
    let path = format!("/v1/documents/bulk?wait=true&collection={collection}");
    let request = app.request(Method::POST, &path).bearer_auth(key).header("content-type", "application/x-ndjson");
    send(request.header("idempotency-key", "nightly stream").body(LINE)).await
}

async fn key(app: &TestApp, name: &str, limits: Value) -> String {
    let mut wanted = json!({"name": name, "scopes": ["ingest"]});
    wanted.as_object_mut().expect("an object").extend(limits.as_object().cloned().unwrap_or_default());
    create(app, wanted).await.0
}

#[tokio::test]
async fn a_repetition_shows_no_job_that_is_hidden_from_its_key() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &SETTINGS).await;
    let ada = key(&app, "ada", json!({"principals": ["user:ada"]})).await;
    let bob = key(&app, "bob", json!({"principals": ["user:bob"]})).await;
    let elsewhere = key(&app, "elsewhere", json!({"collections": ["other"]})).await;

    let first = upload(&app, &ada, "c").await;
    assert_eq!((first.status, &first.body["state"]), (200, &json!("succeeded")), "{first:?}");
    for known in [&ada, OPERATOR] {
        assert_eq!(upload(&app, known, "c").await.body, first.body);
    }
    let of_bob = upload(&app, &bob, "c").await;
    of_bob.assert_problem(409, "idempotency_key_reused");

    let first = stream(&app, OPERATOR, "c").await;
    assert_eq!(first.status, 200, "{first:?}");
    assert_eq!(stream(&app, OPERATOR, "c").await.body, first.body);
    let of_elsewhere = stream(&app, &elsewhere, "c").await;
    of_elsewhere.assert_problem(409, "idempotency_key_reused");
    for answer in [of_bob, of_elsewhere] {
        assert!(!answer.text.contains(first.body["id"].as_str().expect("an id")), "{answer:?}");
    }
    app.stop().await;
}

#[tokio::test]
async fn of_two_keys_neither_counts() {
    let app = TestApp::start_with_embeddings(&ModelServer::start().await, &SETTINGS).await;
    let other = key(&app, "other", json!({})).await;
    for (one, two) in [(OPERATOR, other.as_str()), (&other, OPERATOR), (OPERATOR, "wrong"), (OPERATOR, OPERATOR)] {
        let request = app.request(Method::GET, "/v1/collections").bearer_auth(one).bearer_auth(two);
        send(request).await.assert_problem(401, "unauthorized");
    }
    app.stop().await;
}
