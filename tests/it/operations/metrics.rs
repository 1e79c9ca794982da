//! `/metrics`: what is counted and measured, for whom, and what never stands in it.

#![expect(clippy::float_cmp, reason = "the samples are counts")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    net::TcpListener,
    path::Path,
};

use serde_json::{Value, json};

use crate::{
    database,
    harness::{TestApp, body_of, client, send},
    scripted::{ModelServer, Reply, Role},
};

const LEAVE: &str = "Everyone has 28 days of paid annual leave a year.";
const QUESTION: &str = "How many days of paid annual leave does everyone have?";
const OPERATOR: &str = "a-key-of-the-operator-0123456789";
/// Prices of the model of the tests.
const PRICES: &str =
    "[prices.\"openai:scripted-chat\"]\nprompt_usd_per_million = 1000\ncompletion_usd_per_million = 1000\n";
/// Words that requests bring in and no metric may repeat.
const CANARIES: [&str; 4] = ["canarydocument", "canaryquestion", "canarycollection", "canarymethod"];

/// Samples by name and labels, as they are written.
fn samples(text: &str) -> BTreeMap<&str, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.rsplit_once(' ')).map(|(name, value)| (name, value.parse().expect(name))).collect()
}

/// The sum of the samples of a name whose labels contain all of these.
fn sum(text: &str, name: &str, labels: &[&str]) -> f64 {
    let of_name = samples(text).into_iter().filter(|(sample, _)| sample.split('{').next() == Some(name));
    of_name.filter(|(sample, _)| labels.iter().all(|label| sample.contains(label))).map(|(_, value)| value).sum()
}

async fn scrape(url: &str) -> String {
    let response = client().get(url).send().await.expect("an answer");
    assert_eq!(response.status(), 200);
    let media_type = response.headers()["content-type"].to_str().expect("text").to_owned();
    assert!(media_type.starts_with("text/plain; version=0.0.4"), "{media_type}");
    body_of(response).await
}

/// A service after an answer at the second try, a rejection, an abstention, a model that fails, and requests that bring in
/// words of their own.
async fn used() -> (ModelServer, TestApp) {
    let server = ModelServer::start().await;
    let url = server.base_url();
    let chat = [("CITED_CHAT_BASE_URL", url.as_str()), ("CITED_CHAT_MODEL", "scripted-chat")];
    let app = TestApp::with_file(&server, &chat, PRICES).await;
    app.ingest("canarycollection", &[("canarydocument.md", LEAVE)]).await;
    let ask = async |question: &str| {
        app.ask(json!({"question": question, "collections": ["canarycollection"], "speculative": "off"})).await
    };
    server.say(Role::Grade, "1: correct");
    server.say(Role::Answer, "Everyone has 30 weeks of leave [^9].");
    server.say(Role::Answer, "Everyone has 28 days of paid annual leave a year [^1].");
    server.say(Role::Answer, "Everyone has 30 weeks of leave [^9].");
    server.say(Role::Answer, "Everyone has 31 weeks of leave [^8].");
    server.reply(Role::Answer, Reply::Status(500, "trouble".to_owned()));
    assert_eq!(ask(QUESTION).await.body["outcome"], "answered");
    assert_eq!(ask("How many days of annual leave does everyone have?").await.status, 422);
    assert_eq!(ask("Does everyone have paid annual leave?").await.status, 503);
    server.say(Role::Grade, "1: incorrect");
    server.drop_reply(Role::Grade);
    assert_eq!(ask("Who won the canaryquestion cup of 1913?").await.body["outcome"], "abstained");
    app.get("/v1/canarydocument/canaryquestion").await;
    let odd = client().request("CANARYMETHOD".parse().expect("a method"), format!("{}/livez", app.base));
    odd.send().await.expect("an answer");
    (server, app)
}

