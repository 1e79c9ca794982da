//! Reranking by a model behind the API of Cohere and Jina.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::post,
};
use serde_json::{Value, json};

use crate::{
    database,
    harness::{Served, TestApp},
};

const QUERY: &str = "How many days of paid annual leave does everyone have?";
const DOCUMENTS: [(&str, &str); 3] = [
    ("leave.md", "# Annual leave\n\nEveryone has 28 days of paid annual leave a year."),
    ("sick.md", "Days of paid sick leave are not days of annual leave."),
    ("tea.md", "Tea is free for everyone."),
];

/// Behaviour of the server.
#[derive(Clone, Copy)]
enum Behaviour {
    /// The passage with this word is best, the others follow in the opposite of their order. Scores may be negative.
    Prefers(&'static str),
    Fails(u16),
    ForgetsOne,
    Dawdles,
}

#[derive(Clone)]
struct Shared {
    behaviour: Arc<Mutex<Behaviour>>,
    calls: Arc<Mutex<Vec<(HeaderMap, Value)>>>,
}

struct RerankServer {
    server: Served,
    shared: Shared,
}

impl RerankServer {
    async fn start() -> Self {
        let shared =
            Shared { behaviour: Arc::new(Mutex::new(Behaviour::Prefers("Tea"))), calls: Arc::new(Mutex::default()) };
        let router = Router::new().route("/v1/rerank", post(rerank)).with_state(shared.clone());
        Self { server: Served::start(router).await, shared }
    }

    async fn app(&self) -> TestApp {
        let url = format!("http://{}/v1", self.server.address);
        let settings = [
            ("CITED_RERANK_BASE_URL", url.as_str()),
            ("CITED_RERANK_MODEL", "bge-reranker-v2-m3"),
            ("CITED_RERANK_API_KEY", "secret-key"),
            ("CITED_RERANK_TIMEOUT_S", "1"),
        ];
        let app = TestApp::start(database::create().await, &settings).await;
        app.ingest("c", &DOCUMENTS).await;
        app
    }

    fn now(&self, behaviour: Behaviour) {
        *self.shared.behaviour.lock().expect("lock") = behaviour;
    }

