//! The audit: one row per ask, however it ended, before the answer leaves.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    database,
    harness::{TestApp, send},
    scripted::{ModelServer, Reply, Role},
    wait,
};

const QUESTION: &str = "How many days of paid annual leave does everyone have?";
const ANSWER: &str = "Everyone has 28 days of paid annual leave a year [^1].";

fn ask() -> Value {
    json!({"question": QUESTION, "collections": ["handbook"]})
}

async fn app(settings: &[(&str, &str)]) -> (ModelServer, TestApp) {
    let server = ModelServer::start().await;
    server.say(Role::Grade, "1: correct");
    let app = TestApp::with_models_and(&server, settings).await;
    app.ingest("handbook", &[("leave.md", "Everyone has 28 days of paid annual leave a year.")]).await;
    (server, app)
}

fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn rows(app: &TestApp, query: &str) -> Vec<Value> {
    let page = app.get(&format!("/v1/audit{query}")).await;
    assert_eq!(page.status, 200, "{page:?}");
    page.body["asks"].as_array().expect("rows").clone()
}

#[tokio::test]
async fn an_answer_is_in_the_audit_with_everything_it_came_from() {
    let (server, app) = app(&[]).await;
    server.say(Role::Answer, "Everyone has 28 days [^4].");
    server.say(Role::Answer, ANSWER);
    let mut request = ask();
    request["temperature"] = json!(0.5);
    request["seed"] = json!(u64::MAX);
    let answer = app.ask(request).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let found = app.get(&format!("/v1/audit/{}", answer.body["id"].as_str().expect("id"))).await;
    assert_eq!(found.status, 200, "{found:?}");
    let row = &found.body;
    assert_eq!(row["outcome"], "answered");
    assert_eq!((&row["question"], &row["question_sha256"]), (&json!(QUESTION), &json!(sha256(QUESTION))));
    assert_eq!(row["queries"], json!([QUESTION]));
    assert_eq!(row["collections"], json!(["handbook"]));
    assert_eq!(row["request_id"].as_str(), answer.headers["x-request-id"].to_str().ok());
    assert_eq!(
        row["validation"],
        json!({"level": "cited", "effective_level": "cited", "attempts": 2, "errors": [], "warnings": []})
    );
    assert_eq!((&row["model"], &row["provider"]), (&answer.body["model"], &answer.body["provider"]));
    assert_eq!((&row["temperature"], &row["seed"]), (&json!(0.5), &json!(u64::MAX)));
    for figure in ["llm_calls", "prompt_tokens", "completion_tokens", "estimated", "cost_usd"] {
        assert_eq!(row["usage"][figure], answer.body["usage"][figure], "{figure}");
    }
    let roles: Vec<&str> =
        row["calls"].as_array().expect("calls").iter().filter_map(|call| call["role"].as_str()).collect();
    assert!(roles.ends_with(&["generate", "generate"]), "{roles:?}");
    assert_eq!(row["sources"], json!([answer.body["sources"][0]["urn"]]));
    assert_eq!(row["citations"][0]["urn"], answer.body["citations"][0]["urn"]);
    assert_eq!(row["answer_sha256"], sha256(ANSWER));
    assert_eq!((&row["answer"], &row["cache_hit"], &row["stream"]), (&Value::Null, &json!(false), &json!(false)));
    assert!(row["timings_ms"]["total"].as_f64() > Some(0.0), "{row}");
    app.stop().await;
}

