//! A search of the web when the documents fall short, by a scripted `SearXNG` on loopback.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    extract::{Query, State},
    response::{IntoResponse, Response},
    routing::get,
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    harness::{Served, TestApp, send},
    scripted::{ModelServer, Reply, Role},
};

const QUESTION: &str = "How many moons does the planet Mars have?";
const PAGE: &str = "The planet Mars has two moons, Phobos and Deimos.";
const HANDBOOK: [(&str, &str); 2] = [
    ("leave.md", "Everyone has 28 days of paid annual leave a year."),
    ("laptops.md", "Report a lost laptop to the security desk within four hours."),
];

/// A reply, how long it takes, and what the warning says of it.
type Case = (fn() -> Response, Duration, &'static str);
type Asked = Arc<Mutex<Vec<HashMap<String, String>>>>;

/// A search engine that says what it was told to say.
struct SearchEngine {
    server: Served,
    asked: Asked,
}

impl SearchEngine {
    async fn start(reply: fn() -> Response, wait: Duration) -> Self {
        let asked = Asked::default();
        let search = move |State(asked): State<Asked>, Query(query): Query<HashMap<String, String>>| async move {
            asked.lock().expect("lock").push(query);
            tokio::time::sleep(wait).await;
            reply()
        };
        let router = Router::new().route("/engine/search", get(search)).with_state(Arc::clone(&asked));
        Self { server: Served::start(router).await, asked }
    }

    fn url(&self) -> String {
        format!("http://{}/engine/", self.server.address)
    }

    fn asked(&self) -> Vec<HashMap<String, String>> {
        self.asked.lock().expect("lock").clone()
    }
}

fn two_pages() -> Response {
    let page = |url: &str, content: &str| json!({"url": url, "title": "Mars", "content": content, "engine": "x"});
    let results = json!([
        page("http://10.0.0.1/inside", PAGE),
        page("ftp://mars.example/moons", PAGE),
        page("https://mars.example/empty", ""),
        page("https://mars.example/moons?a=b c", PAGE),
        page("https://mars.example/moons?a=b c", "The same page once more."),
        page("https://cooking.example/soup", "A soup is cooked with onions."),
        {"title": "no address"},
    ]);
    axum::Json(json!({"query": "x", "results": results})).into_response()
}

async fn app(engine: &SearchEngine, settings: &[(&str, &str)]) -> (ModelServer, TestApp) {
    let server = ModelServer::start().await;
    server.reply(Role::Grade, Reply::GradeCorrect("Phobos"));
    server.say(Role::Answer, "The planet Mars has two moons, Phobos and Deimos [^1].");
    let (models, url) = (server.base_url(), engine.url());
    let mut all = vec![
        ("CITED_CHAT_BASE_URL", models.as_str()),
        ("CITED_CHAT_MODEL", "scripted-chat"),
        ("CITED_WEB_SEARCH_URL", url.as_str()),
    ];
    all.extend_from_slice(settings);
    let app = TestApp::with_file(&server, &all, "[roles]\nrewrite = \"built-in\"\n").await;
    app.ingest("handbook", &HANDBOOK).await;
    allow(&app, "handbook", true).await;
    (server, app)
}

/// Says whether questions to a collection may be sent to the search engine.
async fn allow(app: &TestApp, collection: &str, allowed: bool) {
    let path = format!("/v1/collections/{collection}");
    let answer = send(app.request(Method::PATCH, &path).json(&json!({"web_search": allowed}))).await;
    assert_eq!((answer.status, &answer.body["web_search"]), (200, &json!(allowed)), "{answer:?}");
}

fn ask(question: &str) -> Value {
    json!({"question": question, "collections": ["handbook"], "include": ["trace"]})
}

fn steps(body: &Value) -> Vec<&str> {
    body["trace"]["steps"].as_array().expect("steps").iter().filter_map(|step| step["step"].as_str()).collect()
}

#[tokio::test]
async fn what_the_documents_lack_the_web_may_say() {
    let engine = SearchEngine::start(two_pages, Duration::ZERO).await;
    let (server, app) = app(&engine, &[]).await;
    let mut request = ask(QUESTION);
    request["cache"] = json!({"ttl_s": 60});
    let answer = app.ask(request.clone()).await;
    assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!("answered")), "{answer:?}");
    assert_eq!(steps(&answer.body).iter().filter(|step| **step == "search").count(), 1, "{answer:?}");
    let asked = engine.asked();
    assert_eq!((asked[0]["q"].as_str(), asked[0]["format"].as_str()), (QUESTION, "json"));
    let source = &answer.body["sources"][0];
    assert_eq!(
        (&source["origin"], &source["document_id"], &source["source"], &source["text"], &source["grade"]),
        (&json!("web"), &Value::Null, &json!("https://mars.example/moons?a=b%20c"), &json!(PAGE), &json!("correct"))
    );
    let urn = source["urn"].as_str().expect("a urn");
    assert!(urn.starts_with("cited-web:https%3A%2F%2Fmars.example%2Fmoons"), "{urn}");
    assert_eq!(answer.body["citations"][0]["urn"], urn);
    assert_eq!(answer.body["citations"][0]["quote"]["text"], PAGE);
    let others: Vec<&str> = answer.body["sources"]
        .as_array()
        .expect("sources")
        .iter()
        .filter_map(|source| source["uri"].as_str())
        .collect();
    assert!(!others.iter().any(|uri| uri.contains("10.0.0.1") || uri.starts_with("ftp")), "{others:?}");
    let chat = json!({"model": "handbook", "messages": [{"role": "user", "content": QUESTION}]});
    let chat = app.post("/v1/chat/completions", chat).await.body;
    let cited = &chat["choices"][0]["message"]["annotations"][0]["url_citation"];
    assert_eq!((&cited["title"], &cited["urn"]), (&json!("Web: Mars"), &json!(urn)), "{chat}");
    let prompt = server.calls(Role::Answer)[0].body.to_string();
    assert!(prompt.contains("Phobos") && !prompt.contains("onions"), "{prompt}");
    let row = app.get("/v1/audit?limit=1").await.body["asks"][0].clone();
    assert_eq!(row["sources"][0], urn);
    let path: String = url::form_urlencoded::byte_serialize(urn.as_bytes()).collect();
    app.get(&format!("/v1/citations/{path}")).await.assert_problem(404, "not_found");
    assert_eq!(app.ask(request).await.body["cache_hit"], false, "what the web said is not kept");
    assert_eq!(engine.asked().len(), 3);
    app.stop().await;
}

