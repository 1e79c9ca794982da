//! Answers begun while a model still grades: kept when the grades confirm their sources, thrown away otherwise.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::{
    database,
    harness::{Answer, TestApp},
    scripted::{ModelServer, Reply, Role},
};

const QUESTION: &str = "How many days of paid annual leave does everyone have?";
const ANSWER: &str = "Everyone has 28 days of paid annual leave a year [^1].";
/// The first is surely what is asked for, the second is left to the model, the third is beside the question.
const HANDBOOK: [(&str, &str); 3] = [
    ("leave.md", "Everyone has 28 days of paid annual leave a year."),
    ("writing.md", "Everyone asks for annual leave days in writing."),
    ("laptops.md", "Report a lost laptop to the security desk within four hours."),
];
/// A reply of 20 tokens costs 2 cents, one of 1,024 tokens $1.024.
const PRICES: &str =
    "[prices.\"openai:scripted-chat\"]\nprompt_usd_per_million = 0\ncompletion_usd_per_million = 1000\n";
const SOON: Duration = Duration::from_secs(20);

fn ask(speculative: &str) -> Value {
    json!({"question": QUESTION, "collections": ["handbook"], "include": ["trace"], "speculative": speculative})
}

async fn app(settings: &[(&str, &str)]) -> (ModelServer, TestApp) {
    let server = ModelServer::start().await;
    let url = server.base_url();
    let mut all = vec![("CITED_CHAT_BASE_URL", url.as_str()), ("CITED_CHAT_MODEL", "scripted-chat")];
    all.extend_from_slice(settings);
    let app = TestApp::with_file(&server, &all, PRICES).await;
    app.ingest("handbook", &HANDBOOK).await;
    (server, app)
}

/// The grader replies only once the answer has been asked for, which shows that both are under way at once.
fn grade_after_answers(server: &ModelServer, count: usize, wait: Duration, grades: &str) {
    server.reply(Role::Grade, Reply::After((Role::Answer, count), wait, grades.to_owned()));
}

fn calls(server: &ModelServer) -> (usize, usize) {
    (server.calls(Role::Grade).len(), server.calls(Role::Answer).len())
}

fn assert_answered(answer: &Answer) {
    assert_eq!((answer.status, &answer.body["outcome"]), (200, &json!("answered")), "{answer:?}");
    assert!(answer.body["answer"].as_str().is_some_and(|text| text.contains("28 days")), "{answer:?}");
}

async fn spent_today(app: &TestApp) -> i64 {
    database::number(&app.database, "SELECT COALESCE(sum(cost_nano_usd), 0)::bigint FROM usage_daily").await
}

