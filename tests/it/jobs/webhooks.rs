//! Webhooks: signed, repeated, and kept away from the inner network.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use reqwest::Method;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    database,
    harness::{TestApp, send},
    jobs::fairness,
    scripted::ModelServer,
    wait,
};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const ALLOWED: [(&str, &str); 2] =
    [("CITED_WEBHOOK_SECRET", SECRET), ("CITED_WEBHOOK_ALLOW", "127.0.0.0/8:*, [::1/128]:*")];

type Received = Arc<Mutex<Vec<(HeaderMap, String)>>>;

#[derive(Clone)]
struct Receiver {
    received: Received,
    answers: Arc<Mutex<Vec<u16>>>,
    release: CancellationToken,
    port: u16,
}

impl Receiver {
    /// Answers with these statuses in turn, then with 204.
    async fn start(answers: &[u16]) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let mut answers = answers.to_vec();
        answers.reverse();
        let (answers, release) = (Arc::new(Mutex::new(answers)), CancellationToken::new());
        let receiver = Self { received: Received::default(), answers, release, port };
        let router = Router::new().route("/hook", post(take)).route("/late", post(wait_for_release));
        let router = router.with_state(receiver.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        receiver
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook?token=of-the-receiver", self.port)
    }

    /// Where it takes messages and does not answer before it is released.
    fn hanging(&self) -> String {
        format!("http://127.0.0.1:{}/late", self.port)
    }

    async fn wait_for(&self, count: usize) -> Vec<(HeaderMap, String)> {
        wait::until("the webhook is delivered", async || self.received.lock().expect("lock").len() >= count).await;
        let received = self.received.lock().expect("lock").clone();
        assert_eq!(received.len(), count);
        received
    }
}

async fn take(State(receiver): State<Receiver>, headers: HeaderMap, body: String) -> StatusCode {
    receiver.received.lock().expect("lock").push((headers, body));
    let answer = receiver.answers.lock().expect("lock").pop().unwrap_or(204);
    StatusCode::from_u16(answer).expect("a status")
}

async fn wait_for_release(State(receiver): State<Receiver>) {
    receiver.release.cancelled().await;
}

fn documents() -> Value {
    json!({"collection": "c", "documents": [{"source": "a.md", "text": "Words."}, {"source": "b.md", "text": " "}]})
}

fn with_hook(app: &TestApp, url: &str, body: &Value) -> reqwest::RequestBuilder {
    let query: String = url::form_urlencoded::byte_serialize(url.as_bytes()).collect();
    app.request(Method::POST, &format!("/v1/documents?wait=true&webhook_url={query}")).json(body)
}

async fn post_with_hook(app: &TestApp, url: &str, body: &Value) -> crate::harness::Answer {
    send(with_hook(app, url, body)).await
}

/// Checks a message by the rules of Standard Webhooks, with another implementation of HMAC input than the service's.
fn assert_signed(secret: &str, headers: &HeaderMap, body: &str) -> String {
    let header = |name: &str| headers.get(name).expect(name).to_str().expect("text").to_owned();
    let (id, sent_at, signature) = (header("webhook-id"), header("webhook-timestamp"), header("webhook-signature"));
    let bytes = STANDARD.decode(signature.strip_prefix("v1,").expect("version 1")).expect("base64");
    let secret = STANDARD.decode(secret.strip_prefix("whsec_").expect("marked")).expect("base64");
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &secret);
    let signed = [id.as_bytes(), b".", sent_at.as_bytes(), b".", body.as_bytes()].concat();
    ring::hmac::verify(&key, &signed, &bytes).expect("signed by the secret");
    id
}

async fn secret_of(app: &TestApp, receiver: &str) -> String {
    let answer = app.get(&format!("/v1/webhooks/secret?url={receiver}")).await;
    assert_eq!((answer.status, &answer.body["endpoint"]), (200, &json!(receiver)), "{answer:?}");
    answer.body["secret"].as_str().expect("a secret").to_owned()
}

async fn wait_for_state(app: &TestApp, job: &str, state: &str) -> Value {
    wait::until_ok(&format!("the webhook is {state}"), async || {
        let hook = app.get(&format!("/v1/jobs/{job}")).await.body["webhook"].clone();
        if hook["state"] == state { Ok(hook) } else { Err(hook) }
    })
    .await
}

