//! The daily use of a key, and asks that cost money.

use reqwest::Method;
use serde_json::{Value, json};

use super::keys::{SETTINGS, call, create};
use crate::{
    database,
    harness::{Answer, TestApp},
    scripted::{ModelServer, Role},
};

async fn ask(app: &TestApp, key: &str) -> Answer {
    let question = json!({"question": "Where do boats land?", "collections": ["c"]});
    call(app, key, Method::POST, "/v1/ask", Some(question)).await
}

async fn bring(app: &TestApp, key: &str, sources: &[&str]) -> Answer {
    let one = |source: &&str| json!({"source": source, "text": "Boats land here."});
    let documents: Vec<Value> = sources.iter().map(one).collect();
    let body = json!({"collection": "c", "documents": documents});
    call(app, key, Method::POST, "/v1/documents?wait=true", Some(body)).await
}

/// The key has to wait for the end of the day, and is told how many it has and how many are left.
fn assert_day_is_over(answer: &Answer, (name, quota, left): (&str, u64, u64)) {
    answer.assert_problem(429, "daily_quota");
    let header = |name: &str| answer.headers[name].to_str().expect("text");
    let wait: u64 = header("retry-after").parse().expect("seconds");
    assert!((1..=86_400).contains(&wait), "{answer:?}");
    assert_eq!(header("ratelimit-policy"), format!("\"{name}\";q={quota};w=86400"));
    assert_eq!(header("ratelimit"), format!("\"{name}\";r={left};t={wait}"));
}

#[tokio::test]
async fn each_limit_of_a_key_is_told() {
    let server = ModelServer::start().await;
    let limits = [("CITED_KEY_DOCUMENTS_PER_DAY", "1"), ("CITED_KEY_REQUESTS_PER_MINUTE", "50")];
    let app = TestApp::start_with_embeddings(&server, &[&SETTINGS[..], &limits].concat()).await;
    let (key, _) = create(&app, json!({"name": "one", "scopes": ["ingest"]})).await;
    assert_eq!(bring(&app, &key, &["a"]).await.status, 200);
    let refused = bring(&app, &key, &["b"]).await;
    let told = |name: &str| -> Vec<&str> {
        refused.headers.get_all(name).iter().map(|value| value.to_str().expect("text")).collect()
    };
    assert_eq!(told("ratelimit-policy"), ["\"documents\";q=1;w=86400", "\"key\";q=50;w=60"], "{refused:?}");
    assert_eq!(told("ratelimit").len(), 2, "{refused:?}");
    app.stop().await;
}

#[tokio::test]
async fn a_key_has_its_questions_and_documents_of_a_day() {
    let server = ModelServer::start().await;
    let quotas = [("CITED_KEY_ASKS_PER_DAY", "2"), ("CITED_KEY_DOCUMENTS_PER_DAY", "3")];
    let app = TestApp::start_with_embeddings(&server, &[&SETTINGS[..], &quotas].concat()).await;
    let (key, _) = create(&app, json!({"name": "one", "scopes": ["ask", "ingest"]})).await;
    let (other, _) = create(&app, json!({"name": "two", "scopes": ["ask", "ingest"]})).await;

    assert_eq!(bring(&app, &key, &["a", "b"]).await.status, 200);
    // All or nothing: one of the two would fit.
    assert_day_is_over(&bring(&app, &key, &["c", "d"]).await, ("documents", 3, 1));
    assert_eq!(database::number(&app.database, "SELECT count(*) FROM document").await, 2);
    assert_eq!(bring(&app, &key, &["c"]).await.status, 200);
    assert_day_is_over(&bring(&app, &key, &["c"]).await, ("documents", 3, 0));
    assert_eq!(bring(&app, &other, &["e"]).await.status, 200);

    for _ in 0..2 {
        assert_eq!(ask(&app, &key).await.status, 200);
    }
    assert_day_is_over(&ask(&app, &key).await, ("asks", 2, 0));
    // Every door to an ask is counted.
    let chat = json!({"model": "c", "messages": [{"role": "user", "content": "Where do boats land?"}]});
    let chat = call(&app, &key, Method::POST, "/v1/chat/completions", Some(chat)).await;
    assert_eq!(chat.status, 429, "{chat:?}");
    let search = json!({"query": "boats", "collections": ["c"]});
    assert_eq!(call(&app, &key, Method::POST, "/v1/search", Some(search)).await.status, 200, "a search is no ask");
    assert_eq!(ask(&app, &other).await.status, 200);

    database::execute(&app.database, "UPDATE key_usage_daily SET day = day - 1").await;
    assert_eq!((ask(&app, &key).await.status, bring(&app, &key, &["f"]).await.status), (200, 200));
    app.stop().await;
}