#[tokio::test]
async fn every_end_has_its_row() {
    let (server, app) = app(&[]).await;
    server.say(Role::Answer, ANSWER);
    let with = |member: &str, value: Value| {
        let mut request = ask();
        request[member] = value;
        request
    };
    let next = |reply: Reply| {
        server.reply(Role::Answer, reply);
        server.drop_reply(Role::Answer);
    };
    assert_eq!(app.ask(ask()).await.status, 200);
    assert_eq!(app.ask(with("dry_run", json!(true))).await.status, 200);
    next(Reply::Text("The sources do not answer this question.".to_owned()));
    assert_eq!(app.ask(ask()).await.body["outcome"], "abstained");
    next(Reply::Text("Everyone has 99 days [^2].".to_owned()));
    app.ask(ask()).await.assert_problem(422, "citation_validation");
    next(Reply::Status(500, "oops".to_owned()));
    app.ask(ask()).await.assert_problem(503, "providers_unavailable");
    app.ask(with("collections", json!(["nowhere"]))).await.assert_problem(404, "not_found");
    let long = with("question", json!(format!("{QUESTION} {}", "日".repeat(8_100))));
    app.ask(long).await.assert_problem(413, "budget_exceeded");
    next(Reply::Slow(Duration::from_secs(20), "late".to_owned()));
    let late = app.ask(with("limits", json!({"timeout_ms": 700}))).await;
    late.assert_problem(504, "deadline");
    assert_eq!(late.body["attempts"][0]["kind"], "timeout", "{late:?}");
    // A request that cannot be read asks nothing.
    app.ask(with("top_k", json!(0))).await.assert_problem(422, "invalid_request");

    let ends: Vec<(String, Value)> = rows(&app, "")
        .await
        .iter()
        .rev()
        .map(|row| (row["outcome"].as_str().expect("an outcome").to_owned(), row["reason"].clone()))
        .collect();
    let expected = [
        ("answered", json!(null)),
        ("dry_run", json!(null)),
        ("abstained", json!("model_declined")),
        ("rejected", json!(null)),
        ("providers_unavailable", json!(null)),
        ("failed", json!("not_found")),
        ("budget_exceeded", json!("prompt_tokens")),
        ("deadline", json!("generating")),
    ];
    assert_eq!(ends, expected.map(|(outcome, reason)| (outcome.to_owned(), reason)));
    let rejected = &rows(&app, "?outcome=rejected").await[0];
    assert_eq!(rejected["validation"]["attempts"], 2);
    assert_eq!(rejected["validation"]["errors"][0]["kind"], "out_of_range");
    assert!(rejected["answer_sha256"].is_null() && rejected["citations"] == json!([]));
    let failed = &rows(&app, "?outcome=providers_unavailable").await[0];
    let attempt = &failed["calls"].as_array().and_then(|calls| calls.last()).expect("a call")["failed_attempts"][0];
    assert_eq!((&attempt["provider"], &attempt["kind"]), (&json!("openai"), &json!("server_error")));
    app.stop().await;
}

#[tokio::test]
async fn a_failed_ask_leads_to_its_row() {
    let (server, app) = app(&[]).await;
    let with_trace = || {
        let mut request = ask();
        request["include"] = json!(["trace"]);
        request
    };
    server.say(Role::Answer, "Everyone has 99 days [^2].");
    server.say(Role::Answer, "Everyone has 28 days of paid annual leave a year.");
    let rejected = app.ask(with_trace()).await;
    rejected.assert_problem(422, "citation_validation");
    let kinds = |draft: usize| rejected.body["drafts"][draft]["errors"][0]["kind"].clone();
    assert_eq!((kinds(0), kinds(1)), (json!("out_of_range"), json!("uncited_claim")), "{rejected:?}");
    assert_eq!(rejected.body["drafts"][1]["errors"], rejected.body["validation"]["errors"]);
    assert_eq!(rejected.body["trace"]["rounds"][0]["verdicts"][0]["grade"], "correct", "{rejected:?}");

    server.reply(Role::Answer, Reply::Status(500, "oops".to_owned()));
    server.drop_reply(Role::Answer);
    let unavailable = app.ask(ask()).await;
    unavailable.assert_problem(503, "providers_unavailable");
    assert_eq!(unavailable.body["trace"], Value::Null, "nobody asked for it");
    let mut long = with_trace();
    long["question"] = json!("日".repeat(8_100));
    let over = app.ask(long).await;
    over.assert_problem(413, "budget_exceeded");
    server.reply(Role::Answer, Reply::Slow(Duration::from_secs(20), "late".to_owned()));
    server.drop_reply(Role::Answer);
    let mut hurried = with_trace();
    hurried["limits"] = json!({"timeout_ms": 700});
    let late = app.ask(hurried).await;
    late.assert_problem(504, "deadline");
    for traced in [&over, &late] {
        assert!(traced.body["trace"]["steps"].is_array(), "{traced:?}");
    }
    for problem in [&rejected, &unavailable, &over, &late] {
        let id = problem.body["id"].as_str().expect("an id");
        let row = app.get(&format!("/v1/audit/{id}")).await;
        assert_eq!(row.body["request_id"], problem.body["request_id"], "{row:?}");
        let request = problem.body["request_id"].as_str().expect("a request id");
        let found = rows(&app, &format!("?request_id={request}")).await;
        assert_eq!(found.iter().map(|row| row["id"].as_str()).collect::<Vec<_>>(), [Some(id)], "{found:?}");
    }
    assert!(rows(&app, "?request_id=none").await.is_empty());
    let row = app.get(&format!("/v1/audit/{}", rejected.body["id"].as_str().expect("an id"))).await;
    let verdict = &rejected.body["trace"]["rounds"][0]["verdicts"][0];
    let graded = json!([{"urn": verdict["urn"], "grade": "correct", "by": verdict["by"]}]);
    assert_eq!(row.body["grades"], graded, "{row:?}");
    let unknown = app.get("/v1/audit?request=1").await;
    unknown.assert_problem(422, "invalid_request");
    assert_eq!(unknown.body["errors"][0]["pointer"], "?request", "{unknown:?}");
    app.stop().await;
}