#[tokio::test]
async fn the_end_of_a_job_is_told_and_told_again_until_it_is_heard() {
    let server = ModelServer::start().await;
    let receiver = Receiver::start(&[503, 500]).await;
    let app = TestApp::with_models_and(&server, &ALLOWED).await;
    let job = post_with_hook(&app, &receiver.url(), &documents()).await;
    assert_eq!(job.status, 200, "{job:?}");
    let id = job.body["id"].as_str().expect("id");
    receiver.wait_for(1).await;
    let hook = wait_for_state(&app, id, "waiting").await;
    assert_eq!(hook["attempts"], 1);
    // The waits are long; the clock is helped along. Another process delivers the rest.
    for count in 2..=3 {
        tokio::time::sleep(Duration::from_millis(300)).await;
        database::execute(&app.database, "UPDATE webhook SET due_at = now() WHERE state = 'waiting'").await;
        receiver.wait_for(count).await;
    }
    let hook = wait_for_state(&app, id, "delivered").await;
    assert!(hook["attempts"] == 3 && hook["delivered_at"].is_string(), "{hook}");
    let messages = receiver.wait_for(3).await;
    let secret = secret_of(&app, &format!("http://127.0.0.1:{}", receiver.port)).await;
    let ids: Vec<String> = messages.iter().map(|(headers, body)| assert_signed(&secret, headers, body)).collect();
    assert!(ids.iter().all(|one| *one == ids[0]), "the same message: {ids:?}");
    let message: Value = serde_json::from_str(&messages[2].1).expect("JSON");
    assert_eq!(message["type"], "job.ended");
    assert_eq!(
        (&message["data"]["id"], &message["data"]["state"], &message["data"]["counts"]["failed"]),
        (&json!(id), &json!("partial"), &json!(1)),
        "{message}"
    );
    assert!(!app.get(&format!("/v1/jobs/{id}")).await.body.to_string().contains("of-the-receiver"));
    // A retried job ends again, which is another message.
    assert_eq!(app.post(&format!("/v1/jobs/{id}/retry"), json!({})).await.status, 202);
    let messages = receiver.wait_for(4).await;
    assert_ne!(assert_signed(&secret, &messages[3].0, &messages[3].1), ids[0]);
    app.stop().await;
}

#[tokio::test]
async fn a_webhook_outlives_the_service_that_accepted_it() {
    let server = ModelServer::start().await;
    let receiver = Receiver::start(&[500]).await;
    let app = TestApp::with_models_and(&server, &ALLOWED).await;
    let options = app.database.clone();
    post_with_hook(&app, &receiver.url(), &documents()).await;
    receiver.wait_for(1).await;
    app.stop().await;
    database::execute(&options, "UPDATE webhook SET due_at = now()").await;
    let url = server.base_url();
    let mut settings = ALLOWED.to_vec();
    settings.extend([("CITED_EMBEDDING_BASE_URL", url.as_str()), ("CITED_EMBEDDING_MODEL", "scripted-embedding")]);
    let app = TestApp::start(options, &settings).await;
    receiver.wait_for(2).await;
    app.stop().await;
}

#[tokio::test]
async fn webhooks_do_not_lead_into_the_inner_network() {
    let server = ModelServer::start().await;
    let app = TestApp::with_models_and(&server, &ALLOWED[..1]).await;
    for url in [
        "http://127.0.0.1:9/",
        "http://[::1]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "http://2130706433/",
        "ftp://example.org/",
        "http://user:password@example.org/",
        "nowhere",
        "https://example.org:6379/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://0/",
        "http://192.168.0.1/",
        "http://172.16.0.1/",
        "http://100.100.100.200/",
        "http://168.63.129.16/",
        "http://[::ffff:169.254.169.254]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:a9fe:a9fe::1]/",
        "http://[fd00:ec2::254]/",
        "http://example.org@127.0.0.1/",
        "file:///etc/passwd",
        "gopher://example.org:25/",
        "data:text/plain,words",
        "javascript:alert(1)",
        "http://example.org:22/",
    ] {
        let answer = post_with_hook(&app, url, &documents()).await;
        answer.assert_problem(422, "invalid_request");
        assert_eq!(answer.pointers(), ["?webhook_url"], "{url}");
    }
    assert_eq!(database::number(&app.database, "SELECT count(*) FROM job").await, 0);
    app.stop().await;
}

