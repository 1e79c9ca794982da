//! The life of a key.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use super::world::{OPERATOR, PEPPER, text};
use crate::{
    database,
    harness::{Answer, TestApp, send},
    process::{command, output_of},
    scripted::ModelServer,
    wait,
};

pub(super) const SETTINGS: [(&str, &str); 2] = [("CITED_API_KEYS", OPERATOR), ("CITED_KEY_PEPPER", PEPPER)];

pub(super) async fn call(app: &TestApp, key: &str, method: Method, path: &str, body: Option<Value>) -> Answer {
    let request = app.request(method, path).bearer_auth(key);
    send(match body {
        Some(body) => request.json(&body),
        None => request,
    })
    .await
}

pub(super) async fn create(app: &TestApp, wanted: Value) -> (String, String) {
    let made = call(app, OPERATOR, Method::POST, "/v1/keys", Some(wanted)).await;
    assert_eq!(made.status, 201, "{made:?}");
    (text(&made.body["secret"]), text(&made.body["key"]["id"]))
}

/// Makes a tenant, with a key of all scopes. Returns its id and the key.
pub(super) async fn create_tenant(app: &TestApp) -> (String, String) {
    let made = call(app, OPERATOR, Method::POST, "/v1/tenants", Some(json!({"name": "acme"}))).await;
    let id = text(&made.body["id"]);
    let wanted = json!({"name": "all", "scopes": ["admin"]});
    let key = call(app, OPERATOR, Method::POST, &format!("/v1/tenants/{id}/keys"), Some(wanted)).await;
    (id, text(&key.body["secret"]))
}

pub(super) async fn status(app: &TestApp, key: &str) -> u16 {
    call(app, key, Method::GET, "/v1/collections", None).await.status
}

