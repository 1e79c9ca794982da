//! Tenants share the workers: what one has waiting does not keep another waiting.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use axum::Router;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    database,
    harness::{Answer, Served, TestApp, send},
    scripted::ModelServer,
    wait,
};

pub(super) const OPERATOR: &str = "a-key-of-the-operator-0123456789";

async fn post(app: &TestApp, key: &str, path: &str, body: Value) -> Answer {
    send(app.request(Method::POST, path).bearer_auth(key).json(&body)).await
}

/// Keys of two tenants.
pub(super) async fn two_tenants(app: &TestApp) -> [String; 2] {
    let mut keys = Vec::new();
    for name in ["one", "two"] {
        let tenant = post(app, OPERATOR, "/v1/tenants", json!({"name": name})).await;
        let path = format!("/v1/tenants/{}/keys", tenant.body["id"].as_str().expect("an id"));
        let key = post(app, OPERATOR, &path, json!({"name": name, "scopes": ["ingest"]})).await;
        keys.push(key.body["secret"].as_str().expect("a secret").to_owned());
    }
    keys.try_into().expect("two")
}

async fn is_over(app: &TestApp, key: &str, job: &Value) -> bool {
    let path = format!("/v1/jobs/{}?items_limit=1", job["id"].as_str().expect("an id"));
    let job = send(app.request(Method::GET, &path).bearer_auth(key)).await;
    job.body["finished_at"].is_string()
}