#[tokio::test]
async fn it_is_not_asked_without_need_or_leave() {
    let engine = SearchEngine::start(two_pages, Duration::ZERO).await;
    let (server, app) = app(&engine, &[]).await;
    server.say(Role::Answer, "Everyone has 28 days of paid annual leave a year [^1].");
    server.drop_reply(Role::Answer);
    let known = app.ask(ask("How many days of paid annual leave does everyone have?")).await;
    assert_eq!((&known.body["outcome"], &known.body["sources"][0]["origin"]), (&json!("answered"), &json!("document")));
    let mut kept = ask(QUESTION);
    kept["web"] = json!(false);
    assert_eq!(app.ask(kept).await.body["outcome"], "abstained");
    let mut filtered = ask(QUESTION);
    filtered["filter"] = json!({"source_prefix": "l"});
    assert_eq!(app.ask(filtered).await.body["outcome"], "abstained");
    // A collection says nothing of another one, and is not allowed to unless somebody says so.
    let body = json!({"name": "allowed", "web_search": true});
    assert_eq!(app.post("/v1/collections", body).await.body["web_search"], true);
    assert_eq!(app.post("/v1/collections", json!({"name": "silent"})).await.body["web_search"], false);
    let mut several = ask(QUESTION);
    several["collections"] = json!(["handbook", "allowed", "silent"]);
    assert_eq!(app.ask(several).await.body["outcome"], "abstained");
    allow(&app, "handbook", false).await;
    assert_eq!(app.ask(ask(QUESTION)).await.body["outcome"], "abstained");
    assert_eq!(engine.asked().len(), 0);
    app.stop().await;
}

#[tokio::test]
async fn a_search_engine_in_trouble_leaves_the_documents_to_decide() {
    fn fails() -> Response {
        axum::http::StatusCode::INTERNAL_SERVER_ERROR.into_response()
    }
    fn page() -> Response {
        "<html>JSON is not enabled</html>".into_response()
    }
    fn elsewhere() -> Response {
        (axum::http::StatusCode::FOUND, [("location", "http://10.0.0.1/search")]).into_response()
    }
    let replies: [Case; 4] = [
        (fails, Duration::ZERO, "HTTP 500"),
        (page, Duration::ZERO, "the log says why"),
        (elsewhere, Duration::ZERO, "the log says why"),
        (two_pages, Duration::from_secs(30), "within 1 s"),
    ];
    for (reply, wait, expected) in replies {
        let engine = SearchEngine::start(reply, wait).await;
        let (_server, app) = app(&engine, &[("CITED_WEB_SEARCH_TIMEOUT_S", "1")]).await;
        let answer = app.ask(ask(QUESTION)).await;
        assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!("abstained")), "{answer:?}");
        let warning = &answer.body["validation"]["warnings"][0];
        assert_eq!(warning["kind"], "web_search_failed", "{answer:?}");
        assert!(warning["detail"].as_str().is_some_and(|detail| detail.contains(expected)), "{warning}");
        assert!(!answer.body.to_string().contains("10.0.0.1"), "addresses of the deployment are not told: {answer:?}");
        assert_eq!(engine.asked().len(), 1);
        app.stop().await;
    }
}

#[tokio::test]
async fn the_search_engine_opens_no_door_for_tenants() {
    let engine = SearchEngine::start(two_pages, Duration::ZERO).await;
    let (_server, app) = app(&engine, &[]).await;
    assert_eq!(app.ask(ask(QUESTION)).await.body["outcome"], "answered");
    let body = json!({"collection": "handbook", "documents": [{"url": format!("{}search", engine.url())}]});
    let job = app.post("/v1/documents?wait=true", body).await.body;
    assert_eq!((&job["state"], &job["items"][0]["cause"]), (&json!("failed"), &json!("url_refused")), "{job}");
    assert_eq!(engine.asked().len(), 1);
    app.stop().await;
}