#[tokio::test]
async fn models_that_do_not_chat_are_in_the_row_that_they_end() {
    let (server, app) = app(&[]).await;
    server.say(Role::Answer, ANSWER);
    server.embedding_reply(Reply::Status(400, "no such model".to_owned()));
    let failed = app.ask(ask()).await;
    failed.assert_problem(503, "providers_unavailable");
    let found = rows(&app, "?outcome=providers_unavailable&provider=openai").await;
    assert_eq!(found.len(), 1, "it is found by the provider: {found:?}");
    let failed_attempt = |row: &Value, role: &str, kind: &str| {
        let is_of_role = |call: &&Value| call["role"] == role && call["failed_attempts"] != json!([]);
        let call = row["calls"].as_array().and_then(|calls| calls.iter().find(is_of_role)).cloned();
        let attempt =
            call.unwrap_or_else(|| panic!("no failed call of the role {role}: {row}"))["failed_attempts"][0].clone();
        assert_eq!(attempt["kind"], kind, "{row}");
        attempt
    };
    let attempt = failed_attempt(&found[0], "embed", "rejected");
    for member in ["provider", "model", "kind", "tried"] {
        assert_eq!(attempt[member], failed.body["attempts"][0][member], "{member}: {attempt}");
    }
    // A helper that gives an empty reply does not end the ask, and is in its row all the same.
    server.say(Role::Grade, "1: incorrect");
    server.drop_reply(Role::Grade);
    server.say(Role::Rewrite, " ");
    let empty = app.ask(json!({"question": "What does lunch cost on leave days?", "collections": ["handbook"]})).await;
    assert_eq!((empty.status, &empty.body["outcome"]), (200, &json!("abstained")), "{empty:?}");
    failed_attempt(&rows(&app, "?limit=1").await[0], "rewrite", "invalid_reply");
    app.stop().await;
}

#[tokio::test]
async fn who_leaves_is_in_the_audit() {
    let (server, app) = app(&[]).await;
    server.reply(Role::Answer, Reply::Slow(Duration::from_secs(20), "late".to_owned()));
    let request = app.request(Method::POST, "/v1/ask").json(&ask());
    let impatient = tokio::spawn(async move { request.send().await });
    server.wait_for_call(Role::Answer).await;
    impatient.abort();
    let written = async || rows(&app, "?outcome=client_gone").await.pop().ok_or("no row");
    let row = wait::until_ok("the ask is in the audit", written).await;
    assert_eq!((&row["reason"], &row["usage"]["llm_calls"].as_u64().is_some()), (&json!("generating"), &true));
    assert_eq!(row["sources"].as_array().map(Vec::len), Some(1));
    app.stop().await;
}

#[tokio::test]
async fn pages_and_filters() {
    const KEYS: [&str; 2] = ["the-first-long-key", "the-second-long-key"];
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[("CITED_API_KEYS", &KEYS.join(","))]).await;
    let with_key = |method: Method, path: &str, key: &str| app.request(method, path).bearer_auth(key);
    let document =
        json!({"collection": "handbook", "documents": [{"source": "a.md", "text": "Tea is free for everyone."}]});
    let stored = send(with_key(Method::POST, "/v1/documents?wait=true", KEYS[0]).json(&document)).await;
    assert_eq!(stored.body["state"], "succeeded", "{stored:?}");
    let question = json!({"question": "Is tea free for everyone?", "collections": ["handbook"]});
    let mut ids = Vec::new();
    for key in [KEYS[0], KEYS[1], KEYS[1]] {
        let answer = send(with_key(Method::POST, "/v1/ask", key).json(&question)).await;
        assert_eq!(answer.body["outcome"], "answered", "{answer:?}");
        ids.insert(0, answer.body["id"].clone());
    }
    let list = async |query: String| {
        let page = send(with_key(Method::GET, &format!("/v1/audit{query}"), KEYS[0])).await;
        assert_eq!(page.status, 200, "{page:?}");
        let seen: Vec<Value> =
            page.body["asks"].as_array().expect("rows").iter().map(|row| row["id"].clone()).collect();
        (seen, page.body.clone())
    };
    let (first, page) = list("?limit=2".to_owned()).await;
    assert_eq!(first, ids[..2]);
    let (rest, end) = list(format!("?limit=2&cursor={}", page["next_cursor"].as_str().expect("more"))).await;
    assert_eq!((rest.as_slice(), &end["next_cursor"]), (&ids[2..], &Value::Null));
    let second = page["asks"][0]["key_id"].as_str().expect("a name of the key").to_owned();
    assert!(second.len() == 12 && !sha256(KEYS[1]).starts_with(&second), "no hash by which keys are tried: {second}");
    assert_ne!(end["asks"][0]["key_id"], second);
    assert!(!page.to_string().contains(KEYS[1]));
    assert_eq!(list(format!("?key_id={second}")).await.0, ids[..2]);
    assert_eq!(list("?provider=built-in&outcome=answered".to_owned()).await.0, ids);
    assert!(list("?provider=openai".to_owned()).await.0.is_empty());
    let time = page["asks"][0]["asked_at"].as_str().expect("a time").to_owned();
    assert_eq!(list(format!("?asked_after={time}")).await.0, ids[..1]);
    assert_eq!(list(format!("?asked_before={time}")).await.0, ids[1..]);
    let wrong = send(with_key(Method::GET, "/v1/audit?limit=0", KEYS[0])).await;
    wrong.assert_problem(422, "invalid_request");
    let missing = send(with_key(Method::GET, "/v1/audit/0199c1f0-a1b2-7c3d-8e4f-5a6b7c8d9e0f", KEYS[0])).await;
    missing.assert_problem(404, "not_found");
    app.stop().await;
}