fn urls(address: std::net::SocketAddr, count: usize) -> Value {
    let one = |number| json!({"source": format!("u{number}"), "url": format!("http://{address}/{number}")});
    json!({"collection": "c", "documents": (0..count).map(one).collect::<Vec<_>>()})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hosts_that_hang_delay_nobody_else() {
    let silent = Served::start(Router::new().fallback(std::future::pending::<String>)).await;
    let page = Served::start(Router::new().fallback(|| async { "# A page\n\nThat is here." })).await;
    let settings = [
        ("CITED_API_KEYS", OPERATOR),
        ("CITED_KEY_PEPPER", "a-pepper-of-the-tests-0123456789-0123456789"),
        ("CITED_FETCH_ALLOW", "127.0.0.1/32:*"),
        // Longer than the test: nothing that hangs ends by itself.
        ("CITED_OUTBOUND_TIMEOUT_S", "300"),
    ];
    let app = TestApp::start(database::create().await, &settings).await;
    let [one, two] = two_tenants(&app).await;
    let mut hanging = Vec::new();
    for _ in 0..6 {
        let job = post(&app, &one, "/v1/documents", urls(silent.address, 60)).await;
        assert_eq!(job.status, 202, "{job:?}");
        hanging.push(job.body);
    }
    // The other tenant's upload and its pages, and uploads of the same tenant.
    for (key, body) in [
        (&two, json!({"collection": "c", "documents": [{"source": "a", "text": "Some words."}]})),
        (&one, json!({"collection": "d", "documents": [{"source": "a", "text": "Some words."}]})),
        (&two, urls(page.address, 3)),
    ] {
        let done = post(&app, key, "/v1/documents?wait=true", body).await;
        assert_eq!((done.status, &done.body["state"]), (200, &json!("succeeded")), "{done:?}");
    }
    for job in &hanging {
        assert!(!is_over(&app, &one, job).await, "{job}");
        let path = format!("/v1/jobs/{}/cancel", job["id"].as_str().expect("an id"));
        assert!([200, 202].contains(&post(&app, &one, &path, json!({})).await.status));
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_queue_of_one_tenant_is_shared_with_others() {
    let settings = [
        ("CITED_API_KEYS", OPERATOR),
        ("CITED_KEY_PEPPER", "a-pepper-of-the-tests-0123456789-0123456789"),
        ("CITED_WORKERS", "1"),
    ];
    let app = TestApp::start(database::create().await, &settings).await;
    let [one, two] = two_tenants(&app).await;
    let document = |number: usize| json!({"source": format!("s{number}"), "text": format!("Words of document {number}. ").repeat(40)});
    let many = json!({"collection": "c", "documents": (0..1_000).map(document).collect::<Vec<_>>()});
    let long = post(&app, &one, "/v1/documents", many).await;
    assert_eq!(long.status, 202, "{long:?}");
    let few = json!({"collection": "c", "documents": [document(0)]});
    let done = post(&app, &two, "/v1/documents?wait=true", few).await;
    assert_eq!((done.status, &done.body["state"]), (200, &json!("succeeded")), "{done:?}");
    assert!(!is_over(&app, &one, &long.body).await, "the long queue is not done first");
    let path = format!("/v1/jobs/{}/cancel", long.body["id"].as_str().expect("an id"));
    assert!([200, 202].contains(&post(&app, &one, &path, json!({})).await.status));
    app.stop().await;
}

/// All tasks that store documents may be held by one tenant, whose documents were there first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_has_nothing_under_way_is_served_beside_claims_that_do_not_end() {
    let models = ModelServer::start().await;
    let settings = [
        ("CITED_API_KEYS", OPERATOR),
        ("CITED_KEY_PEPPER", "a-pepper-of-the-tests-0123456789-0123456789"),
        ("CITED_WORKERS", "2"),
    ];
    let app = TestApp::start_with_embeddings(&models, &settings).await;
    let [one, two] = two_tenants(&app).await;
    models.hold_embeddings(Some("endless"));
    let document =
        |words: &str, times| json!({"collection": "c", "documents": [{"source": "a", "text": words.repeat(times)}]});
    let mut hanging = Vec::new();
    for collection in ["c", "d", "e", "f"] {
        // More than claims of several jobs hold.
        let mut body = document("The endless words of a long document. ", 5_000);
        body["collection"] = json!(collection);
        hanging.push(post(&app, &one, "/v1/documents", body).await.body);
    }
    wait::until("both tasks hang", async || {
        let mut running = 0;
        for job in &hanging {
            let path = format!("/v1/jobs/{}", job["id"].as_str().expect("an id"));
            let job = send(app.request(Method::GET, &path).bearer_auth(&one)).await;
            running += usize::from(job.body["state"] == "running");
        }
        running == 2
    })
    .await;
    // Too long to be stored before it is accepted.
    let done = post(&app, &two, "/v1/documents?wait=true", document("Words of the other tenant. ", 1_000)).await;
    assert_eq!((done.status, &done.body["state"]), (200, &json!("succeeded")), "{done:?}");
    for job in &hanging {
        assert!(!is_over(&app, &one, job).await, "{job}");
        let path = format!("/v1/jobs/{}/cancel", job["id"].as_str().expect("an id"));
        assert!([200, 202].contains(&post(&app, &one, &path, json!({})).await.status));
    }
    models.hold_embeddings(None);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_hangs_is_asked_a_few_times_and_then_left_alone() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let hang = move || {
        counter.fetch_add(1, Ordering::SeqCst);
        std::future::pending::<String>()
    };
    let silent = Served::start(Router::new().fallback(hang)).await;
    let page = Served::start(Router::new().fallback(|| async { "# A page\n\nThat is here." })).await;
    let settings = [("CITED_FETCH_ALLOW", "127.0.0.1/32:*"), ("CITED_OUTBOUND_TIMEOUT_S", "1")];
    let app = TestApp::start(database::create().await, &settings).await;
    let mut long = urls(silent.address, 60);
    long["collection"] = json!("d");
    let long = send(app.request(Method::POST, "/v1/documents").json(&long)).await;
    assert_eq!(long.status, 202, "{long:?}");
    // Behind all of them, in the same queue.
    let done = send(app.request(Method::POST, "/v1/documents?wait=true").json(&urls(page.address, 3))).await;
    assert_eq!((done.status, &done.body["state"]), (200, &json!("succeeded")), "{done:?}");
    let asked = asked.load(Ordering::SeqCst);
    assert!((3..=4).contains(&asked), "{asked} requests: the third time-out ends it, and two are under way at once");
    let path = format!("/v1/jobs/{}", long.body["id"].as_str().expect("an id"));
    let waiting = send(app.request(Method::GET, &path)).await;
    assert_eq!(waiting.body["progress"]["waiting"], 60, "none has failed, and none is given up");
    assert!([200, 202].contains(&send(app.request(Method::POST, &format!("{path}/cancel"))).await.status));
    app.stop().await;
}
