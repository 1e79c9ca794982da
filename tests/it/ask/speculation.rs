//! Answers begun while a model still grades: they stand if each source that they cite is graded correct.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    ask::stream::frames,
    database,
    harness::{Answer, TestApp, body_of},
    scripted::{ModelServer, Reply, Role},
    wait,
};

const QUESTION: &str = "How many days of paid annual leave does everyone have?";
const ANSWER: &str = "Everyone has 28 days of paid annual leave a year [^1].";
/// The first surely answers the question, the second is doubtful, the third is beside it.
const HANDBOOK: [(&str, &str); 3] = [
    ("leave.md", "Everyone has 28 days of paid annual leave a year."),
    ("writing.md", "Everyone asks for annual leave days in writing."),
    ("laptops.md", "Report a lost laptop to the security desk within four hours."),
];
const FIRST_IS_CORRECT: &str = "1: correct\n2: incorrect\n3: incorrect";
const NONE_IS_CORRECT: &str = "1: incorrect\n2: incorrect\n3: incorrect";
/// A reply of 20 tokens costs 2 cents, one of 1,024 tokens $1.024.
const PRICES: &str =
    "[prices.\"openai:scripted-chat\"]\nprompt_usd_per_million = 0\ncompletion_usd_per_million = 1000\n";
const SOON: Duration = Duration::from_secs(20);

fn ask(speculative: &str) -> Value {
    json!({"question": QUESTION, "collections": ["handbook"], "include": ["trace"], "speculative": speculative})
}

/// One sure passage is not enough beside a doubtful one, so that a model is asked for its grades.
async fn app(settings: &[(&str, &str)]) -> (ModelServer, TestApp) {
    let server = ModelServer::start().await;
    let url = server.base_url();
    let mut all = vec![
        ("CITED_CHAT_BASE_URL", url.as_str()),
        ("CITED_CHAT_MODEL", "scripted-chat"),
        ("CITED_MIN_CORRECT_FRACTION", "1"),
    ];
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

/// Roles of model calls, and whether their replies were discarded.
fn discarded(calls: &Value) -> Vec<(&str, bool)> {
    let calls = calls.as_array().expect("calls").iter();
    calls.map(|call| (call["role"].as_str().expect("a role"), call["discarded"] == true)).collect()
}

/// Drafts that were begun early and ended so, by the metrics.
async fn early_drafts(app: &TestApp, result: &str) -> u64 {
    let name = format!("cited_ask_early_drafts_total{{result=\"{result}\"}} ");
    let metrics = app.get("/metrics").await.text;
    metrics.lines().find_map(|line| line.strip_prefix(&name)?.parse().ok()).unwrap_or(0)
}

#[tokio::test]
async fn a_draft_that_cites_correct_sources_alone_is_the_answer() {
    let (server, app) = app(&[]).await;
    server.say(Role::Answer, ANSWER);
    server.say(Role::Grade, FIRST_IS_CORRECT);
    let one_by_one = app.ask(ask("off")).await;
    assert_answered(&one_by_one);
    assert_eq!(calls(&server), (1, 1));
    grade_after_answers(&server, 2, Duration::ZERO, FIRST_IS_CORRECT);
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
        assert_eq!(at_once.body["validation"]["attempts"], 1);
        assert_eq!(at_once.body["citations"][0]["urn"], one_by_one.body["citations"][0]["urn"]);
        let grades: Vec<&Value> =
            at_once.body["sources"].as_array().expect("sources").iter().map(|s| &s["grade"]).collect();
        assert_eq!(grades, ["correct", "incorrect", "incorrect"], "all that was shown, as the model graded it");
    }
    let early = server.calls(Role::Answer)[1].body.to_string();
    assert!(early.contains("lost laptop"), "it is shown all passages: {early}");
    assert_eq!(early_drafts(&app, "stood").await, 2);
    assert_eq!(early_drafts(&app, "dropped").await, 0);
    app.stop().await;
}