#[tokio::test]
async fn a_name_is_judged_where_it_leads_and_at_the_port() {
    let (server, receiver) = (ModelServer::start().await, Receiver::start(&[]).await);
    // This port of another network is open, and loopback at another port.
    let entries = format!("10.0.0.0/8:{}, 127.0.0.0/8:9, [::1]:9", receiver.port);
    let app = TestApp::with_models_and(&server, &[ALLOWED[0], ("CITED_WEBHOOK_ALLOW", &entries)]).await;
    let name = format!("http://localhost:{}/hook", receiver.port);
    let job = post_with_hook(&app, &name, &documents()).await.body;
    let path = format!("/v1/jobs/{}", job["id"].as_str().expect("id"));
    wait::until_ok("the name is not found", async || {
        let hook = app.get(&path).await.body["webhook"].clone();
        let is_told = hook["last_error"].as_str().is_some_and(|error| error.contains("not found on the public"));
        if is_told { Ok(()) } else { Err(hook) }
    })
    .await;
    assert!(receiver.received.lock().expect("lock").is_empty());
    app.stop().await;
    let entry = format!("localhost:{}", receiver.port);
    let app = TestApp::with_models_and(&server, &[ALLOWED[0], ("CITED_WEBHOOK_ALLOW", &entry)]).await;
    post_with_hook(&app, &name, &documents()).await;
    receiver.wait_for(1).await;
    app.stop().await;
}

#[tokio::test]
async fn without_a_secret_there_are_no_webhooks() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let answer = post_with_hook(&app, "https://example.org/hook", &documents()).await;
    answer.assert_problem(422, "invalid_request");
    assert!(answer.body["detail"].as_str().is_some_and(|text| text.contains("CITED_WEBHOOK_SECRET")), "{answer:?}");
    app.get("/v1/webhooks/secret?url=https://example.org").await.assert_problem(422, "invalid_request");
    app.stop().await;
}

/// One of the receivers that hang for a tenant is one that answers the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn receivers_of_a_tenant_that_hang_delay_no_other_tenant() {
    let (shared, other) = (Receiver::start(&[]).await, Receiver::start(&[]).await);
    let settings = [
        ALLOWED[0],
        ALLOWED[1],
        ("CITED_API_KEYS", fairness::OPERATOR),
        ("CITED_KEY_PEPPER", "a-pepper-of-the-tests-0123456789-0123456789"),
        ("CITED_OUTBOUND_TIMEOUT_S", "300"),
    ];
    let app = TestApp::start(database::create().await, &settings).await;
    let [one, two] = fairness::two_tenants(&app).await;
    for number in 0..40 {
        let receiver = if number % 2 == 0 { &shared } else { &other };
        let job = send(with_hook(&app, &receiver.hanging(), &documents()).bearer_auth(&one)).await;
        assert_eq!(job.status, 200, "{job:?}");
    }
    for _ in 0..3 {
        let job = send(with_hook(&app, &shared.url(), &documents()).bearer_auth(&two)).await;
        assert_eq!(job.status, 200, "{job:?}");
    }
    shared.wait_for(3).await;
    let begun = "SELECT count(*) FROM webhook WHERE attempts > 0 AND state = 'waiting'";
    assert_eq!(database::number(&app.database, begun).await, 4, "the others of the tenant wait for these");
    shared.release.cancel();
    other.release.cancel();
    app.stop().await;
}

#[tokio::test]
async fn a_tenant_cannot_sign_as_another() {
    let settings = [
        ALLOWED[0],
        ("CITED_API_KEYS", "a-key-of-the-operator-0123456789"),
        ("CITED_KEY_PEPPER", "a-pepper-of-the-tests-0123456789-0123456789"),
    ];
    let app = TestApp::start(database::create().await, &settings).await;
    let url = "https://hooks.example.org";
    let mut secrets = Vec::new();
    for name in ["one", "two"] {
        let operator = async |path: &str, body: Value| {
            let request = app.request(Method::POST, path).bearer_auth(settings[1].1).json(&body);
            send(request).await.body
        };
        let tenant = operator("/v1/tenants", json!({"name": name})).await;
        let keys = format!("/v1/tenants/{}/keys", tenant["id"].as_str().expect("an id"));
        let key = operator(&keys, json!({"name": name, "scopes": ["admin"]})).await;
        let tenant = key["secret"].as_str().expect("a secret").to_owned();
        let path = format!("/v1/webhooks/secret?url={url}/any/path");
        let answer = send(app.request(Method::GET, &path).bearer_auth(&tenant)).await;
        assert_eq!((answer.status, &answer.body["endpoint"]), (200, &json!(url)), "{answer:?}");
        secrets.push(answer.body["secret"].clone());
        let events = send(app.request(Method::GET, "/v1/security-events").bearer_auth(&tenant)).await;
        assert_eq!(events.body["events"][0]["action"], "get_webhook_secret", "{events:?}");
        let inner = send(app.request(Method::GET, "/v1/webhooks/secret?url=http://10.0.0.1/").bearer_auth(&tenant));
        inner.await.assert_problem(422, "invalid_request");
    }
    assert_ne!(secrets[0], secrets[1]);
    assert!(!secrets.contains(&json!(SECRET)), "that of the deployment is nobody's");
    app.stop().await;
}
