//! The logs of the service: enough to find a request again, and nothing that nobody should read.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    database,
    harness::{client, send},
    process::Process,
    scripted::{ModelServer, Reply, Role},
    wait,
};

const KEY: &str = "a-key-of-the-tests-0123456789";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_are_logged_with_their_identity_and_without_their_content() {
    let server = ModelServer::start().await;
    server.reply(Role::Answer, Reply::Status(500, "sesquipedalian trouble".to_owned()));
    let options = database::create().await;
    let (database, url) = (database::url(&options), server.base_url());
    let service = Process::serve(&[
        ("DATABASE_URL", database.as_str()),
        ("CITED_CHAT_BASE_URL", url.as_str()),
        ("CITED_CHAT_MODEL", "scripted"),
        ("CITED_CHAT_API_KEY", "sk-of-the-provider-0123456789"),
        ("CITED_API_KEYS", KEY),
        ("CITED_LOG", "debug"),
    ])
    .await;
    let ask = |id: &'static str, path: &str, key: &str, body: Value| {
        let request = client().request(Method::POST, format!("{}{path}", service.base)).bearer_auth(key);
        send(request.header("x-request-id", id).json(&body))
    };
    let documents =
        json!({"documents": [{"source": "a.txt", "text": "The heliotrope in the office is watered on Mondays."}]});
    assert_eq!(ask("ingest-1", "/v1/documents?wait=true", KEY, documents).await.status, 200);
    let question = json!({"question": "When is the heliotrope watered?"});
    assert_eq!(ask("ask-1", "/v1/ask", KEY, question.clone()).await.status, 503);
    assert_eq!(ask("ask-2", "/v1/ask", "a-key-that-is-not-known-01", question).await.status, 401);
    let line_of = |id: &str| -> Option<Value> {
        let parsed = service.logged().into_iter().filter_map(|line| serde_json::from_str::<Value>(&line).ok());
        parsed.filter(|line| line["status"].is_number()).find(|line| line["request_id"] == id)
    };
    for (id, route, status) in
        [("ingest-1", "/v1/documents", 200), ("ask-1", "/v1/ask", 503), ("ask-2", "/v1/ask", 401)]
    {
        wait::until("the request is logged", async || line_of(id).is_some()).await;
        let line = line_of(id).expect("a line");
        assert_eq!((&line["route"], &line["status"]), (&json!(route), &json!(status)), "{line}");
    }
    server.drop_reply(Role::Answer);
    server.reply(Role::Answer, Reply::Slow(Duration::from_mins(1), String::new()));
    let ask = client().post(format!("{}/v1/ask", service.base)).bearer_auth(KEY).header("x-request-id", "ask-3");
    let gone = ask.json(&json!({"question": "When is the heliotrope watered?"})).timeout(Duration::from_secs(1));
    gone.send().await.expect_err("a client that does not wait");
    wait::until("a request that nobody waits for is logged", async || line_of("ask-3").is_some()).await;
    assert_eq!(line_of("ask-3").expect("a line")["status"], 499);
    let log = service.logged().join("\n").to_lowercase();
    for secret in [KEY, "sk-of-the-provider", "not-known", "heliotrope", "sesquipedalian"] {
        assert!(!log.contains(secret), "{secret} stands in the log:\n{log}");
    }
    let (_, ended_well) = service.stop().await;
    assert!(ended_well);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_pepper_is_told_at_the_start() {
    const TOLD: &str = "sealed with another pepper";
    let options = database::create().await;
    let database = database::url(&options);
    let serve = async |pepper: &str| {
        Process::serve(&[("DATABASE_URL", database.as_str()), ("CITED_API_KEYS", KEY), ("CITED_KEY_PEPPER", pepper)])
            .await
    };
    let (former, other) = ("a-pepper-of-the-tests-0123456789ab", "b-pepper-of-the-tests-0123456789ab");
    let service = serve(former).await;
    let documents = json!({"documents": [{"source": "a.txt", "text": "The office has a heliotrope."}]});
    let request = client().post(format!("{}/v1/documents?wait=true", service.base)).bearer_auth(KEY);
    assert_eq!(send(request.json(&documents)).await.status, 200);
    assert!(service.stop().await.1);
    for (pepper, is_told) in [(former, false), (other, true)] {
        let service = serve(pepper).await;
        let log = service.log();
        let has_told = || log.lock().expect("lock").iter().any(|line| line.contains(TOLD));
        if is_told {
            wait::until("the other pepper is told", async || has_told()).await;
        }
        assert!(service.stop().await.1);
        assert_eq!(has_told(), is_told);
    }
}