#[tokio::test]
async fn a_draft_that_does_not_stand_is_dropped_with_its_cost() {
    // It cites a source that is not correct, cites one that does not exist, or states something without a citation.
    let wrong = [
        "Everyone asks for annual leave days in writing [^2].",
        "Everyone has 28 days of paid annual leave a year [^9].",
        "Everyone has 28 days of paid annual leave a year [^1]. Leave lapses in March.",
        "The sources do not answer this question.",
    ];
    for draft in wrong {
        let (server, app) = app(&[("CITED_DAILY_COST_USD", "10")]).await;
        grade_after_answers(&server, 1, Duration::from_millis(300), FIRST_IS_CORRECT);
        server.say(Role::Answer, draft);
        server.say(Role::Answer, ANSWER);
        let answer = app.ask(ask("auto")).await;
        assert_answered(&answer);
        assert_eq!((calls(&server), &answer.body["validation"]["attempts"]), ((1, 2), &json!(1)), "{draft}");
        let usage = &answer.body["usage"];
        assert_eq!((&usage["llm_calls"], &usage["wasted"]["llm_calls"]), (&json!(3), &json!(1)), "{draft}: {usage}");
        assert_eq!((&usage["wasted"]["completion_tokens"], &usage["wasted"]["cost_usd"]), (&json!(20), &json!(0.02)));
        assert_eq!(usage["cost_usd"], 0.06, "grading, the draft that was dropped, and the answer");
        assert_eq!(spent_today(&app).await, 60_000_000);
        let expected = [("grade", false), ("generate", true), ("generate", false)];
        assert_eq!(discarded(&answer.body["trace"]["calls"]), expected);
        let row = app.get("/v1/audit?limit=1").await.body["asks"][0].clone();
        assert_eq!(discarded(&row["calls"]), expected);
        assert_eq!((&row["usage"]["llm_calls"], &row["usage"]["cost_usd"]), (&json!(3), &json!(0.06)));
        let second = server.calls(Role::Answer)[1].body.to_string();
        assert!(!second.contains("lost laptop"), "the answer is written from the correct sources alone: {second}");
        assert_eq!(early_drafts(&app, "dropped").await, 1);
        app.stop().await;
    }
}

#[tokio::test]
async fn a_draft_whose_model_fails_costs_nothing() {
    let (server, app) = app(&[("CITED_DAILY_COST_USD", "10")]).await;
    grade_after_answers(&server, 1, Duration::from_millis(300), FIRST_IS_CORRECT);
    server.reply(Role::Answer, Reply::Status(400, json!({"error": {"message": "no"}}).to_string()));
    server.say(Role::Answer, ANSWER);
    let answer = app.ask(ask("auto")).await;
    assert_answered(&answer);
    assert_eq!(calls(&server), (1, 2));
    let usage = &answer.body["usage"];
    assert_eq!((&usage["wasted"]["llm_calls"], &usage["cost_usd"]), (&json!(0), &json!(0.04)), "{usage}");
    assert_eq!(spent_today(&app).await, 40_000_000);
    let trace = &answer.body["trace"];
    assert_eq!(discarded(&trace["calls"]), [("grade", false), ("generate", false)]);
    assert_eq!(trace["failed_calls"].as_array().map(Vec::len), Some(1), "{trace}");
    app.stop().await;
}