#[tokio::test]
async fn an_ask_that_costs_money_is_several_requests() {
    let price = "[prices.\"openai:scripted-chat\"]\nprompt_usd_per_million = 1\ncompletion_usd_per_million = 1\n";
    for (file, expected) in [("", [200, 200]), (price, [200, 429])] {
        let server = ModelServer::start().await;
        server.say(Role::Answer, "Boats land here [^1].");
        let base = server.base_url();
        let settings = [
            &SETTINGS[..],
            &[
                ("CITED_CHAT_BASE_URL", base.as_str()),
                ("CITED_CHAT_MODEL", "scripted-chat"),
                ("CITED_KEY_REQUESTS_PER_MINUTE", "20"),
                ("CITED_PAID_ASK_WEIGHT", "15"),
            ],
        ]
        .concat();
        let app = TestApp::with_file(&server, &settings, file).await;
        let (key, _) = create(&app, json!({"name": "one", "scopes": ["ask", "ingest"]})).await;
        assert_eq!(bring(&app, &key, &["a"]).await.status, 200);
        for expected in expected {
            let answer = ask(&app, &key).await;
            assert_eq!(answer.status, expected, "{answer:?}");
            if expected == 429 {
                answer.assert_problem(429, "rate_limited");
            }
        }
        app.stop().await;
    }
}

/// A check is no ask, unless a model with a price may be called for it.
#[tokio::test]
async fn a_check_that_costs_money_counts_as_an_ask() {
    let price = "[prices.\"openai:scripted-chat\"]\nprompt_usd_per_million = 1\ncompletion_usd_per_million = 1\n";
    let verifier = "[roles]\nverify = [\"openai:scripted-chat\"]\n";
    let daily = ("CITED_KEY_ASKS_PER_DAY", "1");
    let rate = ("CITED_KEY_REQUESTS_PER_MINUTE", "20");
    for (file, limit, level, refused) in [
        (format!("{price}{verifier}"), daily, "supported", Some("daily_quota")),
        (format!("{price}{verifier}"), rate, "supported", Some("rate_limited")),
        (format!("{price}{verifier}"), daily, "cited", None),
        (format!("{price}[roles]\nverify = \"built-in\"\n"), daily, "supported", None),
        (verifier.to_owned(), daily, "supported", None),
    ] {
        let server = ModelServer::start().await;
        server.say(Role::Verify, "1: supported");
        let base = server.base_url();
        let model = [("CITED_CHAT_BASE_URL", base.as_str()), ("CITED_CHAT_MODEL", "scripted-chat")];
        let settings = [&SETTINGS[..], &model, &[limit, ("CITED_PAID_ASK_WEIGHT", "15")]].concat();
        let app = TestApp::with_file(&server, &settings, &file).await;
        let (key, _) = create(&app, json!({"name": "one", "scopes": ["ask"]})).await;
        let body =
            json!({"text": "Ferries moor at this pier.", "passages": [{"text": "Boats land here."}], "level": level});
        let check = async || call(&app, &key, Method::POST, "/v1/check", Some(body.clone())).await;
        let first = check().await;
        assert_eq!(first.status, 200, "{file} {limit:?} {level}: {first:?}");
        let second = check().await;
        match refused {
            Some(code) => second.assert_problem(429, code),
            None => assert_eq!(second.status, 200, "{file} {limit:?} {level}: {second:?}"),
        }
        app.stop().await;
    }
}