#[tokio::test]
async fn without_an_audit_there_is_no_answer() {
    let (server, app) = app(&[]).await;
    server.say(Role::Answer, ANSWER);
    database::execute(&app.database, "ALTER TABLE ask_audit RENAME TO gone").await;
    let answer = app.ask(ask()).await;
    answer.assert_problem(503, "audit_unavailable");
    assert!(!answer.body.to_string().contains("28 days"), "{answer:?}");
    database::execute(&app.database, "ALTER TABLE gone RENAME TO ask_audit").await;
    assert_eq!(app.ask(ask()).await.status, 200);
    app.stop().await;
}

#[tokio::test]
async fn asks_that_end_together_are_each_audited_and_one_that_cannot_be_fails_alone() {
    let (server, app) = app(&[]).await;
    server.say(Role::Answer, ANSWER);
    database::execute(&app.database, "ALTER TABLE ask_audit ADD CHECK (question NOT LIKE '%refused%')").await;
    let refused = json!({"question": format!("{QUESTION} (refused)"), "collections": ["handbook"]});
    let asks = (0..40).map(|number| app.ask(if number == 20 { refused.clone() } else { ask() }));
    let answers = futures::future::join_all(asks).await;
    answers[20].assert_problem(503, "audit_unavailable");
    let mut answered: Vec<&str> = answers
        .iter()
        .filter(|answer| answer.status == 200)
        .map(|answer| answer.body["id"].as_str().expect("id"))
        .collect();
    assert_eq!(answered.len(), 39);
    let written = rows(&app, "?limit=100").await;
    let mut audited: Vec<&str> = written.iter().map(|row| row["id"].as_str().expect("id")).collect();
    answered.sort_unstable();
    audited.sort_unstable();
    assert_eq!(audited, answered);
    app.stop().await;
}

#[tokio::test]
async fn what_is_kept_is_configured() {
    let (server, app) = app(&[("CITED_AUDIT_QUESTIONS", "false"), ("CITED_AUDIT_ANSWERS", "true")]).await;
    server.say(Role::Answer, ANSWER);
    assert_eq!(app.ask(ask()).await.status, 200);
    let row = &rows(&app, "").await[0];
    assert_eq!((&row["question"], &row["queries"]), (&Value::Null, &json!([])));
    assert_eq!((&row["question_sha256"], &row["answer"]), (&json!(sha256(QUESTION)), &json!(ANSWER)));
    let kept = "SELECT count(*) FROM ask_audit a WHERE a::text LIKE '%paid annual leave does%'";
    assert_eq!(database::number(&app.database, kept).await, 0, "the question is nowhere in the row");
    app.stop().await;
}

#[tokio::test]
async fn old_rows_are_forgotten() {
    let (server, app) = app(&[]).await;
    server.say(Role::Answer, ANSWER);
    for _ in 0..2 {
        assert_eq!(app.ask(ask()).await.status, 200);
    }
    let database = app.database.clone();
    app.stop().await;
    let age = "UPDATE ask_audit SET asked_at = now() - interval '91 days' WHERE ask_id = (SELECT min(ask_id::text)::uuid FROM without_canaries.ask_audit)";
    database::execute(&database, age).await;
    let url = server.base_url();
    let settings = [("CITED_EMBEDDING_BASE_URL", url.as_str()), ("CITED_EMBEDDING_MODEL", "scripted-embedding")];
    let app = TestApp::start(database, &settings).await;
    wait::until("the sweep has run", async || rows(&app, "").await.len() <= 1).await;
    assert_eq!(rows(&app, "").await.len(), 1, "younger ones stay");
    app.stop().await;
}