#[tokio::test]
async fn asks_calls_and_requests_are_counted_without_their_content() {
    let (_server, app) = used().await;
    let text = scrape(&format!("{}/metrics", app.base)).await;
    let asks = |labels: &[&str]| sum(&text, "cited_asks_total", labels);
    assert_eq!(asks(&[]), 4.0, "{text}");
    for outcome in ["answered", "rejected", "providers_unavailable", "abstained"] {
        assert_eq!(asks(&[&format!("outcome=\"{outcome}\"")]), 1.0, "{outcome}: {text}");
    }
    assert_eq!(asks(&["outcome=\"abstained\"", "reason=\"\""]), 0.0, "an abstention has a reason: {text}");
    let drafts = |result: &str| sum(&text, "cited_ask_drafts_total", &[&format!("result=\"{result}\"")]);
    assert_eq!((drafts("accepted"), drafts("rejected")), (1.0, 3.0), "{text}");
    assert_eq!(sum(&text, "cited_ask_stage_duration_seconds_count", &["stage=\"total\""]), 4.0);

    let calls = |labels: &[&str]| sum(&text, "cited_model_calls_total", labels);
    assert_eq!(calls(&["role=\"generate\"", "outcome=\"answered\"", "model=\"scripted-chat\""]), 4.0, "{text}");
    assert!(calls(&["role=\"generate\""]) > 4.0, "a call failed: {text}");
    assert!(calls(&["role=\"grade\"", "outcome=\"answered\""]) >= 1.0, "{text}");
    assert!(calls(&["role=\"embed\"", "outcome=\"answered\""]) >= 2.0, "{text}");
    for name in ["cited_model_tokens_total", "cited_model_cost_usd_total", "cited_model_call_duration_seconds_count"] {
        assert!(sum(&text, name, &["role=\"generate\""]) > 0.0, "{name}: {text}");
    }

    let requests = |labels: &[&str]| sum(&text, "cited_http_requests_total", labels);
    assert_eq!(requests(&["method=\"POST\"", "route=\"/v1/ask\"", "status=\"200\""]), 2.0, "{text}");
    assert_eq!(requests(&["route=\"/v1/ask\"", "status=\"422\""]), 1.0, "{text}");
    assert_eq!(requests(&["method=\"GET\"", "route=\"unmatched\"", "status=\"404\""]), 1.0, "{text}");
    assert_eq!(requests(&["method=\"other\""]), 1.0, "{text}");
    assert_eq!(sum(&text, "cited_http_request_duration_seconds_count", &["route=\"/v1/ask\""]), 4.0, "{text}");

    let lower = text.to_lowercase();
    let found: Vec<_> = CANARIES.iter().filter(|word| lower.contains(**word)).collect();
    assert!(found.is_empty(), "{found:?} in {text}");
    app.stop().await;
}

#[tokio::test]
async fn the_state_of_database_queue_and_process_is_measured() {
    let app = TestApp::start(database::create().await, &[("CITED_WORKERS", "1")]).await;
    app.ingest("handbook", &[("leave.md", LEAVE)]).await;
    let text = scrape(&format!("{}/metrics", app.base)).await;
    assert_eq!(sum(&text, "cited_database_up", &[]), 1.0, "{text}");
    assert_eq!(sum(&text, "cited_queue_documents", &[]), 0.0, "{text}");
    assert!(sum(&text, "cited_table_bytes", &["table=\"chunk\""]) > 0.0, "{text}");
    assert!(sum(&text, "cited_table_index_bytes", &["table=\"chunk_embedding\""]) > 0.0, "{text}");
    for pool in ["write", "read", "queue"] {
        let pool = format!("pool=\"{pool}\"");
        let (open, most) = (
            sum(&text, "cited_database_connections", &[&pool]),
            sum(&text, "cited_database_connections_limit", &[&pool]),
        );
        assert!(open <= most && most > 0.0, "{pool}: {text}");
    }
    assert!(sum(&text, "cited_background_loop_silence_seconds", &[]) >= 0.0);
    assert_eq!(sum(&text, "cited_background_loop_stalled", &[]), 0.0, "{text}");
    assert_eq!(sum(&text, "cited_build_info", &["version="]), 1.0, "{text}");
    app.stop().await;
}