#[tokio::test]
async fn a_draft_under_way_is_ended_when_nothing_is_correct() {
    for is_stream in [false, true] {
        let (server, app) = app(&[("CITED_DAILY_COST_USD", "10")]).await;
        grade_after_answers(&server, 1, Duration::ZERO, NONE_IS_CORRECT);
        server.reply(Role::Answer, Reply::Slow(Duration::from_mins(1), "late".to_owned()));
        server.say(Role::Rewrite, "days of leave");
        let mut request = ask("auto");
        request["stream"] = json!(is_stream);
        let started = tokio::time::Instant::now();
        let body = body_of(app.request(Method::POST, "/v1/ask").json(&request).send().await.expect("sent")).await;
        assert!(started.elapsed() < SOON, "nobody waits for it");
        assert!(body.contains("no_relevant_content"), "{body}");
        assert_eq!(server.once_abandoned().await, 1);
        assert!(!body.contains("event: retry"), "nothing of it was sent: {body}");
        // The provider may bill the longest reply: that is what is shown and booked.
        let row = app.get("/v1/audit?limit=1").await.body["asks"][0].clone();
        let costs: Vec<&Value> = row["calls"].as_array().expect("calls").iter().map(|call| &call["cost_usd"]).collect();
        assert_eq!(costs[..2], [&json!(0.02), &json!(1.024)], "{row}");
        app.stop().await;
    }
}

#[tokio::test]
async fn a_stream_carries_nothing_before_the_grades_and_then_all() {
    let (server, app) = app(&[]).await;
    grade_after_answers(&server, 1, Duration::from_millis(500), FIRST_IS_CORRECT);
    server.say(Role::Answer, ANSWER);
    let mut request = ask("on");
    request["stream"] = json!(true);
    let frames = frames(&app, request).await;
    let kinds: Vec<&str> = frames.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!((kinds.first(), kinds.last()), (Some(&"sources"), Some(&"answer")), "{frames:#?}");
    assert_eq!(kinds.iter().filter(|kind| **kind == "sources").count(), 1);
    assert!(kinds.contains(&"token") && kinds.contains(&"claim"), "{frames:#?}");
    assert_eq!(calls(&server), (1, 1));
    app.stop().await;
}

#[tokio::test]
async fn a_stream_voids_a_draft_that_does_not_stand() {
    let (server, app) = app(&[]).await;
    grade_after_answers(&server, 1, Duration::from_millis(300), FIRST_IS_CORRECT);
    server.say(Role::Answer, "Everyone has 28 days of paid annual leave a year [^1]. It is asked for in writing [^2].");
    server.say(Role::Answer, ANSWER);
    let mut request = ask("on");
    request["stream"] = json!(true);
    let frames = frames(&app, request).await;
    let kinds: Vec<&str> = frames.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "sources").count(), 2, "those of each draft: {frames:#?}");
    if let Some(retry) = frames.iter().find(|(kind, _)| kind == "retry") {
        assert_eq!(retry.1["reason"], "not_confirmed", "{frames:#?}");
    }
    let (_, end) = frames.last().expect("an end");
    assert_eq!((&end["answer"], &end["usage"]["wasted"]["llm_calls"]), (&json!(ANSWER), &json!(1)), "{frames:#?}");
    app.stop().await;
}

#[tokio::test]
async fn it_takes_nothing_that_the_answer_needs() {
    // The day bears one answer, but not one for nothing beside it.
    let (server, app) = app(&[("CITED_DAILY_COST_USD", "1.6")]).await;
    server.say(Role::Grade, FIRST_IS_CORRECT);
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
    server.wait_for_call(Role::Answer).await;
    server.wait_for_call(Role::Grade).await;
    impatient.abort();
    wait::until("both calls are ended", async || server.abandoned() == 2).await;
    let audited = async || app.get("/v1/audit?outcome=client_gone").await.body["asks"] != json!([]);
    wait::until("the ask is in the audit", audited).await;
    let row = app.get("/v1/audit?limit=1").await.body["asks"][0].clone();
    assert_eq!((&row["usage"]["llm_calls"], &row["reason"]), (&json!(2), &json!("grading")), "{row}");
    assert_eq!(spent_today(&app).await, 1_024_000_000 + 512_000_000, "both as reserved");
    app.stop().await;
}

#[tokio::test]
async fn without_doubt_there_is_nothing_to_begin() {
    let (server, app) = app(&[]).await;
    server.say(Role::Grade, FIRST_IS_CORRECT);
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