/// Waits until the key, which was revoked at this moment, is refused, and checks that no request was served that was sent more
/// than a second later.
async fn until_refused(app: &TestApp, key: &str, revoked: Instant) {
    wait::until("the key is refused", async || {
        let sent = revoked.elapsed();
        let is_refused = status(app, key).await == 401;
        assert!(is_refused || sent < Duration::from_millis(1_500), "a request of {sent:?} later was served");
        is_refused
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_opens_until_it_is_revoked_in_every_process() {
    let database = database::create().await;
    let (here, there) = (TestApp::start(database.clone(), &SETTINGS).await, TestApp::start(database, &SETTINGS).await);
    let (secret, id) = create(&here, json!({"name": "desk", "scopes": ["read"], "collections": ["a"]})).await;
    assert!(secret.starts_with(&format!("cited_{id}_")), "{id}");
    assert_eq!((status(&here, &secret).await, status(&there, &secret).await), (200, 200));
    let path = format!("/v1/keys/{id}");
    wait::until("its use is shown", async || {
        call(&here, OPERATOR, Method::GET, &path, None).await.body["last_used_at"].is_string()
    })
    .await;
    let shown = call(&here, OPERATOR, Method::GET, &path, None).await.body;
    assert_eq!((&shown["state"], &shown["collections"]), (&json!("valid"), &json!(["a"])));
    let listed = call(&here, OPERATOR, Method::GET, "/v1/keys?limit=1", None).await.body;
    assert_eq!((&listed["keys"], &listed["next_cursor"]), (&json!([shown]), &Value::Null));
    let stored =
        format!("SELECT count(*) FROM api_key WHERE key_id = '{id}' AND to_jsonb(api_key)::text LIKE '%{secret}%'");
    assert_eq!(database::number(&here.database, &stored).await, 0, "the secret is nowhere");
    let revoked = call(&here, OPERATOR, Method::DELETE, &path, None).await;
    let revoked_at = Instant::now();
    assert_eq!((revoked.status, &revoked.body["state"]), (200, &json!("revoked")));
    assert_eq!(status(&here, &secret).await, 401);
    until_refused(&there, &secret, revoked_at).await;
    let rotation = call(&here, OPERATOR, Method::POST, &format!("{path}/rotate"), Some(json!({}))).await;
    rotation.assert_problem(409, "key_over");
    here.stop().await;
    there.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rotated_key_opens_with_both_secrets_for_as_long_as_it_is_told() {
    let app = TestApp::start(database::create().await, &SETTINGS).await;
    let (first, id) = create(&app, json!({"name": "desk", "scopes": ["read"]})).await;
    let rotate = async |grace_s: u32| {
        let path = format!("/v1/keys/{id}/rotate");
        let rotated = call(&app, OPERATOR, Method::POST, &path, Some(json!({"grace_s": grace_s}))).await;
        assert_eq!(rotated.status, 200, "{rotated:?}");
        (text(&rotated.body["secret"]), text(&rotated.body["key"]["state"]))
    };
    let (second, state) = rotate(3600).await;
    assert_eq!(state, "in_grace");
    assert_eq!((status(&app, &first).await, status(&app, &second).await), (200, 200));
    let (third, state) = rotate(0).await;
    assert_eq!(state, "valid");
    for (key, expected) in [(&first, 401), (&second, 401), (&third, 200)] {
        assert_eq!(status(&app, key).await, expected);
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limited_key_sees_and_fills_its_collections_only() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &SETTINGS).await;
    let wanted = json!({"name": "a", "scopes": ["ask", "ingest", "read"], "collections": ["a"]});
    let (key, _) = create(&app, wanted).await;
    let upload =
        |collection: &str| json!({"collection": collection, "documents": [{"source": "s", "text": "Some words."}]});
    let refused = call(&app, &key, Method::POST, "/v1/documents?wait=true", Some(upload("b"))).await;
    refused.assert_problem(403, "collection_not_granted");
    assert!(refused.body["detail"].as_str().expect("a detail").contains("only \"a\""), "{refused:?}");
    for (by, collection) in [(key.as_str(), "a"), (OPERATOR, "b")] {
        let done = call(&app, by, Method::POST, "/v1/documents?wait=true", Some(upload(collection))).await;
        assert_eq!(done.status, 200, "{done:?}");
    }
    for (list, member) in [("collections", "name"), ("documents", "collection"), ("jobs", "collection")] {
        let found = call(&app, &key, Method::GET, &format!("/v1/{list}"), None).await.body;
        let names: Vec<&Value> = found[list].as_array().expect(list).iter().map(|row| &row[member]).collect();
        assert_eq!(names, ["a"], "{list}");
    }
    let ask = json!({"question": "Some words?", "collections": ["a", "b"]});
    call(&app, &key, Method::POST, "/v1/ask", Some(ask)).await.assert_problem(404, "not_found");
    let ask = json!({"question": "Some words?", "collections": ["a"]});
    assert_eq!(call(&app, &key, Method::POST, "/v1/ask", Some(ask)).await.status, 200);
    app.stop().await;
}

#[tokio::test]
async fn without_keys_everybody_is_the_operator_but_a_key_is_held_to_what_it_grants() {
    let app = TestApp::start(database::create().await, &[("CITED_KEY_PEPPER", PEPPER)]).await;
    let made = app.post("/v1/keys", json!({"name": "desk", "scopes": ["ask"]})).await;
    assert_eq!((made.status, &made.body["key"]["created_by"]), (201, &Value::Null));
    let secret = text(&made.body["secret"]);
    assert_eq!(status(&app, &secret).await, 200);
    call(&app, &secret, Method::GET, "/v1/jobs", None).await.assert_problem(403, "insufficient_scope");
    call(&app, "cited_cut", Method::GET, "/v1/jobs", None).await.assert_problem(401, "unauthorized");
    // Clients of other services send a key whether one is needed or not.
    assert_eq!(call(&app, "sk-of-another-service", Method::GET, "/v1/jobs", None).await.status, 200);
    app.stop().await;
}

#[tokio::test]
async fn wrong_keys_are_not_made() {
    let app = TestApp::start(database::create().await, &SETTINGS).await;
    let wrong = json!({"name": " ", "scopes": [], "collections": [], "expires_at": "2020-01-01T00:00:00Z"});
    let answer = call(&app, OPERATOR, Method::POST, "/v1/keys", Some(wrong)).await;
    answer.assert_problem(422, "invalid_request");
    assert_eq!(answer.pointers(), ["/name", "/scopes", "/collections", "/expires_at"]);
    app.stop().await;
    let without_pepper = TestApp::start(database::create().await, &[]).await;
    let answer = without_pepper.post("/v1/keys", json!({"name": "a", "scopes": ["ask"]})).await;
    answer.assert_problem(409, "keys_unavailable");
    without_pepper.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_manage_keys_and_tenants() {
    let app = TestApp::start(database::create().await, &SETTINGS).await;
    let run = async |arguments: &[&str]| {
        let arguments = [arguments, &["--server", app.base.as_str(), "--json"]].concat();
        let output = output_of(&mut command(&arguments, &[("CITED_API_KEY", OPERATOR)])).await;
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    let made = run(&["keys", "create", "desk", "--scope", "ask", "--scope", "read", "-c", "a"]).await;
    assert_eq!(made["key"]["scopes"], json!(["ask", "read"]));
    let id = text(&made["key"]["id"]);
    assert_eq!(status(&app, &text(&made["secret"])).await, 200);
    let rotated = run(&["keys", "rotate", &id]).await;
    assert_eq!(status(&app, &text(&rotated["secret"])).await, 200);
    assert_eq!(run(&["keys", "revoke", &id]).await["state"], "revoked");
    assert_eq!(run(&["keys", "list"]).await["keys"][0]["id"], json!(id));
    let tenant = text(&run(&["tenants", "create", "acme"]).await["id"]);
    let key = run(&["tenants", "key", &tenant, "first", "--scope", "admin"]).await;
    assert_eq!(status(&app, &text(&key["secret"])).await, 200);
    assert_eq!(run(&["tenants", "list"]).await["tenants"].as_array().map(Vec::len), Some(3), "two were there");
    let spoken = async |arguments: &[&str]| {
        let arguments = [arguments, &["--server", app.base.as_str()]].concat();
        let output = output_of(&mut command(&arguments, &[("CITED_API_KEY", OPERATOR)])).await;
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8"))
    };
    let another = ["tenants", "key", &tenant, "second", "--scope", "admin"];
    for arguments in [&another[..], &["keys", "create", "till", "--scope", "ask"]] {
        let [secret, remark] = spoken(arguments).await;
        assert_eq!(status(&app, secret.trim_end()).await, 200, "standard output has the secret alone: {secret}");
        assert!(remark.starts_with("The secret is shown only this once. ") && !remark.contains(secret.trim_end()));
    }
    let [_, named] = spoken(&["tenants", "show", "acme"]).await;
    assert!(named.contains("not the id of a tenant; cited tenants list prints the ids"), "{named}");
    let [nothing, unsure] = spoken(&["tenants", "delete", &tenant]).await;
    assert!(nothing.is_empty() && unsure.contains("--yes"), "{nothing}{unsure}");
    assert_eq!(run(&["tenants", "delete", &tenant, "--yes"]).await["documents"], 0);
    until_refused(&app, &text(&key["secret"]), Instant::now()).await;
    app.stop().await;
}