    fn calls(&self) -> Vec<(HeaderMap, Value)> {
        self.shared.calls.lock().expect("lock").clone()
    }
}

async fn rerank(State(shared): State<Shared>, headers: HeaderMap, Json(body): Json<Value>) -> Response {
    shared.calls.lock().expect("lock").push((headers, body.clone()));
    let documents: Vec<&str> = body["documents"].as_array().expect("texts").iter().filter_map(Value::as_str).collect();
    let behaviour = *shared.behaviour.lock().expect("lock");
    let mut results: Vec<Value> = (0..documents.len())
        .rev()
        .map(|index| {
            let is_preferred = matches!(behaviour, Behaviour::Prefers(word) if documents[index].contains(word));
            let place = i32::try_from(index).expect("few");
            json!({"index": index, "relevance_score": if is_preferred { 9.5 } else { f64::from(place) - 8.25 }})
        })
        .collect();
    match behaviour {
        Behaviour::Fails(status) => {
            return (StatusCode::from_u16(status).expect("a status"), "out of memory").into_response();
        }
        Behaviour::Dawdles => tokio::time::sleep(Duration::from_secs(20)).await,
        Behaviour::ForgetsOne => drop(results.pop()),
        Behaviour::Prefers(_) => {}
    }
    Json(json!({"id": "x", "results": results, "usage": {"total_tokens": 7}})).into_response()
}

fn search(more: &Value) -> Value {
    let mut body = json!({"query": QUERY, "collections": ["c"], "include": ["trace"]});
    for (name, value) in more.as_object().expect("an object") {
        body[name] = value.clone();
    }
    body
}

#[tokio::test]
async fn the_model_orders_the_best_of_the_fused_list() {
    let server = RerankServer::start().await;
    let app = server.app().await;
    let found = app.post("/v1/search", search(&json!({}))).await;
    assert_eq!(found.status, 200, "{found:?}");
    let results = found.body["results"].as_array().expect("results");
    let order: Vec<&str> = results.iter().filter_map(|hit| hit["source"].as_str()).collect();
    assert_eq!(order, ["tea.md", "sick.md", "leave.md"], "{found:?}");
    let scores: Vec<f64> = results.iter().filter_map(|hit| hit["scores"]["reranked"].as_f64()).collect();
    assert_eq!(results[0]["scores"]["reranked"], 9.5, "as the model gave it");
    assert!(scores.is_sorted_by(|one, two| one >= two) && scores[2] < 0.0, "{scores:?}");
    let trace = &found.body["trace"]["rerank"];
    assert_eq!((&trace["by"], &trace["passages"]), (&json!("model"), &json!(3)), "{trace}");

    let (headers, sent) = server.calls().remove(0);
    assert_eq!(headers["authorization"], "Bearer secret-key");
    assert_eq!(
        (&sent["model"], &sent["query"], &sent["top_n"]),
        (&json!("bge-reranker-v2-m3"), &json!(QUERY), &json!(3))
    );
    let documents = sent["documents"].as_array().expect("texts");
    let tea = documents.iter().filter_map(Value::as_str).find(|text| text.contains("Tea"));
    assert_eq!(tea, Some("tea\nTea is free for everyone."), "the title stands in front: {sent}");

    let plain = app.post("/v1/search", search(&json!({"stages": {"rerank": false}}))).await;
    assert_eq!((&plain.body["results"][0]["source"], server.calls().len()), (&json!("leave.md"), 1), "{plain:?}");
    let nothing = app.post("/v1/search", search(&json!({"filter": {"source_prefix": "none"}}))).await;
    assert_eq!((nothing.status, server.calls().len()), (200, 1), "nothing to rerank, nobody asked: {nothing:?}");
    app.stop().await;
}

#[tokio::test]
async fn an_ask_is_given_what_the_model_puts_first() {
    let server = RerankServer::start().await;
    let app = server.app().await;
    server.now(Behaviour::Prefers("28 days"));
    let asked = json!({"question": QUERY, "collections": ["c"], "top_k": 1, "include": ["trace"]});
    let answer = app.ask(asked.clone()).await;
    assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!("answered")), "{answer:?}");
    assert_eq!(answer.body["sources"][0]["scores"]["reranked"], 9.5, "{answer:?}");
    assert_eq!(server.calls().len(), 1);
    server.now(Behaviour::Prefers("Tea"));
    let astray = app.ask(asked).await;
    assert_eq!((astray.status, &astray.body["outcome"]), (200, &json!("abstained")), "graded all the same: {astray:?}");
    app.stop().await;
}

#[tokio::test]
async fn a_model_that_fails_is_named_and_nothing_is_guessed() {
    let server = RerankServer::start().await;
    let app = server.app().await;
    let cases = [
        (Behaviour::Fails(500), "out of memory"),
        (Behaviour::Fails(401), "401"),
        (Behaviour::ForgetsOne, "3 passages were sent, 2 scores came back"),
        (Behaviour::Dawdles, "no complete reply within 1 s"),
    ];
    for (behaviour, cause) in cases {
        server.now(behaviour);
        for answer in [
            app.post("/v1/search", search(&json!({}))).await,
            app.ask(json!({"question": QUERY, "collections": ["c"]})).await,
        ] {
            answer.assert_problem(503, "providers_unavailable");
            let attempt = &answer.body["attempts"][0];
            assert_eq!(attempt["provider"], "reranker", "{answer:?}");
            assert!(attempt["detail"].as_str().is_some_and(|detail| detail.contains(cause)), "{cause}: {answer:?}");
        }
        let row = app.get("/v1/audit?provider=reranker&limit=1").await.body["asks"][0].clone();
        let call = &row["calls"][0];
        assert_eq!((&row["outcome"], &call["role"]), (&json!("providers_unavailable"), &json!("rerank")), "{row}");
        assert_eq!(call["failed_attempts"][0]["model"], "bge-reranker-v2-m3", "{row}");
    }
    let asks = app.get("/v1/audit?provider=reranker").await.body["asks"].as_array().map(Vec::len);
    assert_eq!(asks, Some(cases.len()), "a row for each ask");
    let plain = app.post("/v1/search", search(&json!({"stages": {"rerank": false}}))).await;
    assert_eq!(plain.status, 200, "without the stage nobody needs it: {plain:?}");
    app.stop().await;
}