/// Names of metrics that a text contains.
fn named(text: &str) -> BTreeSet<&str> {
    let words = text.split(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_'));
    words.filter(|word| word.starts_with("cited_")).collect()
}

#[tokio::test]
async fn dashboard_alerts_and_documentation_name_metrics_that_exist() {
    let (_server, app) = used().await;
    let text = scrape(&format!("{}/metrics", app.base)).await;
    let known: BTreeSet<&str> = samples(&text).into_keys().filter_map(|sample| sample.split('{').next()).collect();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let read = |name: &str| fs::read_to_string(docs.join(name)).expect(name);
    let (dashboard, alerts, manual) = (read("dashboard.json"), read("alerts.yml"), read("operations.md"));
    serde_json::from_str::<Value>(&dashboard).expect("JSON");
    let base = |name: &&str| -> String {
        let name = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        name.to_owned()
    };
    let bases: BTreeSet<String> = known.iter().map(base).collect();
    for (file, text) in [("dashboard.json", &dashboard), ("alerts.yml", &alerts)] {
        let unknown = named(text).into_iter().filter(|name| !known.contains(name) && !bases.contains(*name));
        assert_eq!(unknown.collect::<Vec<_>>(), Vec::<&str>::new(), "{file} names what is not there");
        assert!(named(text).len() >= 8, "{file} names {:?}", named(text));
    }
    let told = named(&manual);
    let untold: Vec<&String> = bases.iter().filter(|name| !told.contains(name.as_str())).collect();
    assert!(untold.is_empty(), "operations.md does not tell of {untold:?}");
    app.stop().await;
}

#[tokio::test]
async fn the_operator_sees_them_with_a_key_and_a_listener_of_its_own_needs_none() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let listen = free.to_string();
    let settings = [
        ("CITED_API_KEYS", OPERATOR),
        ("CITED_KEY_PEPPER", "a-pepper-of-the-tests-0123456789-0123456789"),
        ("CITED_METRICS_LISTEN", listen.as_str()),
    ];
    let app = TestApp::start(database::create().await, &settings).await;
    app.get("/metrics").await.assert_problem(401, "unauthorized");
    let wanted = json!({"name": "admin", "scopes": ["admin"]});
    let made = send(client().post(format!("{}/v1/keys", app.base)).bearer_auth(OPERATOR).json(&wanted)).await;
    let admin = made.body["secret"].as_str().expect("a secret").to_owned();
    let with = |key: &str| send(client().get(format!("{}/metrics", app.base)).bearer_auth(key));
    with(&admin).await.assert_problem(403, "insufficient_scope");
    assert_eq!(with(OPERATOR).await.status, 200);
    let text = scrape(&format!("http://{listen}/metrics")).await;
    assert!(sum(&text, "cited_http_requests_total", &["status=\"401\""]) >= 1.0, "{text}");
    let other = client().get(format!("http://{listen}/v1/collections")).send().await.expect("an answer");
    assert_eq!(other.status(), 404, "there is nothing else");
    let metrics = || client().get(format!("http://{listen}/metrics"));
    let rebound = metrics().header("host", "rebind.attacker.example").send().await.expect("an answer");
    assert_eq!(rebound.status(), 421, "a page under a rebound name reads nothing");
    let page = metrics().header("origin", "https://attacker.example").send().await.expect("an answer");
    assert_eq!(page.status(), 403, "nor does one of another site");
    assert_eq!(page.headers()["x-content-type-options"], "nosniff");
    for name in ["cited:9464", "10.0.0.7:9464"] {
        let answer = metrics().header("host", name).send().await.expect("an answer");
        assert_eq!(answer.status(), 200, "{name} is a name of the network");
    }
    app.stop().await;
}