#[tokio::test]
async fn confirmed_it_is_the_answer_that_would_have_been_asked_for() {
    let (server, app) = app(&[]).await;
    server.say(Role::Answer, ANSWER);
    server.say(Role::Grade, "1: incorrect");
    let one_by_one = app.ask(ask("off")).await;
    assert_answered(&one_by_one);
    assert_eq!(calls(&server), (1, 1));
    grade_after_answers(&server, 2, Duration::ZERO, "1: incorrect");
    server.drop_reply(Role::Grade);
    for speculative in ["auto", "on"] {
        let before = calls(&server);
        let at_once = app.ask(ask(speculative)).await;
        assert_answered(&at_once);
        assert_eq!(calls(&server), (before.0 + 1, before.1 + 1), "{speculative}: two calls in all");
        assert_eq!(at_once.body["usage"]["llm_calls"], 2);
        assert_eq!(
            at_once.body["usage"]["wasted"],
            json!({"llm_calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0})
        );
        assert_eq!(at_once.body["sources"][0]["urn"], one_by_one.body["sources"][0]["urn"]);
    }
    let answers = server.calls(Role::Answer);
    assert!(answers.iter().all(|call| call.body == answers[0].body), "the same bytes, whenever they are sent");
    app.stop().await;
}

#[tokio::test]
async fn what_the_grades_do_not_confirm_is_thrown_away_and_told() {
    let (server, app) = app(&[("CITED_DAILY_COST_USD", "10")]).await;
    grade_after_answers(&server, 1, Duration::from_secs(1), "1: correct");
    server.say(Role::Answer, "This was begun too early [^1].");
    server.say(Role::Answer, ANSWER);
    let answer = app.ask(ask("auto")).await;
    assert_answered(&answer);
    assert_eq!(calls(&server), (1, 2));
    let usage = &answer.body["usage"];
    assert_eq!((&usage["llm_calls"], &usage["wasted"]["llm_calls"]), (&json!(3), &json!(1)), "{usage}");
    assert_eq!((&usage["wasted"]["completion_tokens"], &usage["wasted"]["cost_usd"]), (&json!(20), &json!(0.02)));
    assert_eq!(usage["cost_usd"], 0.06, "grading, the one for nothing, and the answer");
    assert_eq!(spent_today(&app).await, 60_000_000);
    let discarded = |calls: &Value| -> Vec<(String, bool)> {
        let calls = calls.as_array().expect("calls").iter();
        calls.map(|call| (call["role"].as_str().expect("a role").to_owned(), call["discarded"] == true)).collect()
    };
    let expected = [("grade", false), ("generate", true), ("generate", false)].map(|(role, is)| (role.to_owned(), is));
    assert_eq!(discarded(&answer.body["trace"]["calls"]), expected);
    let row = app.get("/v1/audit?limit=1").await.body["asks"][0].clone();
    assert_eq!(discarded(&row["calls"]), expected);
    assert_eq!((&row["usage"]["llm_calls"], &row["usage"]["cost_usd"]), (&json!(3), &json!(0.06)));
    assert_eq!(answer.body["sources"][1]["grade"], "correct", "the second was given to the model as well");
    let second = server.calls(Role::Answer)[1].body.to_string();
    assert!(second.contains("leave days in writing"), "{second}");
    app.stop().await;
}

#[tokio::test]
async fn one_that_is_under_way_is_ended_at_once() {
    for is_stream in [false, true] {
        let (server, app) = app(&[("CITED_DAILY_COST_USD", "10")]).await;
        grade_after_answers(&server, 1, Duration::ZERO, "1: correct");
        server.reply(Role::Answer, Reply::Slow(Duration::from_mins(1), "late".to_owned()));
        server.say(Role::Answer, ANSWER);
        let mut request = ask("auto");
        request["stream"] = json!(is_stream);
        let started = tokio::time::Instant::now();
        let body = app.request(Method::POST, "/v1/ask").json(&request).send().await.expect("sent").text().await;
        let body = body.expect("a body");
        assert!(started.elapsed() < SOON, "nobody waits for it");
        assert!(body.contains("28 days"), "{body}");
        assert_eq!(server.abandoned_within(SOON).await, 1);
        if is_stream {
            assert!(!body.contains("event: retry"), "nothing of it was told: {body}");
        }
        // The provider may bill the longest reply: that is what is told and booked.
        let row = app.get("/v1/audit?limit=1").await.body["asks"][0].clone();
        let costs: Vec<&Value> = row["calls"].as_array().expect("calls").iter().map(|call| &call["cost_usd"]).collect();
        assert_eq!(costs, [&json!(0.02), &json!(1.024), &json!(0.02)], "{row}");
        assert_eq!(spent_today(&app).await, 1_064_000_000);
        app.stop().await;
    }
}

#[tokio::test]
async fn a_listener_hears_nothing_before_the_grades_and_then_all() {
    let (server, app) = app(&[]).await;
    grade_after_answers(&server, 1, Duration::from_millis(500), "1: incorrect");
    server.say(Role::Answer, ANSWER);
    let mut request = ask("on");
    request["stream"] = json!(true);
    let body = app.request(Method::POST, "/v1/ask").json(&request).send().await.expect("sent").text().await;
    let body = body.expect("a body");
    let kinds: Vec<&str> = body.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!((kinds.first(), kinds.last()), (Some(&"sources"), Some(&"answer")), "{body}");
    assert_eq!(kinds.iter().filter(|kind| **kind == "sources").count(), 1);
    assert!(kinds.contains(&"token") && kinds.contains(&"claim"), "{body}");
    assert_eq!(calls(&server), (1, 1));
    app.stop().await;
}

#[tokio::test]
async fn it_takes_nothing_that_the_answer_needs() {
    // The day bears one answer, but not one for nothing beside it.
    let (server, app) = app(&[("CITED_DAILY_COST_USD", "1.6")]).await;
    server.say(Role::Grade, "1: correct");
    server.say(Role::Answer, ANSWER);
    let answer = app.ask(ask("on")).await;
    assert_answered(&answer);
    assert_eq!((calls(&server), &answer.body["usage"]["llm_calls"]), ((1, 1), &json!(2)));
    assert_eq!(spent_today(&app).await, 40_000_000);
    // Neither do the calls.
    for most in 2..=5 {
        let mut request = ask("on");
        request["limits"] = json!({"max_llm_calls": most, "max_completion_tokens": 50});
        let answer = app.ask(request).await;
        assert_answered(&answer);
        assert_eq!(answer.body["usage"]["llm_calls"], 2, "of {most}");
    }
    app.stop().await;
}

#[tokio::test]
async fn a_client_that_leaves_ends_both_calls() {
    let (server, app) = app(&[("CITED_DAILY_COST_USD", "10")]).await;
    server.reply(Role::Grade, Reply::Slow(Duration::from_mins(1), "late".to_owned()));
    server.reply(Role::Answer, Reply::Slow(Duration::from_mins(1), "late".to_owned()));
    let request = app.request(Method::POST, "/v1/ask").json(&ask("auto"));
    let impatient = tokio::spawn(async move { request.send().await });
    server.wait_for_call(Role::Answer, SOON).await;
    server.wait_for_call(Role::Grade, SOON).await;
    impatient.abort();
    let deadline = tokio::time::Instant::now() + SOON;
    while server.abandoned_within(SOON).await < 2 {
        assert!(tokio::time::Instant::now() < deadline, "both are ended");
    }
    while app.get("/v1/audit?outcome=client_gone").await.body["asks"] == json!([]) {
        assert!(tokio::time::Instant::now() < deadline, "it is not in the audit");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let row = app.get("/v1/audit?limit=1").await.body["asks"][0].clone();
    assert_eq!((&row["usage"]["llm_calls"], &row["reason"]), (&json!(2), &json!("grading")), "{row}");
    assert_eq!(spent_today(&app).await, 1_024_000_000 + 512_000_000, "both as reserved");
    app.stop().await;
}

#[tokio::test]
async fn without_doubt_or_without_a_sure_source_there_is_nothing_to_begin() {
    let (server, app) = app(&[]).await;
    server.say(Role::Grade, "1: correct\n2: correct\n3: correct");
    server.say(Role::Answer, ANSWER);
    let mut sure = ask("on");
    sure["top_k"] = json!(1);
    let answer = app.ask(sure).await;
    assert_answered(&answer);
    assert_eq!((calls(&server), &answer.body["usage"]["llm_calls"]), ((0, 1), &json!(1)), "nobody has to grade");
    let mut unknown = ask("perhaps");
    let refused = app.ask(unknown.clone()).await;
    refused.assert_problem(422, "invalid_request");
    assert_eq!(refused.pointers(), ["/speculative"]);
    unknown["speculative"] = json!("on");
    unknown["dry_run"] = json!(true);
    assert_eq!(app.ask(unknown).await.body["outcome"], "dry_run");
    assert_eq!(calls(&server).1, 1, "a dry run begins no answer");
    app.stop().await;
}
